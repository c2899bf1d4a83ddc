"""The forms in which text reaches an aligner: with or without capitals, Romanian with or without diacritics."""

from __future__ import annotations

import random
import unicodedata

LOWER_CASED, PLAIN_ROMANIAN = 0.25, 0.5


def varied(source: str, target: str, language: str, generator: random.Random) -> tuple[str, str]:
    """One form of a pair, at random; words stay as many as they were."""
    if language == "ro" and generator.random() < PLAIN_ROMANIAN:
        source = without_diacritics(source)
    if generator.random() < LOWER_CASED:
        source, target = source.lower(), target.lower()
    return source, target


def without_diacritics(text: str) -> str:
    """Letters without the marks on them."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
