"""What is read and written for each line of a corpus, and chunks of lines: the unit of work.

A pair's scores depend in the last digit on the pairs it is batched with. So every engine cuts the same chunks from the
same file, and their results are equal byte for byte.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import FormatError
from weft.text.fields import PairFields, Sides
from weft.text.lines import FilePath, OnError, display_name
from weft.text.links import LinkFormat, json_links, line_writer, links_of_record
from weft.text.pair_formats import PairFormat
from weft.text.pairs import NOTHING, PLAIN, read_text_pairs, words_of
from weft.text.segment import Segmented, Segmenter
from weft.text.tables import HEADING
from weft.text.watches import SplitWatch
from weft.types import Alignment, SentencePair, Words

if TYPE_CHECKING:
    from weft.encoding.subwords import TokenizedPairs

logger = logging.getLogger(__name__)

# What weft writes itself: such fields of an earlier run are not kept. In raw text, it always writes `_RAW_FIELDS`; it
# never writes `sure`, but would read it as links.
_LINK_FIELDS = ("links", "sure", "possible")
_RAW_FIELDS = ("source_text", "source_offsets", "target_text", "target_offsets")
_UNKNOWN = "unknown"
_OWN_FIELDS = frozenset({"source", "target", *_LINK_FIELDS, "score", _UNKNOWN, *_RAW_FIELDS})


class OutputFormat(StrEnum):
    """How links are written."""

    PHARAOH = "pharaoh"
    JSONL = "jsonl"
    WORDS = "words"
    NAACL = "naacl"


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
    others = _OtherFields(path, raw=segmenters is not None)
    for number, text in enumerate(texts, start=1):
        sides, other_fields = text
        extra = others.kept(other_fields, sides) if keep_extra else None
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


class _OtherFields:
    """What a line says besides its pair. What weft replaces is left out; a user's own fields not without a word."""

    def __init__(self, path: FilePath, *, raw: bool) -> None:
        self._path = path
        self._replaced = {"source", "target", *_LINK_FIELDS, "score", *(_RAW_FIELDS if raw else ())}
        self._named: set[str] = set()

    def kept(self, fields: dict[str, Any], sides: Sides | None) -> dict[str, Any]:
        """The fields that weft does not write. All of an earlier run are old, also those that are not written again.

        Args:
            fields: all of a line but its pair.
            sides: the pair.
        """
        if _OWN_FIELDS.isdisjoint(fields):
            return fields
        if _is_from_weft(fields, sides):
            return {name: value for name, value in fields.items() if name not in _OWN_FIELDS}
        self._warn([name for name in fields if name in self._replaced or name == _UNKNOWN])
        return {name: value for name, value in fields.items() if name not in self._replaced}

    def _warn(self, names: Sequence[str]) -> None:
        if self._named.issuperset(names):
            return
        self._named.update(names)
        shown = [f"{name} (in lines where weft writes one)" if name == _UNKNOWN else name for name in names]
        logger.warning(
            "%s: weft writes fields with these names itself, so yours are lost: %s. To keep them, rename them before "
            "you align.",
            display_name(self._path),
            ", ".join(shown),
        )


def _is_from_weft(fields: dict[str, Any], sides: Sides | None) -> bool:
    """Whether a record has links as weft writes them, beside words. An empty list is in everybody's form."""
    try:
        links = links_of_record(fields)
    except ValueError:
        return False
    listed = any(name in fields for name in _LINK_FIELDS) and (sides is None or isinstance(sides[0], tuple))
    return bool(links) or listed


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
