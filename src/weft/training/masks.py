"""Words that are masked in the rows which a model learns alignments from: it fills them in along the way.

Which subwords are masked depends on a number of their pair and on their place alone, so that a batch that is cut into
pieces, or spread over processes, has the same masks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from weft.training.config import MaskingConfig
from weft.training.rows import Vocabulary
from weft.training.segments import FlatRows, there

IGNORED = -100
Keys = npt.NDArray[np.uint64]
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_SIDE = 1 << 16
_MASK, _RANDOM = 0.8, 0.1


@dataclass(slots=True)
class Masks:
    """Places to predict (p,), with numbers that say how each is masked (p,) and by which other token (p,).

    Places beyond the first `count` are there to fill up a fixed size. `hidden` (h,) are masked and not predicted.
    """

    places: Tensor
    how: Tensor
    others: Tensor
    hidden: Tensor
    count: int
    mask: int

    def masked(self, ids: Tensor, strength: float) -> tuple[Tensor, Tensor]:
        """Ids with masks in them, and what stood at the places; a `strength` under 1 leaves more as they are."""
        labels = ids[self.places]
        other = torch.where(self.how >= 1 - _RANDOM * strength, self.others, labels)
        changed = torch.where(self.how < _MASK * strength, self.mask, other)
        ids = ids.index_put((self.places[: self.count],), changed[: self.count])
        filled = torch.arange(len(labels), device=labels.device) < self.count
        return self.with_hidden(ids), labels.masked_fill(~filled, IGNORED)

    def with_hidden(self, ids: Tensor) -> Tensor:
        """Ids in which some are hidden, and none is predicted."""
        return ids.index_fill(0, self.hidden, self.mask) if len(self.hidden) else ids


def drawn_masks(
    rows: FlatRows,
    keys: Keys,
    settings: MaskingConfig,
    vocabulary: Vocabulary,
    tokens: tuple[int, int] | None = None,
) -> Masks:
    """Draw masks for rows.

    Args:
        rows: what the model reads.
        keys: a number for each row.
        settings: how many are predicted, how many only hidden.
        vocabulary: mask token and size.
        tokens: the size of a batch, where that is fixed.
    """
    lengths = rows.lengths.reshape(-1)
    total = int(lengths.sum())
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    sides = np.tile(np.arange(2), len(rows.lengths)) * _SIDE + 1
    with np.errstate(over="ignore"):
        steps = (np.repeat(sides, lengths) + within).astype(np.uint64) * _GOLDEN
        mixed = _mixed(np.repeat(np.repeat(keys, 2), lengths) + steps)
        places = np.repeat(rows.offsets.reshape(-1), lengths) + within
        draw = _uniform(mixed)
        chosen = draw < settings.share
        again = _mixed(mixed[chosen])
        which = _mixed(again) % np.uint64(vocabulary.size)
    hidden = places[(draw >= settings.share) & (draw < settings.share + settings.hidden)]
    room = int(chosen.sum()) if tokens is None else int(settings.share * tokens[0]) + 1
    count = min(room, int(chosen.sum()))
    filled = [np.zeros(room, dtype=kind) for kind in (np.int64, np.float32, np.int64)]
    for array, values in zip(filled, (places[chosen], _uniform(again), which), strict=True):
        array[:count] = values[:count]
    device = rows.ids.device
    parts = [there(array, device) for array in (*filled, hidden)]
    return Masks(parts[0], parts[1], parts[2], parts[3], count, vocabulary.mask)


def _mixed(keys: Keys) -> Keys:
    """Numbers that look random, each a function of its key (splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * _FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * _SECOND
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed


def _uniform(keys: Keys) -> npt.NDArray[np.float32]:
    return (keys >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
