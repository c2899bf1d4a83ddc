"""What is trained on, drawn at random: pools of pairs, one a language, and lines that two languages share."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from rows import (
    ADDED,
    CUT,
    DOUBLE,
    LINKED,
    NOBODY,
    PIVOT,
    PLAIN,
    TAUGHT,
    UNRELATED,
    Segments,
    Sentences,
    Units,
)  # fmt: skip
from store import MOST_PIECES, WHOLE_KOREAN, Shard, read

from weft.arrays import BoolArray, IntArray

Item = TypeVar("Item")
EXPONENT = 0.6  # languages are drawn by size to this power
RARER = 0.15  # how often a language that does not come first is drawn for a pair without English
NEIGHBOURS = 4  # how far a sentence of the same document is looked for
AT_ONCE = 120_000  # units drawn at a time
# Which shares of the units come from which folder.
_FOLDERS = {
    "taught": ("taught",),
    "lines": ("taught", "new", "pivot", "silver"),
    "silver": ("silver",),
    "gold": ("gold", "joined"),
}


@dataclass
class Pool:
    """Pairs of one language or set: numbers of sentences, and of links where there are any."""

    share: str
    kind: int
    source: IntArray
    target: IntArray
    link_start: IntArray
    link_count: IntArray
    unlinked_is_null: bool = False

    def some(self, which: IntArray | BoolArray) -> Pool:
        """The pairs that are chosen."""
        links = self.link_start[which], self.link_count[which]
        return Pool(self.share, self.kind, self.source[which], self.target[which], *links, self.unlinked_is_null)

    def units(self, which: IntArray, swapped: BoolArray) -> Units:
        """Pairs as units, some with their sides exchanged."""
        pairs, kind = self.some(which), np.full(len(which), self.kind)
        source, target = np.where(swapped, pairs.target, pairs.source), np.where(swapped, pairs.source, pairs.target)
        unlinked = np.full(len(which), self.unlinked_is_null)
        nowhere = np.full_like(kind, NOBODY)
        return Units(kind, source, nowhere, target, pairs.link_start, pairs.link_count, swapped, unlinked)


class Table(NamedTuple):
    """A corpus of multi-parallel text: the number of each language's sentence on each line, (languages, lines)."""

    corpus: str
    languages: list[str]
    numbers: IntArray

    def of(self, language: str) -> IntArray:
        """The lines of one language."""
        lines: IntArray = self.numbers[self.languages.index(language)]
        return lines


