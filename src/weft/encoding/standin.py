"""A stand-in until weft has a model of its own: words that are spelt alike and stand alike are similar.

It knows no language. Names, numbers, punctuation and cognates come out right, the rest follows the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from weft.encoding.encoder import CHUNK_WORDS, Encoded
from weft.encoding.subwords import Words

_SPELLING_WIDTH = 256
_FREQUENCIES = np.arange(1, 9)
_SPELLING_WEIGHT = 3.5
_PLACE_WEIGHT = 2.0


class StandInEncoder:
    """Hidden states made of hashed letter n-grams and the word's relative place in the sentence."""

    long_sentences = 0
    joint = False
    chunk_words = CHUNK_WORDS
    chunks_at_once = 1

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs; their sentences do not see each other."""
        return self.encode([sentence for pair in pairs for sentence in pair])

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; every word is one subword."""
        lengths = [len(words) for words in sentences]
        states = np.concatenate([_sentence(words) for words in sentences])
        words = np.concatenate([np.arange(length) for length in lengths])
        return Encoded(states, words, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _sentence(words: Words) -> npt.NDArray[np.float32]:
    spelling = np.stack([_spelling(word) for word in words])
    place = (np.arange(len(words)) + 0.5) / len(words)
    waves = np.pi * place[:, None] * _FREQUENCIES
    places = np.concatenate([np.cos(waves), np.sin(waves)], axis=1) / np.sqrt(len(_FREQUENCIES))
    return np.concatenate([_SPELLING_WEIGHT * spelling, _PLACE_WEIGHT * places], axis=1).astype(np.float32)


@lru_cache(maxsize=1 << 16)
def _spelling(word: str) -> npt.NDArray[np.float64]:
    text = f"^{word.lower()}$"
    vector = np.zeros(_SPELLING_WIDTH)
    for size in (2, 3, 4):
        for start in range(max(1, len(text) - size + 1)):
            vector[crc32(text[start : start + size].encode("utf-8", "surrogatepass")) % _SPELLING_WIDTH] += 1
    return vector / np.linalg.norm(vector)
