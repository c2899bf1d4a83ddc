"""Raw scores to the probability that a link is right: a curve that is fitted on dev sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from weft.arrays import BoolArray, FloatArray, IntArray

_SMALLEST_BIN, _GROWTH, _MOST_BINS = 20, 1.25, 32


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising curve from raw scores to the share of links that are right, fitted on a dev set."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __call__(self, raw: FloatArray) -> FloatArray:
        """Read probabilities off the curve."""
        return np.interp(raw, self.scores, self.probabilities)

    @classmethod
    def fit(cls, raw: FloatArray, right: BoolArray) -> Calibration:
        """Isotonic regression of right (0 or 1) on the raw score, thinned to a few knots.

        Links are summed into bins first: a curve with one step for each link of a small dev set would learn its
        accidents.
        """
        bins = binned(raw)
        centres = [float(np.mean(raw[members])) for members in bins]
        # One right and one wrong link are added to each bin, so that no bin promises certainty.
        shares = [(float(np.sum(right[members])) + 1) / (len(members) + 2) for members in bins]
        return cls(tuple(centres), tuple(_rising(shares, [len(members) for members in bins])))


def binned(raw: FloatArray) -> list[IntArray]:
    """Numbers of links in bins of rising scores; links with the same score are in the same bin.

    Bins are small for the lowest scores, where few links lie and the curve is steep, and grow from there.
    """
    order = np.argsort(raw, kind="stable")
    ordered, borders, size = raw[order], [0], float(_SMALLEST_BIN)
    while borders[-1] + 2 * size <= len(order):
        last = ordered[borders[-1] + int(size) - 1]
        borders.append(int(np.searchsorted(ordered, last, side="right")))
        size = max(_SMALLEST_BIN, min(size * _GROWTH, len(order) / _MOST_BINS))
    return [members for members in np.split(order, borders[1:]) if len(members)]


def _rising(values: Sequence[float], weights: Sequence[int]) -> Iterator[float]:
    """The rising curve nearest to the values: neighbours that fall are replaced by their weighted mean."""
    steps: list[tuple[float, int, int]] = []  # mean, weight, values
    for value, weight in zip(values, weights, strict=True):
        steps.append((value, weight, 1))
        while len(steps) > 1 and steps[-2][0] >= steps[-1][0]:
            (low, light, few), (high, heavy, many) = steps.pop(), steps.pop()
            steps.append(((low * light + high * heavy) / (light + heavy), light + heavy, few + many))
    for mean, _, count in steps:
        yield from repeat(mean, count)
