"""Where results go: stdout, or a file that appears only when it is complete."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import typer

from weft.errors import SettingError, WeftError
from weft.text.files import compressed, whole_file


def say(message: str) -> None:
    """Tell the user something that is not a result; if nobody listens, work goes on."""
    with contextlib.suppress(OSError):
        print(f"weft: {message}", file=sys.stderr)


def on_screen(output: str) -> bool:
    """Whether results go to a screen, where a running count would write over them."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


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
def open_output(path: str) -> Iterator[Callable[[bytes], object]]:
    """How to write to stdout, or to a temporary file that takes the place of `path` once everything is written."""
    if path == "-":
        yield _write_stdout
        _write_stdout(b"", flush=True)
    elif _is_no_file(path):
        with open(path, "wb") as file:
            yield file.write
    else:
        with whole_file(path) as raw, compressed(raw, path) as file:
            yield file.write


def _write_stdout(data: bytes, *, flush: bool = False) -> None:
    """`weft … | head` ends without a word: nobody is there to read the rest."""
    if sys.stdout is None:
        raise WeftError("stdout is closed; write to a file with --output.")
    try:
        sys.stdout.buffer.write(data)
        if flush or sys.stdout.isatty():
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _is_no_file(path: str) -> bool:
    """Devices and pipes are written to as they are; putting a file in their place would destroy them."""
    return path.startswith(("/dev/", "/proc/")) or (os.path.exists(path) and not os.path.isfile(path))
