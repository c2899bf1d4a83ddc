from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from strategies import alignments, links
from weft.errors import install_command
from weft.types import Alignment, GoldAlignment, Link, SentencePair


@given(st.lists(links(scores=True, possible=True)))
def test_an_alignment_holds_each_word_pair_once_and_in_order(found):
    alignment = Alignment.of(found)
    assert [link.indices for link in alignment.links] == sorted({link.indices for link in found})
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


def test_an_alignment_prints_counts_and_iterates():
    alignment = Alignment.of([Link(1, 0, 0.5), Link(0, 1)])
    assert str(alignment) == "0-1 1-0"
    assert len(alignment) == 2
    assert list(alignment) == [Link(0, 1), Link(1, 0, 0.5)]
    assert not Alignment()


def test_an_alignment_that_knows_its_sentences_gives_the_linked_words():
    pair = SentencePair(("gut", "ist", "das"), ("that", "is", "good"))
    alignment = Alignment.of([Link(0, 2), Link(2, 0)])
    with pytest.raises(ValueError, match="does not know its sentences"):
        _ = alignment.word_pairs
    known = alignment.with_pair(pair)
    assert known == alignment
    assert known.word_pairs == (("gut", "good"), ("das", "that"))
    assert known.swapped().word_pairs == (("that", "das"), ("good", "gut"))


def test_an_alignment_draws_itself_in_a_notebook():
    alignment = Alignment.of([Link(0, 0)])
    assert alignment._repr_html_() == "<code>0-0</code>"
    drawn = ElementTree.fromstring(alignment.with_pair(SentencePair(("<b>",), ("x & y",)))._repr_html_())
    assert drawn.tag.endswith("svg")
    assert {"<b>", "x & y"} <= {text for element in drawn.iter() if (text := element.text)}


def test_every_public_name_resolves_and_is_listed():
    assert all(getattr(weft, name) is not None for name in weft.__all__)
    assert dir(weft) == sorted(weft.__all__)
    with pytest.raises(AttributeError, match="no attribute 'alingn'"):
        _ = weft.alingn


def test_training_without_torch_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None\nimport weft\ntry: weft.train\nexcept ImportError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"Training needs an optional part of weft: {install_command('torch')}.\n"
