"""How sure a score is: bootstrap intervals for one system, a paired permutation test for two.

Both work on sentence counts. Above `MOST_UNITS` sentences, neighbours are summed into blocks first, so that a
million lines cost no more than ten thousand; documents stay together, which is the more careful choice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.arrays import FloatArray, IntArray
from weft.scoring.counts import rates

MOST_UNITS = 10_000
SAMPLES = 1000
LEVEL = 0.95
SEED = 12345


def bootstrap_interval(
    counts: IntArray, *, samples: int = SAMPLES, level: float = LEVEL, seed: int = SEED
) -> FloatArray:
    """Percentile bootstrap over sentences.

    Args:
        counts: sentence counts of shape (sentences, 4).
        samples: how often the test set is drawn anew.
        level: the share of the drawn scores that the interval holds.
        seed: makes the interval repeatable.

    Returns:
        Lower and upper ends of shape (2, 4), in the order of `Rates`.
    """
    return bootstrap(counts, rates, samples=samples, level=level, seed=seed)


def bootstrap(
    counts: IntArray,
    rates_of: Callable[[IntArray], FloatArray],
    *,
    samples: int = SAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> FloatArray:
    """Percentile bootstrap over sentences, of any rates.

    Args:
        counts: sentence counts of shape (sentences, n).
        rates_of: counts of shape (samples, n) to rates of shape (samples, m).
        samples: how often the test set is drawn anew.
        level: the share of the drawn scores that the interval holds.
        seed: makes the interval repeatable.

    Returns:
        Lower and upper ends of shape (2, m).
    """
    units = _blocks(counts)
    if not len(units):
        return np.zeros((2, rates_of(counts.sum(axis=0)).shape[0]))
    generator = np.random.default_rng(seed)
    drawn = [units[generator.integers(len(units), size=len(units))].sum(axis=0) for _ in range(samples)]
    tail = (1 - level) / 2
    return np.quantile(rates_of(np.stack(drawn)), [tail, 1 - tail], axis=0)


def permutation_test(first: IntArray, second: IntArray, *, samples: int = SAMPLES, seed: int = SEED) -> FloatArray:
    """Two-sided paired approximate randomisation test.

    If the two systems were equally good, swapping their output on any sentence would change nothing; the p-value is
    the share of random swaps that leave a difference at least as large as the one observed.

    Args:
        first: sentence counts of one system, shape (sentences, 4).
        second: those of the other on the same sentences.
        samples: how often sentences are swapped.
        seed: makes the p-values repeatable.

    Returns:
        One p-value for each rate, shape (4,), in the order of `Rates`.
    """
    units, others = _blocks(first), _blocks(second)
    total, other_total = units.sum(axis=0), others.sum(axis=0)
    observed = np.abs(rates(total) - rates(other_total))
    generator = np.random.default_rng(seed)
    as_large = np.zeros(len(observed))
    for _ in range(samples):
        swapped = generator.integers(2, size=len(units), dtype=np.int64) @ (others - units)
        difference = np.abs(rates(total + swapped) - rates(other_total - swapped))
        as_large += difference >= observed - 1e-9
    return (as_large + 1) / (samples + 1)


def _blocks(counts: IntArray) -> IntArray:
    if len(counts) <= MOST_UNITS:
        return counts
    starts = np.linspace(0, len(counts), MOST_UNITS, endpoint=False).astype(np.int64)
    return np.add.reduceat(counts, starts, axis=0)
