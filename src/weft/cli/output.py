"""Where a command's words go: results to stdout or a file, everything else to stderr."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import typer

from weft.errors import SettingError, WeftError
from weft.text.files import Write, ending, writing

EMPTY = "the input is empty."
"""What to say of a file without a line."""

T = TypeVar("T")
# What names of files promise that no table, no list of links and no JSON can keep.
OFFICE_KINDS = frozenset({"doc", "docx", "odt", "pdf", "rtf", "ods", "xls", "xlsx"})
_OTHER_KINDS = {*OFFICE_KINDS, "htm", "html", "png", "svg"}
_OTHER_KINDS |= {"tmx", "xlf", "xliff", "sdlxliff", "mqxliff", "mxliff"}
_PARAMETER = re.compile(r"`(\w+)`")
_options: dict[str, str] = {}


def say(message: str) -> None:
    """Tell the user something that is not a result; if nobody listens, work goes on."""
    try:
        print(f"weft: {with_options(message)}", file=sys.stderr)
    except OSError:
        with contextlib.suppress(OSError):
            # What is still buffered goes nowhere; otherwise Python tries again at exit, and ends with code 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def noting_none(items: Iterable[T]) -> Iterator[T]:
    """The items as they come; a word to the user if there are none."""
    none = True
    for item in items:
        none = False
        yield item
    if none:
        say(EMPTY)


def speak_of(options: Mapping[str, str]) -> None:
    """From now on write these parameters as the options they are called on the command line."""
    _options.update(options)


def with_options(message: str) -> str:
    """The library speaks of parameters, as `gold_base`; here they are options, as --gold-base."""
    return _PARAMETER.sub(lambda match: _options.get(match[1], match[0]), message)


def on_screen(output: str) -> bool:
    """Whether results go to a screen, where a running count would write over them."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


def refuse_other_kinds(output: str, writes: str) -> None:
    """Refuse to write to a file whose name is that of a document, a spreadsheet, a picture or a translation memory.

    Args:
        output: the name.
        writes: what the command writes instead, and how the name can say so.
    """
    if ending(output) in _OTHER_KINDS:
        raise SettingError(f"cannot write .{ending(output)} files; {writes}")


def only_one_stdin(*paths: str | None) -> None:
    """Refuse to read two inputs from the same pipe."""
    if paths.count("-") > 1:
        raise SettingError("only one input can be stdin.")


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines to a file (`-` is stdout); a name that ends in .gz, .xz or .zst is compressed."""
    with open_output(path) as write:
        for line in lines:
            # File names may hold bytes that are no text; they must not end a run.
            write(line.encode("utf-8", "backslashreplace"))


@contextmanager
def open_output(path: str) -> Iterator[Write]:
    """How to write to stdout (`-`), or to a file that appears only when it is complete."""
    if path == "-":
        yield write_stdout
        write_stdout(b"", flush=True)
    else:
        with writing(path) as write:
            yield write


def write_stdout(data: bytes, *, flush: bool = False) -> None:
    """`weft … | head` ends without a word: nobody is there to read the rest. A full disk behind `>` is an error."""
    if sys.stdout is None:
        raise WeftError("stdout is closed; write to a file with --output.")
    try:
        if data:  # even nothing is too much for a full device
            sys.stdout.buffer.write(data)
        if flush or sys.stdout.isatty():
            sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere; otherwise Python tries again at exit, and complains in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(0) from None
        raise OSError(error.errno, error.strerror, "stdout") from error


def finish_stdout() -> None:
    """Bring what was printed to its reader, or say why that cannot be, before Python tries at exit."""
    if sys.stdout is not None:
        write_stdout(b"", flush=True)
