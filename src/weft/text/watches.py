"""What the lines of a file say about how it should be read, or what is wrong with it; each watch warns once."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence

from weft.text.fields import Sides
from weft.text.lines import FilePath, display_name
from weft.types import Words

logger = logging.getLogger(__name__)

# "doc1" and "s-12", or the keys of programs: "home.title", "menu/file".
_ID = re.compile(r"[\w.:/#-]*(?:\d|\w[._:/#]\w)[\w.:/#-]*")
_FEWEST_IDS, _ENOUGH_IDS = 3, 20
_FEWEST_COLUMNS = 3  # ids, source and target
_ENOUGH_LINES = 20
_FEWEST_PAIRS = 2
_SIGNS_OF_PAIRS = {
    "' ||| '": re.compile(r" \|\|\| "),
    "tabs": re.compile(r"\S *\t *\S"),
    "JSON": re.compile(r'^\{".*\}\s*$'),
}
# More Thai, Chinese or Japanese characters in a row than a word has, or a comma that is part of a word.
_LONG = re.compile(r"[\u0e00-\u0e7f]{16}|[\u3040-\u9fff]{10}|[^\W\d_]{2}[,;]$|[\u3040-\u9fff][\u3001\uff0c].")
# A full stop that is part of the last word.
_STOPPED = re.compile(r"[^\W\d_]{2}[.!?]$|[\u3040-\u9fff][\u3002\uff01\uff1f]$")
# A whole sentence in a script that needs no blanks: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]{5,}")
_A_FEW_WORDS = 3
# Of true pairs, at most 3 in 100 are without links (measured on gold in three languages); with one side shifted by a
# line, 70 to 99 are.
_ENOUGH_PAIRS, _MOST_UNLINKED = 20, 1 / 2
_SHOWN, _MOST_OF_NAMES = 20, 80


# What people call the columns of a table: sides, ids, and languages by name or by code.
_HEADINGS = re.compile(
    "source|target|src|tgt|trg|source_text|target_text|sentence[12]?|text|translation|original|term|id|index"
    "|arabic|chinese|czech|danish|dutch|english|finnish|french|german|greek|hebrew|hindi|hungarian|italian|japanese|korean"
    "|polish|portuguese|romanian|russian|spanish|swedish|turkish|ukrainian|vietnamese|deutsch|englisch"
    "|ar|cs|da|de|el|en|es|fi|fr|he|hi|hu|it|ja|ko|nl|pl|pt|ro|ru|sv|tr|uk|vi|zh",
    re.IGNORECASE,
)


def warn_of_headings(path: FilePath, sides: Sides, read_as: str, advice: str, *, line: int = 1) -> None:
    """Say so if the first row of a table names its columns; it is read all the same.

    Args:
        path: the table.
        sides: the first two columns of its first row.
        read_as: what the row is taken for.
        advice: what to do if it names columns.
        line: where the row stands.
    """
    names = [side.strip() if isinstance(side, str) else "" for side in sides]
    if all(map(_HEADINGS.fullmatch, names)):
        logger.warning(
            "%s:%d: this looks like a line of column names (%s), but is read as %s. If it is one, %s.",
            display_name(path),
            line,
            ", ".join(names),
            read_as,
            advice,
        )


class IdWatch:
    """Notices a table whose first column holds ids where the source sentences should be, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._seen: dict[str, None] = {}
        self._header_passed = False
        self._names: Sequence[str] = ()
        self.done = False

    def look(self, first: str | Words, first_row: Sequence[str] = ()) -> None:
        """Look at the first column of one line.

        A file has ids if many lines begin with different ones and nothing else comes first, a line of headings aside.

        Args:
            first: the cell.
            first_row: the cells of the first line of the file.
        """
        if not isinstance(first, str) or first in self._seen or not _ID.fullmatch(first):
            self.done = bool(self._seen) or self._header_passed
            self._header_passed = True
            self._names = first_row
            return
        self._seen[first] = None
        if len(self._seen) >= _ENOUGH_IDS:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        if not self.done and len(self._seen) >= _FEWEST_IDS:
            logger.warning(
                "%s: the first column looks like ids (%s, ...), but is read as the source sentences. If it holds ids, "
                "%s.",
                display_name(self._path),
                ", ".join(list(self._seen)[:3]),
                self._advice(),
            )
        self.done = True

    def _advice(self) -> str:
        if len(self._names) < _FEWEST_COLUMNS:
            return "name the columns with `columns`, as in id,source,target"
        names = _cut(", ".join(name.strip() for name in self._names), _MOST_OF_NAMES)
        return f"choose two columns by their names in the first line ({names}), with `source_field` and `target_field`"


