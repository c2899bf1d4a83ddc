from __future__ import annotations

import pytest

from models import SENTENCES
from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.types import Alignment, SentencePair

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]
EMPTY = SentencePair((), ())


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("fill", [(), (EMPTY, SentencePair(WORDS[0], ()))])
def test_lines_without_a_pair_change_nothing_for_the_others(tiny_bert, joint, fill):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=2, device="cpu", joint=joint))
    pairs = [SentencePair(one, other) for one in WORDS for other in WORDS]
    lines = [*pairs, *fill, *pairs[:3]]
    ours = aligner.begin(aligner.encoder.tokenize(lines), scores=Scores.NONE)()
    alone = [aligner.align(*pair, scores="none") for pair in lines]
    assert [alignment.links for alignment in ours] == [alignment.links for alignment in alone]
    assert sum(bool(alignment.links) for alignment in ours) >= len(pairs)


def test_what_occurs_twice_is_cut_once(tiny_bert):
    for joint, sentences in ((False, 2), (True, 2)):
        encoder = BertEncoder(read_bert(tiny_bert), layer=1, device="cpu", joint=joint)
        tokenized = encoder.tokenize([SentencePair(WORDS[0], WORDS[1])] * 5)
        assert len(tokenized.subwords) == sentences
        assert tokenized.pairs.tolist() == [[0, 1]] * 5


def test_nothing_but_empty_lines(tiny_bert):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=1, device="cpu"))
    assert aligner.begin(aligner.encoder.tokenize([EMPTY] * 3), scores=Scores.NONE)() == [Alignment()] * 3


def _with_blanks(words, blanks):
    """The words with blank ones among them, and the new place of each."""
    spread, places = [], []
    for number, word in enumerate(words):
        spread += [blanks[number % len(blanks)]] * ((number + 1) % 3)
        places.append(len(spread))
        spread.append(word)
    return (*spread, blanks[0]), places


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("null", [None, 0.5])
def test_blank_words_have_no_links_and_count_nowhere(tiny_bert, joint, null):
    encoder = BertEncoder(read_bert(tiny_bert), layer=2, device="cpu", joint=joint)
    aligner = Aligner(encoder, ExtractionSettings(null=null))
    long = tuple(word for sentence in WORDS for word in sentence)
    pairs = [*zip(WORDS, reversed(WORDS), strict=True), (long, long)]
    spread = [[_with_blanks(side, ("", " \u200b", "\n\t", "\u00a0\u200f")) for side in pair] for pair in pairs]
    expected = aligner.align_batch(pairs)
    found = aligner.align_batch([(source[0], target[0]) for source, target in spread])
    for ours, alone, (source, target) in zip(found, expected, spread, strict=True):
        moved = {(source[1][link.source], target[1][link.target]): link.score for link in alone}
        assert {link.indices: link.score for link in ours} == pytest.approx(moved)
        assert ours.score == pytest.approx(alone.score)
        assert ours.unknown == alone.unknown


def test_a_side_of_blank_words_alone_is_empty(tiny_bert):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=1, device="cpu"))
    pairs = [(WORDS[0], ("", " ")), (WORDS[0], WORDS[1]), (("\n",), WORDS[1]), ((" ",), (" ",))]
    none, some, *others = aligner.align_batch(pairs)
    assert some == aligner.align(WORDS[0], WORDS[1])
    assert some.links
    assert [none, *others] == [Alignment(score=0.0)] * 3
    assert [alignment.pair for alignment in (none, *others)] == [pairs[0], *pairs[2:]]
    assert aligner.align_batch([pairs[0]] * 2) == [Alignment(score=0.0)] * 2