class Supply:
    """Everything under a folder that `bundle.py` wrote, and units drawn from it."""

    def __init__(self, folder: Path, device: str, *, seed: int, shares: Mapping[str, float]) -> None:
        self.random, self.shares = np.random.default_rng(seed), shares
        wanted = [name for name, uses in _FOLDERS.items() if any(shares.get(share) for share in uses)]
        paths = [path for name in wanted for path in sorted((folder / name).glob("*.xz"))]
        with ThreadPoolExecutor(16) as pool:
            shards = dict(zip(paths, pool.map(read, paths), strict=True))
        self._first: dict[Path, int] = {}
        number = 0
        for path, shard in shards.items():
            if "lengths" in shard:
                self._first[path] = number
                number += len(shard["lengths"])
        self.sentences = Sentences([shard for shard in shards.values() if "lengths" in shard], device)
        linked = [shard for shard in shards.values() if "links" in shard]
        # A table is never empty, so that anything may be looked up in it.
        links = [shard["links"] for shard in linked] or [np.zeros((1, 2), dtype=np.uint8)]
        sure = [shard.get("sure", np.ones(len(shard["links"]), dtype=bool)) for shard in linked]
        self.links = torch.from_numpy(np.concatenate(links)).to(device)
        self.sure = torch.from_numpy(np.concatenate(sure or [np.ones(1, dtype=bool)])).to(device)
        # Silver links come first in the table.
        self.silver_links = sum(len(shard["links"]) for path, shard in shards.items() if path.parent.name == "silver")
        self.tables = [self._table(path, shard) for path, shard in shards.items() if path.parent.name == "lines"]
        first = {path.stem for path in shards if path.parent.name == "taught"}
        # Languages that the teacher knows, where not all of their text is there.
        known = folder / "known.txt"
        taught = first | set(known.read_text().split() if known.exists() else ())
        pools = [*self._taught_pools(shards, taught, first), *self._linked_pools(shards)]
        lengths = self.sentences.lengths
        self.pools = [pool.some((lengths[pool.source] > 0) & (lengths[pool.target] > 0)) for pool in pools]
        self._pivots(taught | {WHOLE_KOREAN}, first | {WHOLE_KOREAN} if shares.get("new") else None)
        print(f"{number:,} sentences, {len(self.sentences.ids):,} pieces, {len(self.pools)} pools", flush=True)

    def _numbers(self, path: Path, shard: Shard) -> IntArray:
        """The numbers of a shard's sentences among all."""
        return self._first[path] + np.arange(len(shard["lengths"]))

    def _table(self, path: Path, shard: Shard) -> Table:
        languages: list[str] = json.loads(str(shard["languages"]))
        numbers = np.where(shard["lengths"] > 0, self._numbers(path, shard), NOBODY)
        return Table(path.stem, languages, numbers.reshape(len(languages), -1))

    def _taught_pools(self, shards: dict[Path, Shard], taught: set[str], first: set[str]) -> Iterator[Pool]:
        """Pairs with English of each language that the teacher knows."""
        for language in sorted(taught):
            sides = [self._joined(language)] if self.tables else []
            for path, shard in shards.items():
                if path.parent.name == "taught" and path.stem == language:
                    sides.append(self._numbers(path, shard).reshape(-1, 2).T)
            source, target = np.concatenate(sides, axis=1)
            share = "taught" if language in first or not self.shares.get("new") else "new"
            yield Pool(share, TAUGHT, source, target, np.zeros_like(source), np.zeros_like(source))

    def _joined(self, language: str) -> IntArray:
        """Lines of a language with English, shape (2, pairs)."""
        sides = []
        for table in self.tables:
            for name in (language, WHOLE_KOREAN) if language == "ko" else (language,):
                if name in table.languages:
                    pairs = np.stack([table.of(name), table.of("en")])
                    sides.append(pairs[:, (pairs >= 0).all(axis=0)])
        return np.concatenate(sides, axis=1)

    def _linked_pools(self, shards: dict[Path, Shard]) -> Iterator[Pool]:
        """Pairs with links of each new language, and of each set of gold."""
        link_start = 0
        for path, shard in shards.items():
            if "links" not in shard:
                continue
            counts = shard["counts"].astype(np.int64)
            starts = link_start + np.cumsum(counts) - counts
            link_start += len(shard["links"])
            if path.parent.name == "silver":
                source, target = self._silver_pairs(path.stem, shard)
                pool = Pool("silver", LINKED, source, target, starts, counts)
                yield pool.some((source >= 0) & (target >= 0))
            else:
                source, target = self._numbers(path, shard).reshape(-1, 2).T
                is_joined = path.stem.startswith("joined-")
                share = "joined" if is_joined else "gold"
                yield Pool(share, LINKED, source, target, starts, counts, unlinked_is_null=not is_joined)

    def _silver_pairs(self, language: str, shard: Shard) -> tuple[IntArray, IntArray]:
        """The sentences that silver links of a language were found between."""
        source, target = (np.full(len(shard["counts"]), NOBODY) for _ in range(2))
        for k, table in enumerate(sorted(self.tables, key=lambda table: table.corpus)):
            here = shard["corpus"] == k
            if here.any():
                source[here] = table.of(language)[shard["line"][here]]
                target[here] = table.of("en")[shard["line"][here]]
        return source, target

    def _pivots(self, known: set[str], first: set[str] | None) -> None:
        """Where a line has English and another language that the teacher knows: corpus, language, line.

        Where some languages come first, the others are drawn less often, on either side.
        """
        names = sorted(known)
        rank = np.array([1.0 if first is None or name in first else RARER for name in names])
        self._other = np.cumsum(rank / rank.sum())
        self._by_name: list[IntArray] = []  # sentences on each line by language, English last
        entries = []
        for k, table in enumerate(self.tables):
            english = table.of("en")
            numbers = np.full((len(names) + 1, len(english)), NOBODY)
            numbers[-1] = english
            for name in set(table.languages) & known:
                numbers[names.index(name)] = np.where(english >= 0, table.of(name), NOBODY)
            self._by_name.append(numbers)
            language, line = np.nonzero(numbers[:-1] >= 0)
            entries.append(np.stack([np.full_like(line, k), language, line]))
        self._entries = np.concatenate(entries, axis=1) if entries else np.zeros((3, 0), dtype=np.int64)
        sizes = np.bincount(self._entries[1], minlength=len(names)).astype(float)
        weights = rank * np.where(sizes > 0, sizes, 1) ** (EXPONENT - 1)
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
            sizes = np.array([len(pool.source) for pool in pools], dtype=float) ** EXPONENT
            wanted = count * self.shares.get(share, 0.0) * sizes / sizes.sum()
            for pool, number in zip(pools, wanted.astype(int), strict=True):
                drawn.append(self._of_pool(pool, number))
        if self.shares.get("pivot"):
            drawn.append(self._some_pivots(int(count * self.shares["pivot"])))
        units, partners = (Units.joined(some) for some in zip(*drawn, strict=True))
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

    def modes(self, units: Units, partners: Units, shares: Sequence[float]) -> IntArray:
        """What is made of each unit: plain, unrelated, added, cut or double, as `shares` say and lengths allow."""
        lengths = self.sentences.lengths
        mode = self.random.choice(5, len(units), p=np.asarray(shares))
        both = lengths[units.target] + lengths[partners.target]
        fits = (both <= MOST_PIECES) & (mode == ADDED)
        doubles = (both <= MOST_PIECES) & (lengths[units.source] + lengths[partners.source] <= MOST_PIECES)
        fits |= (doubles & (mode == DOUBLE)) | (mode == UNRELATED)
        fits |= (mode == CUT) & (lengths[units.target] >= 8) & (units.kind != LINKED)
        return np.where(fits, mode, PLAIN)

    def segments(self, units: Units, partners: Units, mode: IntArray) -> tuple[Segments, Units]:
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
        return rows, Units.joined([units, partners[which]])

    def batches(
        self, tokens: tuple[int, int], most_rows: int, modes: Sequence[float]
    ) -> Iterator[tuple[Units, Units, IntArray]]:
        """Units, partners and modes that fill a batch of the student's and of the teacher's tokens."""
        while True:
            units, partners = self.draw(AT_ONCE)
            mode = self.modes(units, partners, modes)
            ends = np.cumsum(self._costs(units, partners, mode), axis=1)
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

    def _costs(self, units: Units, partners: Units, mode: IntArray) -> IntArray:
        """Tokens that the student and the teacher read for each unit, at most; shape (2, units)."""
        lengths = self.sentences.lengths
        own, other = (lengths[u.source] + lengths[u.target] for u in (units, partners))
        student = own + 4 + np.where(mode == DOUBLE, other, 0) + np.where(mode == ADDED, lengths[partners.target], 0)
        student = np.where(mode == UNRELATED, lengths[units.source] + lengths[partners.target] + 4, student)
        teacher = own + 4 + np.where(mode == DOUBLE, other + 4, 0)
        teacher = np.where(mode == UNRELATED, 0, teacher) * (1 + (units.kind == PIVOT))
        # English is read twice, once with either side.
        through = 2 * np.where(units.through >= 0, lengths[units.through], 0)
        through += 2 * np.where((partners.through >= 0) & (mode == DOUBLE), lengths[partners.through], 0)
        teacher = np.where(units.kind == LINKED, 0, teacher + through + 8)
        return np.stack([student, teacher])


def ahead(batches: Iterator[Item], depth: int = 3) -> Iterator[Item]:
    """The same batches, made in a thread while others are trained on."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, batches) for _ in range(depth))
        while True:
            yield waiting.popleft().result()
            waiting.append(thread.submit(next, batches))
