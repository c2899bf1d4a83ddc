"""Put the elements of one side's markup around the words of the other side, through links.

The result is a list of pieces, text and tags, in order. A line of markup is their concatenation; documents build
paragraphs of their own kind from them.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from weft.applications.arranging import CLOSING, OPENING, Piece, Point, Stretch, arranged, nested
from weft.applications.marks import mark_pairs, with_marks
from weft.applications.markup import Element, Markup, escape, parse_markup, plain_text
from weft.applications.openings import Openings
from weft.applications.parts import cut_alike
from weft.applications.placeholders import keep_placeholders, placeholders_whole, without_inner_blanks
from weft.applications.placing import Surroundings, behind_neighbours
from weft.applications.projection import Gaps, Projected, Reason, Run, Span, project_spans
from weft.applications.remapping import places, remap
from weft.applications.spans import split_at_blanks, words_in
from weft.text.fields import PairFields
from weft.text.lines import FilePath, OnError
from weft.text.pair_formats import PairFormat
from weft.text.pairs import NOTHING, PLAIN, read_texts
from weft.text.segment import Segmented, Segmenter
from weft.types import Alignment, SentencePair


@dataclass(frozen=True, slots=True)
class Tagged:
    """The other side with its new tags, and the elements with the places they got; `words` are what spans count."""

    pieces: tuple[Piece, ...]
    spans: tuple[Span, ...]
    projected: tuple[Projected, ...]
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """The text with its tags as a line of markup."""
        return "".join(escape(piece, quote=False) if isinstance(piece, str) else piece.literal for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class MarkupRecord:
    """One line: the side with tags, the plain side, both with their words, and the pair in the order of its links."""

    markup: Markup
    tagged: Segmented
    text: str
    plain: Segmented
    pair: SentencePair

    @classmethod
    def of(
        cls, markup: Markup, text: str, segmenters: tuple[Segmenter, Segmenter], *, reverse: bool = False
    ) -> MarkupRecord:
        """Split both sides into words.

        Args:
            markup: the side with tags.
            text: the other side.
            segmenters: how source and target are split.
            reverse: the tags are on the target side.
        """
        cut = tuple(reversed(segmenters)) if reverse else segmenters
        tagged, plain = cut[0](markup.text), cut[1](text)
        sides = (plain, tagged) if reverse else (tagged, plain)
        return cls(markup, tagged, text, plain, SentencePair(sides[0].words, sides[1].words))


BAD_MARKUP = MarkupRecord(Markup("", ()), Segmented((), ()), "", Segmented((), ()), NOTHING)
"""Stands for a line that holds no pair, so that line n of the output still belongs to line n of the input."""


def read_markup(
    path: FilePath,
    target: FilePath | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    fields: PairFields = PLAIN,
    labelled: str = "source",
    segmenters: tuple[Segmenter, Segmenter] = (split_at_blanks, split_at_blanks),
    on_error: OnError | None = None,
) -> Iterator[MarkupRecord]:
    """Stream sentence pairs of which one side, `labelled`, holds tags; bad lines are treated as `read_pairs` does."""
    for sides in read_texts(path, target, format=format, fields=fields, on_error=on_error):
        if sides is None:
            yield BAD_MARKUP
            continue
        texts = [side if isinstance(side, str) else " ".join(side) for side in sides]
        number = 0 if labelled == "source" else 1
        markup, text = parse_markup(texts[number]), plain_text(texts[1 - number])
        yield MarkupRecord.of(markup, text, segmenters, reverse=number == 1)


def project_markup(
    record: MarkupRecord, alignment: Alignment, *, gaps: Gaps | str = Gaps.DENSE, max_gap: int = 1
) -> Tagged:
    """Put the elements of the tagged side into the plain side; `alignment` leads from tagged to plain.

    An element around the whole sentence stays around the whole sentence. One without words (`<img/>`) goes behind the
    translation of the word or element before it, or before that of the word it leads, and a line break between what
    stood before it and what followed. Other elements go where `project_spans` puts them. If that is nowhere, they go to
    the nearest place, and the result says so: no element is lost.
    """
    record, alignment = _with_whole_placeholders(record, alignment)
    record, alignment, marks = _with_marks(record, alignment)
    record, alignment = _with_parts(record, alignment)
    around_it = Surroundings(record.tagged.words, record.plain.words, alignment)
    filled, empty = _with_and_without_words(record)
    instead = _instead_of_words(record, [element for element, _ in empty])
    taken = {id(element) for element in instead.values()}
    spans = [span for _, span in filled]
    found = project_spans(spans, alignment, gaps=gaps, max_gap=max_gap)
    found = [
        _settled(*item, place, around_it, lambda span: project_spans([span], alignment, gaps=gaps)[0])
        for item, place in zip(filled, found, strict=True)
    ]
    if gaps == Gaps.DENSE:
        found = [
            place if (element.start, element.end) in marks else around_it.widened(span, place)
            for (element, span), place in zip(filled, found, strict=True)
        ]
    found = _not_within_their_kind([element for element, _ in filled], found)
    openings = Openings((record.markup.text, record.tagged), (record.text, record.plain))
    found = openings.pulled_in([span for _, span in filled], found)
    around = [(element, run) for (element, _), place in zip(filled, found, strict=True) for run in place.runs]
    tags, cut_short = nested(around)
    loose = [(element, boundary) for element, boundary in empty if id(element) not in taken]
    points = [_outside_its_kind(point, tags) for point in _points(record, loose, around, around_it, openings)]
    pieces = arranged(record.text, record.plain.offsets, tags, points, instead)
    found = [
        replace(place, reason=Reason.APART) if id(element) in cut_short and place.reason is None else place
        for (element, _), place in zip(filled, found, strict=True)
    ]
    inserted = [element for element, _ in loose if element.stands_for]
    noted = list(_noted(record, filled, found, inserted))
    projected = tuple(place for _, place in noted)
    return Tagged(tuple(pieces), tuple(span for span, _ in noted), projected, record.tagged.words)


def _noted(
    record: MarkupRecord,
    filled: Sequence[tuple[Element, Span]],
    found: Sequence[Projected],
    inserted: Sequence[Element],
) -> Iterator[tuple[Span, Projected]]:
    """What a report is to look at: elements with words, tags nobody understood, and placeholders nobody translated."""
    for (element, span), place in zip(filled, found, strict=True):
        if not element.minor:
            yield span, place
    for tag in record.markup.strays:
        yield Span(0, 0, tag), Projected(reason=Reason.NO_WORD)
    for element in inserted:
        words = words_in(record.tagged.offsets, element.start, element.end)
        yield Span(*words, element.name), Projected(reason=Reason.INSERTED)


def _with_whole_placeholders(record: MarkupRecord, alignment: Alignment) -> tuple[MarkupRecord, Alignment]:
    """The same with each placeholder as one word that is linked with itself, so that no tag gets into it."""
    tagged = placeholders_whole(record.markup.text, record.tagged)
    plain = placeholders_whole(record.text, record.plain)
    if tagged is not record.tagged or plain is not record.plain:
        sides = (record.tagged, tagged), (record.plain, plain)
        alignment = remap(alignment, *(places(old.offsets, new.offsets) for old, new in sides))
        record = replace(record, tagged=tagged, plain=plain)
    return record, keep_placeholders(tagged.words, plain.words, alignment)


def _with_marks(record: MarkupRecord, alignment: Alignment) -> tuple[MarkupRecord, Alignment, set[Run]]:
    """The same with note marks that both sides have as words of their own, and which characters those are."""
    texts, words = (record.markup.text, record.text), (record.tagged, record.plain)
    pairs = mark_pairs(record.markup.elements, texts, words, alignment)
    tagged, plain, alignment = with_marks(pairs, *words, alignment)
    return replace(record, tagged=tagged, plain=plain), alignment, {mark for mark, _ in pairs}


def _with_parts(record: MarkupRecord, alignment: Alignment) -> tuple[MarkupRecord, Alignment]:
    tagged, plain, alignment = cut_alike(record.markup.elements, record.tagged, record.plain, alignment)
    return replace(record, tagged=tagged, plain=plain), alignment


def _with_and_without_words(record: MarkupRecord) -> tuple[list[tuple[Element, Span]], list[tuple[Element, int]]]:
    """Elements with the words they cover, and those that cover none with the place between words where they stand."""
    filled: list[tuple[Element, Span]] = []
    empty: list[tuple[Element, int]] = []
    inside: set[int] = set()
    for element in record.markup.elements:
        start, end = words_in(record.tagged.offsets, element.start, element.end)
        if start < end and not element.stands_for:
            filled.append((element, Span(start, end, element.name)))
        elif id(element) not in inside:
            within_a_word = start < len(record.tagged.offsets) and record.tagged.offsets[start][0] < element.start
            empty.append((element, start + within_a_word))
            inside.update(id(child) for child in element.walk())
    return filled, empty


def _points(
    record: MarkupRecord,
    empty: Sequence[tuple[Element, int]],
    around: Sequence[tuple[Element, Run]],
    around_it: Surroundings,
    openings: Openings,
) -> list[Point]:
    """Elements without words, and those that got none, in the order in which they stood."""
    parents = {id(child): id(element) for element in record.markup.elements for child in element.children}
    points = [
        _placed(
            Point(element, boundary, parents.get(id(element)), _blanks(record.markup, element)), around_it, openings
        )
        for element, boundary in empty
    ]
    points += [
        Point(element, run[0], parents.get(id(element)), hollow=True) for element, run in around if run[0] == run[1]
    ]
    points.sort(key=lambda point: point.element.start)
    return behind_neighbours(points, around, parents, record.markup.text)


def _placed(point: Point, around_it: Surroundings, openings: Openings) -> Point:
    """A point between source words as one between those of the other side."""
    if point.element.breaking:
        place = around_it.break_place(point.place)
    else:
        place = around_it.place(point.place, leads=point.leads)
    # A placeholder is a word itself, and may well be within the marks.
    return point._replace(place=place if point.element.stands_for else openings.before(place, point.place))


def _outside_its_kind(point: Point, stretches: Sequence[Stretch]) -> Point:
    """A link without words, or an element that holds one, behind a link that it would stand in."""
    names = {item.name for item in point.element.walk() if not item.nests}
    around = [stretch for stretch in stretches if stretch.element.name in names]
    if not around:
        return point
    behind = (stretch.behind for stretch in around if stretch.start < point.place < stretch.behind)
    return point._replace(place=next(behind, point.place), parent=None)


def _instead_of_words(record: MarkupRecord, elements: Sequence[Element]) -> dict[int, Element]:
    """Elements whose placeholder the translation has as text, by the number of the word; each word serves once."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in reversed(list(enumerate(record.plain.words))):
        places[without_inner_blanks(word)].append(number)
    wanted = [(element, without_inner_blanks(element.stands_for)) for element in elements]
    return {places[name].pop(): element for element, name in wanted if name and places.get(name)}


