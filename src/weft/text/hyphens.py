"""Words that the end of a line parts at a hyphen, made whole again without moving any other word."""

from __future__ import annotations

import re

_SOFT_HYPHEN = "\u00ad"
HYPHENS = f"-\u2010{_SOFT_HYPHEN}"
"""Signs that stand where words are parted."""
_PARTED = re.compile(rf"(?<!\w)(\w+)([{HYPHENS}][ \t]+)(?=(\w+))")
_COMPOUND = re.compile(rf"(?<!\w)(\w+)[{HYPHENS}](?=(\w+))")
_BLANK = re.compile(r"\s")
# In `Vor- und Nachteile`, the hyphen stands for the rest of a word.
_AFTER_PARTS = frozenset({"and", "bis", "bzw", "eller", "oder", "och", "og", "or", "sowie", "und"})


def with_whole_words(joined: str, text: str) -> str:
    """A text whose lines are joined, with the words whole that line ends parted.

    What such a word loses becomes blanks behind it, so that every other word stays where it was.

    Args:
        joined: the text with blanks in place of line ends.
        text: the same with the line ends.
    """
    parted = [found for found in _PARTED.finditer(joined) if "\n" in text[found.start() : found.end()]]
    known = _Known(text.lower()) if parted else None
    parts: list[str] = []
    position = owed = 0
    for found in parted:
        begin, gap, rest = found.groups()
        kept = known.between(begin, gap, rest) if known else gap
        part, owed = _with_blanks(joined[position : found.end(1)] + kept, owed)
        parts.append(part)
        owed += len(gap) - len(kept)
        position = found.end()
    last, owed = _with_blanks(joined[position:], owed)
    return "".join(parts) + last + " " * owed


def _with_blanks(part: str, owed: int) -> tuple[str, int]:
    """A part of a text with the blanks it is owed where its first word ends, and how many are owed still."""
    end = _BLANK.search(part)
    if end is None:
        return part, owed
    return part[: end.start()] + " " * owed + part[end.start() :], 0


class _Known:
    """The words of a text in lower case, and those with a hyphen."""

    def __init__(self, text: str) -> None:
        self._words = frozenset(re.findall(r"\w+", text))
        self._compounds = frozenset(_COMPOUND.findall(text))

    def between(self, begin: str, gap: str, rest: str) -> str:
        """What stands between the two parts of a word: nothing, its hyphen, or the whole gap if they are two words."""
        hyphen, small = gap[0], rest.lower()
        if hyphen == _SOFT_HYPHEN or begin.lower() + small in self._words:
            return ""
        if small in _AFTER_PARTS or len(rest) == 1:
            return gap
        # Where a word is only divided, it goes on in small letters.
        is_compound = (begin.lower(), small) in self._compounds or rest[0].isupper() or not rest[0].isalpha()
        return hyphen if is_compound else ""
