"""A gold set and one or more systems to scores: from values in memory, or from files line by line."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from weft.errors import FormatError, WeftError
from weft.scoring.counts import Counts, IntArray, Rates, count_sentence
from weft.scoring.significance import bootstrap_interval, permutation_test
from weft.text.lines import Path, display_name, read_together, read_two_together
from weft.text.links import NumberedLinks, read_numbered_links
from weft.text.pairs import read_pairs
from weft.types import Alignment, GoldAlignment, Link, SentencePair, WordPair
from weft.version import __version__

Observer = Callable[[SentencePair, GoldAlignment, list[set[WordPair]]], None]


@dataclass(frozen=True)
class CorpusScore:
    """One system's score on one gold set; rates are in percent."""

    name: str
    counts: IntArray
    signature: str

    @property
    def total(self) -> Counts:
        """The counts of all sentences together."""
        return Counts(*self.counts.sum(axis=0, dtype=np.int64).tolist())

    @cached_property
    def rates(self) -> Rates:
        """AER, precision, recall and F1."""
        return Rates.of(self.total)

    @cached_property
    def interval(self) -> tuple[Rates, Rates]:
        """Lower and upper ends of the bootstrap 95 % intervals."""
        lower, upper = bootstrap_interval(self.counts).tolist()
        return Rates(*lower), Rates(*upper)

    def p_values(self, baseline: CorpusScore) -> Rates:
        """Paired permutation test against another system on the same gold set: one p-value for each rate."""
        return Rates(*permutation_test(baseline.counts, self.counts).tolist())


def score(
    gold: Iterable[GoldAlignment], system: Iterable[Alignment], *, name: str = "system", ignore_possible: bool = False
) -> CorpusScore:
    """Score alignments in memory; both must have the same length."""
    counts = _CountRows()
    for truth, alignment in zip(gold, system, strict=True):
        counts.append(count_sentence(truth.only_sure() if ignore_possible else truth, alignment.pairs))
    signature = _signature(len(counts), ignore_possible=ignore_possible, gold_base=0, system_base=0)
    return CorpusScore(name, counts.as_array(), signature)


def score_files(
    gold: Path,
    systems: Sequence[Path],
    *,
    gold_base: int = 0,
    system_base: int = 0,
    ignore_possible: bool = False,
    sentences: tuple[Path, Path] | None = None,
    observe: Observer | None = None,
) -> list[CorpusScore]:
    """Score link files against a gold file, all read line by line together.

    With `sentences` (a source and a target file), every index is checked against its sentence's length, and `observe`
    sees each sentence with its gold and the systems' links.
    """
    paths = [gold, *systems]
    bases = [gold_base] + [system_base] * len(systems)
    readers = [read_numbered_links(path, base=base) for path, base in zip(paths, bases, strict=True)]
    counts = [_CountRows() for _ in systems]
    for row, sentence in _with_sentences([display_name(path) for path in paths], readers, sentences):
        truth = GoldAlignment.of(row[0].links)
        if ignore_possible:
            truth = truth.only_sure()
        links = [{(link[0], link[1]) for link in found} for _, found, _ in row[1:]]
        for column, found in zip(counts, links, strict=True):
            column.append(count_sentence(truth, found))
        if sentence:
            for path, base, numbered in zip(paths, bases, row, strict=True):
                check_range(path, numbered.line, numbered.links, sentence, base=base)
            if observe:
                observe(sentence, truth, links)
    if not len(counts[0]):
        raise WeftError(f"{display_name(gold)} holds no sentences to score.")
    signature = _signature(
        len(counts[0]), ignore_possible=ignore_possible, gold_base=gold_base, system_base=system_base
    )
    return [
        CorpusScore(display_name(path), column.as_array(), signature)
        for path, column in zip(systems, counts, strict=True)
    ]


def read_sentences(source: Path, target: Path) -> Iterator[SentencePair]:
    """The sentences of a gold set; blank lines are sentences without words."""

    def tolerate_blank(error: FormatError) -> None:
        if error.byte is not None:
            raise error

    return read_pairs(source, target, on_error=tolerate_blank)


def _with_sentences(
    names: list[str], readers: list[Iterator[NumberedLinks]], sentences: tuple[Path, Path] | None
) -> Iterator[tuple[tuple[NumberedLinks, ...], SentencePair | None]]:
    rows = read_together(names, readers)
    if sentences is None:
        return zip(rows, repeat(None), strict=False)
    return read_two_together((names[0], display_name(sentences[0])), rows, read_sentences(*sentences))


class _CountRows:
    """Sentence counts in 16 bytes each: a million sentences must not fill the memory."""

    def __init__(self) -> None:
        self._flat = array("i")

    def append(self, counts: Counts) -> None:
        self._flat.extend(counts)

    def __len__(self) -> int:
        return len(self._flat) // len(Counts._fields)

    def as_array(self) -> IntArray:
        return np.frombuffer(self._flat, dtype=np.int32).reshape(-1, len(Counts._fields)).astype(np.int64)


def check_range(path: Path, line: int, links: Iterable[Link], sentence: SentencePair, *, base: int = 0) -> None:
    """Raise a FormatError for the first link that points behind a sentence's end."""
    lengths = (len(sentence.source), len(sentence.target))
    for link in links:
        if link[0] >= lengths[0] or link[1] >= lengths[1]:
            message = (
                f"the link {link[0] + base}-{link[1] + base} is out of range: source and target have "
                f"{lengths[0]} and {lengths[1]} words, counted from {base}."
            )
            raise FormatError(display_name(path), line, message)


def _signature(sentences: int, *, ignore_possible: bool, gold_base: int, system_base: int) -> str:
    parts = {
        "sentences": sentences,
        "gold": "sure" if ignore_possible else "sure+possible",
        "gold-base": gold_base,
        "system-base": system_base,
        "interval": "bootstrap-1000",
        "test": "permutation-1000",
        "seed": 12345,
        "version": __version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
