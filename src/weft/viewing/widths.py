"""How wide text is where nobody can measure it: columns in a terminal, and a bound for proportional fonts."""

from __future__ import annotations

import unicodedata

# Characters of DejaVu Serif by their width, in sizes of the font: it is the broadest font that pictures ask for,
# and the only one on many a Linux. Where another is drawn, words have a little more room than they need.
_WIDTHS = {
    character: width
    for width, characters in {
        0.34: ".,:;'-/|\\ijl\u0131·\u2018\u2019",
        0.4: "!()[]ftIJ",
        0.52: '"`*_?rsz\u201c\u201d',
        0.89: "#+<=>&wDGHNOQUжω",
        1.04: "%@—…mMWæœшщюЖ\u041cШЩЫЮ",
    }.items()
    for character in characters
}
_CAPITAL, _OTHER = 0.8, 0.65


def columns(text: str) -> int:
    """How many columns a terminal gives to a text: two for a wide character, none for a mark on another one."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def em(text: str) -> float:
    """How wide a text is at most in a usual serif font, in sizes of the font."""
    return sum(_em(character) for character in text)


def _em(character: str) -> float:
    if _columns(character) != 1:
        return float(_columns(character)) / 2
    letter = unicodedata.normalize("NFD", character)[0]
    return _WIDTHS.get(letter, _CAPITAL if letter.isupper() else _OTHER)


def right_to_left(words: tuple[str, ...]) -> bool:
    """Whether a sentence runs from right to left: its first strong character decides."""
    for character in "".join(words):
        direction = unicodedata.bidirectional(character)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False
