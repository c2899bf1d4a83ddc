"""Whole files of labels through links: columns, JSON records and tags; and the list of labels that found no place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from weft.applications import columns
from weft.applications.columns import Scheme, column_of, read_columns, recognise_scheme
from weft.applications.linked import LinkFile, with_links
from weft.applications.projection import Gaps, Projected, Reason, Span, project_spans
from weft.applications.spans import Unit, read_span_records, write_spans
from weft.applications.tagging import BAD_MARKUP, project_markup, read_markup
from weft.errors import FormatError
from weft.extraction.scores import Scores
from weft.text.cells import RowWriter, tab_row
from weft.text.fields import PairFields
from weft.text.lines import FilePath, OnError, decode, display_name, read_lines, read_two_together
from weft.text.pairs import PLAIN, PairReader
from weft.text.segment import Segmenter
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.aligner import Aligner

# So many sentences are looked at before the first label is written in the scheme that they use.
_LOOKED_AT = 1000
# What is listed although the label has a place.
_PLACED = (Reason.APART, Reason.NEARBY)


class Listing:
    """Counts labels, and writes those that found no place as a table: sentence, label, start, end, words, why."""

    def __init__(
        self, write: Callable[[bytes], object] | None = None, *, what: str = "labels", row: RowWriter = tab_row
    ) -> None:
        self._write = write
        self._row = row
        self._what = what
        self._total = 0
        self._reasons: Counter[Reason] = Counter()

    def add(self, sentence: int, spans: Sequence[Span], places: Sequence[Projected], words: Sequence[str]) -> None:
        """Take note of the labels of one sentence; `words` are those of the labelled side."""
        self._total += len(spans)
        for span, place in zip(spans, places, strict=True):
            if place.reason is None:
                continue
            self._reasons[place.reason] += 1
            if self._write is not None:
                text = " ".join(words[span.start : span.end])
                cells = (str(sentence), span.label, str(span.start), str(span.end), text, str(place.reason))
                self._write(self._row(cells).encode())

    def summary(self) -> Iterator[str]:
        """Sentences that say how many labels found no place or not quite theirs, and why."""
        parts, nearby = self._reasons[Reason.APART], self._reasons[Reason.NEARBY]
        lost = [(reason, count) for reason, count in self._reasons.most_common() if reason not in _PLACED]
        if lost:
            why = "; ".join(f"{count:,}: {reason}" for reason, count in lost)
            yield f"{sum(count for _, count in lost):,} of {self._total:,} {self._what} could not be placed ({why})."
        if nearby:
            yield f"{nearby:,} of {self._total:,} {self._what} have no links and were put in the nearest place."
        if parts:
            yield f"{parts:,} of {self._total:,} {self._what} lost a part that is not contiguous."


@dataclass(frozen=True, slots=True)
class Projector:
    """What the three ways have in common: links, words, rules, and where troubles are noted."""

    links: LinkFile | Aligner
    segmenters: tuple[Segmenter, Segmenter]
    gaps: Gaps
    max_gap: int
    reverse: bool
    on_error: OnError
    listing: Listing

    @property
    def labelled(self) -> str:
        """The side of the links that the labels are on."""
        return "target" if self.reverse else "source"

    def from_labels(self, alignment: Alignment) -> Alignment:
        """The links seen from the labelled side."""
        return alignment.swapped() if self.reverse else alignment

    def place(self, spans: Sequence[Span], alignment: Alignment) -> list[Projected]:
        """Where spans of the labelled side go."""
        return project_spans(spans, self.from_labels(alignment), gaps=self.gaps, max_gap=self.max_gap)


def project_columns(
    projector: Projector, path: FilePath, other: FilePath, numbers: tuple[int, int], scheme: Scheme
) -> Iterator[str]:
    """Columns of the other side: a word and its label a line, a blank line after each sentence."""
    on_error, listing = projector.on_error, projector.listing
    tagged = read_columns(path, word_column=numbers[0], label_column=numbers[1], on_error=on_error)
    if scheme is Scheme.AUTO:
        first = list(islice(tagged, _LOOKED_AT))
        scheme = recognise_scheme(sentence.labels for sentence in first)
        tagged = chain(first, tagged)
    cut = projector.segmenters[0 if projector.reverse else 1]
    names = (f"{display_name(path)} (a blank line ends a sentence)", display_name(other))
    rows = read_two_together(names, tagged, _sentences(other, cut, on_error))

    def pair_of(row: tuple[columns.Tagged, tuple[str, ...]]) -> SentencePair:
        return SentencePair(row[1], row[0].words) if projector.reverse else SentencePair(row[0].words, row[1])

    joined = with_links(rows, pair_of, projector.links, name=names[0], scores=Scores.CALIBRATED)
    for number, ((sentence, words), alignment) in enumerate(joined, start=1):
        places = projector.place(sentence.spans, alignment)
        listing.add(number, sentence.spans, places, sentence.words)
        moved = (
            Span(*run, span.label) for span, place in zip(sentence.spans, places, strict=True) for run in place.runs
        )
        column = column_of(moved, len(words), scheme)
        yield "".join(f"{word}{sentence.separator}{label}\n" for word, label in zip(words, column, strict=True)) + "\n"


def _sentences(path: FilePath, cut: Segmenter, on_error: OnError) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            words = cut(decode(line, path, number)).words
            if not words:
                raise FormatError(display_name(path), number, "the line is blank; expected a sentence.")
        except FormatError as error:
            on_error(error)
            words = ()
        yield words


def project_records(
    projector: Projector, path: FilePath, unit: Unit, fields: PairFields = PLAIN, spans_field: str | None = None
) -> Iterator[str]:
    """The records, each with the spans of the other side added."""
    records = read_span_records(
        path,
        labelled=projector.labelled,
        unit=unit,
        segmenters=projector.segmenters,
        fields=fields,
        spans_field=spans_field,
        on_error=projector.on_error,
    )
    joined = with_links(
        records, lambda record: record.pair, projector.links, name=display_name(path), scores=Scores.CALIBRATED
    )
    for number, (record, alignment) in enumerate(joined, start=1):
        places = projector.place(record.spans, alignment)
        words = record.pair.target if projector.reverse else record.pair.source
        projector.listing.add(number, record.spans, places, words)
        runs = [place.runs for place in places]
        yield write_spans(record, runs, labelled=projector.labelled, unit=unit) + "\n"


def project_tags(projector: Projector, path: FilePath, other: FilePath | None, reader: PairReader) -> Iterator[str]:
    """The other side's text with the tags in it."""
    if other is not None and projector.reverse:
        path, other = other, path  # files are named labels first, links and pairs source first
    records = read_markup(
        path,
        other,
        format=reader.format,
        fields=reader.fields,
        labelled=projector.labelled,
        segmenters=projector.segmenters,
        on_error=projector.on_error,
    )
    joined = with_links(
        records, lambda record: record.pair, projector.links, name=display_name(path), scores=Scores.CALIBRATED
    )
    for number, (record, alignment) in enumerate(joined, start=1):
        if record is BAD_MARKUP:
            yield "\n"
            continue
        links = projector.from_labels(alignment)
        tagged = project_markup(record, links, gaps=projector.gaps, max_gap=projector.max_gap)
        projector.listing.add(number, tagged.spans, tagged.projected, record.tagged.words)
        yield tagged.line + "\n"
