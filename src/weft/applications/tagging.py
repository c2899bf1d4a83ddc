"""Put the elements of one side's markup around the words of the other side, through links."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from weft.applications.markup import Element, Markup, escape, parse_markup, plain_text
from weft.applications.projection import Gaps, Projected, Reason, Run, Span, project_spans
from weft.applications.spans import split_at_blanks, words_in
from weft.text.lines import OnError, Path
from weft.text.pairs import NOTHING, PairFormat, read_texts
from weft.text.segment import Segmented, Segmenter
from weft.types import Alignment, SentencePair


@dataclass(frozen=True, slots=True)
class Tagged:
    """A line with its new tags, and the labels with the places they got."""

    line: str
    spans: tuple[Span, ...]
    projected: tuple[Projected, ...]


class _Part(NamedTuple):
    """An element, or a part of it, over the words of a run; `order` is that of the start tags in the source."""

    start: int
    behind: int
    order: int
    element: Element
    first: bool = True

    @property
    def rank(self) -> tuple[int, int, int]:
        """Earlier parts first, and outer before inner ones."""
        return (self.start, -self.behind, self.order)


class _Point(NamedTuple):
    """An element without words as it is written, and which element it was in."""

    written: str
    parent: int | None


@dataclass(frozen=True, slots=True)
class MarkupRecord:
    """One line: the side with tags, the plain side, both with their words, and the pair in the order of its links."""

    markup: Markup
    tagged: Segmented
    text: str
    plain: Segmented
    pair: SentencePair


_NO_WORDS = Segmented((), ())
BAD_MARKUP = MarkupRecord(Markup("", (), ()), _NO_WORDS, "", _NO_WORDS, NOTHING)
"""Stands for a line that holds no pair, so that line n of the output still belongs to line n of the input."""


def read_markup(
    path: Path,
    target: Path | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    labelled: str = "source",
    segmenters: tuple[Segmenter, Segmenter] = (split_at_blanks, split_at_blanks),
    on_error: OnError | None = None,
) -> Iterator[MarkupRecord]:
    """Stream sentence pairs of which one side, `labelled`, holds tags; bad lines are treated as `read_pairs` does."""
    for sides in read_texts(path, target, format=format, on_error=on_error):
        if sides is None:
            yield BAD_MARKUP
            continue
        texts = [side if isinstance(side, str) else " ".join(side) for side in sides]
        number = 0 if labelled == "source" else 1
        markup, text = parse_markup(texts[number]), plain_text(texts[1 - number])
        words = [cut(markup.text if side == number else text) for side, cut in enumerate(segmenters)]
        pair = SentencePair(words[0].words, words[1].words)
        yield MarkupRecord(markup, words[number], text, words[1 - number], pair)


def project_markup(
    record: MarkupRecord, alignment: Alignment, *, gaps: Gaps | str = Gaps.FILL, max_gap: int = 1
) -> Tagged:
    """Write the plain side with the elements of the tagged side in it; `alignment` leads from tagged to plain.

    An element around the whole sentence stays around the whole sentence. One without words (`<br/>`) goes behind the
    translation of the word before it. Other elements go where `project_spans` puts them.
    """
    markup, source, target = record.markup, record.tagged, record.plain
    filled: list[tuple[Element, Span]] = []
    empty: list[tuple[Element, int]] = []
    inside: set[int] = set()
    for element in markup.elements:
        start, end = words_in(source.offsets, element.start, element.end)
        if start < end:
            filled.append((element, Span(start, end, element.name)))
        elif id(element) not in inside:
            empty.append((element, start))
            inside.update(id(child) for child in element.walk())
    spans = tuple(span for _, span in filled)
    whole = ((0, len(source.words)), Projected(((0, len(target.words)),)))
    projected = [
        whole[1] if (span.start, span.end) == whole[0] and target.words else place
        for span, place in zip(spans, project_spans(spans, alignment, gaps=gaps, max_gap=max_gap), strict=True)
    ]
    parts = _nested((element, place.runs) for (element, _), place in zip(filled, projected, strict=True))
    parents = {id(child): id(element) for element in markup.elements for child in element.children}
    points: defaultdict[int, list[_Point]] = defaultdict(list)
    for element, boundary in empty:
        place = _place(boundary, alignment, len(source.words), len(target.words))
        points[place].append(_Point(element.whole(), parents.get(id(element))))
    line = "".join(_rendered(record.text, target.offsets, parts, points))
    strays = [Span(0, 0, tag) for tag in markup.strays]
    nowhere = [Projected(reason=Reason.NO_WORD)] * len(strays)
    return Tagged(line, (*spans, *strays), (*projected, *nowhere))


def _nested(placed: Iterable[tuple[Element, Sequence[Run]]]) -> list[_Part]:
    """Cut parts that cross another one, so that every two lie apart or one within the other; outer ones first."""
    waiting = [
        (part.rank, part)
        for order, (element, runs) in enumerate(placed)
        for part in (_Part(start, end, order, element, start == runs[0][0]) for start, end in runs)
    ]
    heapq.heapify(waiting)
    nested: list[_Part] = []
    around: list[_Part] = []
    while waiting:
        _, part = heapq.heappop(waiting)
        while around and around[-1].behind <= part.start:
            around.pop()
        if around and around[-1].behind < part.behind:
            cut = around[-1].behind
            rest = part._replace(start=cut, first=False)
            heapq.heappush(waiting, (rest.rank, rest))
            part = part._replace(behind=cut)
        nested.append(part)
        around.append(part)
    return nested


def _place(boundary: int, alignment: Alignment, source_length: int, target_length: int) -> int:
    """Where something between two source words goes: behind what precedes it, or before what follows it."""
    if boundary in (0, source_length):
        return 0 if boundary == 0 else target_length
    before = [(boundary - link.source, link.target + 1) for link in alignment.links if link.source < boundary]
    after = [(link.source + 1 - boundary, link.target) for link in alignment.links if link.source >= boundary]
    if before and (not after or min(before)[0] <= min(after)[0]):
        nearest = min(before)[0]
        return max(place for distance, place in before if distance == nearest)
    return min(after)[1] if after else target_length


def _rendered(
    text: str, offsets: Sequence[Run], parts: Sequence[_Part], points: Mapping[int, list[_Point]]
) -> Iterator[str]:
    opening: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    closing: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for part in parts:
        opening[part.start].append((id(part.element), part.element.opening(first=part.first)))
        closing[part.behind].insert(0, (id(part.element), part.element.closing()))
    position = 0
    for word, (start, end) in enumerate([*offsets, (len(text), len(text))]):
        waiting = list(points.get(word, ()))
        for element, tag in closing[word]:
            yield from _taken(waiting, {element})
            yield tag
        loose = _taken(waiting, {point.parent for point in waiting} - {element for element, _ in opening[word]})
        between = escape(text[position:start], quote=False)
        yield from [between, *loose] if word == 0 else [*loose, between]
        for element, tag in opening[word]:
            yield tag
            yield from _taken(waiting, {element})
        yield escape(text[start:end], quote=False)
        position = end


def _taken(waiting: list[_Point], parents: Set[int | None]) -> list[str]:
    """Take the points of some parents out of those that wait."""
    taken = [point.written for point in waiting if point.parent in parents]
    waiting[:] = [point for point in waiting if point.parent not in parents]
    return taken
