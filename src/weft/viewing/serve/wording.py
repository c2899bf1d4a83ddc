"""What pydantic finds wrong with a request, said in sentences that name the field and what it may hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

# Where a field was sent, and how pydantic tells the kinds apart that one field may have; nobody asked.
_UNSAID = ("body", "query", "path", "str", "int", "float", "bool")
_KINDS = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "model": "a JSON object",
    "dict": "a JSON object",
}
_SHOWN = 60  # characters of a wrong value
Found = Mapping[str, Any]


def sentence_for(errors: Sequence[Found], fields: Collection[str] = ()) -> str:
    """Say what is wrong with a request.

    Args:
        errors: what pydantic found, at least one. A field that may hold several kinds of value has one for each.
        fields: names of fields, one of which may have been meant by a name that does not exist.
    """
    place, found = _most_telling(errors)
    first = found[0]
    if first["type"] == "value_error":
        message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        return f"{place}: {message}." if place else f"{message}."
    if first["type"] == "missing":
        return f"`{place}` is missing." if place else "the request has no body; send a JSON object."
    if first["type"] == "extra_forbidden":
        return f"there is no field `{place}`.{_nearest_field(place, fields)}"
    named = f"`{place}`" if place else "the body"
    return f"{named} must {_demand(found)}, got {_shown(first.get('input'))}."


def _nearest_field(place: str, fields: Collection[str]) -> str:
    """A name is misspelt, or written as JavaScript writes it; one that other requests have is neither."""
    name = place.rpartition(".")[2]
    near = [] if name in fields else get_close_matches(name.lower(), fields, n=1, cutoff=0.8)
    return f" Did you mean `{near[0]}`?" if near else ""


def _most_telling(errors: Sequence[Found]) -> tuple[str, list[Found]]:
    """The first field that is wrong, and what is wrong with it; a wrong part of it tells more than the whole."""
    places = [_place(error) for error in errors]
    within = [place for place in places if place == places[0] or place.startswith(f"{places[0]}.") or not places[0]]
    place = max(within, key=lambda each: each.count("."))
    return place, [error for error, own in zip(errors, places, strict=True) if own == place]


def _place(error: Found) -> str:
    return ".".join(str(part) for part in error["loc"] if part not in _UNSAID and "[" not in str(part))


def _demand(found: Sequence[Found]) -> str:
    """What a value must be or have."""
    first = found[0]
    limits = first.get("ctx", {})
    if "le" in limits or "ge" in limits:
        return f"be at most {limits['le']:g}" if "le" in limits else f"be at least {limits['ge']:g}"
    if "min_length" in limits or "max_length" in limits:
        bound = "min_length" if "min_length" in limits else "max_length"
        count = limits[bound]
        unit = "character" if isinstance(first.get("input"), str) else "entry"
        units = unit if count == 1 else {"character": "characters", "entry": "entries"}[unit]
        return f"have at {'least' if bound == 'min_length' else 'most'} {count:,} {units}"
    return f"be {_joined([_kind(error) for error in found])}"


def _kind(error: Found) -> str:
    """What a value may be: one of some words, or a kind of JSON value."""
    expected = error.get("ctx", {}).get("expected")
    if expected:
        return str(expected)
    return _KINDS.get(error["type"].partition("_")[0], "something else")


def _joined(kinds: Sequence[str]) -> str:
    """The kinds, each once; who may send a number may send a whole one."""
    different = list(dict.fromkeys(kind for kind in kinds if not (kind == "a whole number" and "a number" in kinds)))
    return " or ".join(different)


def _shown(value: object) -> str:
    """What was sent, as JSON has it."""
    shown = json.dumps(value, ensure_ascii=False, default=repr)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
