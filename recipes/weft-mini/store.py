"""Sentences and links in little room: written on one machine, carried to another.

A shard is an xz-compressed npz of flat arrays: sentences cut into pieces, and links between words where there are any.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shard = dict[str, Array]
Links = Sequence[tuple[int, int]]
PAD, CLS, SEP, UNK, MASK = range(5)
SPECIAL_TOKENS = 5
AROUND = 2  # [CLS] and [SEP]
MOST_SIDE = 128  # tokens of one side, these two included
MOST_PIECES = MOST_SIDE - AROUND
WHOLE_KOREAN = "ko-whole"  # Korean cut at blanks alone

# Two bytes a piece: the compressor is told so.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 3, "lp": 1, "pb": 1, "lc": 3}]


def write(path: Path, arrays: Shard) -> None:
    """Write a shard."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(buffer.getvalue(), format=lzma.FORMAT_XZ, filters=_FILTERS))


def read(path: Path) -> Shard:
    """Read a shard and undo what made it small."""
    arrays = dict(np.load(io.BytesIO(lzma.decompress(path.read_bytes()))))
    if "ids" in arrays:
        lengths = arrays["lengths"].astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        numbers = np.cumsum(np.unpackbits(arrays.pop("begins"))[: len(arrays["ids"])], dtype=np.int64) - 1
        filled = lengths > 0
        arrays["words"] = (numbers - np.repeat(numbers[starts[filled]], lengths[filled])).astype(np.uint8)
    if "links" in arrays:
        arrays["links"] = np.cumsum(arrays["links"], axis=1, dtype=np.uint8).T
    return arrays


def packed_sentences(pieces: Iterable[tuple[Array, Array]]) -> Shard:
    """Sentences given as ids and words of their pieces; one that has too many of them becomes empty."""
    kept = [(ids, words) if len(ids) <= MOST_PIECES else (ids[:0], words[:0]) for ids, words in pieces]
    begins = [np.diff(words, prepend=-1) != 0 for _, words in kept if len(words)]
    return {
        "ids": np.concatenate([ids for ids, _ in kept]).astype(np.uint16),
        "begins": np.packbits(np.concatenate(begins)),
        "lengths": np.array([len(ids) for ids, _ in kept], dtype=np.uint8),
    }


def packed_links(links: Sequence[Links]) -> Shard:
    """Links between words, one list a pair; differences wrap round at 256, and so does their sum."""
    flat = np.array([link for pair in links for link in pair], dtype=np.uint8).reshape(-1, 2)
    return {
        "links": np.diff(flat, axis=0, prepend=np.zeros((1, 2), dtype=np.uint8)).T,
        "counts": np.array([len(pair) for pair in links], dtype=np.uint16),
    }
