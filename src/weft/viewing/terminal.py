"""Pairs in a terminal: under each source word the words it is linked to, a line for each system and for the gold."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from weft.viewing.comparison import Comparison, Mark, ViewedPair
from weft.viewing.widths import columns

NOTHING, WRONG, MISSED = "\u2013", "\u00d7", "○"  # –, ×
_JOINERS = "\u200c\u200d"
_RESET = "\x1b[0m"
_COLOURS = {"soft": "\x1b[2m", "wrong": "\x1b[33m", "missed": "\x1b[35m", "differs": "\x1b[36m"}


@dataclass(frozen=True, slots=True)
class _Word:
    """What stands in a column: a text, and why it stands out."""

    text: str
    look: str = ""


def text_view(comparison: Comparison, *, width: int = 80, colour: bool = False) -> Iterator[str]:
    """Draw all pairs, line by line with their ends. Marks: `×` not in the gold, `○` missed, `?` possible."""
    names = ["", *comparison.systems, *(["gold"] if comparison.gold else [])]
    margin = max(columns(_short(name)) for name in names) + 2
    for viewed in comparison.pairs:
        rows = [_source_row(viewed), *_system_rows(viewed), *([_gold_row(viewed)] if viewed.gold else [])]
        yield f"{_painted(f'{viewed.number}', 'soft', colour)}\n"
        for line in _set(rows, names, margin, width, colour):
            yield line + "\n"
        if alone := _alone(viewed):
            yield " " * margin + _painted(f"not linked: {alone}", "soft", colour) + "\n"
        yield "\n"


def _source_row(viewed: ViewedPair) -> list[_Word]:
    return [_Word(_plain(word)) for word in viewed.pair.source]


def _system_rows(viewed: ViewedPair) -> Iterator[list[_Word]]:
    columns_of_marks = _by_source(viewed)
    for system in range(len(viewed.systems)):
        yield [_system_word(viewed, marks, system) for marks in columns_of_marks]


def _by_source(viewed: ViewedPair) -> list[list[Mark]]:
    marks: list[list[Mark]] = [[] for _ in viewed.pair.source]
    for mark in viewed.marks():
        marks[mark.source].append(mark)
    return marks


def _system_word(viewed: ViewedPair, marks: list[Mark], system: int) -> _Word:
    """What stands below one source word: the words it is linked to, then those it should be linked to."""
    found = [mark for mark in marks if mark.found[system]]
    missed = [mark for mark in marks if not mark.found[system] and mark.gold == "sure"]
    wrong = [mark for mark in found if viewed.gold and mark.gold is None]
    words = [_plain(viewed.pair.target[mark.target]) + (WRONG if mark in wrong else "") for mark in found]
    words += [MISSED + _plain(viewed.pair.target[mark.target]) for mark in missed]
    if not words:
        return _Word(NOTHING, "soft")
    differs = any(not all(mark.found) for mark in found)
    return _Word("+".join(words), "wrong" if wrong else "missed" if missed else "differs" if differs else "")


def _gold_row(viewed: ViewedPair) -> list[_Word]:
    row = []
    for marks in _by_source(viewed):
        golden = [mark for mark in marks if mark.gold]
        words = [_plain(viewed.pair.target[mark.target]) + ("" if mark.gold == "sure" else "?") for mark in golden]
        row.append(_Word("+".join(words) or NOTHING, "soft"))
    return row


def _alone(viewed: ViewedPair) -> str:
    linked = {mark.target for mark in viewed.marks() if any(mark.found)}
    return " ".join(_plain(word) for number, word in enumerate(viewed.pair.target) if number not in linked)


def _set(rows: list[list[_Word]], names: list[str], margin: int, width: int, colour: bool) -> Iterator[str]:
    """Words in columns; when a line is full, all rows go on below."""
    wide = [max(columns(word.text) for word in column) for column in zip(*rows, strict=True)]
    start = 0
    while start < len(wide):
        end, used = start, margin
        while end < len(wide) and (end == start or used + wide[end] <= width):
            used += wide[end] + 2
            end += 1
        for name, row in zip(names, rows, strict=True):
            head = _short(name) + " " * (margin - columns(_short(name)))
            cells = (
                _painted(word.text, word.look, colour) + " " * (room - columns(word.text) + 2)
                for word, room in zip(row[start:end], wide[start:end], strict=True)
            )
            yield (_painted(head, "soft", colour) + "".join(cells)).rstrip()
        start = end
        if start < len(wide):
            yield ""


def _short(name: str) -> str:
    """The end of a long name says more than its beginning."""
    return name if columns(name) <= 16 else "…" + name[-15:]


def _plain(word: str) -> str:
    """A word may hold control characters, and a terminal would obey them."""
    return "".join(map(_harmless, word)) or "�"


def _harmless(character: str) -> str:
    """Joiners are parts of words in Persian, Indian scripts and emoji; other characters without width can go."""
    kind = unicodedata.category(character)
    if character.isprintable() or kind == "Zs" or character in _JOINERS:
        return character
    return "" if kind == "Cf" else "�"


def _painted(text: str, look: str, colour: bool) -> str:
    return f"{_COLOURS[look]}{text}{_RESET}" if colour and look else text
