"""Rows of like length in batches under a budget, as the padded arrays that encoders take.

Padding is written against the array API, so that it happens where the ids are: in numpy or on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from weft.arrays import ChunkIds, IntArray, RowNumbers, array_namespace
from weft.encoding.subwords import Tokenizer
from weft.encoding.transfer import on_device_of

Item = TypeVar("Item")


def cut_by_weight(items: Iterable[Item], most: int, weight_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Cut items into chunks that end with the item at which their weights reach `most`."""
    chunk: list[Item] = []
    weight = 0
    for item in items:
        chunk.append(item)
        weight += weight_of(item)
        if weight >= most:
            yield chunk
            chunk, weight = [], 0
    if chunk:
        yield chunk


def token_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[list[int]]:
    """Group rows into batches whose padded size stays under `budget` tokens; longest rows first.

    A row longer than the budget is a batch of its own.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    return cell_batches(np.stack([lengths, np.ones_like(lengths)], axis=1), budget)


def cell_batches(shapes: IntArray, budget: int) -> list[list[int]]:
    """Group matrices of like shape into batches whose padded size stays under `budget` cells; largest first.

    `shapes` has the shape (matrices, 2).
    """
    order = _largest_first(shapes)
    sorted_shapes, batches, first = shapes[order], [], 0
    while first < len(order):
        # No batch can hold more than would fit if all were as large as its first one.
        most = max(1, budget // max(1, int(sorted_shapes[first].prod())))
        height, width = np.maximum.accumulate(sorted_shapes[first : first + most]).T
        fitting = np.searchsorted(height * width * np.arange(1, len(height) + 1), budget, side="right")
        end = first + max(1, int(fitting))
        batches.append(order[first:end].tolist())
        first = end
    return batches


def _largest_first(shapes: IntArray) -> IntArray:
    # Heights count in steps of 8, so that inside a step widths are in order too; equal shapes stay in order.
    heights, widths = shapes[:, 0], shapes[:, 1]
    return np.lexsort((-heights, -widths, -(heights // 8)))


# What models call the arrays of a batch.
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


class Batch(NamedTuple):
    """Padded rows, all of shape (rows, length): ids, attention mask, first or second sentence, place in it."""

    ids: RowNumbers
    mask: RowNumbers
    types: RowNumbers
    positions: RowNumbers

    def inputs(self) -> dict[str, RowNumbers]:
        """The arrays by the names that models give them."""
        return dict(zip(INPUTS, self, strict=True))


@dataclass(frozen=True, slots=True)
class RowSpans:
    """Which subwords go into which row, as stretches of a chunk's subwords; all arrays have the shape (rows, sides).

    A row holds one sentence, or the two of a pair. Subwords from `start` to `end` go through the encoder together, and
    the states of those from `keep_start` to `keep_end` are kept: not all, where a long sentence is read in windows.
    """

    start: IntArray
    end: IntArray
    keep_start: IntArray
    keep_end: IntArray

    def __getitem__(self, chosen: list[int]) -> RowSpans:
        return RowSpans(self.start[chosen], self.end[chosen], self.keep_start[chosen], self.keep_end[chosen])


def pad_rows(rows: RowSpans, ids: ChunkIds, tokenizer: Tokenizer) -> tuple[Batch, RowNumbers]:
    """Pad rows of `ids`, with special tokens round each sentence.

    Every cell is computed by looking up, never by picking out: a device that pads a batch is not asked how many of
    anything there are, so nobody waits for it.

    Args:
        rows: which subwords go into which row.
        ids: the ids of a chunk's subwords, shape (subwords,), on the encoder's device.
        tokenizer: knows the special tokens.

    Returns:
        The batch, and where the state of each of its cells is stored, shape (rows, length): the number of a subword, or
        the number after the last one for cells whose state nobody wants, such as padding.
    """
    xp = array_namespace(ids)
    special = len(tokenizer.prefix) + len(tokenizer.suffix)
    longest = int((rows.end - rows.start + special).sum(axis=1).max())
    starts, ends, keep_starts, keep_ends = on_device_of(
        ids, np.stack([rows.start, rows.end, rows.keep_start, rows.keep_end])[..., None]
    )
    columns = xp.arange(longest, device=ids.device)
    zeros = xp.zeros((len(rows.start), longest), dtype=xp.int64, device=ids.device)
    padded, mask, types, positions, stored_at = zeros + tokenizer.pad, zeros, zeros, zeros, zeros + ids.shape[0]
    offset = 0  # the column at which a side begins, in each row
    for side in range(rows.start.shape[1]):
        start, end = starts[:, side], ends[:, side]
        place = columns - offset  # from the side's first special token on
        subword = place + start - len(tokenizer.prefix)  # what would stand here if it is neither special nor padding
        is_subword = (subword >= start) & (subword < end)
        padded = xp.where(is_subword, ids[xp.where(is_subword, subword, 0)], padded)
        for number, token in enumerate(tokenizer.prefix):
            padded = xp.where(place == number, token, padded)
        for number, token in enumerate(tokenizer.suffix):
            padded = xp.where(subword == end + number, token, padded)
        inside = (place >= 0) & (place < end - start + special)
        mask, types = xp.where(inside, 1, mask), xp.where(inside, side, types)
        positions = xp.where(inside, place, positions)
        kept = (subword >= keep_starts[:, side]) & (subword < keep_ends[:, side])
        stored_at = xp.where(kept, subword, stored_at)
        offset = offset + end - start + special
    return Batch(padded, mask, types, positions), stored_at
