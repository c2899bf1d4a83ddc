"""Training pairs in little room: packed on one machine, carried to another, kept on its GPU.

A shard is an xz-compressed npz of flat arrays; `Corpus` holds shards as tensors; `FlatBatch` lays some of their pairs
one after the other for `FlatBert`.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

PAD, CLS, SEP, UNK, MASK = range(5)
SPECIAL_TOKENS = 5
AROUND = 2  # [CLS] and [SEP]
MOST_SIDE = 128  # tokens of one side, these two included

Array = npt.NDArray[Any]


def write_shard(
    path: Path, ids: list[list[int]], words: list[list[int]], links: list[list[tuple[int, int]]],
    possible: Sequence[Set[tuple[int, int]]] = (),
) -> None:  # fmt: skip
    """Write pairs: `ids` and `words` hold source and target in turn, `links` are between words, one list a pair.

    `possible` are those links of each pair that annotators were not sure of.
    """
    flat_words = np.concatenate([np.asarray(side, dtype=np.int64) for side in words])
    lengths = np.array([len(side) for side in ids], dtype=np.uint8)
    starts = np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])[:-1]
    begins = np.diff(flat_words, prepend=-1) != 0
    begins[starts] = True
    flat_links = np.array([link for pair in links for link in sorted(pair)], dtype=np.uint8).reshape(-1, 2)
    arrays = {
        "ids": np.array([token for side in ids for token in side], dtype=np.uint16),
        "begins": np.packbits(begins),
        "lengths": lengths,
        # Differences wrap round at 256 and so does their sum.
        "links": np.diff(flat_links, axis=0, prepend=np.zeros((1, 2), dtype=np.uint8)).T,
        "counts": np.array([len(pair) for pair in links], dtype=np.uint16),
    }
    if possible:
        both = zip(links, possible, strict=True)
        arrays["sure"] = np.array([link not in doubtful for pair, doubtful in both for link in sorted(pair)])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    path.write_bytes(lzma.compress(buffer.getvalue(), preset=2))


def read_shard(path: Path) -> dict[str, Array]:
    """Read a shard: ids, word numbers, lengths of the sides, links between words and how many each pair has."""
    arrays = dict(np.load(io.BytesIO(lzma.decompress(path.read_bytes()))))
    lengths = arrays["lengths"].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    begins = np.unpackbits(arrays["begins"])[: len(arrays["ids"])]
    numbers = np.cumsum(begins, dtype=np.int64) - 1
    arrays["words"] = (numbers - np.repeat(numbers[starts], lengths)).astype(np.uint8)
    arrays["links"] = np.cumsum(arrays["links"], axis=1, dtype=np.uint8).T
    arrays.setdefault("sure", np.ones(len(arrays["links"]), dtype=bool))
    return arrays


class Corpus:
    """Shards as tensors on one device; lengths and counts are kept on the CPU too, where batches are planned."""

    def __init__(self, shards: Sequence[dict[str, Array]], languages: Sequence[int], device: str) -> None:
        names = ("ids", "words", "links", "sure", "lengths", "counts")
        ids, words, links, sure, lengths, counts = (np.concatenate([shard[name] for shard in shards]) for name in names)
        self.lengths = lengths.astype(np.int64).reshape(-1, 2)
        self.counts = counts.astype(np.int64)
        self.language = np.repeat(np.array(languages), [len(shard["counts"]) for shard in shards])
        self.is_gold = np.zeros(len(self.counts), dtype=bool)
        starts = np.concatenate([[0], np.cumsum(self.lengths.reshape(-1))])[:-1].reshape(-1, 2)
        link_starts = np.concatenate([[0], np.cumsum(self.counts)])[:-1]
        self.device = device
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)
        self.words = torch.from_numpy(words).to(device)
        self.links = torch.from_numpy(np.ascontiguousarray(links)).to(device)
        self.sure = torch.from_numpy(sure).to(device)
        self.starts = torch.from_numpy(starts).to(device)
        self.link_starts = torch.from_numpy(link_starts).to(device)

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass
class Group:
    """Pairs of similar length: where their sides begin in the flat row, padded masks, words, and guide (b, n, m).

    `possible` (b, n, m) are links that may be there or not.
    """

    places: tuple[Tensor, Tensor]
    inside: tuple[Tensor, Tensor]
    words: tuple[Tensor, Tensor]
    guide: Tensor
    possible: Tensor
    pairs: Array
    gold: Tensor


@dataclass
class FlatBatch:
    """What `FlatBert` takes, each of shape (tokens,); `ends` (rows + 1,); and the pairs in groups."""

    ids: Tensor
    positions: Tensor
    types: Tensor
    ends: Tensor
    groups: list[Group]
    size: int


def flat_batch(
    corpus: Corpus, pairs: Array, *, swapped: Array, apart: Array, tokens: int, rows: int, edges: Sequence[int]
) -> FlatBatch:
    """Lay pairs one after the other: [CLS] x [SEP] [CLS] y [SEP], one row a pair or, where `apart`, two.

    Args:
        corpus: where the pairs are.
        pairs: their numbers, shape (b,).
        swapped: which have their sides exchanged, shape (b,).
        apart: which sides do not see each other, shape (b,).
        tokens: the length of the result; what is left over is padding.
        rows: how many rows the result has; those left over are empty.
        edges: longest sides of the groups.
    """
    device, count = corpus.device, len(pairs)
    lengths = np.where(swapped[:, None], corpus.lengths[pairs][:, ::-1], corpus.lengths[pairs])
    widths = lengths.reshape(-1) + AROUND
    offsets = np.concatenate([[0], np.cumsum(widths)])
    total = int(offsets[-1])
    ends = np.full(rows + 1, tokens, dtype=np.int32)
    cuts = np.ones(2 * count + 1, dtype=bool)
    cuts[1::2] = apart
    # What is left over becomes rows of padding that are no longer than sentences: attention knows the longest row.
    found = np.concatenate([offsets[cuts], np.arange(total + MOST_SIDE, tokens, MOST_SIDE)])
    ends[: len(found)] = found
    assert np.diff(ends).max() <= 2 * MOST_SIDE, "a row is longer than attention expects"

    def there(values: Array) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).pin_memory().to(device, non_blocking=True) \
            if device != "cpu" else torch.from_numpy(np.ascontiguousarray(values))  # fmt: skip

    numbers, flip = there(pairs.astype(np.int64)), there(swapped)
    starts = corpus.starts[numbers]
    starts = torch.where(flip[:, None], starts.flip(1), starts).reshape(-1)
    width, offset = there(widths), there(offsets[:-1])
    side = torch.repeat_interleave(torch.arange(2 * count, device=device), width, output_size=total)
    within = torch.arange(total, device=device) - offset[side]
    place = (starts[side] + within - 1).clamp_(0, len(corpus.ids) - 1)
    inner = corpus.ids[place].long()
    inner = torch.where(within == 0, CLS, torch.where(within == width[side] - 1, SEP, inner))
    ids, positions, types = (torch.zeros(tokens, dtype=torch.long, device=device) for _ in range(3))
    ids[:total], positions[:total], types[:total] = inner, within, side % 2
    groups = _groups(corpus, pairs, lengths, offsets, starts, numbers, flip, there, edges)
    return FlatBatch(ids, positions, types, there(ends), groups, int(lengths.sum()))


def _groups(
    corpus: Corpus, pairs: Array, lengths: Array, offsets: Array, starts: Tensor, numbers: Tensor, flip: Tensor,
    there: Any, edges: Sequence[int],
) -> list[Group]:  # fmt: skip
    kind = np.searchsorted(np.asarray(edges), lengths.max(axis=1))
    groups = []
    for k in range(len(edges)):
        chosen = np.flatnonzero(kind == k)
        if not len(chosen):
            continue
        index = there(chosen)
        longest = lengths[chosen].max(axis=0)
        places, inside, words = [], [], []
        for s in (0, 1):
            along = torch.arange(int(longest[s]), device=corpus.device)
            mask = along < there(lengths[chosen, s])[:, None]
            places.append(there(offsets[2 * chosen + s] + 1)[:, None] + along * mask)
            word = corpus.words[(starts[2 * index + s][:, None] + along * mask)].long()
            inside.append(mask)
            words.append(word)
        counts = corpus.counts[pairs[chosen]]
        total = int(counts.sum())
        owner = torch.repeat_interleave(
            torch.arange(len(chosen), device=corpus.device), there(counts), output_size=total
        )
        first = there(np.concatenate([[0], np.cumsum(counts)])[:-1])
        which = corpus.link_starts[numbers[index]][owner] + torch.arange(total, device=corpus.device) - first[owner]
        link = corpus.links[which].long()
        link = torch.where(flip[index][owner][:, None], link.flip(1), link)
        n, m = int(longest[0]), int(longest[1])
        between = torch.zeros(len(chosen), n, m, dtype=torch.uint8, device=corpus.device)
        between[owner, link[:, 0], link[:, 1]] = 1 + corpus.sure[which].to(torch.uint8)
        kind_of_link = between.gather(1, words[0][:, :, None].expand(-1, -1, m)).gather(
            2, words[1][:, None, :].expand(-1, n, -1)
        )
        kind_of_link = kind_of_link * (inside[0][:, :, None] & inside[1][:, None, :])
        sides = ((places[0], places[1]), (inside[0], inside[1]), (words[0], words[1]))
        links = (kind_of_link == 2, kind_of_link == 1)
        groups.append(Group(*sides, *links, pairs[chosen], there(corpus.is_gold[pairs[chosen]])))
    return groups
