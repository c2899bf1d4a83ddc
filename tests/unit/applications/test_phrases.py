from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.applications.phrases import Box, PhraseTable, consistent_boxes, unfit_word
from weft.types import Alignment, Link, SentencePair


def brute_force(pairs, source_length, target_length, max_length):
    """The definition: some link joins the phrases, and none leads from one of them out of the other."""
    boxes = set()
    for top, bottom in product(range(source_length), range(1, source_length + 1)):
        for left, right in product(range(target_length), range(1, target_length + 1)):
            if not (0 < bottom - top <= max_length and 0 < right - left <= max_length):
                continue
            inside = [(top <= s < bottom, left <= t < right) for s, t in pairs]
            if (True, True) in inside and all(s == t for s, t in inside):
                boxes.add(Box(top, bottom, left, right))
    return boxes


@settings(deadline=None)
@given(
    st.integers(1, 7), st.integers(1, 7), st.integers(1, 7),
    st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
)  # fmt: skip
def test_the_algorithm_equals_the_definition(source_length, target_length, max_length, pairs):
    inside = {(s, t) for s, t in pairs if s < source_length and t < target_length}
    alignment = Alignment.of(Link(*pair) for pair in inside)
    found = list(consistent_boxes(alignment, source_length, target_length, max_length))
    assert len(found) == len(set(found))
    assert set(found) == brute_force(inside, source_length, target_length, max_length)


def sentence(source, target, links):
    pair = SentencePair(tuple(source.split()), tuple(target.split()))
    return pair, Alignment.of(Link(*map(int, item.split("-"))) for item in links.split())


CORPUS = [
    sentence("das Haus", "the house", "0-0 1-1"),
    sentence("das Haus", "the house", "0-0 1-1"),
    sentence("das Haus", "the big house", "0-0 1-2"),
    sentence("ein Haus", "the house", "1-1"),
]


def test_counts_and_probabilities():
    table = {(entry.source, entry.target): entry for entry in PhraseTable().entries(CORPUS)}
    entry = table["das Haus", "the house"]
    assert (entry.count, entry.source_count, entry.target_count) == (2, 3, 4)
    assert entry.target_given_source == pytest.approx(2 / 3)
    assert entry.source_given_target == pytest.approx(2 / 4)
    # p(das|the) = 3/4, because the fourth "the" is linked with nothing, and p(Haus|house) = 4/4.
    assert entry.source_weight == pytest.approx(3 / 4)
    assert table["ein Haus", "the house"].source_weight == pytest.approx(1.0)
    assert table["ein Haus", "the house"].target_weight == pytest.approx(1 / 2)
    assert entry.links == ((0, 0), (1, 1))
    assert entry.moses() == "das Haus ||| the house ||| 0.5 0.75 0.666667 1 ||| 0-0 1-1 ||| 4 3 2"


def test_the_most_frequent_links_are_shown():
    corpus = [sentence("a b", "x y", "0-0 0-1 1-1")] + [sentence("a b", "x y", "0-1 1-0")] * 2
    (entry,) = [entry for entry in PhraseTable().entries(corpus) if entry.source == "a b"]
    assert (entry.links, entry.count) == (((0, 1), (1, 0)), 3)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
            st.lists(st.sampled_from(["x", "y\r", "z\u2028"]), min_size=1, max_size=4),
            st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5),
        ),
        max_size=6,
    )
)
def test_counts_equal_those_in_memory_however_little_of_it_there_is(rows):
    corpus = []
    for source, target, pairs in rows:
        inside = [Link(s, t) for s, t in pairs if s < len(source) and t < len(target)]
        corpus.append((SentencePair(tuple(source), tuple(target)), Alignment.of(inside)))
    expected = Counter()
    for pair, alignment in corpus:
        for top, bottom, left, right in brute_force(alignment.pairs, len(pair.source), len(pair.target), 3):
            expected[" ".join(pair.source[top:bottom]), " ".join(pair.target[left:right])] += 1
    entries = list(PhraseTable(max_length=3, in_memory=2).entries(corpus))
    assert {(entry.source, entry.target): entry.count for entry in entries} == expected
    assert [(entry.source, entry.target) for entry in entries] == sorted(expected)
    for entry in entries:
        assert entry.source_count == sum(n for (s, _), n in expected.items() if s == entry.source)
        assert entry.target_count == sum(n for (_, t), n in expected.items() if t == entry.target)
        assert 0 < entry.source_weight <= 1.000001
        assert 0 < entry.target_weight <= 1.000001
    assert entries == list(PhraseTable(max_length=3).entries(corpus))


def test_min_count_hides_but_does_not_change():
    shown = list(PhraseTable(min_count=2).entries(CORPUS))
    assert shown == [entry for entry in PhraseTable().entries(CORPUS) if entry.count >= 2]


@pytest.mark.parametrize(
    ("word", "fits"), [("a", True), ("a\u00a0b", True), ("a b", False), ("|||", False), ("", False)]
)
def test_words_that_a_table_cannot_hold(word, fits):
    assert (unfit_word(SentencePair(("a",), (word,))) is None) is fits
    assert (unfit_word(SentencePair(("a",), (word,)), bars=True) is None) is (fits or word == "|||")
