"""Rows of TSV and CSV files: what separates their cells, and which columns hold the two sentences."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from weft.errors import SettingError
from weft.text.fields import SIDES, PairFields, TextPair

# Cells whose commas and semicolons do not separate anything.
_QUOTED = re.compile(r'(?:(?<=[,;])|^)"(?:[^"]|"")*"(?=[,;]|$)')
_WIDEST = 40  # whole sentences, where the first line has no names
# The first line of a CSV file may tell Excel what separates the cells.
_SEPARATOR = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)

# Columns of tables of sentence pairs, lexicons and phrase tables as weft writes them, after the first two.
_OWN_COLUMNS = {"count", "target_given_source", "source_given_target", "line", "source_example", "target_example"}

HEADING = TextPair(None)
"""Stands for the line of a table that names its columns, and for no other."""


class OneCellError(ValueError):
    """A row of a table has a single cell: no translation, or another separator than was expected."""


class TableParser:
    """Parses rows of TSV or CSV. If fields are named, the first row holds the names of the columns.

    Where columns are named by their order, the first row is no pair if it holds the same names; without any names, if
    it is one that weft writes itself. Cells of CSV are separated by commas, or by semicolons if the first row has more
    of them.
    """

    def __init__(self, fields: PairFields, *, csv: bool) -> None:
        self._fields = fields
        self._columns = fields.columns
        self._separator = "" if csv else "\t"
        self._csv = csv
        self._at_first_row = True
        self.row: Sequence[str] = ()
        """The cells of the row that was parsed last."""

    def __call__(self, text: str) -> TextPair:
        """The sentences of one row; a ValueError says what is wrong."""
        if not text.strip(" \t"):
            return TextPair(("", ""))
        if self._csv and self._at_first_row and (told := told_separator(text)):
            self._separator = told
            return HEADING
        self._separator = self._separator or csv_separator(text)
        if not self._csv and "\t" not in text:
            raise OneCellError("expected a tab between source and target, found none.")
        cells = self._cells(text)
        is_first, self._at_first_row = self._at_first_row, False
        self.row = cells
        if self._fields.source is not None and not self._columns:
            self._columns = self._headings(cells)
            return HEADING
        if is_first and (_are_names(cells, self._columns) if self._columns else _are_own_names(cells)):
            return HEADING
        if not self._columns:
            if len(cells) < 2:
                raise OneCellError(f"expected 2 columns separated by {self._separators}, found {len(cells)}.")
            return TextPair((cells[0], cells[1]))
        return self._fields.named(cells, self._columns, self._separators)

    @property
    def _separators(self) -> str:
        return {"\t": "tabs", ",": "commas", "|": "bars"}.get(self._separator, "semicolons")

    def _cells(self, text: str) -> list[str]:
        if not self._csv:
            return text.split("\t")
        try:
            cells = next(csv.reader([text], delimiter=self._separator, strict=True))
        except csv.Error as error:
            raise ValueError(f"this is not a row of CSV ({error}). A quoted cell never ends.") from error
        return [" ".join(cell.split("\n")) for cell in cells]

    def _headings(self, cells: list[str]) -> tuple[str, ...]:
        """The names of the columns, those of the sentences as `source` and `target`."""
        wanted = {str(self._fields.source).strip(): "source", str(self._fields.target).strip(): "target"}
        names = [cell.strip() for cell in cells]
        for name in wanted:
            if names.count(name) != 1:
                shown = [
                    cell if cell in wanted or len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…" for cell in names
                ]
                raise SettingError(_not_one_column(name, shown, [self._fields.source, self._fields.target]))
        if len(wanted) == 1:
            raise SettingError(
                f"`source_field` and `target_field` are both {self._fields.source}; choose two columns of the table: "
                f"{', '.join(names)}."
            )
        return tuple(wanted.get(name, name if name not in SIDES else f"{name}_column") or "-" for name in names)


def told_separator(text: str) -> str | None:
    """What separates the cells of a CSV file, if this is a line that only says so."""
    told = _SEPARATOR.fullmatch(text)
    return told[1] if told else None


def csv_separator(text: str) -> str:
    """What separates the cells of a CSV file with this first row."""
    between = _QUOTED.sub("", text)
    return told_separator(text) or (";" if between.count(";") > between.count(",") else ",")


def _are_names(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether a row calls columns what the user calls them; the two with sentences may be called anything else."""
    same = {
        name: cell.strip().lower() == name.strip().lower()
        for name, cell in zip(columns, cells, strict=False)
        if name != "-"
    }
    others = [same[name] for name in same if name not in SIDES]
    return len(cells) >= len(columns) and (all(others) if others else bool(same) and all(same.values()))


def _are_own_names(cells: Sequence[str]) -> bool:
    """Whether a row names columns exactly as weft does in tables that it writes."""
    return tuple(cells[:2]) == SIDES and _OWN_COLUMNS.issuperset(cells[2:])


def _not_one_column(name: str, names: Sequence[str], wanted: Sequence[str | None]) -> str:
    """What to say of a name that no column has, or several have."""
    count, found = names.count(name), f"its first line has {', '.join(names)}."
    if not count:
        given = [other for other in names if other]
        if len(given) < max(len(wanted), len(names) / 2):  # a title above the table
            there = ", ".join(given) or "empty cells"
            return (
                f"no column of the table is called {name}; its first line has only {there}. Delete the "
                "lines above the one with the names of the columns. Or delete that one too, and name all columns in "
                "their order with `columns`."
            )
        return (
            f"no column of the table is called {name}; its first line has {', '.join(given)}.{_nearest(name, given)} "
            "`source_field` and `target_field` must be names in that line."
        )
    example = "id,source,target"
    if count == len(wanted) and {name} == set(wanted):  # those two are meant
        sides = iter(SIDES)
        columns = [next(sides) if column == name else _as_column(column) for column in names]
        example = ",".join(columns) + ("; weft then skips that line" if {*columns} - {*SIDES, "-"} else "")
    return (
        f"{count} columns of the table are called {name}; {found} Name all columns in their order with `columns` "
        f"instead, as in {example}."
    )


def _nearest(name: str, names: Sequence[str]) -> str:
    """A name that differs in case alone, or else one that is spelt alike, as a question."""
    from difflib import get_close_matches  # only for a message

    close = [other for other in names if other.lower() == name.lower()] or get_close_matches(name, names, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _as_column(name: str) -> str:
    """A name as it can stand among others that are separated by commas."""
    return "-" if "," in name or not name or name in SIDES else name
