"""Parallel text to packed training pairs: tokenised once, deduplicated, checked against test sets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import BoolArray, IntArray
from weft.encoding.subwords import Subwords, Tokenizer
from weft.errors import FormatError, LineCountError, WeftError
from weft.text.files import checksum, whole_folder
from weft.text.pairs import NOTHING
from weft.training.config import CorpusConfig
from weft.training.corpus import (
    Guard,
    Line,
    content_key,
    corpus_key,
    corpus_lines,
    in_words,
    language_files,
    language_lines,
)
from weft.training.packed import ARRAYS, META, NOBODY, PackedCorpus, Pool, Table
from weft.types import Alignment, Words

logger = logging.getLogger(__name__)

_CHUNK = 10_000
# Goes up whenever what is packed changes its meaning, so that no run reads what an older weft packed.
PACKING_VERSION = 4


class Packing(NamedTuple):
    """How pairs are packed."""

    tokenizer: Tokenizer
    max_subwords: int
    exclude: tuple[str, ...]
    overlap: str
    use_possible: bool


def pack(corpora: Sequence[CorpusConfig], packing: Packing, folder: Path) -> PackedCorpus:
    """Tokenise and pack corpora into a folder, or open the folder if that was done before."""
    if (folder / META).is_file():
        return PackedCorpus.open(folder)
    guard = Guard(packing.exclude, drop=packing.overlap == "drop")
    with whole_folder(folder) as unfinished:
        packer = _Packer(packing, guard, _Writer(unfinished))
        for number, corpus in enumerate(corpora):
            if not packer.add(number, corpus):
                raise WeftError(f"{corpus.path} has no pairs to train on.")
        packer.writer.close()
    logger.info("packed %s", ", ".join(in_words(packer.writer.counts)))
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
        digest.update(content_key(Path(f"{prefix}.src")) + content_key(Path(f"{prefix}.tgt")))
    return digest.hexdigest()


class _Packer:
    """Cuts corpora into subwords and hands them to a writer."""

    def __init__(self, packing: Packing, guard: Guard, writer: _Writer) -> None:
        self._packing, self._guard, self.writer = packing, guard, writer
        self._tables: dict[tuple[str, str | None, bool], Table] = {}

    def add(self, number: int, corpus: CorpusConfig) -> int:
        """Pack one corpus; returns how many pairs or lines it gave."""
        if corpus.hub is not None:
            return self._add_lines(number, corpus)
        before = self.writer.counts["pairs"]
        for chunk in _chunks(corpus_lines(corpus, self._packing.use_possible, self._count_bad)):
            self._add_pairs(chunk, corpus.path)
        return self.writer.end_pool(number, before)

    def _count_bad(self, error: FormatError) -> None:
        self.writer.counts["bad lines"] += 1

    def _add_pairs(self, chunk: list[Line], path: str) -> None:
        counts = self.writer.counts
        good = [line for line in chunk if line.pair != NOTHING]
        fresh = [line for line in good if self._guard.admits(line.pair, path, line.number, counts)]
        if not fresh:
            return
        cut = self._packing.tokenizer.split([side for line in fresh for side in (*line.pair, line.through)])
        lengths = np.diff(cut.starts).reshape(-1, 3)
        fits = lengths.max(axis=1) <= self._packing.max_subwords
        counts["too long"] += int((~fits).sum())
        kept = (fits[:, None] & (lengths > 0)).reshape(-1)
        numbers = np.where(kept, np.cumsum(kept) - 1, NOBODY).reshape(-1, 3)[fits]
        self.writer.add_pairs(
            cut.parts(cut.starts[:-1][kept], cut.starts[1:][kept]),
            numbers,
            [line.links for line, fit in zip(fresh, fits.tolist(), strict=True) if fit],
        )

    def _add_lines(self, number: int, corpus: CorpusConfig) -> int:
        """Multi-parallel text: each language with the hub, or two others by way of it."""
        table = self._table(corpus)
        numbers = self.writer.lines_of(table)
        wanted = [not corpus.languages or name in corpus.languages for name in table.languages[:-1]]
        numbers = numbers[[*wanted, True]]
        both = (numbers[:-1] >= 0) & (numbers[-1] >= 0)
        if corpus.others:
            self.writer.tables.append(table._replace(corpus=number))
            return int((both.sum(axis=0) > 1).sum())
        found = 0
        for language, there in zip(numbers[:-1], both, strict=True):
            before = self.writer.counts["pairs"]
            sides = np.stack([language[there], numbers[-1][there], np.full(int(there.sum()), NOBODY)], axis=1)
            self.writer.put_pairs(sides)
            found += self.writer.end_pool(number, before)
        return found

    def _table(self, corpus: CorpusConfig) -> Table:
        """The sentences of a folder, packed when it is first named."""
        assert corpus.hub is not None, "asked only of multi-parallel text"
        key = corpus.path, corpus.hub, corpus.raw
        if key not in self._tables:
            files = language_files(Path(corpus.path))
            if corpus.hub not in files:
                raise WeftError(f"{corpus.path} has no {corpus.hub}.txt, which `hub` names.")
            languages = [*(name for name in files if name != corpus.hub), corpus.hub]
            rows = [self._language(corpus, name, files[name]) for name in languages]
            for name, row in zip(languages, rows, strict=True):
                if len(row) != len(rows[-1]):
                    counted = [(str(files[corpus.hub]), len(rows[-1])), (str(files[name]), len(row))]
                    raise LineCountError(counted)
            self._tables[key] = self.writer.put_lines(np.stack(rows), languages)
        return self._tables[key]

    def _language(self, corpus: CorpusConfig, language: str, path: Path) -> IntArray:
        """Pack one language; returns the number of the sentence on each line, or -1."""
        counts, parts = self.writer.counts, []
        numbered = enumerate(language_lines(corpus, language, path), start=1)
        while chunk := list(islice(numbered, _CHUNK)):
            words: list[Words] = [
                () if line and self._guard.is_tested(line, str(path), number, counts) else line
                for number, line in chunk
            ]
            cut = self._packing.tokenizer.split(words)
            lengths = np.diff(cut.starts)
            counts["too long"] += int((lengths > self._packing.max_subwords).sum())
            kept = (lengths > 0) & (lengths <= self._packing.max_subwords)
            first = self.writer.put_sentences(cut.parts(cut.starts[:-1][kept], cut.starts[1:][kept]))
            parts.append(np.where(kept, first + np.cumsum(kept) - 1, NOBODY))
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _chunks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while chunk := list(islice(lines, _CHUNK)):
        yield chunk


class _Writer:
    """Appends sentences, pairs and links to flat files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {name: (folder / f"{name}.bin").open("wb") for name in ARRAYS}
        self._subwords = self._sentences = self._links = 0
        self._pools: list[Pool] = []
        self._lines: dict[int, IntArray] = {}
        self.tables: list[Table] = []
        self.counts = dict.fromkeys(("pairs", "with links", "bad lines", "duplicates", "too long", "in test sets"), 0)
        self._put("starts", [0])
        self._put("link_starts", [0])

    def _put(self, name: str, values: Any) -> None:
        self._files[name].write(np.asarray(values, dtype=ARRAYS[name]).tobytes())

    def put_sentences(self, cut: Subwords) -> int:
        """Append sentences; returns the number of the first."""
        first = self._sentences
        self._put("ids", cut.ids)
        self._put("words", cut.words)
        self._put("starts", self._subwords + cut.starts[1:])
        self._subwords += len(cut.ids)
        self._sentences += len(cut)
        return first

    def add_pairs(self, cut: Subwords, numbers: IntArray, links: Sequence[Alignment | None]) -> None:
        """Append pairs with their sentences; `numbers` (pairs, 3) are those of the sentences in `cut`."""
        first = self.put_sentences(cut)
        self.put_pairs(np.where(numbers >= 0, first + numbers, NOBODY), links, asked_counts(cut, numbers, links))

    def put_pairs(self, sides: IntArray, links: Sequence[Alignment | None] = (), asked: IntArray | None = None) -> None:
        """Append pairs of sentences that are there already."""
        count = len(sides)
        self._put("sides", sides.reshape(-1))
        self._put("pool", np.full(count, len(self._pools)))
        self._put("given", [alignment is not None for alignment in links] if links else np.zeros(count))
        self._put("asked", np.zeros((count, 2)) if asked is None else asked)
        found = [alignment.links if alignment else () for alignment in links] if links else [()] * count
        self._put("links", [index for some in found for link in some for index in link.indices])
        self._put("sure", [link.sure for some in found for link in some])
        ends = self._links + np.cumsum([len(some) for some in found])
        self._put("link_starts", ends)
        self._links = int(ends[-1]) if count else self._links
        self.counts["pairs"] += count
        self.counts["with links"] += sum(alignment is not None for alignment in links)

    def end_pool(self, corpus: int, before: int) -> int:
        """What was added since there were `before` pairs is one pool; returns its size."""
        size = self.counts["pairs"] - before
        if size:
            self._pools.append(Pool(corpus, before, size))
        return size

    def put_lines(self, rows: IntArray, languages: list[str]) -> Table:
        """Keep which sentences stand on which line, shape (languages, lines)."""
        table = Table(NOBODY, sum(each.size for each in self._lines.values()), languages, rows.shape[1])
        self._put("lines", rows.reshape(-1))
        self._lines[table.first] = rows
        return table

    def lines_of(self, table: Table) -> IntArray:
        """The numbers of the sentences of multi-parallel text, shape (languages, lines)."""
        return self._lines[table.first]

    def close(self) -> None:
        """Finish all files; what they hold is written last and marks the corpus as complete."""
        for file in self._files.values():
            file.close()
        record = {"counts": self.counts, "pools": self._pools, "tables": self.tables}
        (self._folder / META).write_text(json.dumps(record) + "\n", encoding="utf-8")


