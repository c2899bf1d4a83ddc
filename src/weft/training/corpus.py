"""Parallel text to packed training pairs: tokenised once, deduplicated, checked against test sets, memory-mapped."""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.arrays import IntArray
from weft.encoding.subwords import SentenceSubwords, Tokenizer
from weft.errors import FormatError, WeftError
from weft.text.files import checksum, whole_folder
from weft.text.gold import GoldFile, read_sentences
from weft.text.pairs import NOTHING, read_pairs
from weft.training.config import CorpusConfig
from weft.types import Alignment, SentencePair

logger = logging.getLogger(__name__)

_CHUNK = 10_000
_META = "meta.json"
# What is kept of each pair, and how wide: everything is one flat array after the other.
_ARRAYS = {
    "ids": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "links": np.int32,
    "link_starts": np.int64,
    "given": np.bool_,
    "corpus": np.int32,
}


class TrainingPair(NamedTuple):
    """One pair as training sees it: subword ids and their words on both sides, and links between words if given."""

    source_ids: IntArray
    source_words: IntArray
    target_ids: IntArray
    target_words: IntArray
    links: IntArray | None
    corpus: int


@dataclass(frozen=True)
class PackedCorpus:
    """Training pairs on disk, read where they lie."""

    folder: Path
    arrays: dict[str, npt.NDArray[np.generic]]
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.arrays["given"])

    def __getitem__(self, number: int) -> TrainingPair:
        starts, ids, words = (self.arrays[name] for name in ("starts", "ids", "words"))
        first, middle, last = (int(start) for start in starts[2 * number : 2 * number + 3])
        links = None
        if self.arrays["given"][number]:
            begin, end = (int(start) for start in self.arrays["link_starts"][number : number + 2])
            links = np.asarray(self.arrays["links"][2 * begin : 2 * end], dtype=np.int64).reshape(-1, 2)
        sides = [np.asarray(part, dtype=np.int64) for part in (
            ids[first:middle], words[first:middle], ids[middle:last], words[middle:last],
        )]  # fmt: skip
        return TrainingPair(sides[0], sides[1], sides[2], sides[3], links, int(self.arrays["corpus"][number]))

    @classmethod
    def open(cls, folder: Path) -> PackedCorpus:
        """Map a packed corpus into memory."""
        counts = json.loads((folder / _META).read_text(encoding="utf-8"))
        arrays: dict[str, npt.NDArray[np.generic]] = {}
        for name, kind in _ARRAYS.items():
            path = folder / f"{name}.bin"
            # An empty file cannot be mapped.
            arrays[name] = np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.zeros(0, dtype=kind)
        return cls(folder, arrays, counts)


class Packing(NamedTuple):
    """How pairs are packed."""

    tokenizer: Tokenizer
    max_subwords: int
    exclude: tuple[str, ...]
    overlap: str
    use_possible: bool


def pack(corpora: Sequence[CorpusConfig], packing: Packing, folder: Path) -> PackedCorpus:
    """Tokenise and pack corpora into a folder, or open the folder if that was done before."""
    if (folder / _META).is_file():
        return PackedCorpus.open(folder)
    guard = _Guard(packing.exclude, drop=packing.overlap == "drop")
    with whole_folder(folder) as partial:
        writer = _Writer(partial)
        for number, corpus in enumerate(corpora):
            before = writer.counts["pairs"]
            for chunk in _chunks(_lines(corpus, packing.use_possible)):
                _pack_chunk(chunk, number, packing, writer, guard, corpus.path)
            if writer.counts["pairs"] == before:
                raise WeftError(f"{corpus.path} gives no pair to train on.")
        writer.close()
    logger.info("packed %s", ", ".join(f"{count:,} {name}" for name, count in writer.counts.items()))
    return PackedCorpus.open(folder)


Line = tuple[int, SentencePair, Alignment | None]


def _lines(corpus: CorpusConfig, use_possible: bool) -> Iterator[Line]:
    pairs = read_pairs(corpus.path, corpus.target, on_error=lambda error: None)
    if corpus.links is None:
        for number, pair in enumerate(pairs, start=1):
            yield number, pair, None
        return
    rows = GoldFile(corpus.links, pairs, pairs_name=corpus.path, skip_unread=True)
    for number, row in enumerate(rows, start=1):
        kept = [link for link in row.links if link.sure or use_possible]
        # An empty line means that no links are given.
        yield number, row.pair or NOTHING, Alignment.of(kept) if kept else None


def _chunks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while chunk := list(islice(lines, _CHUNK)):
        yield chunk


