"""Values that an option cannot take, refused in weft's own words and not in those of the libraries beneath."""

from __future__ import annotations

import re
from os.path import isdir
from typing import Any

from typer import BadParameter

from weft.errors import SettingError, WeftError

# As `--help` writes bounds: 0<=x<=1, x>=1.
_BOUNDS = re.compile(r"(?:(?P<low>[-\d.]+)<=)?x(?:>=(?P<least>[-\d.]+)|<=(?P<most>[-\d.]+))")
# As typer says it with pydantic, and before that with click.
_BEYOND = re.compile(r"than or equal to|not in the range")
_NO_NUMBER = re.compile(r"not a valid (integer|float)|should be a valid (integer|number)")


def refuse_plainly(error: BadParameter) -> None:
    """Raise a sentence instead of an error whose words come from a library; others are left to their own words.

    Args:
        error: what was said of a value.

    Raises:
        SettingError: the value is no number, or one out of bounds.
    """
    if error.param is None or error.ctx is None:
        return
    option = max(error.param.opts, key=len)
    if _BEYOND.search(error.message):
        raise SettingError(f"{option} must be {_within(error)}, got {_given(error)}.") from error
    if found := _NO_NUMBER.search(error.message):
        kind = "a whole number" if "integer" in found.groups() else "a number"
        raise SettingError(f"{option} must be {kind}, got {_given(error)!r}.") from error


def _within(error: BadParameter) -> str:
    """The bounds, which every version of typer writes alike in the help of an option and in no other place."""
    assert error.param is not None
    record = error.param.get_help_record(error.ctx) if error.ctx else None
    bounds = _BOUNDS.search(record[1] if record else "")
    low, least, most = bounds.group("low", "least", "most") if bounds else (None, None, None)
    if low and most:
        return f"between {low} and {most}"
    return f"at least {low or least}" if low or least else f"at most {most}"


def _given(error: BadParameter) -> Any:
    """What was typed: pydantic keeps it, click begins its sentence with it."""
    errors = getattr(error.__cause__, "errors", None)
    return errors()[0]["input"] if errors else error.message.split()[0].strip("'")


def refuse_short_models(names: list[str]) -> None:
    """Answer `--model nano` with the built-in model's full name, before the hub is asked for one called nano.

    Raises:
        WeftError: a name is the end of a built-in model's, and no folder of that name is there.
    """
    for name in names:
        full = f"weft-{name}"
        if name.isalpha() and not isdir(name):
            from weft.models.known import built_in_models

            if full.lower() in built_in_models():
                raise WeftError(f"there is no model {name}; did you mean {full.lower()}?")
