from __future__ import annotations

import numpy as np
import pytest

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.training.rows import Vocabulary, joint_rows, masked, single_rows

LIBRARY = word_piece_tokenizer()
TOKENIZER = FastTokenizer(LIBRARY)
VOCABULARY = Vocabulary(LIBRARY.token_to_id("[MASK]"), LIBRARY.get_vocab_size())
GENERATOR = np.random.default_rng(0)


def sentences(count=400, length=30):
    return [GENERATOR.integers(5, VOCABULARY.size, size=length) for _ in range(count)]


def test_rows_hold_sentences_between_special_tokens():
    x, y = np.array([7, 8, 9]), np.array([11])
    rows = joint_rows([x, y], [y, x], TOKENIZER)
    assert rows.ids.tolist() == [[2, 7, 8, 9, 3, 2, 11, 3], [2, 11, 3, 2, 7, 8, 9, 3]]
    assert (rows.ids[rows.inside] >= 5).all()
    single = single_rows([x, y], TOKENIZER)
    assert single.ids.tolist() == [[2, 7, 8, 9, 3], [2, 11, 3, 0, 0]]
    assert single.attention.tolist() == [[True] * 5, [True] * 3 + [False] * 2]


def test_masking_is_80_10_10_of_15_percent_and_spares_special_tokens():
    rows = single_rows(sentences(), TOKENIZER)
    draws = GENERATOR.random((*rows.ids.shape, 3), dtype=np.float32)
    result = masked(rows, draws, VOCABULARY)
    before = rows.ids.reshape(-1)[result.chosen]
    after = result.ids.reshape(-1)[result.chosen]
    assert len(result.chosen) / rows.inside.sum() == pytest.approx(0.15, abs=0.01)
    assert np.mean(after == VOCABULARY.mask) == pytest.approx(0.8, abs=0.03)
    assert np.mean(after == before) == pytest.approx(0.1, abs=0.03)
    assert (result.labels == before).all()
    assert rows.inside.reshape(-1)[result.chosen].all()
    untouched = np.ones(rows.ids.size, dtype=bool)
    untouched[result.chosen] = False
    assert (result.ids.reshape(-1)[untouched] == rows.ids.reshape(-1)[untouched]).all()


def test_masks_do_not_leak_from_one_pass_into_the_next():
    rows = single_rows(sentences(20), TOKENIZER)
    original = rows.ids.copy()
    draws = [GENERATOR.random((*rows.ids.shape, 3), dtype=np.float32) for _ in range(2)]
    masked(rows, draws[0], VOCABULARY)
    assert (rows.ids == original).all()
    after_another = masked(rows, draws[1], VOCABULARY)
    alone = masked(single_rows([row[1:-1] for row in original], TOKENIZER), draws[1], VOCABULARY)
    assert (after_another.ids == alone.ids).all()
