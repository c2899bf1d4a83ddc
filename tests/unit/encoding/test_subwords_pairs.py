from __future__ import annotations

import pytest

from models import SENTENCES
from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.extraction.scores import Scores
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
