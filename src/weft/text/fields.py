"""Which columns of a TSV or CSV file, or which fields of a JSONL file, hold the two sentences; the others are kept."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft.errors import SettingError
from weft.text.json_objects import parse_json_object, shorten
from weft.types import Words

Sides = tuple[str | Words, str | Words]

_SIDES = ("source", "target")
TRANSLATION = "translation"


class TextPair(NamedTuple):
    """A sentence and its translation as a file holds them, with everything else its line says.

    Each side is text, or words where the file lists them. `extra` is empty for formats without names.
    """

    sides: Sides
    extra: dict[str, Any] = {}  # noqa: RUF012 - shared by all pairs without extras, and never written to


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
    """

    source: str | None = None
    target: str | None = None
    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source_field: str | None = None,
        target_field: str | None = None,
        columns: str | Sequence[str] | None = None,
    ) -> PairFields:
        """The names as users give them.

        Args:
            source_field: the field of JSONL with the source sentence.
            target_field: the field of JSONL with the target sentence.
            columns: the names of the columns of TSV or CSV, as a sequence or separated by commas.

        Raises:
            SettingError: only one field is named, or the columns lack a side.
        """
        if (source_field is None) != (target_field is None):
            raise SettingError("give both `source_field` and `target_field`, or neither.")
        names = tuple(columns.split(",") if isinstance(columns, str) else columns or ())
        if names and any(names.count(side) != 1 for side in _SIDES):
            given = ",".join(names)
            raise SettingError(f"`columns` must name source and target once each, as in id,source,target; got {given}.")
        return cls(source_field, target_field, names)

    def parse_tsv(self, text: str) -> TextPair:
        """The sentences of one line of TSV; a ValueError says what is wrong."""
        source, tab, rest = text.partition("\t")
        if not tab and text.strip(" "):
            raise ValueError("expected a tab between source and target, found none.")
        if not self.columns:
            return TextPair((source, rest.partition("\t")[0]))
        return self._named(text.split("\t"), "tabs") if text.strip(" \t") else TextPair(("", ""))

    def parse_csv(self, text: str, delimiter: str = ",") -> TextPair:
        """The sentences of one line of CSV; a ValueError says what is wrong."""
        if not text.strip(" \t"):
            return TextPair(("", ""))
        try:
            cells = next(csv.reader([text], delimiter=delimiter, strict=True))
        except csv.Error as error:
            raise ValueError(f"this is not a line of CSV ({error}). A quoted field must end on its line.") from error
        return self._named(cells, "commas" if delimiter == "," else "semicolons")

    def _named(self, cells: list[str], separators: str) -> TextPair:
        columns = self.columns or _SIDES
        if len(cells) < len(columns):
            raise ValueError(f"expected {len(columns)} columns separated by {separators}, found {len(cells)}.")
        named = dict(zip(columns, cells, strict=False))
        named.pop("-", None)
        return TextPair((named.pop("source"), named.pop("target")), named)

    def parse_jsonl(self, text: str) -> TextPair:
        """The sentences of one JSONL record; a ValueError says what is wrong."""
        if not text.strip(" \t"):
            return TextPair(("", ""))
        record = parse_json_object(text)
        source, target = self.names_in(record)
        sides = (_side(record, source), _side(record, target))
        return TextPair(sides, {name: value for name, value in record.items() if name not in (source, target)})

    def names_in(self, record: dict[str, Any]) -> tuple[str, str]:
        """The names of the two fields of a record; a ValueError says why they cannot be known."""
        translations = _translations(record)
        if self.source is not None and self.target is not None:
            return self.source, self.target
        if not translations or "source" in record or "target" in record:
            return _SIDES
        if len(translations) != 2:
            raise ValueError(
                f'"{TRANSLATION}" contains the languages {", ".join(translations)}; choose two with `source_field` '
                "and `target_field`."
            )
        source, target = translations
        return source, target


def _translations(record: dict[str, Any]) -> dict[str, Any]:
    """The sentences by language, as Hugging Face datasets have them."""
    found = record.get(TRANSLATION)
    return found if isinstance(found, dict) else {}


def sentence_field(record: dict[str, Any], name: str) -> Any:
    """What a record holds under the name of a side; a ValueError says what it holds instead."""
    translations = _translations(record)
    try:
        return translations[name] if name in translations and name not in record else nested_field(record, name)
    except KeyError:
        found = shorten(", ".join(record))
        raise ValueError(
            f'expected "{name}", found the fields {found}. Choose two with `source_field` and `target_field`; a field '
            "inside another is written outer.inner."
        ) from None


def _side(record: dict[str, Any], name: str) -> str | Words:
    side = sentence_field(record, name)
    if isinstance(side, str):
        return side
    if isinstance(side, list) and all(isinstance(word, str) for word in side):
        return tuple(side)
    raise ValueError(
        f'expected "{name}" to be a sentence or a list of words, found {shorten(json.dumps(side, ensure_ascii=False))}.'
    )


def nested_field(record: dict[str, Any], name: str) -> Any:
    """The value of a field; `text.de` is the field `de` of the object `text`, unless a field has that very name.

    Raises:
        KeyError: there is no such field.
    """
    if name in record:
        return record[name]
    outer, dot, inner = name.partition(".")
    if not dot or not isinstance(record.get(outer), dict):
        raise KeyError(name)
    return nested_field(record[outer], inner)


class CsvParser:
    """Parses lines of CSV. Fields are separated by commas, or by semicolons if the first line has more of them."""

    def __init__(self, fields: PairFields) -> None:
        self._fields = fields
        self._delimiter = ""

    def __call__(self, text: str) -> TextPair:
        """The sentences of one line; a ValueError says what is wrong."""
        if not self._delimiter and text.strip():
            self._delimiter = ";" if text.count(";") > text.count(",") else ","
        return self._fields.parse_csv(text, self._delimiter or ",")
