"""Hidden states of many sentence pairs to alignments: batches on the device, subwords to words there too.

Pairs of like shape go together. A pair too large for any batch is taken in strips (strips.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, repeat

import numpy as np

from weft.arrays import IntArray, LinkColumn, Marks, States, WordNumbers, array_namespace, to_device
from weft.encoding.batches import cell_batches
from weft.encoding.encoder import Encoded
from weft.encoding.pending import Pending
from weft.encoding.transfer import is_on_host, on_device_of
from weft.extraction import strips
from weft.extraction.methods import METHODS, above_null, chosen_links, scored_links
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import Comparison, WordEdges
from weft.extraction.symmetrize import Symmetrization, symmetrize
from weft.extraction.words import (
    WordLinks,
    dense_word_links,
    pair_support,
    raw_scores,
    scores_against_null,
    word_edges,
    word_links,
)
from weft.types import Alignment, Link

# Similarities computed at once: on a CPU as many as stay in its cache, on other devices enough to keep them busy.
BATCH_CELLS, DEVICE_BATCH_CELLS = 1 << 17, 1 << 23
STRIP_CELLS = 1 << 22
_USUAL_WORDS = 128
# What `Link._make` does without its frames: corpora have billions of links.
_new_link: Callable[[Iterable[object]], Link] = partial(tuple.__new__, Link)


def extract(
    encoded: Encoded,
    pairs: Sequence[tuple[int, int]] | IntArray,
    settings: ExtractionSettings,
    *,
    scores: Scores | str = Scores.NONE,
) -> list[Alignment]:
    """Take the links of sentence pairs, given as numbers of encoded sentences (source, target)."""
    return begin_links(encoded, pairs, settings, scores=scores)()


def begin_links(
    encoded: Encoded,
    pairs: Sequence[tuple[int, int]] | IntArray,
    settings: ExtractionSettings,
    *,
    scores: Scores | str = Scores.NONE,
) -> Pending[list[Alignment]]:
    """Like `extract`, but a device only hears what to do; what is returned waits for it and gives the alignments."""
    numbers = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    shapes = encoded.lengths[numbers]
    batches = cell_batches(shapes, BATCH_CELLS if is_on_host(encoded.states) else DEVICE_BATCH_CELLS)
    subwords = _Subwords.of(encoded, settings)
    found = [_begin_batch(encoded, subwords, numbers[batch], shapes[batch], settings, scores) for batch in batches]

    def alignments() -> list[Alignment]:
        results: list[Alignment] = [Alignment()] * len(numbers)
        for batch, links in zip(batches, found, strict=True):
            for number, alignment in zip(batch, _alignments(links(), len(batch), settings, scores), strict=True):
                results[number] = alignment
        return results

    return alignments


@dataclass(frozen=True, slots=True)
class _Subwords:
    """What is known of each encoded subword, beside its state on the device: its word, and where that has its edges."""

    words: LinkColumn
    edges: WordEdges | None

    @classmethod
    def of(cls, encoded: Encoded, settings: ExtractionSettings) -> _Subwords:
        edges = None
        if METHODS[settings.method].score and len(encoded.words):
            edges = WordEdges(
                *(on_device_of(encoded.states, edge) for edge in word_edges(encoded.words, encoded.starts))
            )
        return cls(on_device_of(encoded.states, encoded.words), edges)


def _begin_batch(
    encoded: Encoded,
    subwords: _Subwords,
    pairs: IntArray,
    shapes: IntArray,
    settings: ExtractionSettings,
    scores: Scores | str,
) -> Pending[WordLinks]:
    """How to get the links of pairs (b, 2) of like shape; a device that has to give no scores begins at once."""
    with_scores = scores != Scores.NONE
    if shapes[0].prod() > STRIP_CELLS and METHODS[settings.method].goes_in_strips:
        first, second = pairs[0].tolist()
        return partial(strips.extract_pair, encoded, (first, second), settings, with_scores=with_scores)
    if with_scores or is_on_host(encoded.states):
        return partial(_extract_batch, encoded, subwords, pairs, settings, with_scores=with_scores)
    batch = _linked(encoded, subwords, pairs, settings)
    return dense_word_links(batch.links, batch.source.words, batch.target.words, encoded.n_words[pairs])


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a batch, padded: states (b, n, d), which positions are real (b, n), their words (b, n) and edges."""

    states: States
    real: WordNumbers
    words: WordNumbers
    edges: WordEdges | None


@dataclass(frozen=True, slots=True)
class _Linked:
    """A batch whose subwords are linked: both sides, their comparison, and the links of shape (b, n, m)."""

    source: _Side
    target: _Side
    compared: Comparison
    links: Marks


