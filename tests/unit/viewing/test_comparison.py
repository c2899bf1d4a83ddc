from __future__ import annotations

import pytest

from weft.types import Alignment, GoldAlignment, Link, SentencePair
from weft.viewing.comparison import Comparison, Kind, ViewedPair

PAIR = SentencePair(("a", "b", "c"), ("x", "y", "z"))


def alignment(*links: tuple) -> Alignment:
    return Alignment.of([Link(*link) for link in links])


def kinds(viewed: ViewedPair) -> dict[tuple[int, int], Kind | None]:
    return {(mark.source, mark.target): mark.kind for mark in viewed.marks()}


def test_one_system_alone_has_links_sure_and_possible():
    viewed = ViewedPair(1, PAIR, (alignment((0, 0), (1, 1, None, False)),))
    assert kinds(viewed) == {(0, 0): Kind.LINK, (1, 1): Kind.POSSIBLE}


def test_one_system_with_gold_is_right_wrong_or_misses():
    gold = GoldAlignment(frozenset({(0, 0), (2, 2)}), frozenset({(1, 1), (0, 1)}))
    viewed = ViewedPair(1, PAIR, (alignment((0, 0), (1, 1), (1, 2)),), gold)
    assert kinds(viewed) == {
        (0, 0): Kind.HIT, (0, 1): None, (1, 1): Kind.HIT, (1, 2): Kind.WRONG, (2, 2): Kind.MISSED,
    }  # fmt: skip


def test_two_systems_are_told_apart():
    gold = GoldAlignment(frozenset({(2, 2)}), frozenset())
    viewed = ViewedPair(1, PAIR, (alignment((0, 0), (1, 1)), alignment((0, 0), (1, 2))), gold)
    assert kinds(viewed) == {(0, 0): Kind.BOTH, (1, 1): Kind.ONLY_A, (1, 2): Kind.ONLY_B, (2, 2): Kind.MISSED}


@pytest.mark.parametrize(("score", "strength"), [(None, 1.0), (0.25, 0.25), (1.7, 1.0), (-3.0, 0.0)])
def test_strength_lies_between_0_and_1(score, strength):
    [mark] = ViewedPair(1, PAIR, (alignment((0, 0, score)),)).marks()
    assert mark.strength == strength


def test_scores_are_those_of_weft_score():
    gold = GoldAlignment(frozenset({(0, 0), (1, 1)}), frozenset({(2, 2)}))
    comparison = Comparison([ViewedPair(1, PAIR, (alignment((0, 0), (2, 2), (0, 2)),), gold)], ("one",), "gold")
    [score] = comparison.scores()
    assert (score.total.sure_hits, score.total.possible_hits, score.total.links, score.total.sure) == (1, 2, 3, 2)
    assert score.rates.aer == pytest.approx(40)
