"""Everything that can go wrong for a user, said in sentences that name the place and the fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

Choice = TypeVar("Choice", bound=StrEnum)


class WeftError(Exception):
    """Base class of all errors caused by the input or the settings. The message is meant for the user.

    Messages name parameters in backticks, such as `threshold`. The command line shows them as options.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes, whatever the arguments of a subclass."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[WeftError], args: tuple[object, ...], state: dict[str, object]) -> WeftError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class FormatError(WeftError):
    """A file is not as expected. The message names the file, the line and, for bad bytes, the byte, counted from 1.

    If a row of a file has several lines, or is a unit of XML, `line` is the number of the row, as in the output, and
    the message names the line at which the row begins.
    """

    def __init__(
        self, path: str, line: int | None, message: str, *, byte: int | None = None, begins: int | None = None
    ) -> None:
        shown = line if begins is None else begins
        place = ":".join(str(part) for part in (path, shown, byte) if part is not None)
        super().__init__(f"{place}: {message}")
        self.path = path
        self.line = line
        self.byte = byte
        self.reason = message
        self._begins = begins

    def renamed(self, path: str) -> FormatError:
        """The same error about a file with another name."""
        return FormatError(path, self.line, self.reason, byte=self.byte, begins=self._begins)

    def because(self, reason: str) -> FormatError:
        """The same error with the likely reason instead of other advice: `reason` follows the first sentence."""
        first = self.reason.partition(". ")[0].rstrip(".")
        return FormatError(self.path, self.line, f"{first}. {reason}", byte=self.byte, begins=self._begins)


class LineCountError(WeftError):
    """Files that belong together line by line have different numbers of lines.

    With `texts`, a sentence and its translation may be on different lines, and the message names a command for that.
    """

    def __init__(self, counts: Sequence[tuple[str, int]], *, texts: bool = False) -> None:
        parts = [f"{path} has {number_of(count, 'line')}" for path, count in counts]
        hint = " If they do not, weft align --documents pairs the sentences of two texts." if texts else ""
        super().__init__(f"{' but '.join(parts)}; line n of one must correspond to line n of the other.{hint}")
        self.counts = counts


class MissingExtraError(WeftError, ImportError):
    """An optional part of weft is not installed."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} needs an optional part of weft: {install_command(extra)}.")
        self.extra = extra


def install_command(extra: str) -> str:
    """How to install an optional part: from where weft itself was installed, be it a checkout, or from PyPI."""
    from importlib.metadata import PackageNotFoundError, distribution  # only for a message
    from json import loads
    from urllib.parse import unquote, urlsplit

    try:
        origin = loads(distribution("weft").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    url = urlsplit(origin.get("url", ""))
    if url.scheme != "file":
        return f"pip install 'weft[{extra}]'"
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{unquote(url.path)}[{extra}]'"


class SettingError(WeftError, ValueError):
    """A setting has an impossible value or an unknown name.

    The message lists the possible values or names. The command line exits with code 2.
    """


def chosen(name: str, kind: type[Choice], value: str) -> Choice:
    """One of the choices there are for a setting; anything else is a SettingError that lists them.

    Args:
        name: the parameter's name.
        kind: the choices.
        value: a member of `kind`, or its name as text.
    """
    try:
        return kind(value)
    except ValueError as error:
        raise SettingError(not_among(name, kind, value)) from error


def not_among(name: str, known: Iterable[str], value: object) -> str:
    """What to say of a setting that must have one of the known values and has another."""
    known = list(known)
    return f"`{name}` must be one of {', '.join(known)}, got {value!r}.{_nearest(value, known)}"


def check_names(given: Iterable[str], known: Iterable[str], what: str = "setting") -> None:
    """Refuse names that do not exist.

    Args:
        given: the names a user gave.
        known: the names there are.
        what: what they are names of, in a word.

    Raises:
        SettingError: a name does not exist; the message lists those that do.
    """
    known = list(known)
    for name in given:
        if name not in known:
            raise SettingError(f"there is no {what} {name!r}.{_nearest(name, known)} There are {', '.join(known)}.")


def _nearest(value: object, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only for a message: it is not needed to align

    close = get_close_matches(str(value), list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def number_of(count: int, noun: str) -> str:
    """So many of something: 1 pair, 2 pairs."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percentage_hint(value: float) -> str:
    """What to add to a message for somebody who gave a percentage where a number from 0 to 1 is wanted."""
    return f" For {value:g}%, use {value / 100:g}." if 1 < value <= 100 else ""


def first_line(error: Exception) -> str:
    """What another library's error says first; its kind if it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
