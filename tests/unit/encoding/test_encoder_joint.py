from __future__ import annotations

import json
import shutil
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer

from models import encode
from weft import Aligner
from weft.encoding.encoder import encode_pairs
from weft.encoding.torch import TorchEncoder
from weft.encoding.windows import n_windows, windows_abreast
from weft.types import SentencePair

PAIR = (("das", "ist", "ein", "kleines", "Haus", "."), ("that", "is", "a", "small", "house", "."))
SHORT = (("wir", "gehen"), ("we", "are", "going", "home"))
LAYER = 2


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return TorchEncoder(tiny_bert, layer=LAYER, device="cpu", joint=True)


def states_by_hand(folder, source, target):
    """Both sentences in one row through plain transformers; positions begin again in the second."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    rows = [tokenizer(list(side), is_split_into_words=True)["input_ids"] for side in (source, target)]
    positions = [*range(len(rows[0])), *range(len(rows[1]))]
    types = [0] * len(rows[0]) + [1] * len(rows[1])
    with torch.no_grad():
        outputs = model(
            input_ids=torch.tensor([rows[0] + rows[1]]), position_ids=torch.tensor([positions]),
            token_type_ids=torch.tensor([types]), output_hidden_states=True,
        )  # fmt: skip
    states = outputs.hidden_states[LAYER][0].numpy()
    return states[1 : len(rows[0]) - 1], states[len(rows[0]) + 1 : -1]


def test_both_sentences_of_a_pair_see_each_other(encoder, tiny_bert):
    encoded = encode(encoder, chain.from_iterable([PAIR, SHORT]))
    for k, (source, target) in enumerate((PAIR, SHORT)):
        for number, expected in zip((2 * k, 2 * k + 1), states_by_hand(tiny_bert, source, target), strict=True):
            found = encoded.states[encoded.starts[number] : encoded.starts[number + 1]]
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_sentence_changes_with_the_one_beside_it(encoder):
    encoded = encode(encoder, chain.from_iterable([PAIR, (PAIR[0], SHORT[1])]))
    first, again = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]] for k in (0, 2))
    assert float((first - again).abs().max()) > 1e-3


def test_the_same_pair_is_encoded_once(encoder):
    pairs = [SentencePair(*PAIR), SentencePair(*SHORT), SentencePair(*PAIR)]
    encoded, numbers = encode_pairs(encoder, pairs)
    assert numbers.tolist() == [[0, 1], [2, 3], [0, 1]]
    assert len(encoded.lengths) == 4


def test_long_pairs_are_read_side_by_side(encoder):
    source, target = PAIR[0] * 40, SHORT[1] * 15
    encoded = encode(encoder, chain.from_iterable([(source, target), SHORT]))
    assert encoder.long_sentences >= 1
    assert set(encoded.words[: encoded.starts[1]]) == set(range(len(source)))
    assert set(encoded.words[encoded.starts[1] : encoded.starts[2]]) == set(range(len(target)))
    assert np.isfinite(np.asarray(encoded.states)).all()


@given(length=st.integers(1, 500), size=st.integers(2, 64), other=st.integers(1, 900))
def test_windows_abreast_give_every_subword_once_and_hold_what_they_give(length, size, other):
    count = max(n_windows(length, size), n_windows(other, size))
    covered = windows_abreast(length, size, count)
    assert len(covered) == count
    given_away = [k for window in covered for k in range(window.keep_start, window.keep_end)]
    assert given_away == list(range(length))
    for window in covered:
        assert 0 <= window.start < window.end <= min(length, window.start + size)
        if window.keep_start < window.keep_end:
            assert window.start <= window.keep_start
            assert window.keep_end <= window.end


def test_the_folder_says_whether_pairs_are_read_together(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "joint")
    (folder / "weft.json").write_text(json.dumps({"layer": LAYER, "joint": True}))
    joint, apart = Aligner.from_pretrained(folder, device="cpu"), Aligner.from_pretrained(tiny_bert, layer=LAYER)
    assert joint.encoder.joint
    assert not apart.encoder.joint
    assert np.abs(joint.similarity(*PAIR) - apart.similarity(*PAIR)).max() > 1e-3