class PairsWatch:
    """Notices pairs where one side of two files is expected, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._lines = 0
        self._signs = _SIGNS_OF_PAIRS
        self.done = False

    def look(self, text: str) -> None:
        """Look at one line. A file holds pairs if all of its first lines have the same between two texts."""
        self._lines += 1
        self._signs = {sign: pattern for sign, pattern in self._signs.items() if pattern.search(text)}
        if not self._signs:
            self.done = True
        elif self._lines >= _FEWEST_PAIRS:
            logger.warning(
                "%s: the lines contain %s, but are read as the sentences of one language. If they are pairs, name "
                "this file alone.",
                display_name(self._path),
                next(iter(self._signs)),
            )
            self.done = True


class SplitWatch:
    """Notices text that is not split into words where words are expected, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._lines = 0
        self._unsplit: list[str] = []
        self.done = False
        self.warned = False

    def look(self, sides: tuple[str | Words, str | Words]) -> None:
        """Look at one pair. Text is not split if most of the first pairs have a word that should be two."""
        self._lines += 1
        found = next(filter(None, (_unsplit(*sides), _unsplit(*reversed(sides)))), None)
        if found:
            self._unsplit.append(found)
        if self._lines >= _ENOUGH_LINES:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        if not self.done and 2 * len(self._unsplit) > self._lines:
            self.warned = True
            word = self._unsplit[0]
            logger.warning(
                "%s: the text does not seem to be split into words (%s). To split it, add `raw`.",
                display_name(self._path),
                _cut(word, _SHOWN),
            )
        self.done = True


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _unsplit(side: str | Words, other: str | Words) -> str | None:
    """A word of one side that should be several; lists of words were split by somebody who knew what a word is."""
    words = side.split() if isinstance(side, str) else []
    others = other.split() if isinstance(other, str) else other
    if len(words) == 1 and len(others) >= _A_FEW_WORDS and _WITHOUT_BLANKS.fullmatch(words[0]):
        return words[0]
    if words and _STOPPED.search(words[-1]):
        return words[-1]
    return next(filter(_LONG.search, words), None)


def watched(texts: Iterator[Sides | None], path: FilePath) -> Iterator[Sides | None]:
    """Pass pairs on, and say once if they do not look split into words.

    Args:
        texts: pairs before their words are split; None for lines that hold none.
        path: the file they come from.
    """
    watch = SplitWatch(path)
    for sides in texts:
        if sides and not watch.done:
            watch.look(sides)
        yield sides
    watch.finish()


def no_links_remark(pairs: int, linked: int) -> str | None:
    """What to say where an aligner found nothing at all, or nothing in most pairs; None if there is nothing to say.

    Args:
        pairs: how many sentence pairs there were.
        linked: how many of them have a link.
    """
    if pairs and not linked:
        which = "the pair has no links" if pairs == 1 else f"none of the {pairs:,} pairs has a link"
        return (
            f"{which}. Perhaps the two sides are not translations of each other, the lines of two files are out of "
            "step, or `threshold` is too high."
        )
    if pairs >= _ENOUGH_PAIRS and (pairs - linked) > _MOST_UNLINKED * pairs:
        return f"{pairs - linked:,} of {pairs:,} pairs have no links. Are the two sides in step, line by line?"
    return None
