"""Which fields of a JSONL file, or which columns of a table, hold the two sentences; the others are kept."""

from __future__ import annotations

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

SIDES = ("source", "target")
_NUMBER = re.compile(r"[0-9]{1,9}")


class NoPairError(ValueError):
    """Why a row holds no pair, together with what else the row says."""

    def __init__(self, message: str, extra: dict[str, Any]) -> None:
        super().__init__(message)
        self.extra = extra


class TextPair(NamedTuple):
    """A sentence and its translation as a file holds them, with everything else its line says.

    Each side is text, or words where the file lists them. `sides` is None for a line that holds no pair: a bad one, one
    that names columns, or a sentence that has no counterpart. `extra` is empty for formats and lines without names.
    """

    sides: Sides | None
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
        if names and any(names.count(side) != 1 for side in SIDES):
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
            return SIDES
        return order(translations)


class JsonlParser:
    """Parses the records of one JSONL file. Which of two languages is the source is decided by the first of them."""

    def __init__(self, fields: PairFields) -> None:
        self._fields = fields
        self._order = LanguageOrder(fields.languages)
        self._has_pairs = False  # then a record that cannot be read is bad, and not how the file is read

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
            if isinstance(error, SettingError) and not self._has_pairs:
                raise
            raise NoPairError(str(error), record) from error
        extra = {name: value for name, value in record.items() if name not in (source, target)}
        if _is_alone(record):
            return TextPair(None, extra)
        try:
            sides = _side(record, source), _side(record, target)
        except ValueError as error:
            raise NoPairError(str(error), extra) from error
        self._has_pairs = self._has_pairs or all(sides)
        return TextPair(sides, extra)


def _name_in(record: dict[str, Any], translations: dict[str, Any], name: str) -> str:
    """The name as the record has it: of languages, `it` is `it-IT` too."""
    return name if name in record else matching_language(name, translations) or name


def _is_alone(record: dict[str, Any]) -> bool:
    """Whether a record is a sentence that `weft align --documents` found no counterpart for."""
    spans = [record.get(f"{side}_span", False) for side in SIDES]
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
