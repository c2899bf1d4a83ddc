"""What is trained on, drawn at random: pools of pairs, one a language, and lines that two languages share."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from rows import (
    ADDED,
    CUT,
    DOUBLE,
    LINKED,
    MOST_PIECES,
    NOBODY,
    PIVOT,
    PLAIN,
    TAUGHT,
    UNRELATED,
    Segments,
    Sentences,
    Units,
)  # fmt: skip
from store import WHOLE_KOREAN, Array, read

Item = TypeVar("Item")
RARER = 0.15  # how often a language that does not come first is drawn for a pair without English
NEIGHBOURS = 4  # how far a sentence of the same document is looked for


@dataclass
class Pool:
    """Pairs of one language or set: numbers of sentences, and of links where there are any."""

    share: str
    kind: int
    source: Array
    target: Array
    link_start: Array
    link_count: Array
    unlinked_is_null: bool = False

    def kept(self, lengths: Array) -> Pool:
        """Without pairs of which a side is empty."""
        which = (lengths[self.source] > 0) & (lengths[self.target] > 0)
        arrays = (array[which] for array in (self.source, self.target, self.link_start, self.link_count))
        return Pool(self.share, self.kind, *arrays, self.unlinked_is_null)

    def units(self, which: Array, swapped: Array) -> Units:
        """Pairs as units, some with their sides exchanged."""
        sides = self.source[which], self.target[which]
        source, target = np.where(swapped, sides[1], sides[0]), np.where(swapped, sides[0], sides[1])
        filled = np.full(len(which), self.kind)
        links = self.link_start[which], self.link_count[which]
        return Units(
            filled, source, np.full_like(filled, NOBODY), target, *links, swapped,
            np.full(len(which), self.unlinked_is_null),
        )  # fmt: skip


class Supply:
    """Everything under a folder that `bundle.py` wrote, and units drawn from it."""

    def __init__(self, folder: Path, device: str, *, exponent: float, seed: int, shares: dict[str, float]) -> None:
        self.random, self.exponent, self.shares = np.random.default_rng(seed), exponent, shares
        # Languages that the teacher knows, where not all of their text is there.
        self.known = set((folder / "known.txt").read_text().split()) if (folder / "known.txt").exists() else set()
        wanted = [name for name in ("taught", "lines", "silver", "gold") if _is_used(name, shares)]
        paths = [path for name in wanted for path in sorted((folder / name).glob("*.xz"))]
        with ThreadPoolExecutor(16) as pool:
            shards = dict(zip(paths, pool.map(read, paths), strict=True))
        self._first, number = {}, 0
        for path, shard in shards.items():
            if "lengths" in shard:
                self._first[path] = number
                number += len(shard["lengths"])
        self.sentences = Sentences([shard for shard in shards.values() if "lengths" in shard], device)
        linked = [shard for shard in shards.values() if "links" in shard]
        flat = np.concatenate([shard["links"] for shard in linked]) if linked else np.zeros((1, 2), dtype=np.uint8)
        sure = [shard.get("sure", np.ones(len(shard["links"]), dtype=bool)) for shard in linked] or [
            np.ones(1, dtype=bool)
        ]
        self.links = torch.from_numpy(flat).to(device)
        self.sure = torch.from_numpy(np.concatenate(sure)).to(device)
        # Silver links come first in the table.
        self.silver_links = sum(len(shard["links"]) for path, shard in shards.items() if path.parent.name == "silver")
        self._tables(shards)
        self._pools(shards)
        print(f"{number:,} sentences, {len(self.sentences.ids):,} pieces, {len(self.pools)} pools", flush=True)

    def _tables(self, shards: dict[Path, dict[str, Array]]) -> None:
        """Numbers of sentences by corpus, language and line."""
        self.tables: list[tuple[str, list[str], Array]] = []
        for path, shard in shards.items():
            if path.parent.name == "lines":
                languages = json.loads(str(shard["languages"]))
                numbers = self._first[path] + np.arange(len(shard["lengths"]))
                numbers = np.where(shard["lengths"] > 0, numbers, NOBODY)
                self.tables.append((path.stem, languages, numbers.reshape(len(languages), -1)))

    def _pools(self, shards: dict[Path, dict[str, Array]]) -> None:
        lengths, self.pools, link_start = self.sentences.lengths, [], 0
        first = {path.stem for path in shards if path.parent.name == "taught"}
        taught = sorted(first | self.known)
        for language in taught:
            sides = [self._joined(language)] if self.tables else []
            for path in shards:
                if path.parent.name == "taught" and path.stem == language:
                    numbers = self._first[path] + np.arange(len(shards[path]["lengths"]))
                    sides.append((numbers[::2], numbers[1::2]))
            source, target = (np.concatenate(side) for side in zip(*sides, strict=True))
            share = "taught" if language in first or not self.shares.get("new") else "new"
            self.pools.append(Pool(share, TAUGHT, source, target, *(np.zeros_like(source) for _ in range(2))))
        corpora = {name: table for name, *table in self.tables}
        for path, shard in shards.items():
            if "links" not in shard:
                continue
            counts = shard["counts"].astype(np.int64)
            starts = link_start + np.cumsum(counts) - counts
            link_start += len(shard["links"])
            if path.parent.name == "silver":
                source, target = (np.full(len(counts), NOBODY) for _ in range(2))
                for k, name in enumerate(sorted(corpora)):
                    languages, table = corpora[name]
                    here = shard["corpus"] == k
                    if here.any():
                        source[here] = table[languages.index(path.stem), shard["line"][here]]
                        target[here] = table[languages.index("en"), shard["line"][here]]
                there = (source >= 0) & (target >= 0)
                pool = Pool("silver", LINKED, source[there], target[there], starts[there], counts[there])
            else:
                numbers = self._first[path] + np.arange(len(shard["lengths"]))
                joined = path.stem.startswith("joined-")
                pool = Pool(
                    "joined" if joined else "gold", LINKED, numbers[::2], numbers[1::2], starts, counts, not joined
                )
            self.pools.append(pool)
        self.pools = [pool.kept(lengths) for pool in self.pools]
        self.taught = taught
        self._pivots(set(taught) | {WHOLE_KOREAN}, first | {WHOLE_KOREAN} if self.shares.get("new") else None)

    def _joined(self, language: str) -> tuple[Array, Array]:
        """Lines of a language with English."""
        sides = []
        for _, languages, table in self.tables:
            for name in (language, WHOLE_KOREAN) if language == "ko" else (language,):
                if name in languages:
                    pairs = table[[languages.index(name), languages.index("en")]]
                    sides.append(pairs[:, (pairs >= 0).all(axis=0)])
        return (lambda pairs: (pairs[0], pairs[1]))(np.concatenate(sides, axis=1))

    def _pivots(self, known: set[str], first: set[str] | None) -> None:
        """Where a line has English and another language that the teacher knows: corpus, language, line.

        Where some languages come first, the others are drawn less often, on either side.
        """
        names = sorted(known)
        rank = np.array([1.0 if first is None or name in first else RARER for name in names])
        self._other = np.cumsum(rank / rank.sum())
        self._by_name = []
        entries = []
        for k, (_, languages, table) in enumerate(self.tables):
            numbers = np.full((len(names) + 1, table.shape[1]), NOBODY)
            numbers[-1] = table[languages.index("en")]
            for name in set(languages) & known:
                numbers[names.index(name)] = np.where(numbers[-1] >= 0, table[languages.index(name)], NOBODY)
            self._by_name.append(numbers)
            language, line = np.nonzero(numbers[:-1] >= 0)
            entries.append(np.stack([np.full_like(line, k), language, line]))
        self._entries = np.concatenate(entries, axis=1) if entries else np.zeros((3, 0), dtype=np.int64)
        sizes = np.bincount(self._entries[1], minlength=len(names)).astype(float)
        weights = rank * np.where(sizes > 0, sizes, 1) ** (self.exponent - 1)
        self._entry_weights = np.cumsum(weights[self._entries[1]])
        self._korean = [names.index(name) for name in ("ko", WHOLE_KOREAN)] if "ko" in names else [-1, -1]

    def _some_pivots(self, count: int) -> tuple[Units, Units]:
        draws = self.random.random(3 * count) * self._entry_weights[-1]
        corpus, language, line = self._entries[:, np.searchsorted(self._entry_weights, draws)]
        other = np.searchsorted(self._other[:-1], self.random.random(len(line)))
        source, through, target = (np.full(len(line), NOBODY) for _ in range(3))
        for k, numbers in enumerate(self._by_name):
            here = corpus == k
            source[here], target[here] = numbers[language[here], line[here]], numbers[other[here], line[here]]
            through[here] = numbers[-1, line[here]]
        same = (language == other) | (np.isin(language, self._korean) & np.isin(other, self._korean))
        kept = np.flatnonzero((target >= 0) & ~same)[:count]
        # The partner's target is of the same language.
        kept = kept[np.argsort(other[kept], kind="stable")]
        nothing = np.zeros(len(kept), dtype=np.int64)
        units = Units(
            np.full(len(kept), PIVOT), source[kept], through[kept], target[kept], nothing, nothing,
            nothing > 0, nothing > 0,
        )  # fmt: skip
        return units, units[np.roll(np.arange(len(kept)), 1)]

    def draw(self, count: int) -> tuple[Units, Units]:
        """Units in random order, each with a partner of the same languages."""
        drawn = []
        for share in sorted({pool.share for pool in self.pools}):  # a set has another order in every process
            pools = [pool for pool in self.pools if pool.share == share and len(pool.source)]
            sizes = np.array([len(pool.source) for pool in pools], dtype=float) ** self.exponent
            wanted = count * self.shares.get(share, 0.0) * sizes / sizes.sum()
            for pool, number in zip(pools, wanted.astype(int), strict=True):
                drawn.append(self._of_pool(pool, number))
        if self.shares.get("pivot"):
            drawn.append(self._some_pivots(int(count * self.shares["pivot"])))
        units, partners = drawn[0]
        for more, others in drawn[1:]:
            units, partners = units + more, partners + others
        order = self.random.permutation(len(units))
        return units[order], partners[order]

    def _of_pool(self, pool: Pool, count: int) -> tuple[Units, Units]:
        size = len(pool.source)
        which, partner = self.random.integers(0, size, count), self.random.integers(0, size, count)
        step = self.random.integers(1, NEIGHBOURS + 1, count) * self.random.choice([-1, 1], count)
        partner = np.where(self.random.random(count) < 0.5, partner, np.clip(which + step, 0, size - 1))
        partner = np.where(partner == which, (which + 7) % size, partner)
        swapped = self.random.random(count) < 0.5
        return pool.units(which, swapped), pool.units(partner, swapped)

    def modes(self, units: Units, partners: Units, shares: Sequence[float]) -> Array:
        """What is made of each unit: plain, unrelated, added, cut or double, as `shares` say and lengths allow."""
        lengths = self.sentences.lengths
        mode = self.random.choice(5, len(units), p=np.asarray(shares))
        both = lengths[units.target] + lengths[partners.target]
        fits = (both <= MOST_PIECES) & (mode == ADDED)
        doubles = (both <= MOST_PIECES) & (lengths[units.source] + lengths[partners.source] <= MOST_PIECES)
        fits |= (doubles & (mode == DOUBLE)) | (mode == UNRELATED)
        fits |= (mode == CUT) & (lengths[units.target] >= 8) & (units.kind != LINKED)
        return np.where(fits, mode, PLAIN)

    def segments(self, units: Units, partners: Units, mode: Array) -> tuple[Segments, Units]:
        """The rows, and the units they speak of (second ones of double rows come last)."""
        sentences, count = self.sentences, len(units)
        rows, number = Segments.empty(count), np.arange(count)
        rows.put(number, 0, 0, sentences, units.source, np.where(mode == UNRELATED, NOBODY, number))
        rows.put(number, 1, 0, sentences, units.target, number)
        which = np.flatnonzero(mode == UNRELATED)
        rows.put(which, 1, 0, sentences, partners.target[which], NOBODY)
        which = np.flatnonzero(mode == ADDED)
        first = self.random.random(len(which)) < 0.5
        rows.put(which, 1, 1, sentences, partners.target[which], NOBODY)
        before = which[first]
        rows.put(before, 1, 0, sentences, partners.target[before], NOBODY)
        rows.put(before, 1, 1, sentences, units.target[before], before)
        which = np.flatnonzero(mode == CUT)
        length = sentences.lengths[units.target[which]]
        out = (length * self.random.uniform(0.2, 0.6, len(which))).astype(int)
        begin = (self.random.random(len(which)) * (length - out + 1)).astype(int)
        rows.put(which, 1, 1, sentences, units.target[which], which)
        rows.length[which, 1, 0] = begin
        rows.start[which, 1, 1] += begin + out
        rows.place[which, 1, 1] = begin + out
        rows.length[which, 1, 1] = length - begin - out
        which = np.flatnonzero(mode == DOUBLE)
        second = count + np.arange(len(which))
        rows.put(which, 0, 1, sentences, partners.source[which], second)
        rows.put(which, 1, 1, sentences, partners.target[which], second)
        return rows, units + partners[which]

    def batches(
        self, tokens: tuple[int, int], most_rows: int, modes: Sequence[float], at_once: int = 120_000
    ) -> Iterator[tuple[Units, Units, Array]]:
        """Units, partners and modes that fill a batch of the student's and of the teacher's tokens."""
        lengths = self.sentences.lengths
        while True:
            units, partners = self.draw(at_once)
            mode = self.modes(units, partners, modes)
            own, other = (lengths[u.source] + lengths[u.target] for u in (units, partners))
            student = (
                own + 4 + np.where(mode == DOUBLE, other, 0) + np.where(mode == ADDED, lengths[partners.target], 0)
            )
            student = np.where(mode == UNRELATED, lengths[units.source] + lengths[partners.target] + 4, student)
            teacher = own + 4 + np.where(mode == DOUBLE, other + 4, 0)
            teacher = np.where(mode == UNRELATED, 0, teacher) * (1 + (units.kind == PIVOT))
            through = (
                np.where(units.through >= 0, lengths[units.through], 0) * 2
                + np.where((partners.through >= 0) & (mode == DOUBLE), lengths[partners.through], 0) * 2
            )
            teacher = np.where(units.kind == LINKED, 0, teacher + through + 8)
            ends = np.stack([np.cumsum(student), np.cumsum(teacher)])
            first, base = 0, np.zeros(2, dtype=np.int64)
            while True:
                last = min(
                    *(int(np.searchsorted(ends[k], base[k] + tokens[k], side="right")) for k in (0, 1)),
                    first + most_rows,
                )
                if last >= len(units):
                    break
                which = np.arange(first, last)
                yield units[which], partners[which], mode[which]
                first, base = last, ends[:, last - 1]


def ahead(batches: Iterator[Item], depth: int = 3) -> Iterator[Item]:
    """The same batches, made in a thread while others are trained on."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, batches) for _ in range(depth))
        while True:
            yield waiting.popleft().result()
            waiting.append(thread.submit(next, batches))


def _is_used(name: str, shares: dict[str, float]) -> bool:
    needs = {
        "taught": ("taught",),
        "lines": ("taught", "new", "pivot", "silver"),
        "silver": ("silver",),
        "gold": ("gold", "joined"),
    }
    return any(shares.get(share) for share in needs[name])
