"""Pairs of two languages by way of a third: what a teacher says of each with the third, put together.

A model that learned most of its pairs with English aligns two other languages better through English than directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from weft.extraction.similarity import MASKED
from weft.training.batches import Draws, Material, Part, RowMaker, tensors
from weft.training.corpus import TrainingPair
from weft.training.losses import NullDirections
from weft.training.rows import padded_numbers, single_rows

_TINY = 1e-9


@dataclass(slots=True)
class ThroughRows(Part):
    """For c pairs with a sentence in a third language: sources with it, then it with targets; none if c is 0.

    `source` (2c, n) and `target` (2c, m) are 0 for subwords and -1 for padding; `chosen` (c,) are the pairs' numbers in
    the batch.
    """

    source: Tensor
    target: Tensor
    chosen: Tensor


def _make(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> ThroughRows:
    chosen = [number for number, pair in enumerate(pairs) if pair.through is not None]
    thirds = [third for number in chosen if (third := pairs[number].through) is not None]
    if not thirds:
        nothing = np.zeros((0, 1), dtype=np.int64)
        return ThroughRows(*tensors(nothing, nothing > 0, nothing, nothing, nothing[:, 0]))
    source = [*(pairs[number].source_ids for number in chosen), *thirds]
    target = [*thirds, *(pairs[number].target_ids for number in chosen)]
    rows = single_rows([*source, *target], material.tokenizer)
    real = [padded_numbers([np.zeros_like(ids) for ids in side]) for side in (source, target)]
    return ThroughRows(*tensors(rows.ids, rows.attention, *real, np.array(chosen)))


THROUGH = RowMaker("through", _make)


def replaced(direct: NullDirections, halves: NullDirections, chosen: Tensor) -> NullDirections:
    """Log probabilities of a batch in which those of some pairs come by way of a third language.

    Args:
        direct: of all pairs, (b, n, m).
        halves: of `ThroughRows`, 2c pairs.
        chosen: which pairs of the batch they are, shape (c,).
    """
    count = len(chosen)
    forward, backward = _composed(halves, count)
    n, m = direct.source.shape[1], direct.target.shape[1]
    real = direct.source[chosen][:, :, None] & direct.target[chosen][:, None, :]
    parts = [_fitted(part, n, m) * real for part in (forward, backward)]
    whole = [_with_null(part, real, axis) for part, axis in zip(parts, (2, 1), strict=True)]
    return NullDirections(
        direct.forward.index_put((chosen,), whole[0]),
        direct.backward.index_put((chosen,), whole[1]),
        direct.source,
        direct.target,
    )


def _composed(halves: NullDirections, count: int) -> tuple[Tensor, Tensor]:
    """Probabilities source to target and back, both of shape (c, n, m), of which the null has the rest."""
    # The third sentence is the target side of the first half and the source side of the second.
    third = min(halves.source.shape[1], halves.target.shape[1])
    forward, backward = halves.forward[:, :, :-1].exp(), halves.backward[:, :-1].exp()
    return (
        forward[:count, :, :third] @ forward[count:, :third],
        backward[:count, :, :third] @ backward[count:, :third],
    )


def _with_null(part: Tensor, real: Tensor, axis: int) -> Tensor:
    """Log probabilities with those of the null behind them; padding is as impossible as in `null_directions`."""
    null = (1 - part.sum(axis, keepdim=True)).clamp(min=_TINY)
    return torch.cat([part.clamp(min=_TINY).log().masked_fill(~real, MASKED), null.log()], dim=axis)


def _fitted(part: Tensor, n: int, m: int) -> Tensor:
    """A matrix cut or filled up with zeros to another size, shape (c, …, …) to (c, n, m)."""
    part = part[:, :n, :m]
    return torch.nn.functional.pad(part, (0, m - part.shape[2], 0, n - part.shape[1]))
