"""Which columns of a TSV or CSV file, or which fields of a JSONL file, hold the two sentences; the others are kept."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft.errors import SettingError
from weft.text.json_objects import HalfSurrogateError, parse_json_object, shorten
from weft.text.translations import (
    LanguageOrder,
    Languages,
    NoTextError,
    matching_language,
    no_text_in,
    translations_of,
)
from weft.types import Words

Sides = tuple[str | Words, str | Words]

_SIDES = ("source", "target")
# Cells whose commas and semicolons do not separate anything.
_QUOTED = re.compile(r'(?:(?<=[,;])|^)"(?:[^"]|"")*"(?=[,;]|$)')
_NUMBER = re.compile(r"[0-9]{1,9}")
_WIDEST = 40  # whole sentences, where the first line has no names
# The first line of a CSV file may tell Excel what separates the cells.
_SEPARATOR = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)


class NoPairError(ValueError):
    """Why a row holds no pair, together with what else the row says."""

    def __init__(self, message: str, extra: dict[str, Any]) -> None:
        super().__init__(message)
        self.extra = extra


class OneCellError(ValueError):
    """A row of a table has a single cell: no translation, or another separator than was expected."""


class TextPair(NamedTuple):
    """A sentence and its translation as a file holds them, with everything else its line says.

    Each side is text, or words where the file lists them. `sides` is None for a line that holds no pair: a bad one, one
    that names columns, or a sentence that has no counterpart. `extra` is empty for formats and lines without names.
    """

    sides: Sides | None
    extra: dict[str, Any] = {}  # noqa: RUF012 - shared by all pairs without extras, and never written to


HEADING = TextPair(None)
"""Stands for the line of a table that names its columns, and for no other."""


@dataclass(frozen=True, slots=True)
class PairFields:
    """The names of the fields with the two sentences.

    Attributes:
        source: the field of a JSONL record that holds the source sentence, such as `de` or, inside another field,
            `text.de`; None looks for `source`, or takes the first language of a `translation` as Hugging Face datasets
            have it.
        target: the field that holds the target sentence; None looks for `target`, or takes the second language.
        columns: the names of the columns of TSV or CSV, among them `source` and `target`; `-` is a column to pass over.
            Without names the first two columns are source and target.
        languages: the codes of source and target, which choose the languages of a `translation` if no field is named.
    """

    source: str | None = None
    target: str | None = None
    columns: tuple[str, ...] = ()
    languages: Languages = (None, None)

    @classmethod
    def of(
        cls,
        source_field: str | None = None,
        target_field: str | None = None,
        columns: str | Sequence[str] | None = None,
        languages: Languages = (None, None),
    ) -> PairFields:
        """The names as users give them.

        Args:
            source_field: the field of JSONL with the source sentence.
            target_field: the field of JSONL with the target sentence.
            columns: the names of the columns of TSV or CSV, as a sequence or separated by commas.
            languages: the codes of the source and the target language, as far as they are known.

        Raises:
            SettingError: only one field is named, or the columns lack a side.
        """
        if (source_field is None) != (target_field is None):
            raise SettingError("give both `source_field` and `target_field`, or neither.")
        names = tuple(columns.split(",") if isinstance(columns, str) else columns or ())
        if names and any(names.count(side) != 1 for side in _SIDES):
            given = ",".join(names)
            raise SettingError(f"`columns` must name source and target once each, as in id,source,target; got {given}.")
        return cls(source_field, target_field, names, languages)

    def named(self, cells: Sequence[str], columns: Sequence[str], separators: str) -> TextPair:
        """The sentences of one row of a table; a ValueError says what is wrong.

        Args:
            cells: what the row holds.
            columns: the names of the columns, among them `source` and `target`.
            separators: what messages call the characters between the cells.
        """
        if len(cells) < len(columns):
            raise ValueError(f"expected {len(columns)} columns separated by {separators}, found {len(cells)}.")
        named = dict(zip(columns, cells, strict=False))
        named.pop("-", None)
        return TextPair((named.pop("source"), named.pop("target")), named)

    def names_in(self, record: dict[str, Any], order: LanguageOrder) -> tuple[str, str]:
        """The names of the two fields of a record; a ValueError says why they cannot be known.

        Args:
            record: one line of a file.
            order: which of two languages comes first in that file.
        """
        translations = translations_of(record)
        if self.source is not None and self.target is not None:
            return _name_in(record, translations, self.source), _name_in(record, translations, self.target)
        if not translations or "source" in record or "target" in record:
            return _SIDES
        return order(translations)


class JsonlParser:
    """Parses the records of one JSONL file. Which of two languages is the source is decided by the first of them."""

    def __init__(self, fields: PairFields) -> None:
        self._fields = fields
        self._order = LanguageOrder(fields.languages)

    def __call__(self, text: str) -> TextPair:
        """The sentences of one JSONL record; a ValueError says what is wrong."""
        if not text.strip(" \t"):
            return TextPair(("", ""))
        try:
            record = parse_json_object(text)
        except HalfSurrogateError as error:
            names = (self._fields.source or "source", self._fields.target or "target")
            others = {name: value for name, value in error.fields.items() if name not in names}
            raise NoPairError(str(error), others) from error
        try:
            source, target = self._fields.names_in(record, self._order)
        except ValueError as error:
            raise NoPairError(str(error), record) from error
        extra = {name: value for name, value in record.items() if name not in (source, target)}
        if _is_alone(record):
            return TextPair(None, extra)
        try:
            return TextPair((_side(record, source), _side(record, target)), extra)
        except ValueError as error:
            raise NoPairError(str(error), extra) from error


def _name_in(record: dict[str, Any], translations: dict[str, Any], name: str) -> str:
    """The name as the record has it: of languages, `it` is `it-IT` too."""
    return name if name in record else matching_language(name, translations) or name


def _is_alone(record: dict[str, Any]) -> bool:
    """Whether a record is a sentence that `weft align --documents` found no counterpart for."""
    spans = [record.get(f"{side}_span", False) for side in _SIDES]
    return None in spans and False not in spans


def sentence_field(record: dict[str, Any], name: str) -> Any:
    """What a record holds under the name of a side; a ValueError says what it holds instead."""
    translations = translations_of(record)
    try:
        return translations[name] if name in translations and name not in record else nested_field(record, name)
    except KeyError:
        if translations:
            raise NoTextError(no_text_in(name, translations)) from None
        found = shorten(", ".join(record))
        raise NoTextError(
            f'expected "{name}", found the fields {found}. Choose two with `source_field` and `target_field`; a field '
            "inside another is written outer.inner, the first item of a list outer.0."
        ) from None


def _side(record: dict[str, Any], name: str) -> str | Words:
    side = sentence_field(record, name)
    if isinstance(side, str):
        return side
    if isinstance(side, list) and all(isinstance(word, str) for word in side):
        return tuple(side)
    raise (NoTextError if side is None else ValueError)(
        f'expected "{name}" to be a sentence or a list of words, found {shorten(json.dumps(side, ensure_ascii=False))}.'
    )


def nested_field(record: dict[str, Any] | list[Any], name: str) -> Any:
    """The value of a field; `text.de` is the field `de` of the object `text`, unless a field has that very name.

    A number is the place of an item in a list: `texts.0.de` is the field `de` of the first of `texts`.

    Raises:
        KeyError: there is no such field.
    """
    if isinstance(record, dict) and name in record:
        return record[name]
    outer, dot, inner = name.partition(".")
    if isinstance(record, list):
        found = record[int(outer)] if _NUMBER.fullmatch(outer) and int(outer) < len(record) else None
        if not dot and found is not None:
            return found
    else:
        found = record.get(outer) if dot else None
    if not isinstance(found, dict | list):
        raise KeyError(name)
    return nested_field(found, inner)


class TableParser:
    """Parses rows of TSV or CSV. If fields are named, the first row holds the names of the columns.

    Where columns are named by their order, the first row is no pair if it holds the same names. Cells of CSV are
    separated by commas, or by semicolons if the first row has more of them.
    """

    def __init__(self, fields: PairFields, *, csv: bool) -> None:
        self._fields = fields
        self._columns = fields.columns
        self._separator = "" if csv else "\t"
        self._csv = csv
        self._at_first_row = True
        self.first_row: Sequence[str] = ()

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
        self.first_row = cells if is_first else self.first_row
        if self._fields.source is not None and not self._columns:
            self._columns = self._headings(cells)
            return HEADING
        if is_first and _are_names(cells, self._columns):
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
        return tuple(wanted.get(name, name if name not in _SIDES else f"{name}_column") or "-" for name in names)


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
    others = [same[name] for name in same if name not in _SIDES]
    return len(cells) >= len(columns) and (all(others) if others else bool(same) and all(same.values()))


def _not_one_column(name: str, names: Sequence[str], wanted: Sequence[str | None]) -> str:
    """What to say of a name that no column has, or several have."""
    count, found = names.count(name), f"its first line has {', '.join(names)}."
    if not count:
        given = [other for other in names if other]
        if len(given) < max(len(wanted), len(names) / 2):  # a title above the table
            return (
                f"no column of the table is called {name}; its first line has only {', '.join(given)}. Delete the "
                "lines above the one with the names of the columns. Or delete that one too, and name all columns in "
                "their order with `columns`."
            )
        return (
            f"no column of the table is called {name}; its first line has {', '.join(given)}.{_nearest(name, given)} "
            "`source_field` and `target_field` must be names in that line."
        )
    example = "id,source,target"
    if count == len(wanted) and {name} == set(wanted):  # those two are meant
        sides = iter(_SIDES)
        columns = [next(sides) if column == name else _as_column(column) for column in names]
        example = ",".join(columns) + ("; weft then skips that line" if {*columns} - {*_SIDES, "-"} else "")
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
    return "-" if "," in name or not name or name in _SIDES else name
