"""Where tags go that links alone do not place: judged by the words around them."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from weft.applications.arranging import CLOSING, Point
from weft.applications.markup import Element
from weft.applications.projection import Projected, Run, Span
from weft.types import Alignment

_BLANKS = re.compile(r"\s*")


class Surroundings:
    """The words of both sides and the links between them.

    Links between a word and a punctuation mark are left out here: they say nothing about places.
    """

    def __init__(self, source: Sequence[str], target: Sequence[str], alignment: Alignment) -> None:
        self._words = [any(map(str.isalnum, word)) for word in source], [any(map(str.isalnum, word)) for word in target]
        self._target = target
        self._linked = {link.source for link in alignment.links}, {link.target for link in alignment.links}
        source_words, target_words = self._words
        self._links = [
            (link.source, link.target)
            for link in alignment.links
            if source_words[link.source] == target_words[link.target]
        ]
        # How many words, without punctuation, stand before each place.
        self._before = [0, *accumulate(map(int, source_words))]

    def place(self, boundary: int, *, leads: bool = False) -> int:
        """Where something between two source words goes: behind what precedes it, or before what follows it.

        Of two neighbours that are equally near, the one before counts, or with `leads` the one behind.

        Only words count for how near a neighbour is, so that a mark after `1998,` stays with 1998 where the comma is
        gone, and one before a full stop stays before it.
        """
        if boundary in (0, len(self._words[0])):
            return 0 if boundary == 0 else len(self._target)
        here, distances = self._before[boundary], self._before
        before = [(here - distances[source], target + 1) for source, target in self._links if source < boundary]
        after = [(distances[source + 1] - here, target) for source, target in self._links if source >= boundary]
        if before and (not after or min(before)[0] < min(after)[0] + (not leads)):
            nearest = min(before)[0]
            return max(place for distance, place in before if distance == nearest)
        return min(after)[1] if after else len(self._target)

    def break_place(self, boundary: int) -> int:
        """Where a line break goes: what stood before it stays before it, as far as any place allows."""
        usual = self.place(boundary)
        if boundary in (0, len(self._words[0])):
            return usual
        size = len(self._target)
        # A word that belongs before the break counts against every place up to it, another one against all behind it.
        costs = [0] * (size + 2)
        for source, target in self._links:
            if source < boundary:
                costs[0] += 1
                costs[target + 1] -= 1
            else:
                costs[target + 1] += 1
        costs = list(accumulate(costs))[: size + 1]
        least = min(costs)
        best = [place for place in range(size + 1) if costs[place] == least]
        return min(best, key=lambda place: (self._begins_with_closing(place), abs(place - usual)))

    def _begins_with_closing(self, place: int) -> bool:
        return place < len(self._target) and unicodedata.category(self._target[place][0]) in CLOSING

    def nearest(self, span: Span, *, may_be_empty: bool) -> Run:
        """Where the words of a span without links would stand.

        Words without links that stand there are taken for its translation. If there are none, the span is empty; one
        that must not be takes the next word.
        """
        words, length = len(self._target), span.end - span.start
        linked = self._linked[1]
        start = end = self.place(span.start)
        while end < words and end not in linked and end - start < length:
            end += 1
        while start > 0 and start - 1 not in linked and end - start < length:
            start -= 1
        if start == end and words and not may_be_empty:
            return (start, start + 1) if start < words else (start - 1, start)
        return (start, end)

    def whole(self, span: Span) -> Run | None:
        """The whole other side, if a span covers all words of its own; punctuation outside it stays outside."""
        words = self._words[0]
        if not self._target or any(words[: span.start]) or any(words[span.end :]):
            return None
        start, end = 0, len(self._target)
        while start < min(span.start, end) and not self._words[1][start]:
            start += 1
        while len(self._target) - end < len(words) - span.end and end > start and not self._words[1][end - 1]:
            end -= 1
        return (start, end) if start < end else None

    def widened(self, span: Span, place: Projected) -> Projected:
        """A place with words without links behind it that can only be its own.

        So it is where the span reaches up to punctuation on its own side, every other word since the last punctuation
        mark has links, and the words without links reach up to punctuation as well. Words before the place are mostly
        prepositions, and seldom meant: they are taken in only if the span began at punctuation too.
        """
        if place.reason is not None or len(place.runs) != 1:
            return place
        source = self._words[0]
        [(start, end)] = place.runs
        first = span.start
        while first > 0 and source[first - 1]:
            first -= 1
        if any(source[span.end : span.end + 1]) or not self._linked[0].issuperset(range(first, span.start)):
            return place
        room = span.end - span.start
        if first == span.start:
            start -= self._free(range(start - 1, -1, -1), room)
        return Projected(((start, end + self._free(range(end, len(self._target)), room)),))

    def _free(self, places: range, room: int) -> int:
        """How many words without links come first, if punctuation or nothing follows them; none if they are many."""
        number = 0
        for place in places:
            if place in self._linked[1] or not self._words[1][place]:
                return number if number <= room and not self._words[1][place] else 0
            number += 1
        return number if number <= room else 0


def behind_neighbours(
    points: Iterable[Point], placed: Sequence[tuple[Element, Run]], parents: Mapping[int, int], text: str
) -> list[Point]:
    """Points with those that stood where an element ends, as note marks do, where it ends now.

    By links alone, a mark would stay with the last word of the phrase, wherever that goes in it. One that leads a word
    goes with that instead.

    Args:
        points: elements without words, with their places by links.
        placed: elements with the words that they got, outer ones first.
        parents: the id of the element around each, by the id of that.
        text: the text in which they stood.
    """
    ending: defaultdict[int, list[tuple[Element, Run]]] = defaultdict(list)
    for element, run in placed:
        if element.start < element.end and run[0] < run[1]:
            ending[_behind_blanks(text, element.end)].append((element, run))
    known: dict[tuple[int, int | None], Sequence[Run]] = {}
    moved = []
    for point in points:
        key = _behind_blanks(text, point.element.start), point.parent
        if key not in known:
            known[key] = _runs_of_neighbour(ending[key[0]], point.parent, parents)
        moved.append(point if point.element.breaking or point.leads else _behind(point, known[key]))
    return moved


def _behind_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _runs_of_neighbour(
    ending: Sequence[tuple[Element, Run]], parent: int | None, parents: Mapping[int, int]
) -> Sequence[Run]:
    """The words of the outermost element that ended before a point, or of the one that it is in if that ends there."""
    around, outer = set(), parent
    while ending and outer is not None:
        around.add(outer)
        outer = parents.get(outer)
    ended = [id(element) for element, _ in ending if id(element) not in around]
    neighbour = ended[0] if ended else parent
    return [run for element, run in ending if id(element) == neighbour]


def _behind(point: Point, runs: Sequence[Run]) -> Point:
    """A point behind words, or behind those of several runs that it is in."""
    if not runs:
        return point
    return point._replace(place=next((end for start, end in runs if start <= point.place <= end), runs[-1][1]))
