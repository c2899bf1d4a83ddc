"""Whole files of labels through links: columns, JSON records and tags; and the list of labels that found no place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os.path import isfile
from typing import TYPE_CHECKING, TypeVar

from weft.applications import columns
from weft.applications.columns import (
    Scheme,
    column_of,
    has_columns,
    labels_of_words,
    read_columns,
    recognise_scheme,
)
from weft.applications.linked import LinkFile, with_links
from weft.applications.projection import Gaps, Projected, Reason, Span, project_spans
from weft.applications.spans import Unit, read_span_records, write_spans, write_tags
from weft.applications.tagging import BAD_MARKUP, project_markup, read_markup
from weft.errors import FormatError, WeftError
from weft.extraction.scores import Scores
from weft.text.cells import RowWriter, csv_row, tab_row
from weft.text.lines import FilePath, OnError, decode, display_name, read_lines, read_two_together
from weft.text.pairs import PairReader
from weft.text.segment import Segmenter
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.aligner import Aligner

T = TypeVar("T")

# So many sentences are looked at before the first label is written in the scheme that they use.
_LOOKED_AT = 1000
# What is listed although the label has a place.
_PLACED = (Reason.APART, Reason.NEARBY, Reason.INSERTED)


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
        if write is not None and row is csv_row:  # a table with tabs has no names of columns
            write(row(("sentence", what.removesuffix("s"), "start", "end", "words", "reason")).encode())

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
        if inserted := self._reasons[Reason.INSERTED]:
            yield (
                f"placeholders missing from the translation: {inserted:,}. Their codes were put in the nearest place; "
                "check these sentences."
            )
        if nearby:
            yield f"{nearby:,} of {self._total:,} {self._what} have no links and were put in the nearest place."
        if parts:
            kept = f"{parts:,} of {self._total:,} {self._what} could be carried over only in part"
            yield f"{kept}, because other words come in between."


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
    try:
        yield from _projected_columns(projector, path, other, numbers, scheme)
    except WeftError as error:
        if all(map(isfile, (path, other))) and has_columns(other) and not has_columns(path):
            raise WeftError(f"{error} Are the files swapped? The labelled file comes first.") from error
        raise


def _projected_columns(
    projector: Projector, path: FilePath, other: FilePath, numbers: tuple[int, int], scheme: Scheme
) -> Iterator[str]:
    scheme, tagged = _looked_at(projector, path, numbers, scheme)
    cut = projector.segmenters[0 if projector.reverse else 1]
    names = (f"{display_name(path)} (a blank line ends a sentence)", display_name(other))
    sentences = _sentences(other, cut, projector.on_error)
    first = list(islice(sentences, 1))
    starts_too = any(words[:1] == (columns.DOCUMENT_START,) for words in first)
    with_starts = (("", sentence) for sentence in tagged) if starts_too else _with_starts(tagged)
    rows = read_two_together(names, with_starts, chain(first, sentences))

    def pair_of(row: tuple[tuple[str, columns.Tagged], tuple[str, ...]]) -> SentencePair:
        (_, sentence), words = row
        return SentencePair(words, sentence.words) if projector.reverse else SentencePair(sentence.words, words)

    joined = with_links(rows, pair_of, projector.links, name=names[0], scores=Scores.CALIBRATED)
    for number, (((before, sentence), words), alignment) in enumerate(joined, start=1):
        column = _column(projector, sentence, len(words), alignment, scheme, number)
        lines = (f"{word}{sentence.separator}{label}\n" for word, label in zip(words, column, strict=True))
        yield f"{before}{''.join(lines)}\n"


def _column(
    projector: Projector, sentence: columns.Tagged, length: int, alignment: Alignment, scheme: Scheme, number: int
) -> list[str]:
    """The labels of the other side's words."""
    if scheme is Scheme.WORD:
        return labels_of_words(sentence.labels, length, projector.from_labels(alignment))
    places = projector.place(sentence.spans, alignment)
    projector.listing.add(number, sentence.spans, places, sentence.words)
    moved = (Span(*run, span.label) for span, place in zip(sentence.spans, places, strict=True) for run in place.runs)
    return column_of(moved, length, scheme)


