"""What `weft align` carries along for each line, from reading it to writing its links."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from weft.errors import FormatError
from weft.text.lines import OnError, Path, display_name
from weft.text.links import LinkFormat, json_links, line_writer
from weft.text.pairs import NOTHING, PairFormat, read_texts, words_of
from weft.text.segment import Segmented, Segmenter
from weft.types import Alignment, SentencePair, Words


class OutputFormat(StrEnum):
    """How `weft align` writes links."""

    PHARAOH = "pharaoh"
    JSONL = "jsonl"
    WORDS = "words"
    NAACL = "naacl"


@dataclass(frozen=True, slots=True)
class Record:
    """One input line: its words, and where they stand in the text if it was raw."""

    pair: SentencePair
    texts: tuple[str | Words, str | Words] | None = None
    segmented: tuple[Segmented, Segmented] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes without the detour that frozen dataclasses take."""
        return Record, (self.pair, self.texts, self.segmented)


def read_records(
    path: Path,
    target: Path | None,
    *,
    format: PairFormat,
    segmenters: tuple[Segmenter, Segmenter] | None,
    on_error: OnError,
) -> Iterator[Record]:
    """Read pairs, one record a line; with segmenters the text is raw and is cut into words here."""
    for number, sides in enumerate(read_texts(path, target, format=format, on_error=on_error), start=1):
        if sides is None:
            yield Record(NOTHING)
        elif segmenters is None:
            yield Record(SentencePair(words_of(sides[0]), words_of(sides[1])))
        else:
            source, other = (_segment(side, cut) for side, cut in zip(sides, segmenters, strict=True))
            if source.words and other.words:
                yield Record(SentencePair(source.words, other.words), sides, (source, other))
            else:
                on_error(FormatError(display_name(path), number, "a side holds no words, only blanks."))
                yield Record(NOTHING)


def _segment(side: str | Words, cut: Segmenter) -> Segmented:
    """Words that the file lists already stay as they are, and have no place in a text."""
    return cut(side) if isinstance(side, str) else Segmented(side, ())


def record_writer(format: OutputFormat, *, scores: bool) -> Callable[[Record, Alignment, int], str]:
    """How one record and its alignment become a line (several for NAACL), without the end."""
    if format is OutputFormat.WORDS:
        return lambda record, alignment, _: _words_line(record.pair, alignment)
    if format is OutputFormat.JSONL:
        return lambda record, alignment, _: json.dumps(_json_record(record, alignment), ensure_ascii=False)
    plain = LinkFormat.PHARAOH_SCORES if scores else LinkFormat.PHARAOH
    write = line_writer(LinkFormat.NAACL if format is OutputFormat.NAACL else plain)
    return lambda _, alignment, number: write(alignment, number)


def _words_line(pair: SentencePair, alignment: Alignment) -> str:
    line = " ".join(f"{pair.source[link.source]}<sep>{pair.target[link.target]}" for link in alignment.links)
    return line.replace("\n", " ")  # JSON words may hold line ends, and lines must stay lines


def _json_record(record: Record, alignment: Alignment) -> dict[str, object]:
    line: dict[str, object] = {"source": record.pair.source, "target": record.pair.target, **json_links(alignment)}
    if record.texts and record.segmented:
        for side, text, segmented in zip(("source", "target"), record.texts, record.segmented, strict=True):
            if isinstance(text, str):
                line[f"{side}_text"] = text
                line[f"{side}_offsets"] = segmented.offsets
    return line
