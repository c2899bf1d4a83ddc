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
from weft.text.fields import PairFields
from weft.text.files import blocks, checksum, whole_folder
from weft.text.gold import GoldFile, read_sentences
from weft.text.json_objects import read_json_object
from weft.text.lines import decode, read_lines, read_two_together
from weft.text.pairs import NOTHING, PairReader
from weft.text.segment import word_splitters
from weft.training.config import CorpusConfig, TrainingConfig
from weft.types import Alignment, SentencePair, Words

logger = logging.getLogger(__name__)

_CHUNK = 10_000
# Goes up whenever what is packed changes its meaning, so that no run reads what an older weft packed.
PACKING_VERSION = 3
_META = "meta.json"
# What is kept of each pair, and how wide: everything is one flat array after the other.
_ARRAYS = {
    "ids": np.int32,
    "words": np.int32,
    "starts": np.int64,
    "links": np.int32,
    "sure": np.bool_,
    "link_starts": np.int64,
    "given": np.bool_,
    "through": np.int32,
    "through_starts": np.int64,
    "corpus": np.int32,
}


class TrainingPair(NamedTuple):
    """One pair as training sees it: subword ids and their words on both sides, and links between words if given."""

    source_ids: IntArray
    source_words: IntArray
    target_ids: IntArray
    target_words: IntArray
    links: IntArray | None
    sure: npt.NDArray[np.bool_] | None
    """Which of the links are sure; the others are possible."""
    corpus: int
    through: IntArray | None = None
    """The same sentence in a third language, where there is one."""


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
        links = sure = None
        if self.arrays["given"][number]:
            begin, end = (int(start) for start in self.arrays["link_starts"][number : number + 2])
            links = np.asarray(self.arrays["links"][2 * begin : 2 * end], dtype=np.int64).reshape(-1, 2)
            sure = np.asarray(self.arrays["sure"][begin:end], dtype=np.bool_)
        sides = [np.asarray(part, dtype=np.int64) for part in (
            ids[first:middle], words[first:middle], ids[middle:last], words[middle:last],
        )]  # fmt: skip
        begin, end = (int(start) for start in self.arrays["through_starts"][number : number + 2])
        third = np.asarray(self.arrays["through"][begin:end], dtype=np.int64) if end > begin else None
        corpus = int(self.arrays["corpus"][number])
        return TrainingPair(sides[0], sides[1], sides[2], sides[3], links, sure, corpus, third)

    @classmethod
    def open(cls, folder: Path) -> PackedCorpus:
        """Map a packed corpus into memory."""
        counts = read_json_object(folder / _META)
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
    with whole_folder(folder) as unfinished:
        writer = _Writer(unfinished)
        for number, corpus in enumerate(corpora):
            before = writer.counts["pairs"]
            for chunk in _chunks(corpus_lines(corpus, packing.use_possible)):
                _pack_chunk(chunk, number, packing, writer, guard, corpus.path)
            if writer.counts["pairs"] == before:
                raise WeftError(f"{corpus.path} has no pairs to train on.")
        writer.close()
    logger.info("packed %s", ", ".join(f"{count:,} {name}" for name, count in writer.counts.items()))
    return PackedCorpus.open(folder)


def packing_key(corpora: Sequence[CorpusConfig], packing: Packing, tokenizer: str) -> str:
    """Sixteen digits that change with whatever changes what is packed, and with nothing else.

    Args:
        corpora: the files; what they hold counts, not where they lie.
        packing: how they are packed.
        tokenizer: all that decides how words are cut.
    """
    settings = [PACKING_VERSION, packing.max_subwords, packing.overlap, packing.use_possible, tokenizer]
    digest = checksum(json.dumps(settings).encode("utf-8", "surrogatepass"), size=8)
    for corpus in corpora:
        digest.update(corpus_key(corpus).encode())
    for prefix in packing.exclude:
        digest.update(_content(Path(f"{prefix}.src")) + _content(Path(f"{prefix}.tgt")))
    return digest.hexdigest()


def corpus_key(corpus: CorpusConfig) -> str:
    """Sixteen digits that change with what a corpus's files hold, and with how they are cut into words."""
    reading = [corpus.input_format, corpus.source_field, corpus.target_field, corpus.columns]
    settings = [corpus.raw, corpus.source_language, corpus.target_language, corpus.through_language, reading]
    digest = checksum(json.dumps(settings).encode("utf-8", "surrogatepass"), size=8)
    for path in (corpus.path, corpus.target, corpus.links, corpus.through):
        digest.update(b"-" if path is None else _content(Path(path)))
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe can be read only once
        return str(path).encode()
    digest = checksum(size=8)
    for block in blocks(path):
        digest.update(block)
    return digest.digest()


class Line(NamedTuple):
    """A line of a corpus: its number, its pair (or nothing), links if there are any, and a third sentence if any."""

    number: int
    pair: SentencePair
    links: Alignment | None
    through: Words


