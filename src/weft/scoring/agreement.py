"""How far two annotators agree: AER, F1 and Cohen's kappa of their links, with intervals.

Everything is counted sentence by sentence first, as scores against gold are; intervals draw sentences anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray, IntArray
from weft.scoring.significance import bootstrap
from weft.types import GoldAlignment, SentencePair


class AgreementCounts(NamedTuple):
    """What one sentence adds. `first` and `second` are the annotators; their links are sure or possible."""

    first: int
    second: int
    both: int
    first_sure: int
    second_sure: int
    first_sure_found: int  # sure for the first, linked by the second
    second_sure_found: int
    both_sure: int
    cells: int  # source words times target words; 0 where the sentence is not known


@dataclass(frozen=True, slots=True)
class AgreementRates:
    """Agreement of two annotators. AER and F1 are in percent; kappa is at most 1 and None without sentences."""

    aer: float
    f1: float
    kappa: float | None


def count_agreement(first: GoldAlignment, second: GoldAlignment, pair: SentencePair | None = None) -> AgreementCounts:
    """Compare what two annotators said about one sentence.

    Args:
        first: the links of one.
        second: the links of the other.
        pair: the sentence; without it there is no kappa, which needs to know what could have been linked.
    """
    return AgreementCounts(
        first=len(first.possible),
        second=len(second.possible),
        both=len(first.possible & second.possible),
        first_sure=len(first.sure),
        second_sure=len(second.sure),
        first_sure_found=len(first.sure & second.possible),
        second_sure_found=len(second.sure & first.possible),
        both_sure=len(first.sure & second.sure),
        cells=0 if pair is None else len(pair.source) * len(pair.target),
    )


def agreement_rates(counts: IntArray) -> FloatArray:
    """Counts of shape (..., 9) to AER, F1 and kappa of shape (..., 3); AER and F1 in percent.

    - AER takes each annotator once as gold and once as system, and adds both up:
      1 - (2 |A ∩ B| + |S_A ∩ B| + |S_B ∩ A|) / (|A| + |B| + |S_A| + |S_B|).
    - F1 (Dice) does not ask whether a link is sure: 2 |A ∩ B| / (|A| + |B|).
    - kappa (Cohen 1960) is over all cells of the matrices, linked or not. It is nan where cells are not known.

    Two annotators who both link nothing agree.
    """
    first, second, both, sure, other_sure, found, other_found, _, cells = np.moveaxis(counts.astype(np.float64), -1, 0)
    f1 = _share(2 * both, first + second, empty=1.0)
    aer = 1 - _share(2 * both + found + other_found, first + second + sure + other_sure, empty=1.0)
    observed = _share(cells - first - second + 2 * both, cells, empty=np.nan)
    expected = _share(first * second + (cells - first) * (cells - second), cells * cells, empty=np.nan)
    kappa = np.where(expected < 1, _share(observed - expected, 1 - expected, empty=1.0), 1.0)
    return np.stack([100 * aer, 100 * f1, np.where(np.isnan(expected), np.nan, kappa)], axis=-1)


def _share(part: FloatArray, whole: FloatArray, *, empty: float) -> FloatArray:
    return np.divide(part, whole, out=np.full_like(part, empty), where=whole > 0)


@dataclass(frozen=True)
class Agreement:
    """How far two annotators agree on a text.

    Attributes:
        counts: sentence counts of shape (sentences, 9), in the order of `AgreementCounts`.
    """

    counts: IntArray

    @classmethod
    def of(cls, sentences: Iterable[AgreementCounts]) -> Agreement:
        """From the counts of all sentences."""
        return cls(np.array(list(sentences), dtype=np.int64).reshape(-1, len(AgreementCounts._fields)))

    @cached_property
    def rates(self) -> AgreementRates:
        """Over all sentences together."""
        return _rates(agreement_rates(self.counts.sum(axis=0)))

    @cached_property
    def interval(self) -> tuple[AgreementRates, AgreementRates]:
        """Lower and upper ends of the bootstrap 95 % intervals."""
        lower, upper = bootstrap(self.counts, agreement_rates)
        return _rates(lower), _rates(upper)

    @cached_property
    def by_sentence(self) -> list[AgreementRates]:
        """The rates of each sentence alone."""
        return [_rates(row) for row in agreement_rates(self.counts)]

    @property
    def disagreements(self) -> list[int]:
        """Sentences, counted from 0, in which a link or its sureness differs; the least agreement first."""
        aer = agreement_rates(self.counts)[:, 0]
        return [int(number) for number in np.argsort(-aer, kind="stable") if self.differs(int(number))]

    def differs(self, number: int) -> bool:
        """Whether the annotators differ on a sentence, counted from 0."""
        counts = AgreementCounts(*self.counts[number].tolist())
        same_links = counts.first == counts.second == counts.both
        return not (same_links and counts.first_sure == counts.second_sure == counts.both_sure)

    def differs_in_sureness(self, number: int) -> bool:
        """Whether the annotators link the same words of a sentence, but not all of them as sure or as possible."""
        counts = AgreementCounts(*self.counts[number].tolist())
        return counts.first == counts.second == counts.both and self.differs(number)

    def __str__(self) -> str:
        lower, upper = self.interval
        kappa = "" if self.rates.kappa is None else f" kappa = {self.rates.kappa:.3f}"
        return (
            f"AER = {self.rates.aer:.1f} [{lower.aer:.1f}, {upper.aer:.1f}] F1 = {self.rates.f1:.1f} "
            f"[{lower.f1:.1f}, {upper.f1:.1f}]{kappa} (sentences = {len(self.counts)})"
        )


def _rates(row: FloatArray) -> AgreementRates:
    aer, f1, kappa = (float(value) for value in row)
    return AgreementRates(aer, f1, None if np.isnan(kappa) else kappa)
