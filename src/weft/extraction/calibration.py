"""Raw scores to the probability that a link is right: a curve that is fitted on dev sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising curve from raw scores to the share of links that are right, fitted on a dev set."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __call__(self, raw: FloatArray) -> FloatArray:
        """Read probabilities off the curve."""
        return np.interp(raw, self.scores, self.probabilities)

    @classmethod
    def fit(cls, raw: FloatArray, right: BoolArray, *, knots: int = 32) -> Calibration:
        """Isotonic regression of right (0 or 1) on the raw score, thinned to a few knots.

        Links are summed into equally full bins first: a curve with one step for each link of a small dev set would
        learn its accidents.
        """
        from scipy.optimize import isotonic_regression

        order = np.argsort(raw, kind="stable")
        bins = np.array_split(order, max(1, min(knots, len(order) // 20)))
        centres = [float(np.mean(raw[members])) for members in bins]
        # One right and one wrong link are added to each bin, so that no bin promises certainty.
        shares = [(float(np.sum(right[members])) + 1) / (len(members) + 2) for members in bins]
        curve = isotonic_regression(shares, weights=[len(members) for members in bins]).x
        return cls(tuple(centres), tuple(float(share) for share in curve))
