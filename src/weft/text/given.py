"""Sentence pairs as callers of the library hand them over, checked and split into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from weft.errors import SettingError
from weft.text.fields import SIDES
from weft.text.pairs import Split, split_words
from weft.types import SentencePair, Words

_LONGEST_SHOWN = 40


def to_pair(
    pair: object, row: int, split: tuple[Split, Split] = (split_words, split_words), pairs: object = None
) -> SentencePair:
    """What a caller calls a pair as a SentencePair.

    Args:
        pair: two sentences, each a string or a list of words.
        row: which pair it is, from 0.
        split: what splits the strings of each side into words.
        pairs: what the pair is from; if it is a table, messages name its columns.

    Raises:
        SettingError: this is no pair; the message names the row.
    """
    if isinstance(pair, SentencePair) and isinstance(pair.source, tuple) and isinstance(pair.target, tuple):
        for name, words in zip(SentencePair._fields, pair, strict=True):
            _words_in(words, f"row {row} of `pairs`, {name}", split_words)
        return pair
    pair = getattr(pair, "tolist", lambda: pair)()  # a row of an array
    if isinstance(pair, str | bytes | dict) or not isinstance(pair, Sequence) or len(pair) != 2:
        found = f"{_shown(pair)}.{_advice(pair, pairs)}"
        raise SettingError(f"row {row} of `pairs`: expected a sentence and its translation, found {found}")
    place = f"row {row} of `pairs`, "
    return SentencePair(_words_in(pair[0], f"{place}source", split[0]), _words_in(pair[1], f"{place}target", split[1]))


def to_one_pair(
    source: object, target: object, split: tuple[Split, Split] = (split_words, split_words)
) -> SentencePair:
    """One sentence and its translation as a SentencePair; whole columns of a table are refused.

    Args:
        source: a string or a list of words.
        target: its translation.
        split: what splits the strings of each side into words.

    Raises:
        SettingError: a side is no sentence; the message names it.
    """
    for name, side in (("source", source), ("target", target)):
        if hasattr(side, "to_frame"):  # a Series of pandas or polars, whose values would be taken for words
            raise SettingError(
                f"`{name}`: expected one sentence, found a whole column. Align columns with "
                "align_batch(zip(source, target, strict=True)), or with `stream` if they are long. If these are the "
                "words of one sentence, make them a list."
            )
    return SentencePair(_words_in(source, "`source`", split[0]), _words_in(target, "`target`", split[1]))


def to_texts(source: Iterable[Words], target: Iterable[Words]) -> list[list[Words]]:
    """Two texts as lists of sentences, each a tuple of words.

    Raises:
        SettingError: a sentence is none; the message names it.
    """
    return [
        [_words_in(tuple(words), f"sentence {row} of `{name}`", split_words) for row, words in enumerate(text)]
        for name, text in (("source", source), ("target", target))
    ]


def _advice(pair: object, pairs: object) -> str:
    """How to make a pair of what is none."""
    if isinstance(pair, dict):
        source, target = list(pair)[:2] if len(pair) > 1 else SIDES
        return f" Give (row[{source!r}], row[{target!r}])."
    names = [name for name in getattr(pairs, "columns", ()) if isinstance(name, str | int)][:2]
    if len(names) == 2:  # iterating over a table gives the names of its columns, or columns
        return f" Of a table `df`, give zip(df[{names[0]!r}], df[{names[1]!r}]), with the columns of the two sentences."
    if isinstance(pair, str) or hasattr(pair, "to_frame"):
        return " Give (sentence, translation); of a table, give zip() of its two columns."
    return ""


def _words_in(side: object, place: str, split: Split) -> Words:
    try:
        if isinstance(side, str):
            side.encode()
            return split(side)
        words = tuple(cast("Iterable[str]", side))
        "".join(words).encode()  # takes a thousandth of the time of aligning it
    except TypeError:
        found = _shown(side)
        message = f"{place}: expected a sentence as a string or a list of words, found {found}."
        raise SettingError(message) from None
    except UnicodeEncodeError:
        raise SettingError(f"{place}: {_shown(side)} contains half of a surrogate pair.") from None
    return words


def _shown(value: object) -> str:
    """A value as Python writes it, on one line and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"
