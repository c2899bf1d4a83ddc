"""What the lines of a file say about how it should be read, or what is wrong with it; each watch warns once."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence

from weft.text.fields import Sides
from weft.text.headings import may_name_columns, name_columns, text_columns
from weft.text.lines import FilePath, display_name
from weft.types import Words

logger = logging.getLogger(__name__)

# "doc1" and "s-12", or the keys of programs: "home.title", "menu/file".
_ID = re.compile(r"[\w.:/#-]*(?:\d|\w[._:/#]\w)[\w.:/#-]*")
_FEWEST_IDS, _FEWEST_IDS_OF_MANY_COLUMNS, _ENOUGH_IDS = 3, 2, 20
_FEWEST_COLUMNS = 3  # ids, source and target
_FEWEST_ROWS = 3
_ONE_WORD = re.compile(r"[\w.:/-]+")
_BY_ORDER = (
    "remove it (tail -n +2 skips the first line), or call another column in `columns` what that line calls it; weft "
    "then skips the line"
)
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


class TableWatch:
    """Notices a table whose first row names columns, or whose first column holds ids, and says so once."""

    def __init__(self, path: FilePath, *, by_order: bool) -> None:
        self._path = path
        self._by_order = by_order
        self._ids = IdWatch(path)
        self._ids.done = by_order
        self._names: Sequence[str] = ()  # of columns, perhaps
        self._line = 1
        self._rows = self._with_text = 0
        self.done = False

    def look(self, sides: Sides, row: Sequence[str], line: int, *, is_first: bool) -> None:
        """Look at one row.

        Args:
            sides: what is read as the two sentences.
            row: all of its cells.
            line: where it stands.
            is_first: whether it is the first row of a file whose columns nobody has chosen by name.
        """
        if is_first:
            self._look_at_first(sides, row, line)
        elif self._names:
            self._look_for_text(sides, row)
        if not self._ids.done:
            self._ids.look(sides[0], row)
        self.done = self._ids.done and not self._names

    def _look_at_first(self, sides: Sides, row: Sequence[str], line: int) -> None:
        self._line = line
        if self._by_order:
            warn_of_headings(self._path, sides, "a sentence pair", _BY_ORDER, line=line)
        elif warn_of_headings(self._path, row, "a sentence pair", by_name(row), line=line):
            self._ids.done = len(row) >= _FEWEST_COLUMNS  # the advice would be the same
        elif may_name_columns(row):
            self._names = row

    def _look_for_text(self, sides: Sides, row: Sequence[str]) -> None:
        """Single words are names of columns if longer text stands below, and none of them again."""
        self._rows += 1
        self._with_text += any(isinstance(side, str) and " " in side.strip() for side in sides)
        if any(cell.strip() == name.strip() for cell, name in zip(row, self._names, strict=False)):
            self._names = ()
        elif self._rows == _ENOUGH_LINES:
            self._finish_names()

    def finish(self) -> None:
        """The file ends."""
        self._finish_names()
        self._ids.finish()

    def _finish_names(self) -> None:
        if self._names and self._rows >= _FEWEST_ROWS and 2 * self._with_text > self._rows:
            _warn_of_names(self._path, self._line, self._names, "a sentence pair", by_name(self._names))
            self._ids.done = True
        self._names = ()


def warn_of_headings(path: FilePath, row: Sequence[str | Words], read_as: str, advice: str, *, line: int = 1) -> bool:
    """Say so if the first row of a table names its columns; it is read all the same.

    Args:
        path: the table.
        row: the columns of its first row.
        read_as: what the row is taken for.
        advice: what to do if it names columns.
        line: where the row stands.

    Returns:
        Whether something was said.
    """
    names = [cell if isinstance(cell, str) else "" for cell in row]
    found = name_columns(names)
    if found:
        _warn_of_names(path, line, names, read_as, advice)
    return found


def _warn_of_names(path: FilePath, line: int, names: Sequence[str], read_as: str, advice: str) -> None:
    logger.warning(
        "%s:%d: this looks like a line of column names (%s), but is read as %s. If it is one, %s.",
        display_name(path),
        line,
        listed(names),
        read_as,
        advice,
    )


def by_name(names: Sequence[str]) -> str:
    """How to choose two columns that have names."""
    chosen = text_columns(names)
    if chosen is None:
        return "choose the columns by their names, with `source_field` and `target_field`; weft then skips the line"
    source, target = (name if _ONE_WORD.fullmatch(name) else f'"{name}"' for name in chosen)
    options = f"`source_field` {source} `target_field` {target}"
    return f"choose the columns by their names, as in {options}; weft then skips the line"


def listed(names: Sequence[str]) -> str:
    """The names of columns as a message lists them."""
    return _cut(", ".join(name.strip() for name in names), _MOST_OF_NAMES)


class IdWatch:
    """Notices a table whose first column holds ids where the source sentences should be, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._seen: dict[str, None] = {}
        self._header_passed = False
        self._names: Sequence[str] = ()
        self._columns = 0
        self.done = False

    def look(self, first: str | Words, row: Sequence[str] = ()) -> None:
        """Look at the first column of one line.

        A file has ids if many lines begin with different ones and nothing else comes first, a line of headings aside.

        Args:
            first: the cell.
            row: all cells of the line.
        """
        if not isinstance(first, str) or first in self._seen or not _ID.fullmatch(first):
            self.done = bool(self._seen) or self._header_passed
            self._header_passed = True
            self._names = row
            return
        self._seen[first] = None
        self._columns = len(row)
        if len(self._seen) >= _ENOUGH_IDS:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        fewest = _FEWEST_IDS_OF_MANY_COLUMNS if self._columns >= _FEWEST_COLUMNS else _FEWEST_IDS
        if not self.done and len(self._seen) >= fewest:
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
        names = listed(self._names)
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
        if not any(isinstance(side, str) and side.strip() for side in sides):
            return  # lists of words, or nothing at all, say nothing
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
