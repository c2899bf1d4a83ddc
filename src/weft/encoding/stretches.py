"""Long pairs cut into stretches of about a sentence, which are paired before their words are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import BoolArray, IntArray
from weft.text.sentences import sentence_starts
from weft.types import Words

# A pair whose longer side has so many subwords is cut if both sides have so many sentences; encoders that were
# taught single sentences lose their way between more. Without sentences it is cut if it takes several windows.
_LONG, _SENTENCES, _WINDOWS = 96, 3, 2
# A stretch between two places that are no ends of sentences: three of them fit into a window of 126.
_SOFT = 40


class Stretches(NamedTuple):
    """The long ones among pairs, and the stretches of their sentences.

    Attributes:
        long: which pairs are long, shape (pairs,).
        starts: for each sentence of a long pair, by its number: where its stretches begin, counted in all subwords, and
            behind them where the last one ends.
        soft: whether stretches of these sentences begin in the middle of sentences more often than not.
    """

    long: BoolArray
    starts: dict[int, IntArray]
    soft: dict[int, bool]


def find_stretches(
    sentences: Sequence[Words], words: IntArray, starts: IntArray, pairs: IntArray, window: int
) -> Stretches | None:
    """Find the pairs that are long, and cut their sentences; None if there are none.

    Args:
        sentences: the words of each sentence.
        words: the word of each subword, shape (subwords,).
        starts: where each sentence begins among the subwords, shape (sentences + 1,).
        pairs: the numbers of each pair's two sentences, shape (pairs, 2).
        window: the most subwords that the encoder takes of a sentence.
    """
    longest = np.diff(starts)[pairs].max(axis=1, initial=0)
    limit = min(_LONG, window)
    candidates = np.flatnonzero(longest >= limit).tolist()
    if not candidates:
        return None
    long, cuts, soft = np.zeros(len(pairs), dtype=np.bool_), {}, {}
    for pair in candidates:
        numbers = pairs[pair].tolist()
        found = [sentence_starts(sentences[number]) for number in numbers]
        if min(map(len, found)) < _SENTENCES and longest[pair] <= _WINDOWS * window:
            continue
        long[pair] = True
        for number, ends in zip(numbers, found, strict=True):
            own = words[starts[number] : starts[number + 1]]
            # Each place once: blank words, which have no subwords, can look like a sentence.
            begin = starts[number] + np.unique(np.append(np.searchsorted(own, ends), len(own)))
            cuts[number] = _cut_further(begin, words, window)
            soft[number] = len(cuts[number]) > 2 * len(begin)
    return Stretches(long, cuts, soft) if long.any() else None


def _cut_further(starts: IntArray, words: IntArray, window: int) -> IntArray:
    """Cut stretches that no window takes into short ones of like length, at the beginning of words."""
    cuts = [starts[:1]]
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if end - start > window:
            count = -(-(end - start) // _SOFT)
            places = np.linspace(start, end, count + 1).round().astype(np.int64)[1:-1]
            # A word that is longer than a stretch, such as a line of Chinese without blanks, is cut within.
            at_word = np.array([_word_start(words, place, start) for place in places.tolist()], dtype=np.int64)
            cuts.append(np.unique(at_word))
        cuts.append(np.array([end]))
    return np.concatenate(cuts)


def _word_start(words: IntArray, place: int, after: int) -> int:
    start = place
    while start > after + 1 and words[start] == words[start - 1] and place - start < _SOFT // 2:
        start -= 1
    return start if words[start] != words[start - 1] else place
