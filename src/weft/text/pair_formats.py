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

    def __init__(self, format: PairFormat, fields: PairFields, *, named: PairFormat | None = None) -> None:
        """`named` is the format that the file's name tells."""
        self.fields = fields
        self._named = named
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
        is_odd = self._format is PairFormat.TSV and "\t" not in text and self._named is not PairFormat.TSV
        if self._guessing and (self._parse is None or is_odd):
            otherwise = PairFormat.CSV if self._named is PairFormat.CSV and text.strip() else None
            self._format = recognised(text, self._named) or otherwise or self._format
            self._parse = self._parsers.get(self._format)
        try:
            return self._parse(text) if self._parse else _no_format(text)
        except ValueError as error:
            if self._guessing and self._format is PairFormat.BARS and (hint := self._other_format(text)):
                raise ValueError(f"{error} {hint}") from error
            raise

    def _other_format(self, text: str) -> str:
        """What to do about a line that is no line of bars, if another format would fit."""
        if _BARS.search(text) or not ("\t" in text.strip() or self._named is PairFormat.CSV):
            return ""
        format, between = ("tsv", "tabs") if "\t" in text else ("csv", "commas or semicolons")
        return (
            f"A line above has ' ||| ', so the file is read as bars; if {between} separate its columns, add "
            f"`input_format` {format}."
        )


def recognised(text: str, named: PairFormat | None = None) -> PairFormat | None:
    """The format of a line, if the line itself tells it. In a file named for tabs, bars beside them are text."""
    if text.startswith("{") and text.rstrip().endswith("}") and is_json_object(text):
        return PairFormat.JSONL
    has_tab = "\t" in text.strip()
    if _BARS.search(text) and not (has_tab and named is PairFormat.TSV):
        return PairFormat.BARS
    return PairFormat.TSV if has_tab else None


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
