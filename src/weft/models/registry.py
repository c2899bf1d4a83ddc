"""Which layer aligns best in encoders that people use, and what lies in a model's folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import FormatError
from weft.text.files import write_whole
from weft.text.json_objects import read_json_object

SETTINGS_FILE = "weft.json"
ONNX_FILE = "model.onnx"


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """An encoder known by its shape, so that fine-tuned copies in any folder are known too."""

    name: str
    model_type: str
    vocabulary: int
    n_layers: int
    layer: int


# Best layers: table 4 of the paper for mBERT, XLM and XLM-R (German and French); AccAlign (2022) for LaBSE.
KNOWN_ENCODERS = (
    KnownEncoder("mBERT", "bert", 119547, 12, 8),
    KnownEncoder("LaBSE", "bert", 501153, 12, 6),
    KnownEncoder("XLM-15", "xlm", 95000, 12, 5),
    KnownEncoder("XLM-100", "xlm", 200000, 16, 8),
    KnownEncoder("XLM-R base", "xlm-roberta", 250002, 12, 8),
)


def known_encoder(model_type: str, vocabulary: int, n_layers: int) -> KnownEncoder | None:
    """The encoder of this shape, if it is a well-known one."""
    shape = (model_type, vocabulary, n_layers)
    matches = (known for known in KNOWN_ENCODERS if (known.model_type, known.vocabulary, known.n_layers) == shape)
    return next(matches, None)


def two_thirds_up(n_layers: int) -> int:
    """Where the best layer of an unknown encoder is likely to be."""
    return max(1, round(n_layers * 2 / 3))


def read_settings(folder: Path) -> dict[str, Any]:
    """The folder's `weft.json`, or nothing if it has none."""
    path = folder / SETTINGS_FILE
    if not path.is_file():
        return {}
    record = read_json_object(path)
    for name in ("layer", "max_length"):
        if type(record.get(name, 0)) is not int:
            raise FormatError(str(path), None, f"expected `{name}` to be a whole number, found {record[name]!r}.")
    if type(record.get("joint", False)) is not bool:
        raise FormatError(str(path), None, f"expected `joint` to be true or false, found {record['joint']!r}.")
    return record


def write_settings(folder: Path, record: dict[str, Any]) -> None:
    """Write `weft.json` in one go, so that nobody reads half of it."""
    write_whole(folder / SETTINGS_FILE, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
