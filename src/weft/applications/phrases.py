"""Phrase pairs that agree with the links (Och and Ney 2004), and the phrase table that Moses reads.

A pair of phrases is consistent if at least one link joins them and no link leads from one of them out of the other.
Words without links at the edges of a phrase may belong to it or not: every choice is a phrase pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import NamedTuple

from weft.applications.lexicon import LexicalWeights
from weft.applications.sorting import ROWS_IN_MEMORY, Row, sorted_rows
from weft.types import Alignment, SentencePair, WordPair

_KNOWN_WEIGHTS = 1 << 16
BARS = "|||"
"""What separates the fields of a phrase table."""
_BLANKS = frozenset(" \t\n")


class Box(NamedTuple):
    """A phrase pair by its words: source from `top` up to `bottom`, target from `left` up to `right`, ends excluded."""

    top: int
    bottom: int
    left: int
    right: int


def consistent_boxes(alignment: Alignment, source_length: int, target_length: int, max_length: int) -> Iterator[Box]:
    """Every consistent phrase pair with at most `max_length` words on each side, by source, then target."""
    rows: list[list[int]] = [[] for _ in range(source_length)]
    columns: list[list[int]] = [[] for _ in range(target_length)]
    for link in alignment.links:
        rows[link.source].append(link.target)
        columns[link.target].append(link.source)
    for top in range(source_length):
        left, right = target_length, 0
        for bottom in range(top + 1, min(top + max_length, source_length) + 1):
            for target in rows[bottom - 1]:
                left, right = min(left, target), max(right, target + 1)
            if left < right and right - left > max_length:
                break
            if left < right and _stays_within(columns, left, right, top, bottom):
                yield from _widened(columns, top, bottom, left, right, max_length)


def _stays_within(columns: list[list[int]], left: int, right: int, top: int, bottom: int) -> bool:
    return all(top <= source < bottom for target in range(left, right) for source in columns[target])


def _widened(columns: list[list[int]], top: int, bottom: int, left: int, right: int, max_length: int) -> Iterator[Box]:
    """The smallest target phrase, and all that add words without links at its edges."""
    first = left
    while first > 0 and not columns[first - 1] and right - first < max_length:
        first -= 1
    for start in range(first, left + 1):
        end = right
        while end - start <= max_length:
            yield Box(top, bottom, start, end)
            if end == len(columns) or columns[end]:
                break
            end += 1


@dataclass(frozen=True, slots=True)
class PhrasePair:
    """A line of the phrase table. `links` are word indices within the phrases; counts are numbers of occurrences."""

    source: str
    target: str
    links: tuple[WordPair, ...]
    source_given_target: float
    source_weight: float
    target_given_source: float
    target_weight: float
    source_count: int
    target_count: int
    count: int

    def moses(self) -> str:
        """The line as Moses writes it: p(s|t), lex(s|t), p(t|s), lex(t|s); counts of target, source and both."""
        scores = (self.source_given_target, self.source_weight, self.target_given_source, self.target_weight)
        fields = (
            self.source,
            self.target,
            " ".join(f"{score:.6g}" for score in scores),
            " ".join(f"{source}-{target}" for source, target in self.links),
            f"{self.target_count} {self.source_count} {self.count}",
        )
        return f" {BARS} ".join(fields)


class PhraseTable:
    """Collects phrase pairs sentence by sentence. Sorting takes place on disk, so memory use is bounded."""

    def __init__(self, *, max_length: int = 7, min_count: int = 1, in_memory: int = ROWS_IN_MEMORY) -> None:
        self._max_length = max_length
        self._min_count = min_count
        self._in_memory = in_memory

    def entries(self, sentences: Iterable[tuple[SentencePair, Alignment]]) -> Iterator[PhrasePair]:
        """Yield the phrase pairs, sorted by source, then target. The whole corpus is read before the first."""
        self._weights = LexicalWeights()
        # Asked for after all sentences were counted, and mostly about the same words again and again.
        self._of_source = lru_cache(_KNOWN_WEIGHTS)(self._weights.of_source)
        self._of_target = lru_cache(_KNOWN_WEIGHTS)(self._weights.of_target)
        by_target = sorted_rows(self._extracted(sentences), in_memory=self._in_memory)
        by_source = sorted_rows(self._with_target_counts(by_target), in_memory=self._in_memory)
        for source, group in groupby(by_source, key=lambda row: row[0]):
            yield from self._scored(source, group)

    def _extracted(self, sentences: Iterable[tuple[SentencePair, Alignment]]) -> Iterator[Row]:
        """(target, source, links) for every occurrence."""
        for pair, alignment in sentences:
            self._weights.add(pair, alignment)
            rows: list[list[int]] = [[] for _ in pair.source]
            for link in alignment.links:
                rows[link.source].append(link.target)
            for box in consistent_boxes(alignment, len(pair.source), len(pair.target), self._max_length):
                # A consistent box holds all links of its rows.
                links = [
                    f"{row - box.top}-{word - box.left}" for row in range(box.top, box.bottom) for word in rows[row]
                ]
                yield (
                    " ".join(pair.target[box.left : box.right]),
                    " ".join(pair.source[box.top : box.bottom]),
                    " ".join(links),
                )

    def _with_target_counts(self, rows: Iterable[Row]) -> Iterator[Row]:
        """(source, target, most frequent links, count of both, count of target)."""
        for target, group in groupby(rows, key=lambda row: row[0]):
            total = 0
            found = []
            for source, occurrences in groupby(group, key=lambda row: row[1]):
                links = Counter(row[2] for row in occurrences)
                count = links.total()
                total += count
                found.append((source, min(links, key=lambda text: (-links[text], text)), count))
            for source, text, count in found:
                yield (source, target, text, str(count), str(total))

    def _scored(self, source: str, group: Iterable[Row]) -> Iterator[PhrasePair]:
        rows = list(group)
        source_count = sum(int(row[3]) for row in rows)
        for _, target, text, count, target_count in rows:
            if int(count) >= self._min_count:
                links = tuple(_link(item) for item in text.split(" "))
                weights = self._lexical_weights(source.split(" "), target.split(" "), links)
                yield PhrasePair(
                    source,
                    target,
                    links,
                    int(count) / int(target_count),
                    weights[0],
                    int(count) / source_count,
                    weights[1],
                    source_count,
                    int(target_count),
                    int(count),
                )

    def _lexical_weights(self, source: list[str], target: list[str], links: Iterable[WordPair]) -> tuple[float, float]:
        """How likely the words are translations of each other, one by one: lex(s|t) and lex(t|s)."""
        of_source: list[tuple[str, ...]] = [()] * len(source)
        of_target: list[tuple[str, ...]] = [()] * len(target)
        for one, other in links:
            of_source[one] += (target[other],)
            of_target[other] += (source[one],)
        return prod(map(self._of_source, source, of_source)), prod(map(self._of_target, target, of_target))


def _link(text: str) -> WordPair:
    source, target = text.split("-")
    return int(source), int(target)


def unfit_word(pair: SentencePair, *, bars: bool = False) -> str | None:
    """A word that a phrase table cannot hold: one with a blank in it or, unless `bars` may be words, its separator."""
    for word in (*pair.source, *pair.target):
        if (word == BARS and not bars) or not word or not _BLANKS.isdisjoint(word):
            return word
    return None
