"""Hidden states of the stretches of one long text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray, IntArray


class StretchStates(NamedTuple):
    """Hidden states (subwords, width) of the stretches of one text; stretch k owns `starts[k]` to `starts[k + 1]`."""

    states: FloatArray
    starts: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> IntArray:
        """Subwords of each stretch."""
        return np.diff(self.starts)

    def part(self, first: int, last: int) -> StretchStates:
        """Stretches `first` to `last` alone."""
        starts = self.starts[first : last + 1]
        return StretchStates(self.states[starts[0] : starts[-1]], starts - starts[0])
