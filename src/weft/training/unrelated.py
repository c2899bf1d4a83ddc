"""Pairs that are no translations, or not quite: what a model must learn to leave unlinked.

Some of the pairs (`changed`) are looked at once more with one side changed. Half of those get another pair's sentence
there, a quarter get a clause of another pair added, and a quarter lose a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from weft.training.batches import Array, Draws, Material, Part, RowMaker, tensors
from weft.training.corpus import TrainingPair
from weft.training.rows import padded_numbers, single_rows

_SWAPPED, _ADDED = 0.5, 0.75


@dataclass(slots=True)
class UnrelatedRows(Part):
    """Sources, then targets; `source_origin` (b, n) and `target_origin` (b, m) say where each subword stood before.

    That is its place in the pair it was made from, -1 for words from elsewhere, -2 for padding. `chosen` (c,) are the
    numbers of those pairs in the batch. A batch without any has one row all the same, whose weight (c,) is 0.
    """

    source_origin: Tensor
    target_origin: Tensor
    chosen: Tensor
    weights: Tensor


def _draw(generator: np.random.Generator, pairs: Sequence[TrainingPair], material: Material) -> Draws:
    count, size = len(pairs), len(material.corpus)
    return generator.integers(size, size=count), generator.random((count, 5))


def _make(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> UnrelatedRows:
    partners, numbers = draws
    is_changed = numbers[:, 4] < material.config.changed
    chosen = np.flatnonzero(is_changed) if is_changed.any() else np.zeros(1, dtype=np.int64)
    sides: list[list[Array]] = [[], []]
    origins: list[list[Array]] = [[], []]
    for number in chosen.tolist():
        pair, drawn = pairs[number], numbers[number, :4]
        other = material.corpus[int(partners[number])]
        changed = int(drawn[0] < 0.5)
        for side, (ids, words, ids_there, words_there) in enumerate((
            (pair.source_ids, pair.source_words, other.source_ids, other.source_words),
            (pair.target_ids, pair.target_words, other.target_ids, other.target_words),
        )):  # fmt: skip
            new, origin = ids, np.arange(len(ids))
            if side == changed:
                new, origin = _changed((ids, words), (ids_there, words_there), drawn[1:], material.longest)
            sides[side].append(new)
            origins[side].append(origin)
    rows = single_rows([*sides[0], *sides[1]], material.tokenizer)
    padded = [padded_numbers(side, fill=-2) for side in origins]
    weights = is_changed[chosen].astype(np.float32)
    return UnrelatedRows(*tensors(rows.ids, rows.attention, *padded, chosen, weights))


def _changed(own: tuple[Array, Array], other: tuple[Array, Array], drawn: Array, longest: int) -> tuple[Array, Array]:
    """One side as it becomes, and where its subwords stood before."""
    (ids, words), (ids_there, words_there) = own, other
    places = np.arange(len(ids))
    kind, where, end = drawn
    if kind >= _ADDED and words[-1] > 0:  # cut: the words before a border, or those behind it
        border = int(np.searchsorted(words, 1 + int(where * words[-1])))
        kept = slice(0, border) if end < 0.5 else slice(border, None)
        return ids[kept], places[kept]
    room = longest - len(ids)
    if _SWAPPED <= kind < _ADDED and room > 0:
        first = int(np.searchsorted(words_there, int(where * (words_there[-1] + 1))))
        clause = ids_there[first:][:room]
        parts = [(ids, places), (clause, np.full(len(clause), -1))]
        if end < 0.5:
            parts.reverse()
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if np.array_equal(ids, ids_there):  # the pair itself was drawn
        return ids, places
    return ids_there, np.full(len(ids_there), -1)


UNRELATED = RowMaker("unrelated", _make, _draw)
