"""Sentence pairs as callers of the library hand them over, checked and split into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from weft.errors import SettingError
from weft.text.json_objects import shorten
from weft.text.pairs import Split, split_words
from weft.types import SentencePair, Words


def to_pair(pair: object, row: int, split: tuple[Split, Split] = (split_words, split_words)) -> SentencePair:
    """What a caller calls a pair as a SentencePair.

    Args:
        pair: two sentences, each a string or a list of words.
        row: which pair it is, from 0.
        split: what splits the strings of each side into words.

    Raises:
        SettingError: this is no pair; the message names the row.
    """
    if isinstance(pair, SentencePair) and isinstance(pair.source, tuple) and isinstance(pair.target, tuple):
        return pair
    if isinstance(pair, str | bytes | dict) or not isinstance(pair, Sequence) or len(pair) != 2:
        hint = " Give (row['source'], row['target'])." if isinstance(pair, dict) else ""
        found = shorten(repr(pair))
        raise SettingError(f"row {row} of `pairs`: expected a sentence and its translation, found {found}.{hint}")
    return SentencePair(_words_in(pair[0], row, split[0]), _words_in(pair[1], row, split[1]))


def _words_in(side: object, row: int, split: Split) -> Words:
    if isinstance(side, str):
        return split(side)
    try:
        words = tuple(cast("Iterable[str]", side))
        "".join(words)
    except TypeError:
        found = shorten(repr(side))
        message = f"row {row} of `pairs`: expected a sentence as a string or a list of words, found {found}."
        raise SettingError(message) from None
    return words
