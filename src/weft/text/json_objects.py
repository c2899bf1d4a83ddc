"""JSON objects: one reader for lines of JSONL and for whole files; every way it can fail is a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weft.errors import FormatError

# Far deeper than any record that people write, and far from where Python's own parser and writer give up.
_DEEPEST = 100


class HalfSurrogateError(ValueError):
    """Some of a JSON object is no Unicode text; `fields` are all others of its fields."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__("the JSON text holds half of a surrogate pair.")
        self.fields = fields


def parse_json_object(text: str) -> dict[str, Any]:
    """Parse one JSON object; every way it can fail is a ValueError with a sentence."""
    try:
        record = json.loads(text)
        whole = _is_unicode(text) and ("\\ud" not in text.lower() or _is_unicode(record))
    except RecursionError as error:
        raise ValueError("the JSON text is nested too deeply.") from error
    except ValueError as error:
        raise ValueError(f"expected a JSON object, found {shorten(text)} ({error}).") from error
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, found {shorten(text)}.")
    if text.count("[") + text.count("{") > _DEEPEST and _is_deep(record):
        raise ValueError("the JSON text is nested too deeply.")
    if not whole:
        raise HalfSurrogateError({name: value for name, value in record.items() if _is_unicode([name, value])})
    return record


def _is_unicode(value: object) -> bool:
    """Whether a value has no half of a surrogate pair, so that it can be written."""
    try:
        (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        FormatError: the file is not UTF-8, not JSON, nested too deeply, or holds something other than an object.
    """
    try:
        return parse_json_object(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError(str(path), None, "expected UTF-8.") from error
    except ValueError as error:
        raise FormatError(str(path), None, str(error)) from error


def is_json_object(text: str) -> bool:
    """Whether a text is one JSON object."""
    try:
        parse_json_object(text)
    except HalfSurrogateError:
        return True
    except ValueError:
        return False
    return True


def shorten(text: str, length: int = 40) -> str:
    """Quote input in a message without flooding the screen."""
    return repr(text if len(text) <= length else text[: length - 1] + "…")


def _is_deep(record: object) -> bool:
    level = [record]
    for _ in range(_DEEPEST):
        inner = [value for value in level if isinstance(value, list | dict)]
        if not inner:
            return False
        level = [item for value in inner for item in (value.values() if isinstance(value, dict) else value)]
    return True
