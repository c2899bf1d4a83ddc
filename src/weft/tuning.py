"""Choose layer, method, threshold and null on dev sets, and fit the curve from raw scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np

from weft.arrays import BoolArray, FloatArray, IntArray
from weft.encoding.encoder import Encoded, Encoder, encode_pairs
from weft.errors import WeftError
from weft.extraction.calibration import Calibration
from weft.extraction.extractor import extract
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.scoring.corpus import score
from weft.scoring.counts import Rates
from weft.text.gold import GoldFile, read_sentences
from weft.types import GoldAlignment, SentencePair

FEWEST_LINKS = 100
# Off, and similarities around those that weft-mini gives to links.
NULLS = (None, 10.0, 12.0, 14.0, 15.0, 16.0, 18.0, 20.0)
# How far away another line's sentence is taken from: neighbours in a text may speak of the same.
_FAR = 37
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class DevSet:
    """Sentences with gold links to choose settings by; test sets are for reporting and have no place here."""

    name: str
    pairs: tuple[SentencePair, ...]
    gold: tuple[GoldAlignment, ...]

    @classmethod
    def read(cls, prefix: str) -> DevSet:
        """Read PREFIX.src, PREFIX.tgt and PREFIX.talp; sentences with an empty side are left out."""
        source, target, links = (Path(f"{prefix}.{ending}") for ending in ("src", "tgt", "talp"))
        rows = GoldFile(links, read_sentences(source, target), pairs_name=str(source))
        kept = [(row.pair, row.gold) for row in rows if row.pair and all("".join(side).strip() for side in row.pair)]
        if not any(gold.sure for _, gold in kept):
            raise WeftError(f"{links} contains no sure links; tuning needs some.")
        return cls(prefix, tuple(pair for pair, _ in kept), tuple(gold for _, gold in kept))

    def unrelated(self) -> DevSet:
        """Half as many pairs: a source with the target of a line far away, so that no link between them is right."""
        numbers = range(0, len(self.pairs), 2)
        pairs = (SentencePair(self.pairs[number].source, self._far_from(number).target) for number in numbers)
        return DevSet(self.name, tuple(pairs), (GoldAlignment(frozenset(), frozenset()),) * len(numbers))

    def half_translated(self) -> DevSet:
        """Half as many pairs, of which one side says more than the other.

        In turn: half a sentence of a line far away is added after the target or after the source, or the second half
        of the target or of the source is cut off.
        """
        found = [self._half_translated(number, way) for way, number in enumerate(range(1, len(self.pairs), 2))]
        return DevSet(self.name, tuple(pair for pair, _ in found), tuple(gold for _, gold in found))

    def _half_translated(self, number: int, way: int) -> tuple[SentencePair, GoldAlignment]:
        gold, sides = self.gold[number], list(self.pairs[number])
        side = 1 - way % 2
        if way % 4 < 2:
            sides[side] += _first_half(self._far_from(number)[side])
        else:
            sides[side] = _first_half(sides[side])
        kept = [
            frozenset(link for link in links if link[side] < len(sides[side])) for links in (gold.sure, gold.possible)
        ]
        return SentencePair(*sides), GoldAlignment(*kept)

    def _far_from(self, number: int) -> SentencePair:
        count = len(self.pairs)
        return self.pairs[(number + (_FAR if count % _FAR and count > 1 else 1)) % count]


def _first_half(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[: (len(words) + 1) // 2]


@dataclass(frozen=True, slots=True)
class Trial:
    """One combination and its rates on each dev set, in percent."""

    layer: int | None
    settings: ExtractionSettings
    rates: tuple[Rates, ...]

    @property
    def mean_aer(self) -> float:
        """The mean over the dev sets, so that a large one does not decide alone."""
        return self.mean.aer

    @property
    def mean(self) -> Rates:
        """The mean of each rate over the dev sets."""
        return Rates(*np.mean([astuple(rates) for rates in self.rates], axis=0).tolist())


@dataclass(frozen=True, slots=True)
class CalibrationErrors:
    """How far probabilities are off on average, from 0 to 1 (expected calibration error).

    Attributes:
        before: of raw scores on the dev sets.
        after: of probabilities on the dev sets, each read off a curve that was fitted on other sentences.
        with_unrelated: likewise where every third pair has two unrelated sentences.
    """

    before: float
    after: float
    with_unrelated: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best combination, and how well its probabilities hold.

    `errors` is None where the dev sets hold too few links to fit a curve; the settings then have none.
    """

    best: Trial
    errors: CalibrationErrors | None = None


_Encoded = list[tuple[Encoded, IntArray]]


def tune(
    load: Callable[[int | None], Encoder],
    layers: Sequence[int | None],
    methods: Sequence[str],
    dev_sets: Sequence[DevSet],
    *,
    base: ExtractionSettings,
    thresholds: Sequence[float] | None = None,
    nulls: Sequence[float | None] = NULLS,
    report: Callable[[Trial], None] = lambda trial: None,
) -> Tuned:
    """Try every layer with every method and threshold, then the best of them with every null and threshold.

    The combination with the lowest mean AER gets a curve for probabilities (`calibrated`).

    Args:
        load: gives the encoder cut at a layer.
        layers: the layers to try.
        methods: the methods to try, each with its thresholds.
        dev_sets: what to judge by.
        base: settings for all that is not tried.
        thresholds: the thresholds to try with methods that have one; each method's own by default.
        nulls: the nulls to try; layers and methods are compared with the first.
        report: called with each trial.

    Raises:
        WeftError: if there is nothing to try.
    """
    best: Trial | None = None
    best_encoded: _Encoded = []
    first, *others = nulls or (base.null,)
    for layer in layers:
        encoder = load(layer)
        encoded = [encode_pairs(encoder, dev.pairs) for dev in dev_sets]
        for settings in _combinations(methods, thresholds, [first], base):
            trial = _tried(layer, settings, encoded, dev_sets, report)
            if best is None or trial.mean_aer < best.mean_aer:
                best, best_encoded = trial, encoded
    if best is None:
        raise WeftError("there is nothing to choose from: no layer or no method was given.")
    for settings in _combinations([best.settings.method], thresholds, others, base):
        trial = _tried(best.layer, settings, best_encoded, dev_sets, report)
        if trial.mean_aer < best.mean_aer:
            best = trial
    settings, errors = calibrated(encoder if layer == best.layer else load(best.layer), best.settings, dev_sets)
    return Tuned(replace(best, settings=settings), errors)


