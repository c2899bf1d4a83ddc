"""Where results go: stdout, or a file that appears only when it is complete."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import typer

from weft.errors import SettingError, WeftError


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
        with _replacing(os.path.realpath(path), shown=path) as raw, _compressed(raw, path) as file:
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


@contextmanager
def _replacing(path: str, *, shown: str) -> Iterator[BinaryIO]:
    temporary = f"{path}.{os.getpid()}.partial"
    try:
        raw = open(temporary, "wb")  # noqa: SIM115 - closed below, after the error of opening it was given its name
    except OSError as error:
        raise OSError(error.errno, error.strerror, shown) from error
    try:
        with raw:
            yield raw
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def _compressed(raw: BinaryIO, path: str) -> Iterator[BinaryIO]:
    if path.endswith(".gz"):
        # Without name and time in the header, equal results are equal files.
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
            yield cast(BinaryIO, file)
    elif path.endswith(".xz"):
        with lzma.LZMAFile(raw, "wb") as file:
            yield cast(BinaryIO, file)
    elif path.endswith(".zst"):
        from weft.text.lines import zstandard

        checked = {zstandard().CompressionParameter.checksum_flag: 1}
        with zstandard().ZstdFile(raw, "wb", options=checked) as file:
            yield file
    else:
        yield raw
