from __future__ import annotations

import pytest

from models import SENTENCES
from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.extraction.choices import Scores
from weft.types import Alignment, SentencePair

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]
EMPTY = SentencePair((), ())


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("fill", [(), (EMPTY, SentencePair(WORDS[0], ()))])
def test_prepared_lines_have_the_same_links(tiny_bert, joint, fill):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=2, device="cpu", joint=joint))
    pairs = [SentencePair(one, other) for one in WORDS for other in WORDS]
    lines = [*pairs, *fill, *pairs[:3]]
    ours = aligner.start_prepared(aligner.encoder.preparation(lines))()
    assert ours == aligner.start_chunk(lines, scores=Scores.NONE)()
    assert sum(bool(alignment.links) for alignment in ours) >= len(pairs)


def test_what_occurs_twice_is_cut_once(tiny_bert):
    for joint, sentences in ((False, 2), (True, 2)):
        encoder = BertEncoder(read_bert(tiny_bert), layer=1, device="cpu", joint=joint)
        prepared = encoder.preparation([SentencePair(WORDS[0], WORDS[1])] * 5)
        assert len(prepared.subwords) == sentences
        assert prepared.pairs.tolist() == [[0, 1]] * 5


def test_nothing_but_empty_lines(tiny_bert):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=1, device="cpu"))
    assert aligner.start_prepared(aligner.encoder.preparation([EMPTY] * 3))() == [Alignment()] * 3