def _settled(
    element: Element, span: Span, place: Projected, around_it: Surroundings, alone: Callable[[Span], Projected]
) -> Projected:
    """The place of an element for good, whatever became of its words; `alone` places it as if there were no others."""
    if whole := around_it.whole(span):
        return Projected((whole,))
    if place.runs:
        return place
    if place.reason is Reason.TAKEN and element.nests:
        # As a label its words are another's; as markup it may stand around them with the other.
        return alone(span)
    return Projected((around_it.nearest(span, may_be_empty=element.may_be_empty),), Reason.NEARBY)


def _not_within_their_kind(elements: Sequence[Element], found: Sequence[Projected]) -> list[Projected]:
    """The places of elements, where links do not stand within links: the second of two goes after the first, empty."""
    placed: list[Projected] = []
    taken: defaultdict[str, list[Run]] = defaultdict(list)
    for element, place in zip(elements, found, strict=True):
        if not element.nests:
            rivals = taken[element.name]
            free = tuple(run for run in place.runs if not any(run[0] < end and start < run[1] for start, end in rivals))
            if free != place.runs:
                place = Projected(free or (_after(place.runs[0], rivals),), Reason.NEARBY)
            rivals.extend(place.runs)
        placed.append(place)
    return placed


def _after(run: Run, rivals: Sequence[Run]) -> Run:
    """The first place after a run that is within no rival."""
    spot = max(end for start, end in rivals if start < run[1] and run[0] < end)
    while inside := [end for start, end in rivals if start < spot < end]:
        spot = max(inside)
    return (spot, spot)


def _blanks(markup: Markup, element: Element) -> tuple[bool, bool]:
    """Whether blanks, or the ends of the text, stand before and after an element without words, as around a word."""
    if element.breaking:
        return (False, False)
    before, after = markup.text[: element.start][-1:], markup.text[element.end : element.end + 1]
    # A placeholder is written as words are, with no blank between it and a bracket before it or a comma behind it.
    begins_word = bool(element.stands_for) and before in OPENING
    ends_word = bool(element.stands_for and after) and unicodedata.category(after) in CLOSING
    return (begins_word or not before.strip(), element.blank_behind or not after.strip() or ends_word)
