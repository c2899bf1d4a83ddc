"""Which stretches of two texts sound alike: evidence for names that nobody has seen before.

The more often three letters in a row occur in two texts, the less it says that two stretches share them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray
from weft.text.readings import is_japanese, japanese_sounds_of, sounds_of
from weft.types import Words

_IN_A_ROW = 3


class Likeness(NamedTuple):
    """How much stretches of two texts share, shape (source, target), and how much those of either text have."""

    shared: FloatArray
    source: FloatArray
    target: FloatArray


@dataclass(frozen=True, slots=True)
class Sounds:
    """What the stretches of two texts sound like.

    Attributes:
        heard: letters in a row, and numbers, of each stretch of either text.
        names: those of words that could as well be words of the other text, as they sound like nothing else.
        weights: how much each of these says.
    """

    heard: tuple[list[frozenset[str]], list[frozenset[str]]]
    names: tuple[list[frozenset[str]], list[frozenset[str]]]
    weights: dict[str, float]

    @classmethod
    def of(cls, source: Sequence[Words], target: Sequence[Words]) -> Sounds | None:
        """The sounds of two texts, if one is Japanese and the other is not: other names are written alike anyway."""
        japanese = is_japanese(source), is_japanese(target)
        if japanese[0] == japanese[1]:
            return None
        readers = [japanese_sounds_of if kind else sounds_of for kind in japanese]
        words = [list(map(read, text)) for read, text in zip(readers, (source, target), strict=True)]
        ours, theirs = ([_together(map(_parts, sentence)) for sentence in text] for text in words)
        counts = Counter(chain.from_iterable(ours + theirs))
        weights = {part: math.log((len(ours) + len(theirs)) / count) for part, count in counts.items()}
        nothing: frozenset[str] = frozenset()
        if japanese[0]:
            names = [nothing] * len(ours), _names(words[1], _together(ours))
        else:
            names = _names(words[0], _together(theirs)), [nothing] * len(theirs)
        return cls((ours, theirs), names, weights)

    def evidence(self, source: slice, target: slice) -> tuple[float, float]:
        """How much stretches sound alike, and the share of what they sound like that is names of one side alone."""
        ours, theirs = (_together(side[span]) for side, span in zip(self.heard, (source, target), strict=True))
        names = [_together(side[span]) for side, span in zip(self.names, (source, target), strict=True)]
        both = self._weight(ours), self._weight(theirs)
        unheard = (self._weight(own - other) for own, other in zip(names, (theirs, ours), strict=True))
        shares = (amount / weight if weight else 0.0 for amount, weight in zip(unheard, both, strict=True))
        alike = self._weight(ours & theirs)
        return alike / math.sqrt(sum(both)) if alike else 0.0, sum(shares)

    def likeness(self, source: slice, target: slice) -> Likeness:
        """How much each of some source stretches has in common with each of some target stretches."""
        sides = [side[span] for side, span in zip(self.heard, (source, target), strict=True)]
        columns = {part: number for number, part in enumerate(sorted(_together(sides[0]) & _together(sides[1])))}
        weights = np.array([self.weights[part] for part in columns])
        ours, theirs = (_rows(side, columns) for side in sides)
        totals = (np.array([self._weight(parts) for parts in side]) for side in sides)
        return Likeness((ours * weights) @ theirs.T, *totals)

    def _weight(self, parts: Collection[str]) -> float:
        # An exact sum: the order of a set differs from run to run.
        return math.fsum(self.weights[part] for part in parts)


def _names(text: Sequence[Sequence[str]], others: frozenset[str]) -> list[frozenset[str]]:
    """The parts of those words of each stretch that have no part which the other text lacks."""
    words = ([_parts(word) for word in sentence if word.isalpha()] for sentence in text)
    return [_together(parts for parts in sentence if parts <= others) for sentence in words]


def _parts(word: str) -> frozenset[str]:
    if word.isdigit():
        return frozenset((word,))
    return frozenset(word[start : start + _IN_A_ROW] for start in range(len(word) - _IN_A_ROW + 1))


def _together(parts: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*parts)


def _rows(stretches: Sequence[frozenset[str]], columns: dict[str, int]) -> FloatArray:
    """Which of these each stretch has, as rows of 0 and 1."""
    rows = np.zeros((len(stretches), len(columns)))
    for row, parts in zip(rows, stretches, strict=True):
        row[[columns[part] for part in parts if part in columns]] = 1.0
    return rows
