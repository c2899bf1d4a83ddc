from __future__ import annotations

import sys

import entmax as entmax_library
import numpy as np
import ot
import pytest
import torch
from scipy import special
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances

from weft.errors import MissingExtraError
from weft.extraction.similarity import (
    MASKED,
    SINKHORN_REGULARISATION,
    cosines,
    distances,
    dot_products,
    entmax,
    softmax,
    transport,
)

GENERATOR = np.random.default_rng(7)
SOURCE = GENERATOR.normal(size=(3, 6, 8)).astype(np.float32)
TARGET = GENERATOR.normal(size=(3, 9, 8)).astype(np.float32)


def test_similarities_equal_scikit_learn(library):
    x, y = library(SOURCE), library(TARGET)
    for number in range(3):
        one, other = SOURCE[number], TARGET[number]
        np.testing.assert_allclose(np.asarray(dot_products(x, y))[number], one @ other.T, atol=1e-5)
        np.testing.assert_allclose(np.asarray(cosines(x, y))[number], cosine_similarity(one, other), atol=1e-5)
        np.testing.assert_allclose(np.asarray(distances(x, y))[number], euclidean_distances(one, other), atol=1e-4)


def test_a_state_of_zeros_is_similar_to_nothing(library):
    assert np.asarray(cosines(library(np.zeros((1, 1, 4))), library(np.ones((1, 2, 4))))).tolist() == [[[0, 0]]]


@pytest.mark.parametrize("axis", [1, 2])
def test_softmax_equals_scipy(library, axis):
    scores = 100 * GENERATOR.normal(size=(2, 5, 7))
    np.testing.assert_allclose(np.asarray(softmax(library(scores), axis=axis)), special.softmax(scores, axis=axis))


def test_a_row_of_padding_alone_stays_finite(library):
    scores = np.full((1, 2, 3), MASKED, dtype=np.float32)
    for alpha in (1.0, 1.3, 1.5, 2.0):
        assert np.isfinite(np.asarray(entmax(library(scores), axis=2, alpha=alpha))).all()


@pytest.mark.parametrize("alpha", [1.1, 1.5, 1.75, 2.0])
@pytest.mark.parametrize("axis", [1, 2])
def test_entmax_equals_the_bisection(library, alpha, axis):
    scores = 3 * GENERATOR.normal(size=(2, 6, 8)).astype(np.float32)
    expected = entmax_library.entmax_bisect(torch.from_numpy(scores), alpha=alpha, dim=axis, n_iter=60)
    np.testing.assert_allclose(np.asarray(entmax(library(scores), axis=axis, alpha=alpha)), expected, atol=1e-5)


@pytest.mark.parametrize("spread", [0.1, 1, 5, 30])
@pytest.mark.parametrize("axis", [1, 2])
def test_entmax_without_torch_has_the_zeros_of_the_library(spread, axis):
    scores = spread * GENERATOR.normal(size=(20, 43, 57)).astype(np.float32)
    scores[:, :, -2:] = MASKED
    scores[:5, :3] += 20  # far ahead of all others: alone in its column
    expected = entmax_library.entmax15(torch.from_numpy(scores), dim=axis).numpy()
    found = entmax(scores, axis=axis, alpha=1.5)
    real = np.s_[:, :, :-2]
    np.testing.assert_allclose(found[real], expected[real], atol=2e-6)
    assert ((found > 0) == (expected > 0))[real].all()


def test_alpha_1_is_softmax(library):
    scores = library(GENERATOR.normal(size=(2, 3, 4)))
    assert (np.asarray(entmax(scores, axis=2, alpha=1.0)) == np.asarray(softmax(scores, axis=2))).all()


COSTS = {
    "cosine": lambda x, y: 1 - cosine_similarity(x, y),
    "dot": lambda x, y: -(x @ y.T),
    "euclidean": euclidean_distances,
}


@pytest.mark.parametrize("cost", COSTS)
def test_transport_equals_pots_plain_solver_whatever_the_padding(library, cost):
    sizes = [(6, 9), (3, 9), (6, 2)]
    valid = np.zeros((3, 6, 9), dtype=bool)
    for number, (n, m) in enumerate(sizes):
        valid[number, :n, :m] = True
    plans = np.asarray(transport(library(SOURCE), library(TARGET), library(valid), cost=cost))
    for number, (n, m) in enumerate(sizes):
        matrix = COSTS[cost](SOURCE[number, :n].astype(np.float64), TARGET[number, :m].astype(np.float64))
        scaled = (matrix - matrix.min()) / (matrix.max() - matrix.min())
        expected = ot.sinkhorn(
            np.full(n, 1 / n), np.full(m, 1 / m), scaled, SINKHORN_REGULARISATION, numItermax=10_000, stopThr=1e-12
        )
        np.testing.assert_allclose(plans[number, :n, :m], expected, atol=1e-6)
        assert plans[number].sum() == pytest.approx(1)


def test_transport_between_equal_words_is_even(library):
    ones = library(np.ones((1, 2, 4), dtype=np.float32))
    plan = transport(ones, ones, library(np.ones((1, 2, 2), dtype=bool)), cost="cosine")
    np.testing.assert_allclose(np.asarray(plan), 0.25)


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("entmax", lambda: entmax(SOURCE, axis=2, alpha=1.3)),
        ("ot.batch", lambda: transport(SOURCE, SOURCE, np.ones((3, 6, 6), dtype=bool), cost="dot")),
    ],
)
def test_a_missing_extra_names_itself(monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[(torch|ot)\]'"):
        call()
