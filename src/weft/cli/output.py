"""Where results go: stdout, or a file that appears only when it is complete."""

from __future__ import annotations

import gzip
import lzma
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import typer


def say(message: str) -> None:
    """Tell the user something that is not a result."""
    print(f"weft: {message}", file=sys.stderr)


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines to a file (`-` is stdout); a name that ends in .gz, .xz or .zst is compressed."""
    somebody_watches = path == "-" and sys.stdout.isatty()
    with open_output(path) as file:
        for line in lines:
            file.write(line.encode("utf-8"))
            if somebody_watches:
                file.flush()


@contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """Open stdout, or a temporary file that takes the place of `path` once everything is written."""
    if path == "-":
        with _quiet_when_reader_leaves():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/null, a named pipe: nothing to rename
        with open(path, "wb") as file:
            yield file
        return
    temporary = f"{path}.{os.getpid()}.partial"
    try:
        with open(temporary, "wb") as raw, _compressed(raw, path) as file:
            yield file
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def _quiet_when_reader_leaves() -> Iterator[None]:
    """`weft … | head` ends without a word: nobody is there to read the rest."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


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
