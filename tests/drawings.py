"""A pair with links, to be drawn."""

from __future__ import annotations

from weft.types import Alignment, GoldAlignment, Link, SentencePair
from weft.viewing.comparison import ViewedPair


def viewed(source: str, target: str, *links: tuple, gold: GoldAlignment | None = None) -> ViewedPair:
    pair = SentencePair(tuple(source.split()), tuple(target.split()))
    return ViewedPair(1, pair, (Alignment.of([Link(*link) for link in links]),), gold)
