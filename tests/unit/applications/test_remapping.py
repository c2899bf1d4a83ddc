from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weft.applications.remapping import places, remap
from weft.types import Alignment, Link


def test_words_to_pieces_and_back():
    words = [(0, 3), (4, 9)]
    pieces = [(0, 2), (2, 3), (3, 6), (6, 9)]
    there = places(words, pieces)
    assert there == [[0, 1], [2, 3]]
    assert places(pieces, words) == [[0], [0], [1], [1]]
    alignment = Alignment.of([Link(0, 1, 0.5)], 0.7)
    assert remap(alignment, there, [[0], [1]]) == Alignment((Link(0, 1, 0.5), Link(1, 1, 0.5)), 0.7)


cuts = st.sets(st.integers(1, 11)).map(lambda inner: list(pairwise(sorted({0, 12} | inner))))


@given(cuts, cuts)
def test_pieces_share_characters(old, new):
    expected = [
        [number for number, (start, end) in enumerate(new) if max(start, left) < min(end, right)] for left, right in old
    ]
    assert places(old, new) == expected
