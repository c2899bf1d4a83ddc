"""SimAlign's own functions as oracle, on random similarities, alone and padded into batches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from simalign import SentenceAligner

from weft.extraction.matching import best_links, itermax_links, matching_links

shapes = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6)


def padded(shapes, seed):
    generator = np.random.default_rng(seed)
    height, width = (max(shape[side] for shape in shapes) for side in (0, 1))
    similarities = generator.random((len(shapes), height, width))
    valid = np.zeros(similarities.shape, dtype=bool)
    for number, (n, m) in enumerate(shapes):
        valid[number, :n, :m] = True
    return similarities, valid


def check(ours, valid, similarities, shapes, oracle):
    ours = np.asarray(ours)
    assert not (ours & ~valid).any()
    for number, (n, m) in enumerate(shapes):
        expected = oracle(similarities[number, :n, :m]) > 0
        np.testing.assert_array_equal(ours[number, :n, :m], expected)


class TestAgainstSimAlign:
    @given(shapes=shapes, seed=st.integers(0, 10_000))
    def test_argmax(self, library, shapes, seed):
        similarities, valid = padded(shapes, seed)
        forward, backward = (best_links(library(similarities), library(valid), axis=axis) for axis in (2, 1))
        check(forward, valid, similarities, shapes, lambda one: SentenceAligner.get_alignment_matrix(one)[0])
        check(backward, valid, similarities, shapes, lambda one: SentenceAligner.get_alignment_matrix(one)[1])

    @given(shapes=shapes, seed=st.integers(0, 10_000))
    def test_itermax(self, library, shapes, seed):
        similarities, valid = padded(shapes, seed)
        check(
            itermax_links(library(similarities), library(valid)), valid, similarities, shapes, SentenceAligner.iter_max
        )

    @given(shapes=shapes, seed=st.integers(0, 10_000))
    def test_match(self, library, shapes, seed):
        similarities, valid = padded(shapes, seed)
        ours = matching_links(library(similarities), library(valid))
        check(ours, valid, similarities, shapes, SentenceAligner.get_max_weight_match)


@given(shape=st.tuples(st.integers(1, 60), st.integers(1, 60)), seed=st.integers(0, 10_000))
def test_matchings_weigh_as_much_as_those_of_scipy_even_with_ties(shape, seed):
    similarities = np.random.default_rng(seed).random((1, *shape)).astype(np.float32).round(1)
    links = np.asarray(matching_links(similarities, np.ones_like(similarities, dtype=bool)))
    assert links.sum() == min(shape)
    assert links.sum(axis=1).max() == links.sum(axis=2).max() == 1
    best = linear_sum_assignment(similarities[0], maximize=True)
    np.testing.assert_allclose(similarities[links].sum(), similarities[0][best].sum(), rtol=1e-5)
