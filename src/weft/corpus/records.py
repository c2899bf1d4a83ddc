"""What is read and written for each line of a corpus, and chunks of lines: the unit of work.

A pair's scores depend in the last digit on the pairs it is batched with. So every engine cuts the same chunks from the
same file, and their results are equal byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import FormatError
from weft.text.fields import PairFields
from weft.text.files import ending
from weft.text.lines import FilePath, OnError, display_name
from weft.text.links import LinkFormat, json_links, line_writer
from weft.text.other_fields import UNKNOWN, WRITTEN, WRITTEN_RAW, OtherFields
from weft.text.pair_formats import PairFormat
from weft.text.pairs import NOTHING, PLAIN, read_text_pairs, words_of
from weft.text.segment import Segmented, Segmenter
from weft.text.tables import HEADING
from weft.text.watches import SplitWatch
from weft.types import Alignment, SentencePair, Words

if TYPE_CHECKING:
    from weft.encoding.subwords import TokenizedPairs


class OutputFormat(StrEnum):
    """How links are written."""

    PHARAOH = "pharaoh"
    JSONL = "jsonl"
    WORDS = "words"
    NAACL = "naacl"


# Pharaoh is talp without possible links, so a name that ends in .talp needs nothing else.
_BY_ENDING = {"json": OutputFormat.JSONL, "jsonl": OutputFormat.JSONL, "naacl": OutputFormat.NAACL}


def format_named(path: str) -> OutputFormat:
    """The format in which links are written to a file of this name, unless another is chosen."""
    return _BY_ENDING.get(ending(path), OutputFormat.PHARAOH)


class Record(NamedTuple):
    """One input line: its words, where they stand in the text if it was raw, and its other fields if it had names.

    A named tuple, because there is one for each line of a corpus.
    """

    pair: SentencePair
    texts: tuple[str | Words, str | Words] | None = None
    segmented: tuple[Segmented, Segmented] | None = None
    extra: Mapping[str, Any] | None = None


_HEADING = Record(NOTHING)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Records that follow each other and are encoded together; `first` is the first one's line number, from 1.

    Where another process has already cut them into subwords (`tokenized`), only the number of `lines` is left of them,
    and how many of those are `headings`: they name the columns of a table.
    """

    first: int
    lines: int
    records: Sequence[Record] = ()
    tokenized: TokenizedPairs | None = None
    headings: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """What lines came to in numbers.

    Attributes:
        lines: the lines themselves.
        long_sentences: sentences that were too long for the encoder at once.
        unknown_lines: lines in which the model cannot read more than a third of a side's words.
        linked_lines: lines that have a link.
        headings: lines that name the columns of a table.
        term_lines: lines whose source has a term.
    """

    lines: int = 0
    long_sentences: int = 0
    unknown_lines: int = 0
    linked_lines: int = 0
    headings: int = 0
    term_lines: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Those of both together."""
        return Counts(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class AlignedChunk:
    """What became of a chunk whose first line has the number `first`: the output's bytes, and what it came to.

    `missing_terms` are those that a line's source has and its target has not, each with the line's number.
    """

    first: int
    output: bytes
    counts: Counts
    missing_terms: tuple[tuple[int, str], ...] = ()


def read_records(
    path: FilePath,
    target: FilePath | None,
    *,
    format: PairFormat,
    fields: PairFields = PLAIN,
    keep_extra: bool = False,
    segmenters: tuple[Segmenter, Segmenter] | None,
    on_error: OnError,
) -> Iterator[Record]:
    """Read pairs, one record a line.

    Args:
        path: the pairs, or the source side; `-` is stdin.
        target: the target side, if it is in a file of its own.
        format: how a line holds its pair.
        fields: the names of columns or fields.
        keep_extra: keep what a line says besides its pair.
        segmenters: for raw text, what cuts each side into words.
        on_error: told of each line that holds no pair; it gets an empty record.
    """
    texts = read_text_pairs(path, target, format=format, fields=fields, on_error=on_error)
    watch = SplitWatch(path)
    others = OtherFields(path, WRITTEN_RAW if segmenters else WRITTEN, sometimes=[UNKNOWN]) if keep_extra else None
    for number, text in enumerate(texts, start=1):
        sides, other_fields = text
        extra = others.kept(other_fields, sides) if others else None
        if sides is None:
            yield _HEADING if text is HEADING else Record(NOTHING, extra=extra)
            continue
        if segmenters is None:
            if not watch.done:
                watch.look(sides)
            yield Record(SentencePair(words_of(sides[0]), words_of(sides[1])), extra=extra)
        else:
            source, other = (_segment(side, cut) for side, cut in zip(sides, segmenters, strict=True))
            if source.words and other.words:
                yield Record(SentencePair(source.words, other.words), sides, (source, other), extra)
            else:
                on_error(FormatError(display_name(path), number, "one side has no words, only spaces."))
                yield Record(NOTHING, extra=extra)
    watch.finish()


def _segment(side: str | Words, cut: Segmenter) -> Segmented:
    """Words that the file lists already stay as they are, and have no place in a text."""
    return cut(side) if isinstance(side, str) else Segmented(side, ())


def cut_records(records: Iterable[Record], words: int) -> Iterator[Chunk]:
    """Cut records into chunks of about as many words, at the places where `Aligner.stream` cuts."""
    from weft.aligner import cut_into_chunks

    first = 1
    for chunk in cut_into_chunks(records, words, attrgetter("pair")):
        yield Chunk(first, len(chunk), chunk, headings=sum(record is _HEADING for record in chunk))
        first += len(chunk)


def record_writer(format: OutputFormat, *, scores: bool) -> Callable[[Sequence[Record], Sequence[Alignment], int], str]:
    """How records and their alignments become lines (several a record for NAACL), given the first one's number."""
    write_one: Callable[[Record, Alignment], str] = _words_line if format is OutputFormat.WORDS else _json_line
    plain = LinkFormat.PHARAOH_SCORES if scores else LinkFormat.PHARAOH
    write_links = line_writer(LinkFormat.NAACL if format is OutputFormat.NAACL else plain)

    def write(records: Sequence[Record], alignments: Sequence[Alignment], first: int) -> str:
        if format in (OutputFormat.WORDS, OutputFormat.JSONL):
            lines = map(write_one, records, alignments)
        else:
            lines = map(write_links, alignments, range(first, first + len(alignments)))
        return "\n".join([*lines, ""])

    return write


def _words_line(record: Record, alignment: Alignment) -> str:
    pair = record.pair
    line = " ".join(f"{pair.source[link.source]}<sep>{pair.target[link.target]}" for link in alignment.links)
    return line.replace("\n", " ")  # JSON words may hold line ends, and lines must stay lines


def _json_line(record: Record, alignment: Alignment) -> str:
    line: dict[str, object] = dict(record.extra or {})
    line |= {"source": record.pair.source, "target": record.pair.target, **json_links(alignment)}
    if record.texts and record.segmented:
        for side, text, segmented in zip(("source", "target"), record.texts, record.segmented, strict=True):
            if isinstance(text, str):
                line[f"{side}_text"] = text
                line[f"{side}_offsets"] = segmented.offsets
    return json.dumps(line, ensure_ascii=False)
