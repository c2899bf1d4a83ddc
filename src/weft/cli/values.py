"""Values that an option cannot take, refused in weft's own words and not in those of the libraries beneath."""

from __future__ import annotations

import re
from os.path import isdir
from typing import Any

from typer import BadParameter

from weft.errors import SettingError, WeftError, not_among, percentage_hint

# As `--help` writes bounds: 0<=x<=1, x>=1.
_BOUNDS = re.compile(r"(?:(?P<low>[-\d.]+)<=)?x(?:>=(?P<least>[-\d.]+)|<=(?P<most>[-\d.]+))")
# As typer says it with pydantic, and before that with click.
_BEYOND = re.compile(r"than or equal to|not in the range")
_NOT_AMONG = re.compile(r"^'(?P<value>.*)' is not one of (?P<known>'.*')\.?$", re.DOTALL)
_CHOICE = re.compile(r"[^\s',]+")
_NO_NUMBER = re.compile(r"not a valid (integer|float)|should be a valid (integer|number)")


def refuse_plainly(error: BadParameter) -> None:
    """Raise a sentence instead of an error whose words come from a library; others are left to their own words.

    Args:
        error: what was said of a value.

    Raises:
        SettingError: the value is no number, one out of bounds, or none of several choices.
    """
    if error.param is None or error.ctx is None:
        return
    option = max(error.param.opts, key=len)
    if _BEYOND.search(error.message):
        message = f"{option} must be {_within(error)}, got {_given(error)}.{_as_share(error)}"
        raise SettingError(message) from error
    message = error.message.removeprefix("Value error, ")
    if message.startswith("it must be one of "):
        raise SettingError(option + message.removeprefix("it")) from error
    if found := _NOT_AMONG.search(message):
        raise SettingError(_among(option, _CHOICE.findall(found["known"]), found["value"])) from error
    if found := _NO_NUMBER.search(error.message):
        kind = "a whole number" if "integer" in found.groups() else "a number"
        raise SettingError(f"{option} must be {kind}, got {_given(error)!r}.") from error


def _among(option: str, known: list[str], value: str) -> str:
    """The choices there are, and the one that somebody may have meant; initials, as in gdfa, count as a name."""
    initials = {"".join(part[0] for part in choice.split("-")): choice for choice in known if "-" in choice}
    meant = initials.get(value.lower())
    if meant is None:
        return not_among(option, known, value).replace("`", "")
    return f"{option} must be one of {', '.join(known)}, got {value!r}. Did you mean {meant}?"


def _within(error: BadParameter) -> str:
    """The bounds, which every version of typer writes alike in the help of an option and in no other place."""
    assert error.param is not None
    record = error.param.get_help_record(error.ctx) if error.ctx else None
    bounds = _BOUNDS.search(record[1] if record else "")
    low, least, most = bounds.group("low", "least", "most") if bounds else (None, None, None)
    if low and most:
        return f"between {low} and {most}"
    return f"at least {low or least}" if low or least else f"at most {most}"


def _as_share(error: BadParameter) -> str:
    """How to type a percentage where a share of 1 is wanted; the index of a first word, 0|1, is no share."""
    if _within(error) != "between 0 and 1" or getattr(error.param, "metavar", None) == "0|1":
        return ""
    return percentage_hint(float(_given(error)))


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
