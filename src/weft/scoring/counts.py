"""Per-sentence counts first, rates from their sums second; intervals and tests resample the same counts.

All rates are in percent, as papers print them.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray, IntArray
from weft.types import GoldAlignment, WordPair


class Counts(NamedTuple):
    """The counts of one sentence or of a whole corpus: |A ∩ S|, |A ∩ P|, |A| and |S|, as in the formula of AER."""

    sure_hits: int  # |A ∩ S|
    possible_hits: int  # |A ∩ P|
    links: int  # |A|
    sure: int  # |S|


def count_sentence(gold: GoldAlignment, links: Set[WordPair]) -> Counts:
    """Compare one sentence's links with its gold."""
    sure_hits = len(links & gold.sure)
    possible_hits = sure_hits if gold.possible is gold.sure else len(links & gold.possible)
    return Counts(sure_hits, possible_hits, len(links), len(gold.sure))


@dataclass(frozen=True, slots=True)
class Rates:
    """Alignment error rate, precision (against possible), recall (against sure) and F1, in percent."""

    aer: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, counts: Counts) -> Rates:
        """The rates of one set of counts."""
        return cls(*(float(rate) for rate in rates(np.asarray(counts)).tolist()))


def rates(counts: IntArray) -> FloatArray:
    """Counts of shape (..., 4) to rates of shape (..., 4), in the order of `Rates`.

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) (Och & Ney 2003). A rate over nothing is 0: no links have no
    precision, and nothing to find leaves no error.
    """
    sure_hits, possible_hits, links, sure = np.moveaxis(counts.astype(np.float64), -1, 0)
    precision = _share(possible_hits, links)
    recall = _share(sure_hits, sure)
    f1 = _share(2 * precision * recall, precision + recall)
    errors = _share(links + sure - sure_hits - possible_hits, links + sure)
    return 100 * np.stack([errors, precision, recall, f1], axis=-1)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
