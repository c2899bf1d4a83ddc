"""Pairs of words to the subwords that an encoder reads: all that can be done without its model, in any process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.encoding.subwords import IntArray, Subwords, Tokenizer
from weft.types import SentencePair, Words


class Prepared(NamedTuple):
    """Lines that were cut into subwords.

    `pairs` has the shape (pairs, 2): the numbers of each pair's two sentences among the subwords. `filled` (lines,)
    says which lines hold a pair; one with an empty side holds none.
    """

    subwords: Subwords
    pairs: IntArray
    filled: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Preparation:
    """How one encoder's text is prepared; `joint` if it reads the two sentences of a pair together."""

    tokenizer: Tokenizer
    joint: bool

    def __call__(self, lines: Sequence[SentencePair]) -> Prepared:
        """Prepare lines."""
        filled = [bool(pair.source and pair.target) for pair in lines]
        pairs = lines if all(filled) else [pair for pair in lines if pair.source and pair.target]
        sentences, numbers = distinct(pairs, joint=self.joint)
        return Prepared(self.tokenizer.split(sentences), _array(numbers), np.array(filled, dtype=np.bool_))


def distinct(pairs: Sequence[SentencePair], *, joint: bool) -> tuple[list[Words], list[tuple[int, int]]]:
    """Every sentence once, and each pair's two sentence numbers.

    Where an encoder reads both sentences together, whole pairs stand there once, as two sentences in a row.
    """
    if joint:
        places: dict[SentencePair, int] = {}
        firsts = [places.setdefault(pair, 2 * len(places)) for pair in pairs]
        return list(chain.from_iterable(places)), [(first, first + 1) for first in firsts]
    numbers: dict[Words, int] = {}
    both = [
        (numbers.setdefault(pair.source, len(numbers)), numbers.setdefault(pair.target, len(numbers))) for pair in pairs
    ]
    return list(numbers), both


def _array(numbers: list[tuple[int, int]]) -> IntArray:
    return np.array(numbers, dtype=np.int64).reshape(-1, 2)