def corpus_lines(corpus: CorpusConfig, use_possible: bool) -> Iterator[Line]:
    """A corpus line by line."""
    linked = _linked_pairs(corpus, use_possible)
    if corpus.through is None:
        for number, (pair, links) in enumerate(linked, start=1):
            yield Line(number, pair, links, ())
        return
    split, _ = word_splitters(corpus.raw, corpus.through_language, None)
    path = corpus.through
    third = (split(decode(line, path, number)) for number, line in enumerate(read_lines(path), start=1))
    both = read_two_together((corpus.path, path), linked, third)
    for number, ((pair, links), words) in enumerate(both, start=1):
        yield Line(number, pair, links, words)


def _linked_pairs(corpus: CorpusConfig, use_possible: bool) -> Iterator[tuple[SentencePair, Alignment | None]]:
    pairs = corpus_pairs(corpus)
    if corpus.links is None:
        yield from ((pair, None) for pair in pairs)
        return
    for row in GoldFile(corpus.links, pairs, pairs_name=corpus.path, skip_unread=True):
        kept = [link for link in row.links if link.sure or use_possible]
        # An empty line means that no links are given.
        yield row.pair or NOTHING, Alignment.of(kept) if kept else None


def corpus_pairs(corpus: CorpusConfig) -> Iterator[SentencePair]:
    """The sentence pairs of a corpus; a line that holds none is nothing."""
    fields = PairFields.of(corpus.source_field, corpus.target_field, corpus.columns)
    split = word_splitters(True, corpus.source_language, corpus.target_language) if corpus.raw else None
    reader = PairReader(corpus.input_format, fields, split)
    return reader.pairs(corpus.path, corpus.target, on_error=lambda error: None)


def _chunks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while chunk := list(islice(lines, _CHUNK)):
        yield chunk


def _pack_chunk(chunk: list[Line], corpus: int, packing: Packing, writer: _Writer, guard: _Guard, path: str) -> None:
    good = [line for line in chunk if line.pair != NOTHING]
    writer.counts["bad lines"] += len(chunk) - len(good)
    fresh = [line for line in good if guard.admits(line.pair, path, line.number, writer.counts)]
    if not fresh:
        return
    pieces = packing.tokenizer.split([side for line in fresh for side in (*line.pair, line.through)])
    for k, line in enumerate(fresh):
        sentences = pieces[3 * k], pieces[3 * k + 1], pieces[3 * k + 2]
        if max(len(sentence.ids) for sentence in sentences) > packing.max_subwords:
            writer.counts["too long"] += 1
        else:
            writer.add(sentences, line.links, corpus)


class _Writer:
    """Appends pairs to flat files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {name: (folder / f"{name}.bin").open("wb") for name in _ARRAYS}
        self._subwords = 0
        self._links = 0
        self._through = 0
        self.counts = dict.fromkeys(("pairs", "with links", "bad lines", "duplicates", "too long", "in test sets"), 0)
        self._put("starts", [0])
        self._put("link_starts", [0])
        self._put("through_starts", [0])

    def _put(self, name: str, values: Sequence[int] | IntArray) -> None:
        self._files[name].write(np.asarray(values, dtype=_ARRAYS[name]).tobytes())

    def add(
        self,
        sentences: tuple[SentenceSubwords, SentenceSubwords, SentenceSubwords],
        alignment: Alignment | None,
        corpus: int,
    ) -> None:
        """Append one pair; the third sentence may be empty."""
        source, target, third = sentences
        self._through += len(third.ids)
        self._put("through", third.ids)
        self._put("through_starts", [self._through])
        middle = self._subwords + len(source.ids)
        self._subwords = middle + len(target.ids)
        for side in (source, target):
            self._put("ids", side.ids)
            self._put("words", side.words)
        self._put("starts", [middle, self._subwords])
        if alignment:
            self._links += len(alignment.links)
            self._put("links", [index for link in alignment.links for index in link.indices])
            self._put("sure", [link.sure for link in alignment.links])
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


def sampling_order(sizes: Sequence[int], config: TrainingConfig, *, epoch: int) -> IntArray:
    """The pairs of one epoch in random order, as numbers over all corpora one after the other.

    Each corpus gives its pairs (or `limit` of them) once, or as often as `repeat` says, if the temperature is 1;
    otherwise as many as its share of size^(1/temperature), again from the start when it runs out. The total stays the
    same.

    Args:
        sizes: pairs of each corpus.
        config: the run, for its seed, its temperature, and the corpora's limits and repeats.
        epoch: every epoch has an order of its own.
    """
    generator = np.random.default_rng((config.seed, epoch))
    both = zip(sizes, config.corpora, strict=True)
    wanted = np.array([min(size, corpus.limit or size) * (corpus.repeat or 1.0) for size, corpus in both])
    shares = wanted ** (1 / config.temperature)
    counts = np.maximum(1, np.round(shares / shares.sum() * wanted.sum())).astype(np.int64)
    parts, first = [], 0
    for size, count in zip(sizes, counts.tolist(), strict=True):
        rounds = -(-count // size)
        parts.append(first + np.concatenate([generator.permutation(size) for _ in range(rounds)])[:count])
        first += size
    order = np.concatenate(parts)
    generator.shuffle(order)
    return order
