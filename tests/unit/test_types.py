from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import weft
from strategies import alignments, links
from weft.types import Alignment, GoldAlignment, Link


@given(st.lists(links(scores=True, possible=True)))
def test_an_alignment_holds_each_word_pair_once_and_in_order(found):
    alignment = Alignment.of(found)
    assert [link.words for link in alignment.links] == sorted({link.words for link in found})
    assert set(alignment.links) <= set(found)


def test_of_two_links_between_the_same_words_the_stronger_stays():
    assert Alignment.of([Link(0, 0, 0.9, False), Link(0, 0, 0.1)]).links == (Link(0, 0, 0.1),)
    assert Alignment.of([Link(0, 0, 0.2), Link(0, 0, 0.3), Link(0, 0)]).links == (Link(0, 0, 0.3),)


@given(alignments(scores=True, possible=True))
def test_swapping_twice_changes_nothing(alignment):
    assert alignment.swapped().swapped() == alignment
    assert alignment.swapped().pairs == {(target, source) for source, target in alignment.pairs}


def test_gold_possible_links_include_the_sure_ones():
    gold = GoldAlignment.of([Link(0, 0), Link(1, 1, None, False)])
    assert gold == GoldAlignment(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    assert GoldAlignment(frozenset({(0, 0)}), frozenset()).possible == {(0, 0)}


def test_every_public_name_resolves():
    assert all(getattr(weft, name) is not None for name in weft.__all__)
