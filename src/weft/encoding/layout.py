"""Rows of subwords as the padded arrays that encoders take, laid out where the ids are.

Written against the array API, and by looking up instead of picking out: a device that lays out a batch never has to be
asked how many of anything there are, and nobody waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from weft.encoding.subwords import IntArray, Tokenizer
from weft.encoding.transfer import beside


class Batch(NamedTuple):
    """Padded rows, all of shape (rows, length): ids, attention mask, first or second sentence, place in it."""

    ids: Any
    mask: Any
    types: Any
    positions: Any

    def inputs(self) -> dict[str, Any]:
        """The arrays by the names that models give them."""
        return dict(zip(("input_ids", "attention_mask", "token_type_ids", "position_ids"), self, strict=True))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one sentence, or of the two of a pair; all arrays have the shape (rows, sides).

    A side is the stretch from `start` to `end` of all subwords; states from `keep_start` to `keep_end` are kept.
    """

    start: IntArray
    end: IntArray
    keep_start: IntArray
    keep_end: IntArray

    def __getitem__(self, chosen: list[int]) -> Rows:
        return Rows(self.start[chosen], self.end[chosen], self.keep_start[chosen], self.keep_end[chosen])


def laid_out(rows: Rows, ids: Any, tokenizer: Tokenizer) -> tuple[Batch, Any]:
    """Pad rows of `ids` (subwords,), with special tokens round each sentence.

    Returns the batch, and for each of its positions, shape (rows, length), which subword's state it gives; those that
    give none, such as padding, have the number after the last subword.
    """
    xp, device = array_namespace(ids), getattr(ids, "device", None)
    special = len(tokenizer.prefix) + len(tokenizer.suffix)
    longest = int((rows.end - rows.start + special).sum(axis=1).max())
    starts, ends, keep_starts, keep_ends = beside(
        ids, np.stack([rows.start, rows.end, rows.keep_start, rows.keep_end])[..., None]
    )
    columns = xp.arange(longest, device=device)
    nothing = xp.zeros((len(rows.start), longest), dtype=xp.int64, device=device)
    filled, mask, types, positions, gives = nothing + tokenizer.pad, nothing, nothing, nothing, nothing + ids.shape[0]
    offset = 0
    for side in range(rows.start.shape[1]):
        start, end = starts[:, side], ends[:, side]
        place = columns - offset
        subword = place + start - len(tokenizer.prefix)
        real = (subword >= start) & (subword < end)
        filled = xp.where(real, ids[xp.where(real, subword, 0)], filled)
        for number, token in enumerate(tokenizer.prefix):
            filled = xp.where(place == number, token, filled)
        for number, token in enumerate(tokenizer.suffix):
            filled = xp.where(subword == end + number, token, filled)
        inside = (place >= 0) & (place < end - start + special)
        mask, types = xp.where(inside, 1, mask), xp.where(inside, side, types)
        positions = xp.where(inside, place, positions)
        gives = xp.where((subword >= keep_starts[:, side]) & (subword < keep_ends[:, side]), subword, gives)
        offset = offset + end - start + special
    return Batch(filled, mask, types, positions), gives
