"""Rows as parts of packed sentences, and how they are laid one after the other without padding.

Nothing here looks at a single pair or token in Python: parts are arrays of numbers, and tokens are gathered where the
text lies, which may be on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from weft.arrays import BoolArray, IntArray
from weft.encoding.subwords import Tokenizer
from weft.training.packed import NOBODY, PackedCorpus

# A row has two sides, a side has room for two parts between its special tokens.
SIDES, SLOTS = 2, 2
_PARTS = SLOTS + 2
# Words of a side's second part get numbers of their own.
_SECOND = 1 << 15


class Sentences:
    """All packed text: ids and words of its subwords as tensors, starts and lengths of its sentences as arrays."""

    def __init__(self, corpus: PackedCorpus, tokenizer: Tokenizer, *, joint: bool) -> None:
        self.joint = joint
        self.lengths = corpus.lengths
        self.starts = np.asarray(corpus.arrays["starts"][:-1], dtype=np.int64)
        self.before, self.after, self.pad = len(tokenizer.prefix), len(tokenizer.suffix), tokenizer.pad
        # Special tokens lie behind the text, so that they are looked up like any other part.
        special = np.array([*tokenizer.prefix, *tokenizer.suffix], dtype=np.int32)
        self.special = len(corpus.arrays["ids"])
        self.ids = torch.from_numpy(np.concatenate([np.asarray(corpus.arrays["ids"], dtype=np.int32), special]))
        words = np.asarray(corpus.arrays["words"], dtype=np.int16)
        self.words = torch.from_numpy(np.concatenate([words, np.zeros(len(special), dtype=np.int16)]))

    @property
    def around(self) -> int:
        """Special tokens of a side."""
        return self.before + self.after

    @property
    def rows_a_pair(self) -> int:
        """One if both sides of a pair are read together."""
        return 1 if self.joint else SIDES

    @property
    def device(self) -> torch.device:
        """Where the text lies."""
        return self.ids.device

    @property
    def bytes(self) -> int:
        """The room that the text takes."""
        return self.ids.nbytes + self.words.nbytes

    def move(self, device: torch.device) -> None:
        """Lay the text on another device."""
        self.ids, self.words = self.ids.to(device), self.words.to(device)


@dataclass(slots=True)
class Segments:
    """Parts of sentences that make rows: each array of shape (rows, 2 sides, 2 slots); length 0 is no part.

    `start` counts in the subwords of all sentences, `unit` says whose part it is, or nobody's, and `place` where in the
    unit's sentence it begins.
    """

    start: IntArray
    length: IntArray
    unit: IntArray
    place: IntArray

    @classmethod
    def empty(cls, rows: int) -> Segments:
        """Rows without anything in them."""
        nothing = np.zeros((rows, SIDES, SLOTS), dtype=np.int64)
        return cls(nothing, nothing.copy(), np.full_like(nothing, NOBODY), nothing.copy())

    def put(
        self, rows: IntArray, side: int, slot: int, sentences: Sentences, which: IntArray, unit: IntArray | int
    ) -> None:
        """Put whole sentences into a slot of some rows."""
        self.start[rows, side, slot] = sentences.starts[which]
        self.length[rows, side, slot] = sentences.lengths[which]
        self.unit[rows, side, slot] = unit

    def __len__(self) -> int:
        return len(self.start)


class Room(NamedTuple):
    """A fixed size for all batches, so that a compiled encoder fits them all: tokens, rows, and the widest row."""

    tokens: int
    rows: int
    widest: int

    @property
    def real_rows(self) -> int:
        """Rows that there may be beside those of padding."""
        return self.rows - self.tokens // self.widest - 1


@dataclass(slots=True)
class FlatRows:
    """Rows laid one after the other; each tensor of shape (tokens,), and `ends` (rows + 1,) in 32 bits.

    `unit` and `place` say of every token whose it is and where it stands there, `word` numbers the words of a side.
    `offsets` (rows, 2) says where the subwords of either side begin, `lengths` (rows, 2) how many there are.
    """

    ids: Tensor
    positions: Tensor
    types: Tensor
    unit: Tensor
    place: Tensor
    word: Tensor
    ends: Tensor
    offsets: IntArray
    lengths: IntArray
    size: int


def there(values: npt.NDArray[Any], device: torch.device) -> Tensor:
    """An array on a device, without waiting for it."""
    tensor = torch.from_numpy(np.ascontiguousarray(values))
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def lay_flat(segments: Segments, sentences: Sentences, room: Room | None = None) -> FlatRows:
    """Lay rows one after the other; with `room`, what is left over is filled with padding."""
    device = sentences.device
    length, start, unit, place = _parts(segments, sentences)
    sides = length.sum(axis=2)
    offsets = np.cumsum(sides.reshape(-1)) - sides.reshape(-1)
    total = int(sides.sum())
    first = np.cumsum(length.reshape(-1)) - length.reshape(-1)
    number = np.broadcast_to(np.arange(SIDES)[:, None], length.shape)
    about = np.stack([length.reshape(-1), start.reshape(-1) - first, unit.reshape(-1), place.reshape(-1) - first,
                      -np.repeat(offsets, _PARTS), number.reshape(-1)])  # fmt: skip
    table = there(about, device)
    segment = torch.repeat_interleave(torch.arange(table.shape[1], device=device), table[0], output_size=total)
    index = torch.arange(total, device=device)
    _, source, owner, at, position, side = table[:, segment]
    source, at, position = source + index, at + index, position + index
    word = sentences.words[source].long() + _SECOND * (segment % _PARTS // SLOTS)
    types = side if sentences.joint else torch.zeros_like(side)
    tensors = [sentences.ids[source].long(), position, types, owner, at, word]
    ends = np.append(offsets[::SIDES] if sentences.joint else offsets, total)
    if room is not None:
        tensors = [_filled(tensor, room.tokens, fill) for tensor, fill in
                   zip(tensors, (sentences.pad, 0, 0, NOBODY, 0, 0), strict=True)]  # fmt: skip
        ends = _filled_ends(ends, room)
    of_sides = offsets.reshape(-1, SIDES) + sentences.before
    ids, positions, types, owner, at, word = tensors
    return FlatRows(
        ids,
        positions,
        types,
        owner,
        at,
        word,
        there(ends.astype(np.int32), device),
        of_sides,
        segments.length.sum(axis=2),
        total,
    )


def _parts(segments: Segments, sentences: Sentences) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Length, start, unit and place of all parts, special tokens among them, each of shape (rows, 2 sides, 4)."""
    shape = (len(segments), SIDES, _PARTS)
    length, start = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    length[:, :, 0], length[:, :, -1], length[:, :, 1:-1] = sentences.before, sentences.after, segments.length
    start[:, :, 0], start[:, :, -1] = sentences.special, sentences.special + sentences.before
    start[:, :, 1:-1] = segments.start
    unit, place = np.full(shape, NOBODY), np.zeros(shape, dtype=np.int64)
    unit[:, :, 1:-1], place[:, :, 1:-1] = segments.unit, segments.place
    return length, start, unit, place


def _filled(values: Tensor, size: int, fill: int) -> Tensor:
    return torch.nn.functional.pad(values, (0, size - len(values)), value=fill)


def _filled_ends(ends: IntArray, room: Room) -> IntArray:
    """Padding as rows that are no longer than real ones may be: attention must not be told of longer ones."""
    total = int(ends[-1])
    found = np.concatenate([ends, np.arange(total + room.widest, room.tokens, room.widest)])
    assert total <= room.tokens, "a batch has too many tokens"
    assert len(found) <= room.rows + 1, "a batch has too many rows"
    return np.concatenate([found, np.full(room.rows + 1 - len(found), room.tokens)])


def row_sizes(segments: Segments, sentences: Sentences) -> IntArray:
    """Tokens of each row, special ones included."""
    sizes: IntArray = segments.length.sum(axis=(1, 2)) + SIDES * sentences.around
    return sizes


def inside_of(lengths: IntArray, width: int) -> BoolArray:
    """Which of `width` places are filled, shape (rows,) to (rows, width)."""
    return np.arange(width) < lengths[:, None]
