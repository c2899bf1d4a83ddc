from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from weft.scoring.counts import rates
from weft.scoring.significance import MOST_UNITS, bootstrap_interval, permutation_test


def sentence_counts(sentences: int, *, accuracy: float, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    sure = generator.integers(1, 40, size=sentences)
    hits = generator.binomial(sure, accuracy)
    return np.stack([hits, hits, sure, sure], axis=1)


def test_intervals_agree_with_scipy():
    counts = sentence_counts(400, accuracy=0.8, seed=1)

    def aer(*columns, axis=-1):
        return rates(np.stack([column.sum(axis=axis) for column in columns], axis=-1))[..., 0]

    theirs = stats.bootstrap(
        tuple(counts.T), aer, paired=True, vectorized=True, method="percentile", n_resamples=4000, rng=0
    ).confidence_interval
    lower, upper = bootstrap_interval(counts, samples=4000)[:, 0]
    width = theirs.high - theirs.low
    assert lower == pytest.approx(theirs.low, abs=0.1 * width)
    assert upper == pytest.approx(theirs.high, abs=0.1 * width)


def test_p_values_agree_with_scipy():
    first, second = sentence_counts(200, accuracy=0.80, seed=2), sentence_counts(200, accuracy=0.785, seed=2)

    def difference(hits, other_hits, axis=-1):
        # all sentences have |A| = |S|, so AER differs exactly as the hits do
        return np.sum(hits, axis=axis) - np.sum(other_hits, axis=axis)

    theirs = stats.permutation_test(
        (first[:, 0], second[:, 0]), difference, permutation_type="samples", vectorized=True, n_resamples=9999, rng=0
    ).pvalue
    assert permutation_test(first, second, samples=9999)[0] == pytest.approx(theirs, abs=0.02)


def test_a_system_is_never_different_from_itself():
    counts = sentence_counts(50, accuracy=0.7, seed=3)
    assert permutation_test(counts, counts).tolist() == [1, 1, 1, 1]


def test_a_clear_difference_is_found():
    better, worse = sentence_counts(300, accuracy=0.9, seed=4), sentence_counts(300, accuracy=0.7, seed=4)
    assert permutation_test(worse, better)[0] < 0.01


def test_results_repeat():
    counts = sentence_counts(100, accuracy=0.7, seed=5)
    assert (bootstrap_interval(counts) == bootstrap_interval(counts)).all()


def test_blocks_keep_the_width_of_the_interval():
    counts = sentence_counts(4 * MOST_UNITS + 7, accuracy=0.8, seed=6)
    lower, upper = bootstrap_interval(counts)[:, 0]
    # for independent sentences the interval shrinks with the root of their number
    few_lower, few_upper = bootstrap_interval(counts[:1000])[:, 0]
    assert (upper - lower) == pytest.approx((few_upper - few_lower) / np.sqrt(len(counts) / 1000), rel=0.2)
    assert lower < rates(counts.sum(axis=0))[0] < upper


def test_no_sentences_give_an_empty_interval():
    assert bootstrap_interval(np.zeros((0, 4), dtype=np.int64)).tolist() == [[0] * 4, [0] * 4]
