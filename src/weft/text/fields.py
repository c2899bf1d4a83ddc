"""Which columns of a TSV file, or which fields of a JSONL file, hold the two sentences; the others are kept."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from weft.errors import SettingError
from weft.text.json_objects import parse_json_object, shorten
from weft.text.lines import FilePath, display_name
from weft.types import Words

logger = logging.getLogger(__name__)

Sides = tuple[str | Words, str | Words]

_SIDES = ("source", "target")
_TRANSLATION = "translation"
_ID = re.compile(r"[\w.:/#-]*\d[\w.:/#-]*")
_FEWEST_IDS, _ENOUGH_IDS = 3, 20


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
        source: the field of a JSONL record that holds the source sentence; None looks for `source`, or takes the
            first language of a `translation` as Hugging Face datasets have it.
        target: the field that holds the target sentence; None looks for `target`, or takes the second language.
        columns: the names of a TSV file's columns, among them `source` and `target`; `-` is a column to pass over.
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
            columns: the names of TSV columns, as a sequence or separated by commas.

        Raises:
            SettingError: only one field is named, or the columns lack a side.
        """
        if (source_field is None) != (target_field is None):
            raise SettingError("`source_field` and `target_field` belong together: give both or none.")
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
        cells = text.split("\t")
        if not text.strip(" \t"):
            return TextPair(("", ""))
        if len(cells) < len(self.columns):
            raise ValueError(f"expected {len(self.columns)} columns separated by tabs, found {len(cells)}.")
        named = dict(zip(self.columns, cells, strict=False))
        named.pop("-", None)
        return TextPair((named.pop("source"), named.pop("target")), named)

    def parse_jsonl(self, text: str) -> TextPair:
        """The sentences of one JSONL record; a ValueError says what is wrong."""
        if not text.strip(" \t"):
            return TextPair(("", ""))
        record = parse_json_object(text)
        languages = record.get(_TRANSLATION)
        translations: dict[str, Any] = languages if isinstance(languages, dict) else {}
        source, target = self._names(record, translations)
        sides = (_side(record, translations, source), _side(record, translations, target))
        return TextPair(sides, {name: value for name, value in record.items() if name not in (source, target)})

    def _names(self, record: dict[str, Any], translations: dict[str, Any]) -> tuple[str, str]:
        if self.source is not None and self.target is not None:
            return self.source, self.target
        if not translations or "source" in record or "target" in record:
            return _SIDES
        if len(translations) != 2:
            raise ValueError(
                f'"{_TRANSLATION}" holds the languages {", ".join(translations)}: name two of them with `source_field` '
                "and `target_field`."
            )
        source, target = translations
        return source, target


def _side(record: dict[str, Any], translations: dict[str, Any], name: str) -> str | Words:
    if name not in record and name not in translations:
        found = shorten(", ".join(record))
        raise ValueError(
            f'expected "{name}", found the fields {found}. Say which to take with `source_field` and `target_field`.'
        )
    side = record[name] if name in record else translations[name]
    if isinstance(side, str):
        return side
    if isinstance(side, list) and all(isinstance(word, str) for word in side):
        return tuple(side)
    raise ValueError(f'expected "{name}" to be a sentence or a list of words, found {shorten(json.dumps(side))}.')


class IdWatch:
    """Notices a TSV file whose first column holds ids where the source sentences should be, and says so once."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._seen: dict[str, None] = {}
        self.done = False

    def look(self, line: str) -> None:
        """Look at one line. A file has ids if many lines begin with different ones, and nothing else comes first."""
        first = line.partition("\t")[0]
        if first in self._seen or not _ID.fullmatch(first):
            self.done = True
            return
        self._seen[first] = None
        if len(self._seen) >= _ENOUGH_IDS:
            self.finish()

    def finish(self) -> None:
        """The file ends, or enough of it was seen."""
        if not self.done and len(self._seen) >= _FEWEST_IDS:
            logger.warning(
                "%s: the first column looks like ids (%s, ...), and is read as the source sentences. If it is not "
                "that, name the columns with `columns`, as in id,source,target.",
                display_name(self._path),
                ", ".join(list(self._seen)[:3]),
            )
        self.done = True
