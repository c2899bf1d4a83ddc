"""Which pairs come next: every one in turn, epoch by epoch, or drawn at random by shares and sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from weft.arrays import IntArray
from weft.training.config import TrainingConfig
from weft.training.packed import NOBODY, PackedCorpus, Pool, Table, Units

# Of lines and languages drawn together many do not have both.
_TRIES = 4


def sampling_order(pools: Sequence[Pool], config: TrainingConfig, *, epoch: int) -> IntArray:
    """The pairs of one epoch in random order, as numbers over all pools one after the other.

    Each pool gives its pairs (or the `limit` of its corpus) once, or as often as `repeat` says, if the temperature is
    1; otherwise as many as its share of size^(1/temperature), again from the start when it runs out. The total stays
    the same.

    Args:
        pools: where pairs come from; there is one a corpus, and of multi-parallel text one a language.
        config: the run, for its seed, its temperature, and the corpora's limits and repeats.
        epoch: every epoch has an order of its own.
    """
    generator = np.random.default_rng((config.seed, epoch))
    wanted = _wanted(pools, config)
    shares = wanted ** (1 / config.temperature)
    counts = np.maximum(1, np.round(shares / shares.sum() * wanted.sum())).astype(np.int64)
    parts = []
    for pool, count in zip(pools, counts.tolist(), strict=True):
        rounds = -(-count // pool.size)
        parts.append(pool.first + np.concatenate([generator.permutation(pool.size) for _ in range(rounds)])[:count])
    order = np.concatenate(parts)
    generator.shuffle(order)
    return order


def _wanted(pools: Sequence[Pool], config: TrainingConfig) -> npt.NDArray[np.float64]:
    """Pairs of each pool that an epoch is to have."""
    corpora = [config.corpora[pool.corpus] for pool in pools]
    both = zip(pools, corpora, strict=True)
    return np.array([min(pool.size, corpus.limit or pool.size) * (corpus.repeat or 1.0) for pool, corpus in both])


class RandomPairs:
    """Pairs at random, again and again: groups of corpora by their shares, pools within them by size."""

    def __init__(self, corpus: PackedCorpus, config: TrainingConfig) -> None:
        self._corpus, pools = corpus, corpus.pools
        self._pool_first, self._pool_size = (np.array([pool[k] for pool in pools], dtype=np.int64) for k in (1, 2))
        sizes = _wanted(pools, config) ** (1 / config.temperature)
        keys = [_group(config, pool.corpus) for pool in pools]
        self._through = _through_groups(corpus, config)
        groups = list(dict.fromkeys([*keys, *self._through]))
        shares = np.array([_share(config, group) for group in groups])
        totals = {group: sum(size for key, size in zip(keys, sizes, strict=True) if key == group) for group in groups}
        of_groups = dict(zip(groups, (shares / shares.sum()).tolist(), strict=True))
        # Pools first, then groups of pairs that go through a hub.
        weights = [of_groups[key] * size / totals[key] for key, size in zip(keys, sizes, strict=True)]
        self._ends = np.cumsum([*weights, *(of_groups[group] for group in self._through)])

    def draw(self, generator: np.random.Generator, count: int) -> Units:
        """So many pairs in random order, or a few less where lines do not have both languages."""
        pool = np.searchsorted(self._ends[:-1], generator.random(count) * self._ends[-1], side="right")
        inside, n_pools = generator.random(count), len(self._pool_size)
        plain = pool < n_pools
        numbers = self._pool_first[pool[plain]] + (inside[plain] * self._pool_size[pool[plain]]).astype(np.int64)
        found, places = [self._corpus.units(numbers)], [np.flatnonzero(plain)]
        for number, group in enumerate(self._through.values(), start=n_pools):
            wanted = np.flatnonzero(pool == number)
            units = group.draw(generator, len(wanted))
            found.append(units)
            places.append(wanted[: len(units)])
        return Units.joined(found)[np.argsort(np.concatenate(places), kind="stable")]


def _group(config: TrainingConfig, corpus: int) -> str:
    """Corpora of one group have a share together; those without shares are one group."""
    found = config.corpora[corpus]
    if found.share is None:
        return ""
    return found.group or str(corpus)


def _share(config: TrainingConfig, group: str) -> float:
    shares = [corpus.share for k, corpus in enumerate(config.corpora) if _group(config, k) == group]
    return 1.0 if shares[0] is None else float(shares[0])


def _through_groups(corpus: PackedCorpus, config: TrainingConfig) -> dict[str, _Through]:
    found: dict[str, list[Table]] = {}
    for table in corpus.tables:
        found.setdefault(_group(config, table.corpus), []).append(table)
    return {group: _Through(corpus, tables, config) for group, tables in found.items()}


class _Through:
    """Lines of multi-parallel text on which a language stands beside the hub: another language is drawn for it."""

    def __init__(self, corpus: PackedCorpus, tables: Sequence[Table], config: TrainingConfig) -> None:
        chosen = {name for table in tables for name in config.corpora[table.corpus].languages}
        found = {name for table in tables for name in table.languages[:-1]}
        self._names = sorted(found & chosen if chosen else found)
        self._corpora = np.array([table.corpus for table in tables], dtype=np.int64)
        self._first_pool = len(corpus.pools)
        everything = np.asarray(corpus.arrays["lines"], dtype=np.int64)
        self._numbers: list[IntArray] = []  # of each table: sentences by language, the hub last
        entries = []
        for k, table in enumerate(tables):
            rows = everything[table.first : table.first + len(table.languages) * table.length]
            rows = rows.reshape(len(table.languages), -1)
            numbers = np.full((len(self._names) + 1, table.length), NOBODY)
            for name, row in zip(table.languages[:-1], rows[:-1], strict=True):
                if name in self._names:
                    numbers[self._names.index(name)] = np.where(rows[-1] >= 0, row, NOBODY)
            numbers[-1] = rows[-1]
            self._numbers.append(numbers)
            language, line = np.nonzero(numbers[:-1] >= 0)
            entries.append(np.stack([language, np.full_like(line, k), line]).astype(np.int32))
        joined = np.concatenate(entries, axis=1)
        self._entries = joined[1:, np.argsort(joined[0], kind="stable")]
        self._sizes = np.bincount(joined[0], minlength=len(self._names))
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._ends = np.cumsum(self._sizes.astype(float) ** (1 / config.temperature) * (self._sizes > 0))
        # A language that is there twice, cut in two ways, is no pair of two languages.
        self._kin = np.array(
            [sorted({n.split("-")[0] for n in self._names}).index(n.split("-")[0]) for n in self._names]
        )

    def draw(self, generator: np.random.Generator, count: int) -> Units:
        """Two languages on the same line, at most so many times."""
        tries = _TRIES * count
        language = np.searchsorted(self._ends[:-1], generator.random(tries) * self._ends[-1], side="right")
        entry = self._starts[language] + (generator.random(tries) * self._sizes[language]).astype(np.int64)
        table, line = self._entries[:, entry].astype(np.int64)
        other = generator.integers(len(self._names), size=tries)
        source, target, hub = (np.full(tries, NOBODY) for _ in range(3))
        for k, numbers in enumerate(self._numbers):
            here = table == k
            source[here], target[here] = numbers[language[here], line[here]], numbers[other[here], line[here]]
            hub[here] = numbers[-1, line[here]]
        kept = np.flatnonzero((target >= 0) & (self._kin[language] != self._kin[other]))[:count]
        return Units(
            source[kept],
            target[kept],
            hub[kept],
            np.full(len(kept), NOBODY),
            self._corpora[table[kept]],
            self._first_pool + other[kept],
        )
