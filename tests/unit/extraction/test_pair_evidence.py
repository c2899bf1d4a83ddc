from __future__ import annotations

import math

import pytest

from weft.extraction.pair_evidence import WEIGHTS, gain, pair_evidence, skip_evidence
from weft.types import Alignment, Link


def linked(*links, score=0.9):
    return Alignment(tuple(Link(i, j, 0.9) for i, j in links), score)


def test_more_links_speak_for_a_pair_and_many_words_without_against_it():
    edges = ((0, 4), (0, 4))
    all_words, one_word = (gain(pair_evidence(linked(*((k, k) for k in range(n))), edges)) for n in (4, 1))
    alone = 2 * gain(skip_evidence(4))
    assert all_words > one_word
    assert all_words > alone > gain(pair_evidence(Alignment((), 0.0), edges))


def test_the_amounts_of_evidence_are_those_of_the_links():
    # Two source stretches of two and three words, one target stretch of four words.
    found = pair_evidence(linked((0, 0), (1, 1), (2, 1), (3, 2), score=0.5), ((0, 2, 5), (0, 4)))
    assert found.two == 1.0
    assert found.linked == pytest.approx(0.9 * (4 + 3))
    assert found.linked_by_length == pytest.approx(0.9 * 7 / 3)
    assert found.support == 0.0
    assert found.weakest == pytest.approx(0.9 * 2 / 3)
    assert found.own == pytest.approx(math.log(0.9 + 0.1))  # either has one word of its own, and they share one
    assert found.bridge == found.one == found.skip == 0.0


def test_two_pairs_are_one_only_if_links_go_across():
    edges = ((0, 2, 4), (0, 2, 4))
    apart = pair_evidence(linked((0, 0), (1, 1), (2, 2), (3, 3)), edges)
    across = pair_evidence(linked((0, 0), (1, 2), (2, 2), (3, 3)), edges)
    assert apart.bridge == pytest.approx(math.log(0.1))
    assert across.bridge == pytest.approx(math.log(1.0))
    halves = 2 * gain(pair_evidence(linked((0, 0), (1, 1)), ((0, 2), (0, 2))))
    assert gain(apart) < halves


def test_a_sentence_whose_links_a_neighbour_has_too_speaks_less_for_a_pair_of_three():
    edges = ((0, 5), (0, 3, 5))
    shared = pair_evidence(linked((0, 0), (1, 1), (2, 2), (1, 3), (2, 4)), edges)
    own = pair_evidence(linked((0, 0), (1, 1), (2, 2), (3, 3), (4, 4)), edges)
    assert shared.own == pytest.approx(math.log(0.1))
    assert own.own == pytest.approx(math.log(1.9))
    assert gain(own) > gain(shared)


def test_links_without_scores_count_in_full_and_their_share_is_the_support():
    found = pair_evidence(Alignment((Link(0, 0), Link(1, 1))), ((0, 4), (0, 4)))
    assert found.linked == 4.0
    assert found.support == 0.0


def test_a_stretch_that_begins_within_a_word_is_allowed():
    assert math.isfinite(gain(pair_evidence(linked((0, 0)), ((0, 0, 1), (0, 1)))))


def test_a_gain_is_the_weighted_sum():
    found = skip_evidence(10)
    assert gain(found) == pytest.approx(WEIGHTS.skip + WEIGHTS.skip_length * math.log(10))
