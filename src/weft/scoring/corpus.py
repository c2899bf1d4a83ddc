"""A gold set and one or more systems to scores: from values in memory, or from files line by line."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import islice, zip_longest

import numpy as np

from weft.arrays import IntArray
from weft.errors import FormatError, SettingError, WeftError
from weft.scoring.counts import Counts, Rates, count_sentence
from weft.scoring.doubts import MisplacedLinks
from weft.scoring.partial import BlankGold, pair_numbers, rows_of_pairs
from weft.scoring.significance import SAMPLES, SEED, bootstrap_interval, permutation_test
from weft.text.gold import GoldFile, GoldRow, check_range, read_sentences
from weft.text.lines import FilePath, display_name, read_together, read_two_together
from weft.text.links import NumberedLinks, read_numbered_links
from weft.types import Alignment, GoldAlignment, SentencePair, WordPair
from weft.version import __version__

logger = logging.getLogger(__name__)

_SURE = Counts._fields.index("sure")

Observer = Callable[[int, SentencePair, GoldAlignment, list[set[WordPair]]], None]


@dataclass(frozen=True)
class CorpusScore:
    """One system's score on one gold set; rates are in percent.

    `print(score)` gives one line: `AER = 12.3 [10.1, 14.2] P = 90.2 R = 85.4 F1 = 87.7 (sentences = 508)`.
    `score.compare(baseline)` tests whether the difference from another system is more than chance.

    Attributes:
        name: what the system is called.
        counts: the counts of each sentence, shape (sentences, 4), in the order of `Counts`.
        signature: how the score was computed. Scores with the same signature can be compared.
    """

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
        """The lower and upper ends of the bootstrap 95% intervals."""
        lower, upper = bootstrap_interval(self.counts).tolist()
        return Rates(*lower), Rates(*upper)

    def compare(self, baseline: CorpusScore) -> ScoreDifference:
        """The difference from a baseline on the same gold set, with the p-values of a paired permutation test.

        Raises:
            SettingError: the two scores belong to different gold sets.
        """
        if not np.array_equal(self.counts[:, _SURE], baseline.counts[:, _SURE]):
            raise SettingError(f"{self.name} and {baseline.name} were scored against different gold links.")
        changes = zip(astuple(self.rates), astuple(baseline.rates), strict=True)
        p_values = permutation_test(baseline.counts, self.counts).tolist()
        return ScoreDifference(baseline.name, Rates(*(mine - theirs for mine, theirs in changes)), Rates(*p_values))

    def __str__(self) -> str:
        lower, upper = self.interval
        return (
            f"AER = {self.rates.aer:.1f} [{lower.aer:.1f}, {upper.aer:.1f}] P = {self.rates.precision:.1f} "
            f"R = {self.rates.recall:.1f} F1 = {self.rates.f1:.1f} (sentences = {len(self.counts)})"
        )


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """How a system differs from a baseline: its rates minus the baseline's, and a p-value for each.

    A p-value is the probability of a difference this large between two systems that are equally good.
    """

    baseline: str
    rates: Rates
    p_values: Rates

    def __str__(self) -> str:
        shown = {"aer": "AER", "precision": "P", "recall": "R", "f1": "F1"}
        parts = (
            f"{title} {getattr(self.rates, name):+.1f} (p = {getattr(self.p_values, name):.3f})"
            for name, title in shown.items()
        )
        return f"against {self.baseline}: {', '.join(parts)}"


def score(
    gold: GoldAlignment | Iterable[GoldAlignment],
    system: Alignment | Iterable[Alignment],
    *,
    name: str = "system",
    ignore_possible: bool = False,
) -> CorpusScore:
    """Score one alignment or many against gold links.

    Args:
        gold: the gold alignment of each pair; `read_gold` reads them from a file.
        system: the same number of alignments, in the same order.
        name: what the system is called.
        ignore_possible: ignore possible gold links.

    Raises:
        SettingError: there are more or fewer alignments than gold alignments, or the two are in the wrong order.
    """
    gold = [gold] if isinstance(gold, GoldAlignment | Alignment) else gold
    system = [system] if isinstance(system, GoldAlignment | Alignment) else system
    counts = _CountRows()
    for truth, alignment in zip_longest(gold, system):
        if truth is None or alignment is None:
            short, long = ("system", "gold") if alignment is None else ("gold", "system")
            raise SettingError(f"`{short}` ends after {len(counts):,} alignments, sooner than `{long}`.")
        if not isinstance(truth, GoldAlignment) or not isinstance(alignment, Alignment):
            found = f"found {type(truth).__name__} and {type(alignment).__name__}"
            raise SettingError(f"`score` takes gold first and the system second: GoldAlignment and Alignment; {found}.")
        counts.append(count_sentence(truth.only_sure() if ignore_possible else truth, alignment.pairs))
    signature = _signature(len(counts), ignore_possible=ignore_possible, gold_base=0, system_base=0)
    return CorpusScore(name, counts.as_array(), signature)


def score_files(
    gold: FilePath,
    systems: Sequence[FilePath],
    *,
    gold_base: int | None = None,
    system_base: int = 0,
    ignore_possible: bool = False,
    skip_unannotated: bool = False,
    sentences: tuple[FilePath, FilePath] | None = None,
    observe: Observer | None = None,
) -> list[CorpusScore]:
    """Score link files against a gold file, all read line by line together.

    Args:
        gold: the gold links. Gold of an annotation project that says which pair each of its lines is needs only those
            lines of files that have a line for every pair of the project.
        systems: one link file per system.
        gold_base: number of the first word in `gold`; None finds it out.
        system_base: number of the first word in `systems`.
        ignore_possible: ignore possible gold links.
        skip_unannotated: leave out lines for which the gold has no links.
        sentences: the source and the target file; every index is checked against its sentence's length.
        observe: is handed each sentence with its number from 1, its gold and the systems' links, where `sentences` are
            given.

    Returns:
        One score per system, in their order.
    """
    numbers = pair_numbers(gold)
    truths = _gold_rows(gold, gold_base, sentences, numbers)
    names = [display_name(gold), *map(display_name, systems)]
    read = [rows_of_pairs(read_numbered_links(path, base=system_base), numbers, path, gold) for path in systems]
    found = read_together(names[1:], read)
    counts = [_CountRows() for _ in systems]
    doubts = [MisplacedLinks() for _ in systems]
    blank = BlankGold(skip=skip_unannotated)
    rows = blank.passed(read_two_together((names[0], names[1]), iter(truths), found), numbers)
    option = "system_base" if len(systems) == 1 else ""  # of several files, one may count from 0
    for number, (row, others) in rows:
        truth, links = _compared(row, others, ignore_possible=ignore_possible)
        for column, doubt, theirs in zip(counts, doubts, links, strict=True):
            column.append(count_sentence(truth, theirs))
            doubt.add(truth, theirs)
        if row.pair is not None:
            for place, (path, other) in enumerate(zip(systems, others, strict=True)):
                try:
                    check_range(path, other.line, other.links, row.pair, base=system_base, option=option)
                except FormatError as error:
                    rest = (_compared(*both, ignore_possible=ignore_possible) for _, both in rows)
                    raise _explained(error, doubts[place], ((truth, links[place]) for truth, links in rest)) from error
            if observe:
                observe(number, row.pair, truth, links)
    for name, remark in zip(names, [blank.remark(), *(doubt.remark() for doubt in doubts)], strict=True):
        if remark:
            logger.warning("%s: %s", name, remark)
    if not len(counts[0]):
        raise WeftError(f"{display_name(gold)} contains no sentences to score.")
    signature = _signature(
        len(counts[0]), ignore_possible=ignore_possible, gold_base=truths.base, system_base=system_base
    )
    return [
        CorpusScore(display_name(path), column.as_array(), signature)
        for path, column in zip(systems, counts, strict=True)
    ]


def _gold_rows(
    gold: FilePath, base: int | None, sentences: tuple[FilePath, FilePath] | None, numbers: Sequence[int] | None
) -> GoldFile:
    """The gold links, beside their sentences where there are any."""
    if sentences is None:
        return GoldFile(gold, base=base, option="gold_base")
    pairs = rows_of_pairs(read_sentences(*sentences), numbers, sentences[0], gold)
    return GoldFile(gold, pairs, base=base, pairs_name=display_name(sentences[0]), option="gold_base")


def _compared(
    row: GoldRow, others: Sequence[NumberedLinks], *, ignore_possible: bool
) -> tuple[GoldAlignment, list[set[WordPair]]]:
    """The gold of one sentence, and each system's links."""
    truth = row.gold.only_sure() if ignore_possible else row.gold
    return truth, [{(link[0], link[1]) for link in other.links} for other in others]


def _explained(
    error: FormatError, doubt: MisplacedLinks, rest: Iterable[tuple[GoldAlignment, set[WordPair]]]
) -> FormatError:
    """A link that is out of range, with the likely reason, if the sentences after it show one."""
    with suppress(WeftError):  # one is enough
        for truth, links in islice(rest, doubt.most_sentences):
            doubt.add(truth, links)
    remark = doubt.remark()
    return error.because(remark[0].upper() + remark[1:]) if remark else error


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


def _signature(sentences: int, *, ignore_possible: bool, gold_base: int, system_base: int) -> str:
    parts = {
        "sentences": sentences,
        "gold": "sure" if ignore_possible else "sure+possible",
        "gold-base": gold_base,
        "system-base": system_base,
        "interval": f"bootstrap-{SAMPLES}",
        "test": f"permutation-{SAMPLES}",
        "seed": SEED,
        "version": __version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
