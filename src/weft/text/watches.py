"""What the first lines of a file say about how it should be read; each watch warns once."""

from __future__ import annotations

import logging
import re

from weft.text.lines import FilePath, display_name
from weft.types import Words

logger = logging.getLogger(__name__)

# "doc1" and "s-12", or the keys of programs: "home.title", "menu/file".
_ID = re.compile(r"[\w.:/#-]*(?:\d|\w[._:/#]\w)[\w.:/#-]*")
_FEWEST_IDS, _ENOUGH_IDS = 3, 20
_ENOUGH_LINES = 20
_FEWEST_BARS = 2
# A full stop that is part of the last word, or more Thai, Chinese or Japanese characters in a row than a word has.
_UNSPLIT = re.compile(r"[^\W\d_]{2}[.!?]$|[\u0e00-\u0e7f]{16}|[\u3040-\u9fff]{10}|[\u3040-\u9fff][\u3002\uff01\uff1f]$")
_SHOWN = 20


class IdWatch:
    """Notices a table whose first column holds ids where the source sentences should be, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._seen: dict[str, None] = {}
        self._header_passed = False
        self.done = False

    def look(self, first: str | Words) -> None:
        """Look at the first column of one line.

        A file has ids if many lines begin with different ones and nothing else comes first, a line of headings aside.
        """
        if not isinstance(first, str) or first in self._seen or not _ID.fullmatch(first):
            self.done = bool(self._seen) or self._header_passed
            self._header_passed = True
            return
        self._seen[first] = None
        if len(self._seen) >= _ENOUGH_IDS:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        if not self.done and len(self._seen) >= _FEWEST_IDS:
            logger.warning(
                "%s: the first column looks like ids (%s, ...), but is read as the source sentences. If it holds ids, "
                "name the columns with `columns`, as in id,source,target.",
                display_name(self._path),
                ", ".join(list(self._seen)[:3]),
            )
        self.done = True


class BarsWatch:
    """Notices pairs where one side of two files is expected, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._lines = 0
        self.done = False

    def look(self, text: str) -> None:
        """Look at one line. A file holds pairs if all of its first lines have bars between two texts."""
        self._lines += 1
        if " ||| " not in text:
            self.done = True
        elif self._lines >= _FEWEST_BARS:
            logger.warning(
                "%s: the lines contain ' ||| ', but are read as the sentences of one language. If they are pairs, name "
                "this file alone.",
                display_name(self._path),
            )
            self.done = True


class SplitWatch:
    """Notices text that is not split into words where words are expected, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._lines = 0
        self._unsplit: list[str] = []
        self.done = False

    def look(self, sides: tuple[str | Words, str | Words]) -> None:
        """Look at one pair. Text is not split if most of the first pairs have a word that should be two."""
        self._lines += 1
        for side in sides:
            last = side.rstrip(" \t").rpartition(" ")[2] if isinstance(side, str) else ""
            if _UNSPLIT.search(last):
                self._unsplit.append(last)
                break
        if self._lines >= _ENOUGH_LINES:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        if not self.done and 2 * len(self._unsplit) > self._lines:
            word = self._unsplit[0]
            logger.warning(
                "%s: the text does not look split into words (%s). If it is not, add `raw`.",
                display_name(self._path),
                word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…",
            )
        self.done = True