def asked_counts(cut: Subwords, numbers: IntArray, links: Sequence[Alignment | None]) -> IntArray:
    """How many subwords of each pair have a sure link, and how many have no link at all; shape (pairs, 2).

    Args:
        cut: sentences.
        numbers: the sentences of each pair, shape (pairs, at least 2).
        links: of each pair; without them both counts are 0.
    """
    rows = [(k, *link.indices, link.sure) for k, some in enumerate(links) if some for link in some.links]
    result = np.zeros((len(numbers), 2), dtype=np.int64)
    if not rows:
        return result
    owner, source, target, sure = np.array(rows, dtype=np.int64).T
    firsts = np.concatenate([[0], np.cumsum(cut.n_words)])
    sentence = np.repeat(np.arange(len(cut)), np.diff(cut.starts))
    subwords = np.bincount(firsts[sentence] + cut.words, minlength=firsts[-1])
    given = np.array([bool(some) for some in links])
    result[:, 1] = np.where(given, np.diff(cut.starts)[numbers[:, :2]].sum(axis=1), 0)
    for side, word in ((0, source), (1, target)):
        place = firsts[numbers[owner, side]] + word
        for column, chosen, sign in ((0, sure > 0, 1), (1, sure >= 0, -1)):
            np.add.at(result[:, column], *_once(owner, place, subwords, chosen, sign))
    return result


def _once(
    owner: IntArray, place: IntArray, subwords: IntArray, chosen: BoolArray, sign: int
) -> tuple[IntArray, IntArray]:
    """Each linked word once: its pair, and how many subwords it adds or takes away."""
    words, first = np.unique(place[chosen], return_index=True)
    return owner[chosen][first], sign * subwords[words]
