"""Formats of sentence pairs, and how a line of each is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from weft.errors import SettingError
from weft.text.fields import JsonlParser, PairFields, TextPair
from weft.text.json_objects import is_json_object
from weft.text.rows import GETTEXT
from weft.text.tables import TableParser

NO_FORMAT = "expected 'source ||| target'"
"""How the message about a line in no format begins."""
# The bars come first in the pattern, so that the search for them is one for a plain string.
_BARS = re.compile(r"\|\|\|(?<![^ \t]\|\|\|)(?![^ \t])")


class PairFormat(StrEnum):
    """How sentence pairs are written; `auto` looks at the lines themselves."""

    AUTO = "auto"
    BARS = "bars"
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"


TABLES = (PairFormat.TSV, PairFormat.CSV)


class PairParser:
    """Parses lines of one file; with the format `auto` it finds the format out as it goes."""

    def __init__(self, format: PairFormat, fields: PairFields, *, named_csv: bool = False) -> None:
        self.fields = fields
        self._otherwise = PairFormat.CSV if named_csv else None
        self._guessing = format is PairFormat.AUTO
        self._parsers: dict[PairFormat, Callable[[str], TextPair]] = {
            PairFormat.BARS: _parse_bars,
            PairFormat.TSV: TableParser(fields, csv=False),
            PairFormat.CSV: TableParser(fields, csv=True),
            PairFormat.JSONL: JsonlParser(fields),
        }
        self._format = format
        self._parse = self._parsers.get(format)

    @property
    def reads_table(self) -> bool:
        """Whether lines are read as rows of TSV or CSV."""
        return self._format in TABLES

    @property
    def row(self) -> Sequence[str]:
        """The cells of the last row of a table."""
        return self._parse.row if isinstance(self._parse, TableParser) else ()

    def parse(self, text: str) -> TextPair:
        """Parse one line; every way it can fail is a ValueError."""
        # One odd line with a tab at the start must not spoil a file of bars.
        if self._guessing and (self._parse is None or (self._format is PairFormat.TSV and "\t" not in text)):
            self._format = recognised(text) or (self._otherwise if text.strip() else None) or self._format
            self._parse = self._parsers.get(self._format)
        return self._parse(text) if self._parse else _no_format(text)


def recognised(text: str) -> PairFormat | None:
    """The format of a line, if the line itself tells it."""
    if text.startswith("{") and text.rstrip().endswith("}") and is_json_object(text):
        return PairFormat.JSONL
    if _BARS.search(text):
        return PairFormat.BARS
    return PairFormat.TSV if "\t" in text.strip() else None


def _no_format(text: str) -> TextPair:
    if not text.strip(" \t"):
        return TextPair(("", ""))
    if text.startswith('msgid "'):
        raise SettingError(GETTEXT)  # one sentence for the whole file
    if "|||" in text:
        raise ValueError("the bars need a space on both sides: 'source ||| target'.")
    if text.lstrip().startswith("["):
        raise ValueError("expected a JSON object on each line, found an array. For one object per line: jq -c '.[]'.")
    raise ValueError(f"{NO_FORMAT}, two columns separated by a tab, or a JSON object. CSV needs `input_format` csv.")


def _parse_bars(text: str) -> TextPair:
    sides = text.split(" ||| ") if text.count("|||") == 1 else []
    if len(sides) != 2:  # an unusual line
        sides = _BARS.split(text)
    if len(sides) == 2:
        return TextPair((sides[0].strip(" \t"), sides[1].strip(" \t")))
    if not text.strip(" \t"):
        return TextPair(("", ""))
    raise ValueError(f"expected one ' ||| ' separator, found {len(sides) - 1}.")
