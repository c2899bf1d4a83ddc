from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.aligner import Aligner
from weft.applications.filtering import BAD, keep_above, keep_share, pair_score
from weft.errors import SettingError
from weft.types import Alignment, Link, SentencePair

PAIR = SentencePair(("a", "b"), ("x", "y"))


@pytest.mark.parametrize(
    ("links", "score"),
    [
        ([], 0.0),
        ([Link(0, 0)], 0.5),
        ([Link(0, 0), Link(1, 1)], 1.0),
        ([Link(0, 0, 0.5), Link(1, 0, 0.7)], 0.75 * 0.6),
        ([Link(0, 0, 9.0), Link(1, 1, 9.0)], 1.0),
        ([Link(0, 0, -1.0)], 0.0),
    ],
)
def test_coverage_times_mean_probability(links, score):
    assert pair_score(PAIR, Alignment(tuple(links))) == pytest.approx(score)


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        (["ja"] * 3, 1.0, 1.0),
        (["la"] * 16, 1.0, 1.0),
        (["la"] * 30, 0.6, 0.8),
        (["a"] * 3000, 0.0, 0.1),
        (["a", "b"] * 1500, 0.0, 0.2),
        ([f"word{number % 300}" for number in range(3000)], 1.0, 1.0),  # a page of text
    ],
)
def test_the_same_few_words_again_and_again_are_worth_little(words, least, most):
    for pair in (SentencePair(tuple(words), ("x", "y")), SentencePair(("x", "y"), tuple(words))):
        assert least <= pair_score(pair, Alignment((), score=1.0)) <= most


def test_the_score_is_that_of_the_aligner():
    aligner = Aligner.from_pretrained()
    for source, target in (("das ist gut .", "that is good ."), ("eins", "one two three")):
        alignment = aligner.align(source, target)
        pair = SentencePair(tuple(source.split()), tuple(target.split()))
        assert pair_score(pair, alignment) == pytest.approx(alignment.score, abs=1e-6)


@settings(deadline=None)
@given(st.lists(st.sampled_from([BAD, 0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), max_size=40), st.floats(0, 1))
def test_a_share_is_exact_and_holds_the_best(scores, share):
    verdicts = list(keep_share(iter(scores), share))
    assert [score for score, _ in verdicts] == scores
    kept = [score for score, keep in verdicts if keep]
    dropped = [score for score, keep in verdicts if not keep and score >= 0]
    assert len(kept) == round(share * (len(kept) + len(dropped)))
    assert BAD not in kept
    # Scores within a step of the histogram count as equal.
    assert not kept or not dropped or min(kept) >= max(dropped) - 1 / 65_536


def test_of_equals_the_earlier_are_kept():
    assert [keep for _, keep in keep_share([0.5, 1.0, 0.5, 0.5], 0.5)] == [True, True, False, False]


def test_a_threshold():
    assert [keep for _, keep in keep_above([0.1, 0.5, BAD, 0.0], 0.5)] == [False, True, False, False]
    assert [keep for _, keep in keep_above([0.0, BAD], -3.0)] == [True, False]


def test_a_share_is_a_share():
    with pytest.raises(SettingError, match="between 0 and 1"):
        list(keep_share([], 2.0))
