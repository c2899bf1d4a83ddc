from __future__ import annotations

import numpy as np
import pytest

from weft import Aligner, SentencePair
from weft.encoding.encoder import encode_pairs
from weft.encoding.onnx import OnnxEncoder
from weft.viewing.serve.remembering import RememberingEncoder, remembering


class Counting(OnnxEncoder):
    """Counts how often it is asked."""

    calls = 0

    def encode(self, subwords):
        self.calls += 1
        return super().encode(subwords)


def encode(encoder, *lengths):
    return encode_pairs(encoder, [SentencePair(("a",) * length, ("b",)) for length in lengths])[0]


@pytest.mark.parametrize("joint", [False, True])
def test_moving_a_threshold_does_not_encode_again(tiny_onnx, joint):
    inner = Counting(tiny_onnx, joint=joint)
    encoder = RememberingEncoder(inner)
    first = encode(encoder, 1)
    assert np.array_equal(encode(encoder, 1).states, first.states)
    assert inner.calls == 1
    for length in range(2, 22):
        encode(encoder, length)
    encode(encoder, 1)
    assert inner.calls == 22  # long forgotten
    encode(encoder, 1, 2, 3, 4, 5)
    encode(encoder, 1, 2, 3, 4, 5)
    assert inner.calls == 24


def test_what_is_remembered_has_a_bound_in_bytes(tiny_onnx):
    inner = Counting(tiny_onnx)
    size = encode(inner, 1).states.nbytes
    encoder = RememberingEncoder(inner, most_bytes=2 * size)
    for length in (1, 1, 2, 1):
        encode(encoder, length)
    assert inner.calls == 4  # the first of all; 1; 2, for which 1 is forgotten; 1 again


def test_words_of_strangers_are_not_remembered_for_ever(tiny_onnx):
    aligner = Aligner(OnnxEncoder(tiny_onnx))
    remembering(aligner)
    tokenizer = aligner.encoder.tokenizer
    tokenizer.most_characters = 100
    for number in range(50):
        tokenizer.split([(f"{number:010}",)])
    assert len(tokenizer._numbers) <= 12
    assert list(tokenizer.split([("a", "b")]).words) == [0, 1]
