"""Everything that can go wrong for a user, said in sentences that name the place and the fix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any


class WeftError(Exception):
    """Base of all errors that are the input's or the setting's fault; the message is meant for the user."""


class FormatError(WeftError):
    """A file does not hold what it should. Names the file, the line and, for bad bytes, the byte; all from 1."""

    def __init__(self, path: str, line: int | None, message: str, *, byte: int | None = None) -> None:
        place = ":".join(str(part) for part in (path, line, byte) if part is not None)
        super().__init__(f"{place}: {message}")
        self.path = path
        self.line = line
        self.byte = byte
        self._message = message

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes."""
        return partial(FormatError, byte=self.byte), (self.path, self.line, self._message)


class LineCountError(WeftError):
    """Files that belong together line by line have different numbers of lines."""

    def __init__(self, counts: Sequence[tuple[str, int]]) -> None:
        parts = [f"{path} has {count:,} line{'' if count == 1 else 's'}" for path, count in counts]
        super().__init__(f"{' but '.join(parts)}; line n of each must belong together.")
        self.counts = counts


class MissingExtraError(WeftError, ImportError):
    """An optional part of weft is not installed."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} needs an optional part of weft: pip install 'weft[{extra}]'.")
        self.extra = extra


class SettingError(WeftError, ValueError):
    """An option has a value that makes no sense; the command line exits with 2 for it."""


def first_line(error: Exception) -> str:
    """What another library's error says first; its kind if it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
