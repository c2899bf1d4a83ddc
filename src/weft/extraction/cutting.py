"""Where two long texts can be cut before their stretches are paired, so that time does not grow with the square.

Both are cut where whole stretches, each as one vector, agree without doubt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from weft.arrays import FloatArray
from weft.extraction.stretch_states import StretchStates

# Texts of more cells than this are cut first, at anchors about so many stretches apart.
_BLOCK_CELLS, _BETWEEN_ANCHORS = 96 * 96, 48
# Texts that repeat themselves have no anchors: then a block of more cells than this is cut all the same.
_MOST_CELLS = 256 * 256
_VECTOR_CELLS = 1 << 22
_NEIGHBOURS = 5


def cut_places(source: StretchStates, target: StretchStates) -> list[tuple[int, int]]:
    """Places at which both texts can be cut, their beginning and end among them."""
    height, width = len(source), len(target)
    places = [(0, 0)]
    if height * width > _BLOCK_CELLS:
        group = int(np.ceil(np.sqrt(height * width / _VECTOR_CELLS)))
        for row, column in _anchors(_vectors(source, group), _vectors(target, group)):
            places.append((row * group, column * group))
    return _bounded([*places, (height, width)])


def _bounded(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places, and others evenly between them where a text that repeats itself has no anchors for long."""
    found = list(places[:1])
    for (row, column), (last_row, last_column) in pairwise(places):
        height, width = last_row - row, last_column - column
        parts = math.ceil(math.sqrt(height * width / _MOST_CELLS)) or 1
        found += [(row + height * part // parts, column + width * part // parts) for part in range(1, parts + 1)]
    return found


def _vectors(side: StretchStates, group: int) -> FloatArray:
    """One vector for each group of stretches, shape (groups, width): the mean of its states, all dimensions alike."""
    starts = side.starts[:-1:group]
    counts = np.diff(np.append(starts, side.starts[-1]))
    means: FloatArray = np.add.reduceat(side.states, starts, axis=0) / counts[:, None]
    means -= means.mean(axis=0)
    means /= np.maximum(means.std(axis=0), 1e-6)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-6)
    return means


def _anchors(source: FloatArray, target: FloatArray) -> Iterator[tuple[int, int]]:
    """Pairs of vectors, on the best way through both texts, whose neighbourhood agrees best; some distance apart."""
    closeness = source @ target.T
    count = min(_NEIGHBOURS, *closeness.shape)
    # A vector that is close to everything says little: what counts is more than its nearest neighbours have.
    nearest = [np.sort(side, axis=1)[:, -count:].mean(axis=1) for side in (closeness, closeness.T)]
    margin = 2 * closeness - nearest[0][:, None] - nearest[1]
    path = _diagonals(margin)
    cells = set(path)
    support = [
        sum(margin[i + k, j + k] for k in range(-2, 3) if (i + k, j + k) in cells) if (i - 1, j - 1) in cells else 0.0
        for i, j in path
    ]
    for first in range(_BETWEEN_ANCHORS // 2, len(path), _BETWEEN_ANCHORS):
        near = range(first, min(first + _BETWEEN_ANCHORS // 2, len(path)))
        chosen = max(near, key=support.__getitem__)
        if support[chosen] > 0:
            yield path[chosen]


def _diagonals(gain: FloatArray) -> list[tuple[int, int]]:
    """The cells of positive gain that a way from corner to corner, in both texts ever forwards, collects."""
    best = np.zeros((gain.shape[0] + 1, gain.shape[1] + 1), dtype=np.float32)
    for number, row in enumerate(gain, start=1):
        ahead = np.maximum(best[number - 1, 1:], best[number - 1, :-1] + row)
        best[number, 1:] = np.maximum.accumulate(ahead)
    cells: list[tuple[int, int]] = []
    i, j = gain.shape
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            cells.append((i, j))
    return cells[::-1]