def _tried(
    layer: int | None,
    settings: ExtractionSettings,
    encoded: _Encoded,
    dev_sets: Sequence[DevSet],
    report: Callable[[Trial], None],
) -> Trial:
    rates = (score(dev.gold, extract(*one, settings)).rates for one, dev in zip(encoded, dev_sets, strict=True))
    trial = Trial(layer, settings, tuple(rates))
    report(trial)
    return trial


def _combinations(
    methods: Sequence[str],
    thresholds: Sequence[float] | None,
    nulls: Sequence[float | None],
    base: ExtractionSettings,
) -> Iterable[ExtractionSettings]:
    for name in methods:
        method = METHODS[name]
        tried = method.trial_thresholds if thresholds is None or method.threshold is None else thresholds
        for null in nulls:
            for threshold in tried or (None,):
                yield replace(base, method=name, threshold=threshold, null=null, calibration=None)


def dev_aer(encoded: tuple[Encoded, IntArray], settings: ExtractionSettings, dev: DevSet) -> float:
    """The AER in percent of a dev set whose sentences are encoded already."""
    return score(dev.gold, extract(*encoded, settings)).rates.aer


@dataclass(frozen=True, slots=True)
class ScoredLinks:
    """Links of several sentence pairs: raw scores, whether gold has them, and the fold of their sentence; (links,)."""

    scores: FloatArray
    right: BoolArray
    fold: IntArray

    @classmethod
    def of(cls, encoder: Encoder, settings: ExtractionSettings, dev_sets: Sequence[DevSet]) -> ScoredLinks:
        """Align dev sets. Folds are runs of sentences: none is judged by a curve that it helped to fit."""
        rows: list[tuple[float, bool, int]] = []
        for dev in dev_sets:
            alignments = extract(*encode_pairs(encoder, dev.pairs), settings, scores=Scores.RAW)
            for number, (alignment, gold) in enumerate(zip(alignments, dev.gold, strict=True)):
                fold = number * _FOLDS // len(dev.pairs)
                rows += [(link.score or 0.0, link.indices in gold.possible, fold) for link in alignment.links]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        return cls(np.array(columns[0], dtype=np.float64), np.array(columns[1], dtype=np.bool_), np.array(columns[2]))

    def __add__(self, other: ScoredLinks) -> ScoredLinks:
        return ScoredLinks(
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.right, other.right]),
            np.concatenate([self.fold, other.fold]),
        )

    def every_other(self) -> ScoredLinks:
        """Half of the links."""
        return ScoredLinks(self.scores[::2], self.right[::2], self.fold[::2])


def calibrated(
    encoder: Encoder, settings: ExtractionSettings, dev_sets: Sequence[DevSet]
) -> tuple[ExtractionSettings, CalibrationErrors | None]:
    """Fit the curve from raw scores to probabilities.

    It is fitted on the dev sets mixed with unrelated sentences and half-translated ones, two and one for four true
    pairs, so that probabilities also hold where a text is not a translation.

    Args:
        encoder: gives the hidden states.
        settings: how links are taken.
        dev_sets: sentences with gold links.

    Returns:
        The settings with the curve, and how far its probabilities are off; settings without a curve and None where
        the dev sets hold too few links.
    """
    settings = replace(settings, calibration=None)
    true = ScoredLinks.of(encoder, settings, dev_sets)
    if len(true.scores) < FEWEST_LINKS:
        return settings, None
    unrelated = ScoredLinks.of(encoder, settings, [dev.unrelated() for dev in dev_sets])
    half = ScoredLinks.of(encoder, settings, [dev.half_translated() for dev in dev_sets])
    mixture = true + unrelated + half.every_other()
    errors = CalibrationErrors(
        before=calibration_error(true.scores, true.right),
        after=_cross_validated(mixture, true),
        with_unrelated=_cross_validated(mixture, true + unrelated),
    )
    return replace(settings, calibration=Calibration.fit(mixture.scores, mixture.right)), errors


def calibration_error(probabilities: FloatArray, right: BoolArray, *, bins: int = 10) -> float:
    """Expected calibration error: the mean gap between promised and real shares of right links, over equal bins."""
    order = np.argsort(probabilities, kind="stable")
    groups = [members for members in np.array_split(order, bins) if len(members)]
    gaps = [abs(probabilities[members].mean() - right[members].mean()) * len(members) for members in groups]
    return float(sum(gaps) / len(probabilities))


def _cross_validated(fitted: ScoredLinks, judged: ScoredLinks) -> float:
    """The error of probabilities that were fitted on other sentences than those they are judged on."""
    predicted = np.empty_like(judged.scores)
    for number in range(_FOLDS):
        kept = fitted.fold != number
        held_out = judged.fold == number
        if kept.any():
            predicted[held_out] = Calibration.fit(fitted.scores[kept], fitted.right[kept])(judged.scores[held_out])
        else:
            predicted[held_out] = judged.scores[held_out]
    return calibration_error(predicted, judged.right)
