"""Word embeddings in four or eight bits a value: levels that suit the table, and a scale for each block of a row."""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

BLOCK = 32
_LEVELS = 16
_SHRINK = np.linspace(0.8, 1.15, 15)
_ROWS_AT_ONCE = 1 << 16
_BLOCKS_AT_ONCE = 1 << 11  # what is computed on the way stays near the processor


class Codes(NamedTuple):
    """A table in few bits: `levels[codes]` times the scale of the value's block.

    `codes` has the table's shape (rows, width), `scales` (rows, blocks) in float16, `levels` (levels,).
    """

    codes: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float16]
    levels: FloatArray

    def table(self) -> FloatArray:
        """The table as the graph restores it, shape (rows, width)."""
        blocks = self.levels[self.codes].reshape(*self.scales.shape, -1)
        return (blocks * self.scales[..., None].astype(np.float32)).reshape(self.codes.shape)


def pack(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Two four-bit codes a byte, the first of them in the low bits."""
    return codes[:, ::2] | (codes[:, 1::2] << np.uint8(4))


def unpack(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """What `pack` was given."""
    return np.stack([packed & np.uint8(15), packed >> np.uint8(4)], axis=2).reshape(len(packed), -1)


def four_bits(table: FloatArray) -> Codes:
    """The sixteen levels that suit the table, and for each block of a row the scale with the least squared error."""
    blocks = table.reshape(-1, gcd(table.shape[1], BLOCK)).astype(np.float32)
    peaks = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1)[:, None], axis=1)
    levels = _levels(blocks[peaks[:, 0] != 0] / peaks[peaks != 0][:, None])
    codes = np.empty(blocks.shape, dtype=np.uint8)
    scales = np.empty(len(blocks), dtype=np.float16)
    for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
        part = slice(start, start + _BLOCKS_AT_ONCE)
        codes[part], scales[part] = _least_error(blocks[part], peaks[part], levels)
    return Codes(codes.reshape(table.shape), scales.reshape(len(table), -1), levels)


def eight_bits(table: FloatArray) -> Codes:
    """Evenly spaced levels; at eight bits nothing more clever is needed."""
    blocks = table.reshape(len(table), -1, gcd(table.shape[1], BLOCK))
    scales = (np.abs(blocks).max(axis=2) / 127).astype(np.float16)
    safe = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    codes = np.clip(np.round(blocks / safe), -127, 127) + 128
    return Codes(codes.astype(np.uint8).reshape(table.shape), scales, np.arange(-128, 128, dtype=np.float32))


def _levels(shares: FloatArray) -> FloatArray:
    """Lloyd's algorithm on values divided by their block's largest: where sixteen levels are missed least."""
    # Every value of a large table would take minutes and change nothing.
    shares = np.sort(shares[:: len(shares) // _ROWS_AT_ONCE + 1].ravel())
    levels = np.linspace(-1, 1, _LEVELS)
    for _ in range(25 if len(shares) else 0):
        nearest = _nearest(levels, shares)
        count = np.bincount(nearest, minlength=_LEVELS)
        levels = np.where(count > 0, np.bincount(nearest, shares, _LEVELS) / np.maximum(count, 1), levels)
    return levels.astype(np.float32)


def _least_error(blocks: FloatArray, peaks: FloatArray, levels: FloatArray) -> tuple[Any, Any]:
    """Codes and scales of blocks: the levels are not symmetrical, so scales of both signs are tried."""
    best = np.full(len(blocks), np.inf)
    codes = np.zeros(blocks.shape, dtype=np.uint8)
    scales = np.zeros(len(blocks), dtype=np.float16)
    for factor in (*_SHRINK, *-_SHRINK):
        tried = (peaks * factor).astype(np.float16)
        scale = tried.astype(np.float32)
        found = _counted(levels, (blocks / np.where(scale == 0, 1, scale)).astype(np.float32, copy=False))
        error = ((levels.take(found) * scale - blocks) ** 2).sum(axis=1)
        better = error < best
        best[better], codes[better], scales[better] = error[better], found[better], tried[better, 0]
    return codes, scales


def _nearest(levels: Any, values: Any) -> Any:
    return np.searchsorted((levels[1:] + levels[:-1]) / 2, values)


def _counted(levels: FloatArray, values: FloatArray) -> npt.NDArray[np.uint8]:
    """The same for values in no order: comparing with every border takes a fifth of the time of searching."""
    found = np.zeros(values.shape, dtype=np.uint8)
    above = np.empty(values.shape, dtype=np.bool_)
    for border in (levels[1:] + levels[:-1]) / 2:
        found += np.greater(values, border, out=above).view(np.uint8)
    return found