def _looked_at(
    projector: Projector, path: FilePath, numbers: tuple[int, int], scheme: Scheme
) -> tuple[Scheme, Iterator[columns.Tagged]]:
    """The scheme to write, and the sentences of a file.

    Raises:
        WeftError: Every line of the first sentences is bad, so that this is another kind of file or column.
    """
    of_words = scheme is Scheme.WORD
    hint = "" if of_words else " For labels of single words, such as parts of speech, set `scheme` to word."
    first, tagged = _looked_into(
        lambda on_error: read_columns(
            path, word_column=numbers[0], label_column=numbers[1], of_words=of_words, on_error=on_error
        ),
        lambda sentence: 0 if sentence.starts_document else len(sentence.words),
        projector.on_error,
        f"`word_column` and `label_column` choose columns.{hint}",
    )
    if scheme is Scheme.AUTO:
        scheme = recognise_scheme(sentence.labels for sentence in first if not sentence.starts_document)
    return scheme, tagged


def _looked_into(
    read: Callable[[OnError], Iterator[T]], lines_in: Callable[[T], int], on_error: OnError, advice: str = ""
) -> tuple[list[T], Iterator[T]]:
    """The first items of a file, and all of its items.

    Raises:
        WeftError: Every line of the first items is bad, so that this is another kind of file, column or field.
    """
    held: list[FormatError] = []  # until it is clear that not all lines are bad
    hear: OnError = held.append
    items = read(lambda error: hear(error))
    first = list(islice(items, _LOOKED_AT))
    if held and len(held) >= sum(map(lines_in, first)):
        raise WeftError(f"{held[0]} No line can be read this way. {advice}".rstrip())
    hear = on_error
    for error in held:
        hear(error)
    return first, chain(first, items)


def _with_starts(tagged: Iterator[columns.Tagged]) -> Iterator[tuple[str, columns.Tagged]]:
    """Sentences, each with what is written before it: lines that say that a document begins, which are no sentences."""
    before = ""
    for sentence in tagged:
        if sentence.starts_document:
            before += f"{sentence.words[0]}{sentence.separator}{sentence.labels[0]}\n\n"
        else:
            yield before, sentence
            before = ""


def _sentences(path: FilePath, cut: Segmenter, on_error: OnError) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            text = decode(line, path, number)
            words = (columns.DOCUMENT_START,) if text.strip() == columns.DOCUMENT_START else cut(text).words
            if not words:
                raise FormatError(display_name(path), number, "the line is blank; expected a sentence.")
        except FormatError as error:
            on_error(error)
            words = ()
        yield words


def project_records(
    projector: Projector,
    path: FilePath,
    unit: Unit,
    reader: PairReader,
    spans_field: str | None = None,
    scheme: Scheme = Scheme.AUTO,
) -> Iterator[str]:
    """The records, each with the spans of the other side added; where it has tags, with those, written in a scheme."""
    first, records = _looked_into(
        lambda on_error: read_span_records(
            path,
            labelled=projector.labelled,
            unit=unit,
            segmenters=projector.segmenters,
            fields=reader.fields,
            spans_field=spans_field,
            of_words=scheme is Scheme.WORD,
            raw=reader.split is not None,
            on_error=on_error,
        ),
        lambda record: 1,
        projector.on_error,
    )
    if scheme is Scheme.AUTO:
        scheme = recognise_scheme(record.tags for record in first)
    joined = with_links(
        records, lambda record: record.pair, projector.links, name=display_name(path), scores=Scores.CALIBRATED
    )
    for number, (record, alignment) in enumerate(joined, start=1):
        words = record.pair.target if projector.reverse else record.pair.source
        if record.tags:
            tagged = columns.Tagged(words, record.tags, record.spans)
            column = _column(projector, tagged, len(record.other.words), alignment, scheme, number)
            yield write_tags(record, column, labelled=projector.labelled) + "\n"
            continue
        places = projector.place(record.spans, alignment)
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
        projector.listing.add(number, tagged.spans, tagged.projected, tagged.words)
        yield tagged.line + "\n"
