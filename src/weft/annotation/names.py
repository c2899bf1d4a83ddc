"""Names of annotators and of projects, which become names of files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from weft.errors import SettingError

ADJUDICATED = "adjudicated"
"""The annotator under whose name disagreements are settled."""

LONGEST_NAME = 40
"""Characters in a name."""

_NAME = re.compile(rf"[^\W_][\w .@+-]{{0,{LONGEST_NAME - 1}}}")


def annotator_name(name: str, known: Iterable[str] = ()) -> str:
    """The name as it is written: without blanks around it, and as it was spelt the first time.

    Args:
        name: what somebody typed.
        known: the names there are; one that differs in case alone is the same person, as it would be the same file.

    Raises:
        SettingError: the name cannot be that of a file.
    """
    name = safe_name(name)
    return next((other for other in known if other.casefold() == name.casefold()), name)


def safe_name(name: str) -> str:
    """A name that can be a file's on every system."""
    name = unicodedata.normalize("NFC", name.strip())
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise SettingError(
            f"{name[:LONGEST_NAME]!r} cannot be a name: use up to {LONGEST_NAME} letters, digits, blanks "
            "and . @ + - _, beginning with a letter or digit."
        )
    return name
