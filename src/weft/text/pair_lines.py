"""Sentence pairs as lines that are written: bars, TSV, CSV and JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from weft.errors import FormatError
from weft.text.cells import csv_row
from weft.text.json_objects import shorten
from weft.text.pair_formats import TABLES, PairFormat, PairParser
from weft.text.pairs import NOTHING, PLAIN, split_sides
from weft.types import SentencePair


def format_pair(pair: SentencePair, format: PairFormat | str = PairFormat.BARS) -> str:
    """Write one pair as a line without its end; raises ValueError if the format cannot hold the words."""
    if format == PairFormat.JSONL:
        return format_record(pair, {})
    if pair == NOTHING:
        return ""
    sides = (" ".join(pair.source), " ".join(pair.target))
    separator = " ||| " if format == PairFormat.BARS else "\t"
    line = csv_row(sides)[:-1] if format == PairFormat.CSV else separator.join(sides)
    if "\n" in line or line.endswith("\r") or _reread(line, PairFormat(format)) != pair:
        raise ValueError(f"the words of {shorten(line)} cannot be written as {format}; write jsonl instead.")
    return line


def format_record(pair: SentencePair, others: Mapping[str, Any]) -> str:
    """Write one pair as JSON, behind the other fields of its line."""
    return json.dumps({**others, "source": pair.source, "target": pair.target}, ensure_ascii=False)


@cache
def _plain_parser(format: PairFormat) -> PairParser:
    parser = PairParser(format, PLAIN)
    if format in TABLES:  # only the first row could name columns
        parser.parse("a\tb" if format is PairFormat.TSV else "a,b")
    return parser


def _reread(line: str, format: PairFormat) -> SentencePair:
    return split_sides(_plain_parser(format).parse(line).sides)


def format_pairs(pairs: Iterable[SentencePair], format: PairFormat | str = PairFormat.BARS) -> Iterator[str]:
    """Write pairs as lines, each with its line end."""
    for number, pair in enumerate(pairs, start=1):
        try:
            yield format_pair(pair, format) + "\n"
        except ValueError as error:
            raise FormatError("output", number, str(error)) from error
