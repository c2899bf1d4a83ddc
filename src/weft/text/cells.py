"""Rows of tables as text: tabs between the cells, or CSV where a file's name says so."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence

from weft.text.lines import FilePath
from weft.text.rows import is_csv

RowWriter = Callable[[Sequence[str]], str]

_NUMBER = re.compile(r"[+-]?[0-9.]+")
_BETWEEN_CELLS = re.compile(r"[\t\r\n]")


def row_writer(path: FilePath) -> RowWriter:
    """What makes rows of a file with this name: CSV if it ends in .csv, also compressed, otherwise tabs."""
    return csv_row if is_csv(path) else tab_row


def protected(row: RowWriter) -> RowWriter:
    """The same, but no cell of CSV is a formula.

    It is for tables that people look at, not for sentence pairs, which must be read back as they were.
    """
    return (lambda cells: csv_row(list(map(no_formula, cells)))) if row is csv_row else row


def no_formula(cell: str) -> str:
    """A spreadsheet would run a cell that begins with = + - or @; an apostrophe makes it text again."""
    return f"'{cell}" if len(cell) > 1 and cell[0] in "=+-@\t\r" and not _NUMBER.fullmatch(cell) else cell


def tab_row(cells: Sequence[str]) -> str:
    """A row with tabs and its end; a tab or a line end within a cell becomes a space, as cells must stay cells."""
    return "\t".join(_BETWEEN_CELLS.sub(" ", cell) for cell in cells) + "\n"


def csv_row(cells: Sequence[str]) -> str:
    """A row of CSV with its end; cells are quoted where they need it."""
    out = io.StringIO()
    # Programs guess whether commas or semicolons separate the cells, and weft does so too.
    dialect = "unix" if any(";" in cell for cell in cells) else "excel"  # "unix" quotes all cells
    # With this line end the module quotes carriage returns as well; ours is a newline, as everywhere in weft.
    csv.writer(out, dialect, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"
