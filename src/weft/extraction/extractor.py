"""Hidden states of many sentence pairs to alignments: batches on the device, subwords to words there too.

Pairs of like shape go together. A pair too large for any batch is taken in strips (strips.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from array_api_compat import array_namespace, to_device

from weft.encoding.batching import cell_batches
from weft.encoding.encoder import Encoded
from weft.extraction import strips
from weft.extraction.choices import Method, Scores
from weft.extraction.matching import argmax_links, itermax_links, matching_links
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import MASKED, cosines, dot_products, entmax, relative_plan, transport
from weft.extraction.symmetrize import Symmetrization, symmetrize
from weft.extraction.words import WordLinks, raw_scores, word_links
from weft.types import Alignment, Link

# Similarities computed at once: on a CPU as many as stay in its cache, on other devices enough to keep them busy.
BATCH_CELLS, DEVICE_BATCH_CELLS = 1 << 17, 1 << 23
STRIP_CELLS = 1 << 22
_ONE_SET = (Method.ITERMAX, Method.MATCH)
# What `Link._make` does without its frames: corpora have billions of links.
_new_link: Callable[[Iterable[object]], Link] = partial(tuple.__new__, Link)


def extract(
    encoded: Encoded,
    pairs: Sequence[tuple[int, int]],
    settings: ExtractionSettings,
    *,
    scores: Scores | str = Scores.NONE,
) -> list[Alignment]:
    """Take the links of sentence pairs, given as numbers of encoded sentences (source, target)."""
    shapes = encoded.lengths[np.asarray(pairs, dtype=np.int64).reshape(-1, 2)]
    alignments: list[Alignment] = [Alignment()] * len(pairs)
    on_cpu = str(getattr(encoded.states, "device", "cpu")) == "cpu"
    for batch in cell_batches(shapes, BATCH_CELLS if on_cpu else DEVICE_BATCH_CELLS):
        chosen = [pairs[number] for number in batch]
        if strips.suits(tuple(shapes[batch[0]].tolist()), settings.method, limit=STRIP_CELLS):
            found = strips.extract_pair(encoded, chosen[0], settings, with_scores=scores != Scores.NONE)
        else:
            found = _extract_batch(encoded, chosen, settings, with_scores=scores != Scores.NONE)
        for number, alignment in zip(batch, _alignments(found, len(batch), settings, scores), strict=True):
            alignments[number] = alignment
    return alignments


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a batch, padded: states (b, n, d), which positions are real (b, n), and their words (b, n)."""

    states: Any
    real: Any
    words: Any


def _side(encoded: Encoded, sentences: Sequence[int]) -> _Side:
    xp, device = array_namespace(encoded.states), getattr(encoded.states, "device", "cpu")
    lengths = encoded.lengths[list(sentences)]
    steps = np.arange(lengths.max())
    real = steps < lengths[:, None]
    rows = np.where(real, encoded.starts[list(sentences)][:, None] + steps, 0)
    states = encoded.states[to_device(xp.asarray(rows), device)]
    return _Side(states, to_device(xp.asarray(real), device), to_device(xp.asarray(encoded.words[rows]), device))


def _extract_batch(
    encoded: Encoded, pairs: Sequence[tuple[int, int]], settings: ExtractionSettings, *, with_scores: bool
) -> WordLinks:
    source = _side(encoded, [pair[0] for pair in pairs])
    target = _side(encoded, [pair[1] for pair in pairs])
    xp = array_namespace(source.states)
    valid = source.real[:, :, None] & target.real[:, None, :]
    products = dot_products(source.states, target.states)
    products = xp.where(valid, products, xp.full_like(products, MASKED))
    if settings.method in _ONE_SET:
        links = _competing(source, target, valid, settings.method)
    else:
        forward, backward = _directions(source, target, products, valid, settings)
        links = _combined(forward, backward, settings.symmetrize)
    pair, row, column = xp.nonzero(links)
    scores = raw_scores(products, valid)[pair, row, column] if with_scores else None
    return word_links(pair, source.words[pair, row], target.words[pair, column], scores)


def _competing(source: _Side, target: _Side, valid: Any, method: Method) -> Any:
    similarities = (cosines(source.states, target.states) + 1) / 2
    return (itermax_links if method is Method.ITERMAX else matching_links)(similarities, valid)


def _directions(
    source: _Side, target: _Side, products: Any, valid: Any, settings: ExtractionSettings
) -> tuple[Any, Any]:
    """Source-to-target and target-to-source links, both of shape (b, n, m): S_xy > c and S_yxᵀ > c."""
    if settings.method is Method.ARGMAX:
        return argmax_links((cosines(source.states, target.states) + 1) / 2, valid)
    if settings.method is Method.OT:
        there = back = relative_plan(transport(source.states, target.states, valid, cost=settings.cost), valid)
    else:
        there, back = (entmax(products, axis=axis, alpha=settings.exponent) for axis in (2, 1))
    threshold = settings.effective_threshold
    return (there > threshold) & valid, (back > threshold) & valid


def _combined(forward: Any, backward: Any, method: Symmetrization) -> Any:
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
    source, target, values = found.source.tolist(), found.target.tolist(), found.scores
    if values is None:
        links = list(map(_new_link, zip(source, target, repeat(None), repeat(True))))
    else:
        if scores == Scores.CALIBRATED and settings.calibration:
            values = settings.calibration(values)
        links = list(map(_new_link, zip(source, target, np.round(values, 6).tolist(), repeat(True))))
    ends = np.searchsorted(found.pair, np.arange(count + 1)).tolist()
    return [Alignment(tuple(links[ends[number] : ends[number + 1]])) for number in range(count)]
