from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.encoding.stretches import find_stretches

SENTENCE = ("word",) * 29 + (".",)


def found_in(source, target, window=126):
    """Stretches of one pair whose words are one subword each."""
    sentences = [source, target]
    words = np.concatenate([np.arange(len(sentence)) for sentence in sentences])
    starts = np.array([0, len(source), len(source) + len(target)])
    return find_stretches(sentences, words, starts, np.array([[0, 1]]), window)


@pytest.mark.parametrize(("sentences", "is_long"), [(1, False), (3, False), (4, True), (20, True)])
def test_a_pair_of_several_sentences_is_long(sentences, is_long):
    assert (found_in(SENTENCE * sentences, SENTENCE * sentences) is not None) == is_long


def test_one_sentence_is_left_to_windows_until_it_takes_several():
    assert found_in(("a",) * 250, ("a",) * 20) is None
    assert found_in(("a",) * 253, ("a",) * 20) is not None


def test_stretches_are_sentences():
    found = found_in(SENTENCE * 5, SENTENCE * 4 + ("end",))
    assert found.long.tolist() == [True]
    assert found.starts[0].tolist() == [0, 30, 60, 90, 120, 150]
    assert found.starts[1].tolist() == [150, 180, 210, 240, 270, 271]
    assert found.soft == {0: False, 1: False}


@given(
    st.lists(st.sampled_from(["a", ".", "long"]), min_size=1, max_size=400).map(tuple),
    st.lists(st.sampled_from(["a", ".", "long"]), min_size=1, max_size=400).map(tuple),
    st.integers(10, 60),
)
def test_stretches_cover_both_sentences_and_fit_a_window(source, target, window):
    sentences = [source, target]
    pieces = [np.repeat(np.arange(len(side)), [7 if word == "long" else 1 for word in side]) for side in sentences]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in pieces])])
    found = find_stretches(sentences, np.concatenate(pieces), starts, np.array([[0, 1]]), window)
    if found is None:
        return
    for number in (0, 1):
        cuts = found.starts[number]
        assert (cuts[0], cuts[-1]) == (starts[number], starts[number + 1])
        assert (np.diff(cuts) > 0).all()
        assert (np.diff(cuts) <= max(window, 60)).all()
