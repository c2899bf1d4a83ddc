"""Rows of tokens for training, made of sentences that lie on the GPU.

A unit is a pair of sentences with what is known about its links: a teacher reads it, or there are links. A row is what
the student reads: a unit as it is, one side of it with an unrelated sentence, with such a sentence added, with a part
cut out, or two units one after the other. Every token of a row knows its unit and its place there, so what is known
about the unit tells what the token should find: another token, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import torch
from flatbert import TEMPERATURE
from store import CLS, MASK, MOST_PIECES, MOST_SIDE, SEP, SPECIAL_TOKENS, Array, Shard
from torch import Tensor

from weft.arrays import BoolArray, IntArray

NULL = 15.0  # similarity of a word that is not there with every other
EDGES = (24, 56, MOST_PIECES)
NOBODY = -1
NOWHERE = -1e4
_SLOTS = 2  # sentences a side

TAUGHT, PIVOT, LINKED = range(3)
PLAIN, UNRELATED, ADDED, CUT, DOUBLE = range(5)


class Sentences:
    """All sentences, one after the other: ids and words of their pieces on the device, starts and lengths on both."""

    def __init__(self, shards: Sequence[Shard], device: str) -> None:
        self.device = device
        self.lengths = np.concatenate([shard["lengths"] for shard in shards]).astype(np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.ids = torch.from_numpy(np.concatenate([shard["ids"] for shard in shards]).astype(np.int32)).to(device)
        self.words = torch.from_numpy(np.concatenate([shard["words"] for shard in shards])).to(device)


@dataclass
class Units:
    """Pairs of sentences, all arrays of shape (units,); `through` is the English sentence of a pivot."""

    kind: IntArray
    source: IntArray
    through: IntArray
    target: IntArray
    link_start: IntArray  # into the table of links
    link_count: IntArray
    flipped: BoolArray  # links are stored target first
    unlinked_is_null: BoolArray  # words without links are known to have none

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, which: IntArray) -> Units:
        return Units(*(getattr(self, item.name)[which] for item in fields(self)))

    @classmethod
    def joined(cls, some: Sequence[Units]) -> Units:
        """Units one after the other."""
        return cls(*(np.concatenate([getattr(units, item.name) for units in some]) for item in fields(cls)))


@dataclass
class Flat:
    """What `FlatBert` takes, each of shape (tokens,), and `ends` (rows + 1,).

    `unit` and `place` say of every token whose it is and where it stands there; `word` numbers the words of a side;
    `offsets` (rows, 2) says where sides begin and `lengths` (rows, 2) how many pieces they have, on the host.
    """

    ids: Tensor
    positions: Tensor
    types: Tensor
    ends: Tensor
    unit: Tensor
    place: Tensor
    word: Tensor
    offsets: IntArray
    lengths: IntArray
    size: int


def there(values: Array, device: str) -> Tensor:
    """An array on the device, without waiting for it."""
    tensor = torch.from_numpy(np.ascontiguousarray(values))
    return tensor.pin_memory().to(device, non_blocking=True) if device != "cpu" else tensor


@dataclass
class Segments:
    """Parts of sentences that make rows: each array of shape (rows, 2 sides, 2 slots); length 0 is no part."""

    start: IntArray  # into the pieces of all sentences
    length: IntArray
    unit: IntArray
    place: IntArray  # of the part's first piece in its sentence

    @classmethod
    def empty(cls, rows: int) -> Segments:
        """Rows without anything in them."""
        nothing = np.zeros((rows, 2, _SLOTS), dtype=np.int64)
        return cls(nothing, nothing.copy(), np.full_like(nothing, NOBODY), nothing.copy())

    def put(
        self, rows: IntArray, side: int, slot: int, sentences: Sentences, which: IntArray, unit: IntArray | int
    ) -> None:
        """Put whole sentences into a slot of some rows."""
        self.start[rows, side, slot] = sentences.starts[which]
        self.length[rows, side, slot] = sentences.lengths[which]
        self.unit[rows, side, slot] = unit


def flat(segments: Segments, sentences: Sentences, *, tokens: int, rows: int, apart: BoolArray | None = None) -> Flat:
    """Lay rows one after the other, `tokens` in all; what is left over is padding.

    The sides of rows that are `apart` (rows,) do not see each other: each is read as a sentence by itself.
    """
    device, count = sentences.device, len(segments.start)
    apart = np.zeros(count, dtype=bool) if apart is None else apart
    lengths = np.ones((count, 2, _SLOTS + 2), dtype=np.int64)
    lengths[:, :, 1:-1] = segments.length
    start, unit, place = (np.full(lengths.shape, NOBODY) for _ in range(3))
    start[:, :, 1:-1], unit[:, :, 1:-1], place[:, :, 1:-1] = segments.start, segments.unit, segments.place
    special = np.zeros(lengths.shape, dtype=np.int64)
    special[:, :, 0], special[:, :, -1] = CLS, SEP
    sides = lengths.sum(axis=2)
    side_offsets = np.cumsum(sides.reshape(-1)) - sides.reshape(-1)
    total = int(sides.sum())
    begins = np.stack([np.ones(count, dtype=bool), apart], axis=1).reshape(-1)
    found = np.concatenate([side_offsets[begins], [total], np.arange(total + MOST_SIDE, tokens, MOST_SIDE)])
    ends = np.full(rows + 1, tokens, dtype=np.int32)
    ends[: len(found)] = found
    assert total <= tokens, "a batch has too many tokens"
    assert len(found) <= rows + 1, "a batch has too many rows"
    assert np.diff(ends).max() <= 2 * MOST_SIDE, "a row is longer than attention expects"

    width = there(lengths.reshape(-1), device)
    segment = torch.repeat_interleave(torch.arange(width.shape[0], device=device), width, output_size=total)
    first = there(np.cumsum(lengths.reshape(-1)) - lengths.reshape(-1), device)
    index = torch.arange(total, device=device)
    within = index - first[segment]
    starts = there(start.reshape(-1), device)[segment]
    source = (starts + within).clamp_(0, len(sentences.ids) - 1)
    own = there(special.reshape(-1), device)[segment]
    inner = torch.where(starts < 0, own, sentences.ids[source].long())
    side = segment // (_SLOTS + 2)
    ids, positions, types, word = (torch.zeros(tokens, dtype=torch.long, device=device) for _ in range(4))
    owner, at = (torch.full((tokens,), NOBODY, device=device) for _ in range(2))
    second = np.stack([np.zeros(count, dtype=np.int64), 1 - apart], axis=1).reshape(-1)
    ids[:total], types[:total] = inner, there(second, device)[side]
    positions[:total] = index - there(side_offsets, device)[side]
    word[:total] = sentences.words[source].long() + MOST_SIDE * (segment % (_SLOTS + 2))
    owner[:total] = there(unit.reshape(-1), device)[segment]
    at[:total] = there(place.reshape(-1), device)[segment] + within
    pieces = segments.length.sum(axis=2)
    return Flat(ids, positions, types, there(ends, device), owner, at, word, side_offsets.reshape(-1, 2), pieces, total)


@dataclass
class Group:
    """Rows of similar length, padded: which tokens (b, n) and (b, m), and which of these are there."""

    rows: IntArray
    places: tuple[Tensor, Tensor]
    inside: tuple[Tensor, Tensor]


def group(batch: Flat, rows: IntArray, device: str) -> Group:
    """Pad some rows of a batch."""
    places, inside = [], []
    for side in (0, 1):
        lengths = batch.lengths[rows, side]
        along = torch.arange(max(1, int(lengths.max())), device=device)
        mask = along < there(lengths, device)[:, None]
        places.append(there(batch.offsets[rows, side] + 1, device)[:, None] + along * mask)
        inside.append(mask)
    return Group(rows, (places[0], places[1]), (inside[0], inside[1]))


def by_length(lengths: IntArray, which: IntArray) -> list[IntArray]:
    """Rows (numbers in `which`) in groups of similar length."""
    kind = np.searchsorted(np.asarray(EDGES), lengths[which].max(axis=1))
    return [which[kind == k] for k in range(len(EDGES)) if (kind == k).any()]


def link_matrices(units: Units, which: IntArray, links: Tensor, sure: Tensor, sides: tuple[Group, Flat]) -> Tensor:
    """Links of some units between their pieces, as they stand in rows of `Flat`: 2 sure, 1 possible; (k, n, m)."""
    padded, batch = sides
    device = links.device
    counts = units.link_count[which]
    total = int(counts.sum())
    owner = torch.repeat_interleave(
        torch.arange(len(which), device=device), there(counts, str(device)), output_size=total
    )
    first = there(np.cumsum(counts) - counts, str(device))
    index = there(units.link_start[which], str(device))[owner] + torch.arange(total, device=device) - first[owner]
    found = links[index].long()
    found = torch.where(there(units.flipped[which], str(device))[owner][:, None], found.flip(1), found)
    between = torch.zeros(len(which), MOST_SIDE, MOST_SIDE, dtype=torch.uint8, device=device)
    between[owner, found[:, 0], found[:, 1]] = 1 + sure[index].to(torch.uint8)
    source, target = (batch.word[place] % MOST_SIDE for place in padded.places)
    n, m = source.shape[1], target.shape[1]
    matrix = between.gather(1, source[:, :, None].expand(-1, -1, MOST_SIDE)).gather(
        2, target[:, None, :].expand(-1, n, m)
    )
    return matrix * (padded.inside[0][:, :, None] & padded.inside[1][:, None, :])


class Logs(NamedTuple):
    """Log probabilities source to target and back, (b, n, m), and of the null from either side, (b, n) and (b, m)."""

    forward: Tensor
    backward: Tensor
    null_forward: Tensor
    null_backward: Tensor


def both_ways_with_null(states: Tensor, group: Group) -> Logs:
    """What pieces of either side find on the other, or that they find nothing."""
    source, target = (states[place].float() for place in group.places)
    similarity = source @ target.transpose(1, 2) / TEMPERATURE
    valid = group.inside[0][:, :, None] & group.inside[1][:, None, :]
    similarity = similarity.masked_fill(~valid, NOWHERE)
    totals = [torch.logaddexp(similarity.logsumexp(axis), similarity.new_tensor(NULL)) for axis in (2, 1)]
    forward = (similarity - totals[0][:, :, None]).masked_fill(~valid, NOWHERE)
    backward = (similarity - totals[1][:, None, :]).masked_fill(~valid, NOWHERE)
    return Logs(forward, backward, NULL - totals[0], NULL - totals[1])


def agreed(logs: Logs, words: Sequence[Tensor]) -> Tensor:
    """The geometric mean of how likely a piece finds the word of the other, both ways: what links are taken by."""
    source, target = ((word[:, :, None] == word[:, None, :]).float() for word in words)
    there_and_back = (logs.forward.exp() @ target) * (source @ logs.backward.exp())
    return (there_and_back + 1e-8).sqrt().clamp(max=1.0)


def masked(ids: Tensor, share: float, strength: float, vocabulary: int) -> tuple[Tensor, Tensor, Tensor]:
    """Ids with some replaced, the places, and what stood there; always the same number of places.

    A `strength` under 1 leaves more of the places as they are: what is aligned later has no masks in it.
    """
    draws = torch.rand(len(ids), device=ids.device).masked_fill(ids < SPECIAL_TOKENS, -1)
    places = draws.topk(int(share * 0.85 * len(ids))).indices
    labels = ids[places]
    how = torch.rand(len(places), device=ids.device)
    anything = torch.randint(SPECIAL_TOKENS, vocabulary, places.shape, device=ids.device)
    replaced = torch.where(how < 0.8 * strength, MASK, torch.where(how > 1 - 0.1 * strength, anything, labels))
    return ids.index_put((places,), replaced), places, labels


@torch.no_grad()
def denoised(
    forward: Tensor, backward: Tensor, guide: Tensor, words: Iterable[Tensor], inside: Iterable[Tensor],
    keep: float = 0.05, add: float = 0.5,
) -> Tensor:  # fmt: skip
    """Silver links that one direction believes in, and those that both are sure of, between whole words.

    `words` are the numbers of the words that pieces of either side belong to, `inside` which pieces are there: (b, n)
    and (b, m).
    """
    strongest, weakest = torch.maximum(forward, backward).exp(), torch.minimum(forward, backward).exp()
    same = [
        ((word[:, :, None] == word[:, None, :]) & there[:, :, None] & there[:, None, :]).half()
        for word, there in zip(words, inside, strict=True)
    ]

    def whole(links: Tensor) -> Tensor:
        return (same[0] @ links.half() @ same[1]) > 0

    return (guide & whole(strongest > keep)) | whole(weakest > add)
