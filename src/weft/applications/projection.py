"""Labels of one sentence to its translation: spans of words through links to spans of words.

Three questions have to be decided. What if words of the other side are claimed by two labels? What if the words of a
label do not stand together there? What if they have no links at all? `project_spans` answers them alike for columns,
spans and markup; docs/applications.md states the rules for users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from sys import maxsize
from typing import NamedTuple

from weft.types import Alignment

Run = tuple[int, int]
"""Neighbouring words: the first and the one behind the last."""


# For `dense`: what a word between two words of a span costs, if it has no links, and if its links lead elsewhere.
_WEIGHTS = (-0.25, -1.0)


class Gaps(StrEnum):
    """How to place a label whose words are not contiguous on the other side."""

    FILL = "fill"
    LONGEST = "longest"
    SPLIT = "split"
    DENSE = "dense"


class Span(NamedTuple):
    """A label on the words from `start` up to `end`, which is the first word after the label."""

    start: int
    end: int
    label: str = ""


class Reason(StrEnum):
    """Why a label, or a part of it, is not on the other side."""

    NO_WORD = "the label covers no word"
    NO_LINKS = "its words have no links"
    TAKEN = "its words belong to another label"
    APART = "a part that is not contiguous"
    NO_PLACE = "the format has no place for it here"
    EMPTY = "its words have no links, and the format cannot write it without words"
    NOT_TRANSLATED = "the translation leaves out this text"
    INSERTED = "the translation lacks this placeholder; its code is in the nearest place"
    NEARBY = "its words have no links; it is in the nearest place"


@dataclass(frozen=True, slots=True)
class Projected:
    """The place of a span on the other side, and the parts of it that were left out."""

    runs: tuple[Run, ...] = ()
    reason: Reason | None = None
    left_out: tuple[Run, ...] = ()


class _Claim(NamedTuple):
    """How strongly a span wants a word: by the number of its links, then by their scores, then the earlier span."""

    links: int
    score: float
    earliness: int


def project_spans(
    spans: Sequence[Span], alignment: Alignment, *, gaps: Gaps | str = Gaps.FILL, max_gap: int = 1
) -> list[Projected]:
    """Find the place of each span on the target side of `alignment`. The result has the order of `spans`.

    Two spans that share no source word share no target word either: if both claim a word, the stronger claim wins.
    Spans that overlap in the source (nested elements) may also overlap in the target.

    Args:
        spans: labels over source words.
        alignment: links from the labelled side to the other side.
        gaps: `fill` joins a span across every gap. `longest` keeps the run with the most linked words. `split` keeps
            all runs. `dense` keeps the run in which the span's own words most outweigh others, so that one wrong link
            far away does not stretch the span. No span reaches across a word of another span.
        max_gap: for `longest` and `split`, gaps of up to this many words are ignored.
    """
    linked: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for link in alignment.links:
        linked[link.source].append((link.target, 1.0 if link.score is None else link.score))
    claims = [_claims(span, linked) for span in spans]
    owned = _settled(spans, claims)
    owners: defaultdict[int, _Extent] = defaultdict(_Extent)
    for span, words in zip(spans, owned, strict=True):
        for word in words:
            owners[word].add(span)
    limit = None if gaps in (Gaps.FILL, Gaps.DENSE) else max_gap
    elsewhere = {link.target for link in alignment.links}
    placed = []
    for span, claimed, words in zip(spans, claims, owned, strict=True):
        if words:
            runs = _runs(span, words, owners, limit)
            if gaps == Gaps.DENSE:
                placed.append(_densest(runs, claimed, elsewhere, span.end - span.start))
            else:
                placed.append(_placed(runs, Gaps(gaps)))
        else:
            placed.append(Projected(reason=_why_nowhere(span, claimed)))
    return placed


def _claims(span: Span, linked: Mapping[int, Iterable[tuple[int, float]]]) -> dict[int, _Claim]:
    claims: dict[int, _Claim] = {}
    for source in range(span.start, span.end):
        for target, score in linked.get(source, ()):
            known = claims.get(target, _Claim(0, 0.0, -span.start))
            claims[target] = _Claim(known.links + 1, known.score + score, -span.start)
    return claims


def _settled(spans: Sequence[Span], claims: Sequence[dict[int, _Claim]]) -> list[list[int]]:
    """The target words that each span gets, in order."""
    claimants: defaultdict[int, list[int]] = defaultdict(list)
    for number, claimed in enumerate(claims):
        for word in claimed:
            claimants[word].append(number)
    owned: list[list[int]] = [[] for _ in spans]
    for word in sorted(claimants):
        stronger = _Extent()
        for number in sorted(claimants[word], key=lambda number: claims[number][word], reverse=True):
            if not stronger.leaves_out(spans[number]):
                owned[number].append(word)
            stronger.add(spans[number])
    return owned


class _Extent:
    """Some spans, known by what tells whether one of them lies apart from another span; they may be thousands."""

    def __init__(self) -> None:
        self._first_end = maxsize
        self._last_start = -1

    def add(self, span: Span) -> None:
        self._first_end = min(self._first_end, span.end)
        self._last_start = max(self._last_start, span.start)

    def leaves_out(self, span: Span) -> bool:
        """Whether one of the spans has no word in common with this one."""
        return self._first_end <= span.start or self._last_start >= span.end


def _runs(span: Span, words: Sequence[int], owners: Mapping[int, _Extent], limit: int | None) -> list[list[int]]:
    """The words in runs; a gap is bridged if it is short enough and no word in it belongs to a rival."""
    runs = [[words[0]]]
    for word, following in pairwise(words):
        short = limit is None or following - word - 1 <= limit
        between = (owners[other] for other in range(word + 1, following) if other in owners)
        if short and not any(extent.leaves_out(span) for extent in between):
            runs[-1].append(following)
        else:
            runs.append([following])
    return runs


def _placed(runs: Sequence[Sequence[int]], gaps: Gaps) -> Projected:
    spanned = [(run[0], run[-1] + 1) for run in runs]
    if gaps is Gaps.SPLIT or len(runs) == 1:
        return Projected(tuple(spanned))
    best = max(range(len(runs)), key=lambda number: (len(runs[number]), -number))
    left_out = tuple(run for number, run in enumerate(spanned) if number != best)
    return Projected((spanned[best],), Reason.APART, left_out)


def _densest(runs: Sequence[Sequence[int]], claimed: Mapping[int, _Claim], linked: Set[int], length: int) -> Projected:
    """The run with the greatest sum of weights: a span's own words count for it, the words of others against it.

    `length` decides between equals: the run that is as long as the span is on its own side.
    """
    best: tuple[tuple[float, int, int], Run] | None = None
    for words in runs:
        own, begin, total = set(words), words[0], 0.0
        for word in range(words[0], words[-1] + 1):
            weight = claimed[word].score / claimed[word].links if word in own else _WEIGHTS[word in linked]
            if total < 0:
                begin, total = word, 0.0
            total += weight
            rank = (round(total, 6), -abs(word + 1 - begin - length), -begin)
            if word in own and begin in own and (best is None or rank > best[0]):
                best = (rank, (begin, word + 1))
    assert best is not None, "every run has a first word of its own"
    start, end = best[1]
    left_out = tuple((word, word + 1) for words in runs for word in words if not start <= word < end)
    return Projected((best[1],), Reason.APART if left_out else None, left_out)


def _why_nowhere(span: Span, claimed: Mapping[int, _Claim]) -> Reason:
    if span.start >= span.end:
        return Reason.NO_WORD
    return Reason.TAKEN if claimed else Reason.NO_LINKS
