"""Choose layer, method and threshold on dev sets, and fit the curve from raw scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weft.arrays import IntArray
from weft.encoding.encoder import Encoded, Encoder, encode_pairs
from weft.errors import WeftError
from weft.extraction.calibration import Calibration
from weft.extraction.extractor import extract
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.scoring.corpus import score
from weft.text.gold import GoldFile, read_sentences
from weft.types import GoldAlignment, SentencePair

FEWEST_LINKS = 100
# Off, and similarities around those that weft-mini gives to links.
NULLS = (None, 10.0, 12.0, 14.0, 15.0, 16.0, 18.0, 20.0)


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
        kept = [(row.pair, row.gold) for row in rows if row.pair and row.pair.source]
        if not any(gold.sure for _, gold in kept):
            raise WeftError(f"{links} holds no sure links to choose settings by.")
        return cls(prefix, tuple(pair for pair, _ in kept), tuple(gold for _, gold in kept))


@dataclass(frozen=True, slots=True)
class Trial:
    """One combination and its AER on each dev set, in percent."""

    layer: int | None
    settings: ExtractionSettings
    aers: tuple[float, ...]

    @property
    def mean_aer(self) -> float:
        """The mean over the dev sets, so that a large one does not decide alone."""
        return sum(self.aers) / len(self.aers)


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best combination, and how far its probabilities are off (0 to 1) before and after calibration.

    Both are None where the dev sets hold too few links to fit a curve; the settings then have none.
    """

    best: Trial
    error_before: float | None = None
    error_after: float | None = None


_Encoded = list[tuple[Encoded, IntArray]]


def tune(
    load: Callable[[int | None], Encoder],
    layers: Sequence[int | None],
    methods: Sequence[str],
    dev_sets: Sequence[DevSet],
    *,
    base: ExtractionSettings,
    nulls: Sequence[float | None] = NULLS,
    report: Callable[[Trial], None] = lambda trial: None,
) -> Tuned:
    """Try every layer with every method and threshold, then the best of them with every null and threshold.

    Args:
        load: gives the encoder cut at a layer.
        layers: the layers to try.
        methods: the methods to try, each with its thresholds.
        dev_sets: what to judge by.
        base: settings for all that is not tried.
        nulls: the nulls to try; layers and methods are compared with the first.
        report: called with each trial.
    """
    best: Trial | None = None
    best_encoded: _Encoded = []
    first, *others = nulls or (base.null,)
    for layer in layers:
        encoder = load(layer)
        encoded = [encode_pairs(encoder, dev.pairs) for dev in dev_sets]
        for settings in _combinations(methods, [first], base):
            trial = _tried(layer, settings, encoded, dev_sets, report)
            if best is None or trial.mean_aer < best.mean_aer:
                best, best_encoded = trial, encoded
    if best is None:
        raise WeftError("there is nothing to choose from: no layer or no method was given.")
    for settings in _combinations([best.settings.method], others, base):
        trial = _tried(best.layer, settings, best_encoded, dev_sets, report)
        if trial.mean_aer < best.mean_aer:
            best = trial
    return _calibrated(best, best_encoded, dev_sets)


def _tried(
    layer: int | None,
    settings: ExtractionSettings,
    encoded: _Encoded,
    dev_sets: Sequence[DevSet],
    report: Callable[[Trial], None],
) -> Trial:
    aers = tuple(dev_aer(one, settings, dev) for one, dev in zip(encoded, dev_sets, strict=True))
    trial = Trial(layer, settings, aers)
    report(trial)
    return trial


def _combinations(
    methods: Sequence[str], nulls: Sequence[float | None], base: ExtractionSettings
) -> Iterable[ExtractionSettings]:
    for method in methods:
        for null in nulls:
            for threshold in METHODS[method].trial_thresholds or (None,):
                yield replace(base, method=method, threshold=threshold, null=null, calibration=None)


def dev_aer(encoded: tuple[Encoded, IntArray], settings: ExtractionSettings, dev: DevSet) -> float:
    """The AER in percent of a dev set whose sentences are encoded already."""
    return score(dev.gold, extract(*encoded, settings)).rates.aer


def _calibrated(best: Trial, encoded: _Encoded, dev_sets: Sequence[DevSet]) -> Tuned:
    raw, right = [], []
    for one, dev in zip(encoded, dev_sets, strict=True):
        for alignment, gold in zip(extract(*one, best.settings, scores=Scores.RAW), dev.gold, strict=True):
            raw += [link.score for link in alignment.links]
            right += [link.indices in gold.possible for link in alignment.links]
    scores, hits = np.asarray(raw, dtype=np.float64), np.asarray(right, dtype=np.bool_)
    if len(scores) < FEWEST_LINKS:
        return Tuned(best)
    settings = replace(best.settings, calibration=Calibration.fit(scores, hits))
    return Tuned(replace(best, settings=settings), calibration_error(scores, hits), _cross_validated(scores, hits))


def calibration_error(probabilities: np.ndarray, right: np.ndarray, *, bins: int = 10) -> float:
    """Expected calibration error: the mean gap between promised and real shares of right links, over equal bins."""
    order = np.argsort(probabilities, kind="stable")
    groups = [members for members in np.array_split(order, bins) if len(members)]
    gaps = [abs(probabilities[members].mean() - right[members].mean()) * len(members) for members in groups]
    return float(sum(gaps) / len(probabilities))


def _cross_validated(scores: np.ndarray, right: np.ndarray, *, folds: int = 5) -> float:
    """The error of probabilities that were fitted on other links than those they are judged on."""
    fold = np.arange(len(scores)) * folds // len(scores)
    predicted = np.empty_like(scores)
    for number in range(folds):
        held_out = fold == number
        predicted[held_out] = Calibration.fit(scores[~held_out], right[~held_out])(scores[held_out])
    return calibration_error(predicted, right)
