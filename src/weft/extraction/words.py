"""Subword links to word links, and how strong they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Cells, FloatArray, IntArray, LinkColumn, Marks, WordNumbers, array_namespace, to_device
from weft.encoding.pending import Pending
from weft.encoding.transfer import to_host
from weft.extraction.similarity import softmax

# Similarities lie some 5 to 20 above or below the null; divided by this they stay where the logistic curve has a slope.
_NULL_TEMPERATURE = 4


def raw_scores(similarities: Cells, valid: Marks) -> Cells:
    """How strongly two subwords choose each other: the formula of the original awesome-align program.

    The dot products are divided by the square root of the other side's length, softmax is taken in both directions,
    and the score is the harmonic mean of the two. Shapes: (b, n, m) to (b, n, m).
    """
    xp = array_namespace(similarities)
    n_source = xp.sum(xp.astype(xp.any(valid, axis=2), similarities.dtype), axis=1)[:, None, None]
    n_target = xp.sum(xp.astype(xp.any(valid, axis=1), similarities.dtype), axis=1)[:, None, None]
    there = softmax(similarities / xp.sqrt(n_target), axis=2)
    back = softmax(similarities / xp.sqrt(n_source), axis=1)
    return harmonic_mean(there, back)


def harmonic_mean(first: Cells, second: Cells) -> Cells:
    """The harmonic mean; the small number keeps two zeros from dividing by zero."""
    return 2 * first * second / (first + second + 1e-9)


def scores_against_null(similarities: Cells, null: float) -> Cells:
    """How much better two subwords go with each other than with nothing, 0 to 1: softmax between just these two.

    Where links are taken with a null, this tells right links from wrong ones better than `raw_scores` does, which
    compares a word with its competitors: most of a wrong link's competitors are worse still. Any shape.
    """
    xp = array_namespace(similarities)
    return (1 + xp.tanh((similarities - null) / (2 * _NULL_TEMPERATURE))) / 2


def pair_support(totals: tuple[Cells, Cells], valid: Marks, null: float) -> Cells:
    """The share of a pair's subwords that choose a partner rather than the null; the mean of both sides, 0 to 1.

    It tells translations from other sentences, even where not a single link is sure enough to be taken.

    Args:
        totals: the logarithms of softmax's denominators with the null: of rows (b, n, 1) and of columns (b, 1, m).
        valid: which cells are real, shape (b, n, m).
        null: the similarity of the null.

    Returns:
        The shares, shape (b,).
    """
    xp = array_namespace(valid)
    shares = []
    for total, axis in zip(totals, (2, 1), strict=True):
        there = xp.astype(xp.any(valid, axis=axis, keepdims=True), total.dtype)
        chosen = (1 - xp.exp(null - total)) * there
        shares.append(xp.sum(chosen, axis=(1, 2)) / xp.sum(there, axis=(1, 2)))
    return (shares[0] + shares[1]) / 2


def word_edges(words: IntArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """Where the word of each subword begins and ends in its sentence: places of its first and last subword.

    Args:
        words: the word of each subword, sentence after sentence.
        starts: where sentences begin, none of them empty, and the end of the last.
    """
    begins = np.diff(words, prepend=-1) != 0
    begins[starts[:-1]] = True
    heads = np.flatnonzero(begins)
    pieces = np.diff(heads, append=len(words))
    first = np.repeat(heads, pieces) - np.repeat(starts[:-1], np.diff(starts))
    return first, first + np.repeat(pieces, pieces) - 1


class WordLinks(NamedTuple):
    """Word links of several pairs on the host, each once, ordered by pair, source word and target word.

    `support` is that of the pairs (`pair_support`), where links are taken with scores and a null.
    """

    pair: IntArray
    source: IntArray
    target: IntArray
    scores: FloatArray | None
    support: FloatArray | None = None


def word_links(pair: LinkColumn, source: LinkColumn, target: LinkColumn, scores: LinkColumn | None) -> WordLinks:
    """Links between subwords to links between words.

    The work is done where the arrays are; only its result is moved to the host.

    Args:
        pair: the pair of each link between subwords.
        source: the source word.
        target: the target word.
        scores: the score; a link between words gets the highest of its subwords' links. None for links without.
    """
    xp = array_namespace(pair)
    if pair.shape[0] == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return WordLinks(nothing, nothing, nothing, None if scores is None else np.zeros(0))
    height, width = int(xp.max(source)) + 1, int(xp.max(target)) + 1
    keys = (pair * height + source) * width + target
    if scores is None:
        keys = xp.sort(xp.unique_values(keys))  # which may give them in any order
    else:
        keys, scores = _strongest(keys, scores)
    values = None if scores is None else np.asarray(to_device(scores, "cpu"), dtype=np.float64)
    return _from_keys(np.asarray(to_device(keys, "cpu")), height, width, values)


def _from_keys(keys: IntArray, height: int, width: int, scores: FloatArray | None) -> WordLinks:
    """Links that are written as (pair · height + source) · width + target."""
    rows, target = np.divmod(keys, width)
    pair, source = np.divmod(rows, height)
    return WordLinks(pair, source, target, scores)


def dense_word_links(links: Marks, source: WordNumbers, target: WordNumbers, counts: IntArray) -> Pending[WordLinks]:
    """A batch of links between subwords to links between words, without asking the device how many there are.

    Args:
        links: links between subwords, shape (b, n, m).
        source: the words of source subwords, shape (b, n).
        target: the words of target subwords, shape (b, m).
        counts: how many words the two sides of each pair have, shape (b, 2), on the host.

    Returns:
        What waits for the device and gives the links.
    """
    xp, device = array_namespace(links), getattr(links, "device", None)
    height, width = counts.max(axis=0).tolist()
    batch = links.shape[0]
    pair = xp.arange(batch, device=device)[:, None, None]
    keys = (pair * height + source[:, :, None]) * width + target[:, None, :]
    nowhere = batch * height * width
    linked = xp.zeros(nowhere + 1, dtype=xp.bool, device=device)
    linked[xp.where(links, keys, nowhere)] = xp.ones_like(links)  # a single True would have to be sent there
    matrix = to_host(linked[:-1])
    return lambda: _from_keys(np.flatnonzero(matrix()), height, width, None)


def _strongest(keys: LinkColumn, scores: LinkColumn) -> tuple[LinkColumn, LinkColumn]:
    """Keep each key once, with its highest score; keys in order. Both of shape (links,).

    Sorting twice is the array API's way to take a maximum by group, and it needs no transfer to the host.
    """
    xp = array_namespace(keys)
    by_score = xp.argsort(scores, stable=True)
    keys, scores = xp.take(keys, by_score), xp.take(scores, by_score)
    by_key = xp.argsort(keys, stable=True)
    keys, scores = xp.take(keys, by_key), xp.take(scores, by_key)
    last = xp.concat([keys[1:] != keys[:-1], xp.ones_like(keys[:1], dtype=xp.bool)])
    return keys[last], scores[last]
