"""How wide text is where nobody can measure it: columns in a terminal, and a guess for a proportional font."""

from __future__ import annotations

import unicodedata

_NARROW = frozenset("iljftrI.,:;'!|()[]{}·`\"-\u2018\u2019\u201c\u201d")
_BROAD = frozenset("mwMW@%—…")


def columns(text: str) -> int:
    """How many columns a terminal gives to a text: two for a wide character, none for a mark on another one."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def em(text: str) -> float:
    """About how wide a text is in a serif font, in sizes of the font."""
    return sum(_em(character) for character in text)


def _em(character: str) -> float:
    if _columns(character) != 1:
        return float(_columns(character)) / 2
    if character in _NARROW:
        return 0.32
    if character in _BROAD:
        return 0.85
    return 0.66 if character.isupper() else 0.53


def right_to_left(words: tuple[str, ...]) -> bool:
    """Whether a sentence runs from right to left: its first strong character decides."""
    for character in "".join(words):
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False
