"""Plain values of a TOML or JSON file to a configuration; each value of the wrong kind is a sentence with the fix."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_args

from cattrs import AttributeValidationNote, ClassValidationError, Converter, IterableValidationError
from cattrs.gen import make_dict_structure_fn

from weft.errors import SettingError

T = TypeVar("T")


def configured(kind: type[T], record: Mapping[str, Any]) -> T:
    """Make a dataclass of plain values.

    Args:
        kind: a dataclass; its fields' types say what is allowed.
        record: values by the names of its fields; inner dataclasses as records too, or as they are.

    Raises:
        SettingError: a name does not exist, or a value is of the wrong kind.
    """
    try:
        return _CONVERTER.structure(record, kind)
    except (ClassValidationError, IterableValidationError, _WrongKindError) as error:
        raise SettingError(" ".join(dict.fromkeys(_sentences(error, ())))) from error


class _WrongKindError(Exception):
    """A value of the wrong kind; where it stood is known further up."""


def _sentences(error: BaseException, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(error, ClassValidationError | IterableValidationError):
        with_place, elsewhere = error.group_exceptions()
        for inner, note in with_place:
            yield from _sentences(
                inner, (*path, note.name if isinstance(note, AttributeValidationNote) else note.index)
            )
        for inner in elsewhere:
            yield from _sentences(inner, path)
    elif isinstance(error, _WrongKindError):
        yield f"{_place(path)} {error}"
    else:
        yield str(error)


def _place(path: tuple[str | int, ...]) -> str:
    """`weight` of corpora 2; the innermost name comes first, and people count from 1."""
    names: list[str] = []
    for part in path:
        if isinstance(part, int):
            names[-1] += f" {part + 1}"
        else:
            names.append(f"`{part}`" if part == path[-1] else part)
    if path and isinstance(path[-1], int):
        names[-1] = names[-1].replace(str(path[-2]), f"`{path[-2]}`", 1)
    return " of ".join(reversed(names)) or "the configuration"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date | datetime.time):
        return f"the date or time {value}"
    return "a table" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else str(value)


def _whole(value: object, _: type) -> int:
    if type(value) is not int:
        raise _WrongKindError(f"must be a whole number, got {_shown(value)}{_unquoted(value, int)}.")
    return value


def _number(value: object, _: type) -> float:
    if type(value) not in (int, float):
        raise _WrongKindError(f"must be a number, got {_shown(value)}{_unquoted(value, float)}.")
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise _WrongKindError(f"must be a finite number, got {number}.")
    return number


def _truth(value: object, _: type) -> bool:
    if type(value) is not bool:
        raise _WrongKindError(f"must be true or false, got {_shown(value)}; write it without quotes.")
    return value


def _text(value: object, _: type) -> str:
    if not isinstance(value, str):
        fix = "" if isinstance(value, Mapping | list | tuple) else "; write it in quotes"
        raise _WrongKindError(f"must be text, got {_shown(value)}{fix}.")
    if "\0" in value:  # which no name of a file can have
        raise _WrongKindError(f"must not contain a zero byte, got {_shown(value)}.")
    return str(value)


def _unquoted(value: object, kind: type) -> str:
    try:
        kind(value) if isinstance(value, str) else kind("")
    except ValueError:
        return ""
    return "; write it without quotes"


def _several(kind: Any) -> Any:
    inner = get_args(kind)[0]
    of_tables = is_dataclass(inner)

    def structure(value: object, _: type) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            fix = "write [[corpus]] above its settings" if of_tables else f'write ["{value}"]'
            raise _WrongKindError(f"must be a list, got {_shown(value)}; {fix}.")
        return tuple(_listed(value, inner))

    return structure


def _listed(values: list[Any] | tuple[Any, ...], kind: type) -> Iterator[Any]:
    structured: list[Any] = _CONVERTER.structure(values, list[kind])  # type: ignore[valid-type]
    yield from structured


def _table(value: object, kind: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _WrongKindError(f"must be a table of settings, got {_shown(value)}.")
    of_numbers = get_args(kind)[1:] == (float,)
    return {name: _number(item, float) if of_numbers else item for name, item in value.items()}


def _record(kind: Any) -> Any:
    names = sorted(item.name for item in fields(kind))
    required = [item.name for item in fields(kind) if item.default is MISSING and item.default_factory is MISSING]
    make = make_dict_structure_fn(kind, _CONVERTER)

    def structure(value: object, _: type) -> Any:
        if isinstance(value, kind):
            return value
        table = _table(value, kind)
        for name in table:
            if name not in names:
                raise SettingError(f"there is no setting {name!r}; there are {', '.join(names)}.")
        missing = [name for name in required if name not in table]
        if missing:
            raise _WrongKindError(f"lacks {' and '.join(missing)}.")
        return make(table, kind)

    return structure


def _is_several(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple


def _is_table(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is dict


_CONVERTER = Converter(detailed_validation=True)
for _kind, _hook in ((int, _whole), (float, _number), (bool, _truth), (str, _text)):
    _CONVERTER.register_structure_hook(_kind, _hook)
_CONVERTER.register_structure_hook_func(_is_table, _table)
_CONVERTER.register_structure_hook_factory(_is_several, _several)
_CONVERTER.register_structure_hook_factory(is_dataclass, _record)
