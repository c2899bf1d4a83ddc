"""`weft.json`: everything weft knows of a model beside its weights, as one record."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

from weft.errors import FormatError, SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.files import SETTINGS_FILE
from weft.text.files import write_whole
from weft.text.json_objects import read_json_object, shorten
from weft.version import __version__

_LARGEST_LAYER = 1000
_SHORTEST, _LONGEST = 8, 1_000_000


class ExportKind(StrEnum):
    """What a model can be exported to: a graph in float32 or int8, or weights for torch."""

    ONNX = "onnx"
    ONNX_INT8 = "onnx-int8"
    TORCH = "torch"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The settings that are stored with a model.

    Attributes:
        layer: the layer whose hidden states are compared; None if it is not set.
        joint: whether the model reads the two sentences of a pair together.
        max_length: how many subwords fit into a row, special tokens included; None if it is not set.
        languages: codes of the languages that the model was trained on.
        export: the kind of graph that the model was exported to; None for weights.
        extraction: how links are extracted. In the file, its fields are next to the others.
    """

    layer: int | None = None
    joint: bool = False
    max_length: int | None = None
    languages: tuple[str, ...] = ()
    export: ExportKind | None = None
    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)

    @classmethod
    def read(cls, folder: Path) -> ModelSettings:
        """Read the `weft.json` of a folder. Without this file, the defaults apply.

        Raises:
            FormatError: a field is unknown or has an impossible value.
        """
        path = folder / SETTINGS_FILE
        if not path.is_file():
            return cls()
        record = read_json_object(path)
        try:
            return cls._from_json(record)
        except SettingError as error:
            raise FormatError(str(path), None, str(error)) from error

    @classmethod
    def _from_json(cls, record: dict[str, Any]) -> ModelSettings:
        for name in record:
            if name not in _FIELDS:
                raise SettingError(_unknown(name))
        own = {name: check(name, record[name]) for name, check in _CHECKS.items() if name in record}
        return cls(**own, extraction=ExtractionSettings.from_json(record))

    def write(self, folder: Path) -> None:
        """Write `weft.json`, whole or not at all."""
        text = json.dumps(self._to_json(), ensure_ascii=False, indent=2) + "\n"
        write_whole(folder / SETTINGS_FILE, text)

    def _to_json(self) -> dict[str, Any]:
        """What is set; defaults that are None, False or empty are left out."""
        values = {name: getattr(self, name) for name in _CHECKS}
        own = {name: value for name, value in values.items() if value or (value == 0 and value is not False)}
        return {**own, **self.extraction.to_json(), _VERSION: __version__}


def _whole_number(least: int, most: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise SettingError(f"`{name}` must be a whole number from {least} to {most:,}, got {_shown(value)}.")
        return value

    return check


def _true_or_false(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise SettingError(f"`{name}` must be true or false, got {_shown(value)}.")
    return value


def _codes(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise SettingError(f'`{name}` must be a list of language codes such as ["de", "en"], got {_shown(value)}.')
    return tuple(value)


def _export_kind(name: str, value: Any) -> ExportKind:
    if value not in list(ExportKind):
        raise SettingError(f"`{name}` must be one of {', '.join(ExportKind)}, got {_shown(value)}.")
    return ExportKind(value)


_VERSION = "weft"  # the version of weft that wrote the file
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "layer": _whole_number(0, _LARGEST_LAYER),
    "joint": _true_or_false,
    "max_length": _whole_number(_SHORTEST, _LONGEST),
    "languages": _codes,
    "export": _export_kind,
}
_FIELDS = (*_CHECKS, *(item.name for item in fields(ExtractionSettings)), _VERSION)


def _unknown(name: str) -> str:
    near = get_close_matches(name, _FIELDS, n=1)
    advice = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(_FIELDS)}."
    return f"there is no setting {shorten(name)}; {advice}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"
