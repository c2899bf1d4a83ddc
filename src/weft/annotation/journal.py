"""A file that remembers every change before anything else does, and that survives a kill at any byte.

Each line is a checksum, a blank and a JSON object. A line counts when all of it is on the disk: `append` returns only
then. What a kill left half-written at the end has no valid checksum and is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weft.text.files import checksum
from weft.text.json_objects import parse_json_object


class Journal:
    """The journal of a project, open for writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._length = os.fstat(self._file).st_size
        self.entries = 0

    def append(self, record: dict[str, Any]) -> None:
        """Write a change and wait until it is on the disk.

        Raises:
            OSError: it could not be written, for example because the disk is full; the journal is as it was.
        """
        line = journal_line(record)
        try:
            left = memoryview(line)
            while left:  # a disk that is nearly full takes a part
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._length)
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        self._length += len(line)
        self.entries += 1

    def clear(self) -> None:
        """Forget all entries; what they say must be in other files by now."""
        os.ftruncate(self._file, 0)
        self._length = self.entries = 0  # whatever comes next: the file is empty
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def journal_line(record: dict[str, Any]) -> bytes:
    """A record as it stands in a journal."""
    text = json.dumps(record, ensure_ascii=False).encode("utf-8")
    return checksum(text, size=8).hexdigest().encode() + b" " + text + b"\n"


def read_journal(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The entries of a journal, and how many of its lines are damaged."""
    if not path.exists():
        return [], 0
    content = path.read_bytes()
    entries = list(_entries(content))
    return [entry for entry in entries if entry is not None], sum(entry is None for entry in entries)


def _entries(content: bytes) -> Iterator[dict[str, Any] | None]:
    lines = content.split(b"\n")
    for line in lines[:-1]:
        check, _, text = line.partition(b" ")
        good = checksum(text, size=8).hexdigest().encode() == check
        yield parse_json_object(text.decode("utf-8")) if good else None
    if lines[-1]:
        yield None
