"""Sort more rows than fit in memory: sorted pieces go to temporary files and are merged."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from tempfile import TemporaryFile
from typing import IO

Row = tuple[str, ...]

ROWS_IN_MEMORY = 250_000
_MOST_FILES = 64


def sorted_rows(rows: Iterable[Row], *, in_memory: int = ROWS_IN_MEMORY) -> Iterator[Row]:
    """Yield rows in order, with at most `in_memory` of them in memory; cells hold neither tabs nor line ends."""
    rows = iter(rows)
    piece = sorted(islice(rows, in_memory))
    if len(piece) < in_memory:
        yield from piece
        return
    with ExitStack() as stack:
        files: list[IO[str]] = []
        while piece:
            files.append(_stored(piece, stack))
            if len(files) == _MOST_FILES:
                files = [_stored(heapq.merge(*map(_stream, files)), stack)]
            piece = sorted(islice(rows, in_memory))
        yield from heapq.merge(*map(_stream, files))


def _stored(rows: Iterable[Row], stack: ExitStack) -> IO[str]:
    # Only \n ends a row: words may hold a lone carriage return, and it has to come back as it was.
    file = stack.enter_context(TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115 - the stack closes it
    file.writelines("\t".join(row) + "\n" for row in rows)
    return file


def _stream(file: IO[str]) -> Iterator[Row]:
    file.seek(0)
    for line in file:
        yield tuple(line.removesuffix("\n").split("\t"))
    file.close()