def _pack_chunk(chunk: list[Line], corpus: int, packing: Packing, writer: _Writer, guard: _Guard, path: str) -> None:
    good = [line for line in chunk if line[1] != NOTHING]
    writer.counts["bad lines"] += len(chunk) - len(good)
    fresh = [line for line in good if guard.admits(line[1], path, line[0], writer.counts)]
    if not fresh:
        return
    pieces = packing.tokenizer.split([side for _, pair, _ in fresh for side in (pair.source, pair.target)])
    for k, (_, _, alignment) in enumerate(fresh):
        source, target = pieces[2 * k], pieces[2 * k + 1]
        if max(len(source.ids), len(target.ids)) > packing.max_subwords:
            writer.counts["too long"] += 1
        else:
            writer.add(source, target, alignment, corpus)


class _Writer:
    """Appends pairs to flat files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {name: (folder / f"{name}.bin").open("wb") for name in _ARRAYS}
        self._subwords = 0
        self._links = 0
        self.counts = dict.fromkeys(("pairs", "with links", "bad lines", "duplicates", "too long", "in test sets"), 0)
        self._put("starts", [0])
        self._put("link_starts", [0])

    def _put(self, name: str, values: Sequence[int] | IntArray) -> None:
        self._files[name].write(np.asarray(values, dtype=_ARRAYS[name]).tobytes())

    def add(self, source: SentenceSubwords, target: SentenceSubwords, alignment: Alignment | None, corpus: int) -> None:
        """Append one pair."""
        middle = self._subwords + len(source.ids)
        self._subwords = middle + len(target.ids)
        for side in (source, target):
            self._put("ids", side.ids)
            self._put("words", side.words)
        self._put("starts", [middle, self._subwords])
        if alignment:
            self._links += len(alignment.links)
            self._put("links", [index for link in alignment.links for index in link.indices])
        self._put("link_starts", [self._links])
        self._put("given", [alignment is not None])
        self._put("corpus", [corpus])
        self.counts["pairs"] += 1
        self.counts["with links"] += alignment is not None

    def close(self) -> None:
        """Finish all files; the counts are written last and mark the corpus as complete."""
        for file in self._files.values():
            file.close()
        (self._folder / _META).write_text(json.dumps(self.counts) + "\n", encoding="utf-8")


class _Guard:
    """Lets each pair in once, and none that holds a sentence of a test set."""

    def __init__(self, exclude: Sequence[str], *, drop: bool) -> None:
        self._seen: set[int] = set()
        self._drop = drop
        self._test = {
            letters: prefix
            for prefix in exclude
            for pair in read_sentences(f"{prefix}.src", f"{prefix}.tgt")
            for letters in map(letters_of, (pair.source, pair.target))
            if letters
        }

    def admits(self, pair: SentencePair, path: str, line: int, counts: dict[str, int]) -> bool:
        """Whether a pair may be trained on; counts those that may not."""
        key = _fingerprint(pair)
        if key in self._seen:
            counts["duplicates"] += 1
            return False
        self._seen.add(key)
        for side in (pair.source, pair.target) if self._test else ():
            prefix = self._test.get(letters_of(side))
            if prefix and not self._drop:
                message = f"this sentence is in the test set {prefix}. Remove it, or set overlap to drop."
                raise FormatError(path, line, message)
            if prefix:
                counts["in test sets"] += 1
                return False
        return True


def _fingerprint(pair: SentencePair) -> int:
    text = "\0".join((" ".join(pair.source), " ".join(pair.target)))
    return int.from_bytes(checksum(text.encode("utf-8", "surrogatepass"), size=8).digest(), "little")


def letters_of(words: Sequence[str]) -> str:
    """A sentence's letters alone, in lower case and without accents: how copies are recognised."""
    decomposed = unicodedata.normalize("NFKD", "".join(words).casefold())
    return "".join(filter(str.isalpha, decomposed))


def sampling_order(sizes: Sequence[tuple[int, int | None]], *, temperature: float, seed: int, epoch: int) -> IntArray:
    """The pairs of one epoch in random order, as numbers over all corpora one after the other.

    Each corpus gives its pairs (or `limit` of them) once if the temperature is 1; otherwise as many as its share of
    size^(1/temperature), again from the start when it runs out. The total stays the same.

    Args:
        sizes: pairs of each corpus, and its limit.
        temperature: above 1 small corpora are seen more often.
        seed: the run's seed.
        epoch: every epoch has an order of its own.
    """
    generator = np.random.default_rng((seed, epoch))
    wanted = np.array([min(size, limit or size) for size, limit in sizes], dtype=np.float64)
    shares = wanted ** (1 / temperature)
    counts = np.maximum(1, np.round(shares / shares.sum() * wanted.sum())).astype(np.int64)
    parts, first = [], 0
    for (size, _), count in zip(sizes, counts.tolist(), strict=True):
        rounds = -(-count // size)
        parts.append(first + np.concatenate([generator.permutation(size) for _ in range(rounds)])[:count])
        first += size
    order = np.concatenate(parts)
    generator.shuffle(order)
    return order
