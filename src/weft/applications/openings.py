"""Opening marks, such as the `¡` of Spanish and brackets: a tag stands before one, not between it and its word."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.applications.projection import Projected, Run, Span
from weft.text.segment import Segmented

_BRACKETS = "¡! ¿? () [] {} ⟨⟩ （） ［］ ｛｝ 「」 『』 【】 《》 〈〉 〔〕 〖〗"  # noqa: RUF001
# Which of these opens and which closes is a matter of the language.
_QUOTES = '„“” ‚‘’ “” ‘’ ”” ’’ «» »«» ‹› ›‹› ""'  # noqa: RUF001
_CLOSING = {marks[0]: marks[1:] for marks in f"{_BRACKETS} {_QUOTES}".split()}
# They may have a blank behind them: « oui », and text that is split into words.
_SPACED = frozenset(_BRACKETS).union("«‹")  # noqa: RUF001
# What a quotation mark may follow where it opens: dashes, and scripts without blanks with their punctuation.
_BEFORE_QUOTE = re.compile(r"[\s\u2010-\u2015\u3000-\u9fff\uff00-\uffef-]")


@dataclass(frozen=True, slots=True)
class Openings:
    """The opening marks of both sides, each of them a text and its words."""

    source: tuple[str, Segmented]
    target: tuple[str, Segmented]

    def before(self, place: int, boundary: int) -> int:
        """Where something without words goes that would stand between an opening mark and its word.

        A mark that stands before it in the source too, between the words at `boundary`, stays before it.
        """
        kept = _kinds_before(self.source, boundary)
        while (signs := _opening(self.target, place)) and not kept.intersection(map(_kind, signs)):
            place -= 1
        return place

    def pulled_in(self, spans: Sequence[Span], found: Sequence[Projected]) -> list[Projected]:
        """Places with the opening marks right before them whose closing marks are inside.

        Another place that ends in such a mark ends before it.
        """
        placed = [list(place.runs) for place in found]
        ending: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, place in enumerate(found):
            for part, run in enumerate(place.runs):
                ending[run[1]].append((number, part))
        for number, (span, place) in enumerate(zip(spans, found, strict=True)):
            kept = _kinds_before(self.source, span.start)
            for part, run in enumerate(place.runs):
                start = self._start(run, kept)
                rivals = [rival for end in range(start + 1, run[0] + 1) for rival in ending[end]]
                if all(placed[rival][which][0] < start for rival, which in rivals):
                    placed[number][part] = (start, run[1])
                    for rival, which in rivals:
                        placed[rival][which] = (placed[rival][which][0], start)
        return [replace(place, runs=tuple(runs)) for place, runs in zip(found, placed, strict=True)]

    def _start(self, run: Run, kept: frozenset[str]) -> int:
        """Where a run starts with its opening marks."""
        start, end = run
        while start < end and (signs := _opening(self.target, start)):
            if kept.intersection(map(_kind, signs)):
                break
            inside = "".join(word for word in self.target[1].words[start:end] if not any(map(str.isalnum, word)))
            if not all(_closes(sign, inside) for sign in signs):
                break
            start -= 1
        return start


def _kind(sign: str) -> str:
    return "quote" if sign in _QUOTES else sign


def _kinds_before(side: tuple[str, Segmented], place: int) -> frozenset[str]:
    """The kinds of opening marks that stand right before a word."""
    kinds: set[str] = set()
    while signs := _opening(side, place):
        kinds.update(map(_kind, signs))
        place -= 1
    return frozenset(kinds)


def _opening(side: tuple[str, Segmented], place: int) -> str:
    """The opening marks that are the word before a place, if they belong to the word behind it."""
    text, segmented = side
    if not 0 < place < len(segmented.words):
        return ""
    (start, end), (following, _) = segmented.offsets[place - 1 : place + 1]
    signs = text[start:end]
    if not signs or any(sign not in _CLOSING for sign in signs):
        return ""
    if end < following and (text[end:following].strip() or signs[-1] not in _SPACED):
        return ""
    if unicodedata.category(text[following]) in ("Pe", "Pf"):
        return ""  # nothing is within the marks
    before = text[max(start - 1, 0) : start]
    if signs[0] in _QUOTES and before and before not in _CLOSING and not _BEFORE_QUOTE.match(before):
        return ""
    return signs


def _closes(sign: str, inside: str) -> bool:
    """Whether the mark that closes one is among some signs behind it."""
    depth = 1
    for other in inside:
        if other in _CLOSING[sign]:
            depth -= 1
        elif other == sign:
            depth += 1
        if not depth:
            return True
    return False