def _side(encoded: Encoded, subwords: _Subwords, sentences: IntArray) -> _Side:
    states, lengths = encoded.states, encoded.lengths[sentences]
    xp = array_namespace(states)
    steps = xp.arange(int(lengths.max()), device=getattr(states, "device", None))
    real = steps < on_device_of(states, lengths)[:, None]
    rows = xp.where(real, on_device_of(states, encoded.starts[sentences])[:, None] + steps, 0)
    edges = subwords.edges and WordEdges(*(edge[rows] for edge in subwords.edges))
    return _Side(states[rows], real, subwords.words[rows], edges)


def _linked(encoded: Encoded, subwords: _Subwords, pairs: IntArray, settings: ExtractionSettings) -> _Linked:
    source, target = (_side(encoded, subwords, pairs[:, side]) for side in (0, 1))
    valid = source.real[:, :, None] & target.real[:, None, :]
    edges = (source.edges, target.edges) if source.edges and target.edges else None
    compared = Comparison(source.states, target.states, valid, edges)
    return _Linked(source, target, compared, subword_links(compared, settings))


def subword_links(compared: Comparison, settings: ExtractionSettings) -> Marks:
    """The links that a method finds, both directions combined."""
    method = METHODS[settings.method]
    if method.find:
        return above_null(method.find(compared, settings), compared, settings)
    if method.score:
        return scored_links(compared, compared.log_totals(settings.null), settings)
    forward, backward = (chosen_links(compared, axis, settings) for axis in (2, 1))
    return _combined(forward, backward, settings.symmetrize)


def _extract_batch(
    encoded: Encoded, subwords: _Subwords, pairs: IntArray, settings: ExtractionSettings, *, with_scores: bool
) -> WordLinks:
    batch = _linked(encoded, subwords, pairs, settings)
    pair, row, column = array_namespace(batch.links).nonzero(batch.links)
    source, target = batch.source.words[pair, row], batch.target.words[pair, column]
    compared, null = batch.compared, settings.null
    if not with_scores:
        return word_links(pair, source, target, None)
    if null is None:
        return word_links(pair, source, target, raw_scores(compared.products, compared.valid)[pair, row, column])
    support = pair_support(compared.log_totals(null), compared.valid, null)
    scores = scores_against_null(compared.products[pair, row, column], null) * support[pair] ** 0.5
    on_host = np.asarray(to_device(support, "cpu"), dtype=np.float64)
    return word_links(pair, source, target, scores)._replace(support=on_host)


def _combined(forward: Marks, backward: Marks, method: Symmetrization) -> Marks:
    """The simple heuristics where the arrays are; the growing ones visit links one by one, on the host."""
    if method is Symmetrization.INTERSECTION:
        return forward & backward
    if method is Symmetrization.UNION:
        return forward | backward
    if method is Symmetrization.FORWARD:
        return forward
    if method is Symmetrization.BACKWARD:
        return backward
    xp = array_namespace(forward)
    there, back = (np.asarray(to_device(direction, "cpu")) for direction in (forward, backward))
    grown = np.zeros_like(there)
    for number in range(len(there)):
        sets = [
            set(zip(*map(np.ndarray.tolist, direction[number].nonzero()), strict=True)) for direction in (there, back)
        ]
        for row, column in symmetrize(sets[0], sets[1], method):
            grown[number, row, column] = True
    return to_device(xp.asarray(grown), getattr(forward, "device", "cpu"))


def _alignments(found: WordLinks, count: int, settings: ExtractionSettings, scores: Scores | str) -> list[Alignment]:
    values = found.scores
    if values is None:
        links = _links_without_scores(found)
    else:
        if scores == Scores.CALIBRATED and settings.calibration:
            values = settings.calibration(values)
        given = (found.source.tolist(), found.target.tolist(), np.round(values, 6).tolist())
        links = list(map(_new_link, zip(*given, repeat(True))))
    ends = np.searchsorted(found.pair, np.arange(count + 1)).tolist()
    support = repeat(None) if found.support is None else np.round(found.support, 6).tolist()
    parts = (tuple(links[start:end]) for start, end in pairwise(ends))
    return [Alignment(part, score) for part, score in zip(parts, support, strict=False)]


def _links_without_scores(found: WordLinks) -> list[Link]:
    """Between the first words of sentences links are always the same; looking one up is faster than making it."""
    source, target = found.source, found.target
    if max(source.max(initial=0), target.max(initial=0)) < _USUAL_WORDS:
        return list(map(_usual_links().__getitem__, (source * _USUAL_WORDS + target).tolist()))
    return list(map(_new_link, zip(source.tolist(), target.tolist(), repeat(None), repeat(True))))


@cache
def _usual_links() -> list[Link]:
    return [Link(source, target) for source in range(_USUAL_WORDS) for target in range(_USUAL_WORDS)]
