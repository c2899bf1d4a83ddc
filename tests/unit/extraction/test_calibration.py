from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from weft.extraction.calibration import Calibration, binned


def test_calibration_recovers_a_known_curve():
    generator = np.random.default_rng(0)
    raw = generator.random(20_000)
    right = generator.random(20_000) < raw**2
    curve = Calibration.fit(raw, right)
    probe = np.linspace(0.1, 0.95, 20)
    np.testing.assert_allclose(curve(probe), probe**2, atol=0.04)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=300))
def test_calibrated_scores_are_probabilities_and_keep_their_order(links):
    raw = np.array([score for score, _ in links])
    curve = Calibration.fit(raw, np.array([right for _, right in links]))
    probabilities = curve(np.sort(raw))
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert (np.diff(probabilities) >= -1e-12).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=100, max_size=400))
def test_the_curve_is_that_of_scipys_isotonic_regression(links):
    raw, right = (np.array(column) for column in zip(*links, strict=True))
    curve = Calibration.fit(raw, right)
    bins = binned(raw)
    shares = [(right[members].sum() + 1) / (len(members) + 2) for members in bins]
    expected = isotonic_regression(shares, weights=[len(members) for members in bins]).x
    np.testing.assert_allclose(curve.probabilities, expected)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.5]) | st.floats(0, 1), min_size=1, max_size=600))
def test_bins_part_no_equal_scores_and_are_large_enough(scores):
    raw = np.array(scores)
    bins = binned(raw)
    assert sorted(np.concatenate(bins).tolist()) == list(range(len(raw)))
    assert all(raw[lower].max() < raw[upper].min() for lower, upper in pairwise(bins))
    assert all(len(members) >= 20 for members in bins[:-1])


def test_bins_are_small_where_scores_are_low():
    sizes = [len(members) for members in binned(np.linspace(0, 1, 100_000))]
    assert sizes[:3] == [20, 25, 31]
    assert max(sizes) <= 2 * 100_000 / 32
    assert len(sizes) < 64


def test_links_with_one_score_have_one_probability():
    right = np.arange(300) % 3 > 0
    assert Calibration.fit(np.ones(300), right)(np.ones(1))[0] == pytest.approx(201 / 302)
