"""Packed text as training reads it, mapped from disk: sentences cut into subwords, pairs of them, links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from weft.arrays import BoolArray, IntArray
from weft.text.json_objects import read_json_object

META = "meta.json"
NOBODY = -1
# What is kept, and how wide: everything is one flat array after the other.
ARRAYS = {
    # Of sentences: ids and words of their subwords, and where each sentence begins.
    "ids": np.int32,
    "words": np.int16,
    "starts": np.int64,
    # Of pairs: the numbers of three sentences (the third may be missing), and the pool that each was drawn into.
    "sides": np.int64,
    "pool": np.int32,
    "given": np.bool_,
    "link_starts": np.int64,
    # How many subwords have a sure link, and how many have none at all.
    "asked": np.int32,
    # Of links: both words, and whether it is sure.
    "links": np.int16,
    "sure": np.bool_,
    # Of multi-parallel text: the number of each language's sentence on each line.
    "lines": np.int64,
}


class TrainingPair(NamedTuple):
    """One pair: subword ids and their words on both sides, and links between words if given."""

    source_ids: IntArray
    source_words: IntArray
    target_ids: IntArray
    target_words: IntArray
    links: IntArray | None
    sure: BoolArray | None
    """Which of the links are sure; the others are possible."""
    corpus: int


@dataclass(frozen=True, slots=True)
class Units:
    """Pairs of sentences that are trained on, all arrays of shape (units,).

    `source`, `target` and `third` are numbers of sentences; a third of -1 is none. `pair` is the number of the packed
    pair whose links are known, or -1 where two sentences of a multi-parallel line were put together. Units of one
    `pool` are of the same languages.
    """

    source: IntArray
    target: IntArray
    third: IntArray
    pair: IntArray
    corpus: IntArray
    pool: IntArray

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, which: IntArray | BoolArray | slice) -> Units:
        return Units(*(getattr(self, item.name)[which] for item in fields(self)))

    @classmethod
    def joined(cls, some: Sequence[Units]) -> Units:
        """Units one after the other."""
        return cls(*(np.concatenate([getattr(units, item.name) for units in some]) for item in fields(cls)))


class Pool(NamedTuple):
    """Pairs of the same languages in one corpus: which of the packed pairs they are."""

    corpus: int
    first: int
    size: int


class Table(NamedTuple):
    """Multi-parallel text of a corpus: where its lines lie in `lines`, and its languages, of which the hub is last."""

    corpus: int
    first: int
    languages: list[str]
    length: int


@dataclass(frozen=True)
class PackedCorpus:
    """Training pairs on disk, read where they lie."""

    folder: Path
    arrays: dict[str, npt.NDArray[np.generic]]
    counts: dict[str, int]
    pools: tuple[Pool, ...]
    tables: tuple[Table, ...]

    def __len__(self) -> int:
        return len(self.arrays["given"])

    def __getitem__(self, number: int) -> TrainingPair:
        return self.training_pair(self.units(np.array([number])), 0)

    @cached_property
    def lengths(self) -> IntArray:
        """Subwords of each sentence."""
        starts: IntArray = np.asarray(self.arrays["starts"], dtype=np.int64)
        return starts[1:] - starts[:-1]

    @cached_property
    def _corpora(self) -> IntArray:
        return np.array([pool.corpus for pool in self.pools], dtype=np.int64)

    def units(self, numbers: IntArray) -> Units:
        """Packed pairs as units."""
        numbers = np.asarray(numbers, dtype=np.int64)
        sides = np.asarray(self.arrays["sides"], dtype=np.int64).reshape(-1, 3)[numbers]
        pool = np.asarray(self.arrays["pool"])[numbers].astype(np.int64)
        return Units(sides[:, 0], sides[:, 1], sides[:, 2], numbers, self._corpora[pool], pool)

    def is_given(self, pair: IntArray) -> BoolArray:
        """Which packed pairs have links; a pair of -1 has none."""
        given: BoolArray = (pair >= 0) & np.asarray(self.arrays["given"], dtype=np.bool_)[np.maximum(pair, 0)]
        return given

    def training_pair(self, units: Units, number: int) -> TrainingPair:
        """One of the units with its subwords and links."""
        parts = []
        for sentence in (int(units.source[number]), int(units.target[number])):
            first, last = (int(start) for start in self.arrays["starts"][sentence : sentence + 2])
            parts += [np.asarray(self.arrays[name][first:last], dtype=np.int64) for name in ("ids", "words")]
        links = sure = None
        pair = int(units.pair[number])
        if pair >= 0 and self.arrays["given"][pair]:
            begin, end = (int(start) for start in self.arrays["link_starts"][pair : pair + 2])
            links = np.asarray(self.arrays["links"][2 * begin : 2 * end], dtype=np.int64).reshape(-1, 2)
            sure = np.asarray(self.arrays["sure"][begin:end], dtype=np.bool_)
        return TrainingPair(parts[0], parts[1], parts[2], parts[3], links, sure, int(units.corpus[number]))

    @classmethod
    def open(cls, folder: Path) -> PackedCorpus:
        """Map a packed corpus into memory."""
        record = read_json_object(folder / META)
        arrays: dict[str, npt.NDArray[np.generic]] = {}
        for name, kind in ARRAYS.items():
            path = folder / f"{name}.bin"
            # An empty file cannot be mapped.
            arrays[name] = np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.zeros(0, dtype=kind)
        pools = tuple(Pool(*pool) for pool in record["pools"])
        return cls(folder, arrays, record["counts"], pools, tuple(Table(*table) for table in record["tables"]))


class PairsOf(Sequence[TrainingPair]):
    """Units as a sequence of pairs, each of which is read when it is first looked at."""

    def __init__(self, corpus: PackedCorpus, units: Units) -> None:
        self.corpus, self.units = corpus, units
        self._read: dict[int, TrainingPair] = {}

    def __len__(self) -> int:
        return len(self.units)

    @overload
    def __getitem__(self, number: int) -> TrainingPair: ...
    @overload
    def __getitem__(self, number: slice) -> PairsOf: ...
    def __getitem__(self, number: int | slice) -> TrainingPair | PairsOf:
        if isinstance(number, slice):
            return self.some(np.arange(len(self))[number])
        if not 0 <= number < len(self):
            raise IndexError(number)
        if number not in self._read:
            self._read[number] = self.corpus.training_pair(self.units, number)
        return self._read[number]

    def __iter__(self) -> Iterator[TrainingPair]:
        return map(self.__getitem__, range(len(self)))

    def some(self, which: IntArray) -> PairsOf:
        """Some of them, by their numbers."""
        chosen = PairsOf(self.corpus, self.units[which])
        if self._read:
            chosen._read = {k: self._read[n] for k, n in enumerate(which.tolist()) if n in self._read}
        return chosen

    @property
    def lengths(self) -> IntArray:
        """Subwords of both sides, shape (pairs, 2)."""
        lengths = self.corpus.lengths
        return np.stack([lengths[self.units.source], lengths[self.units.target]], axis=1)
