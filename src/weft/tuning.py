"""Choose layer, method, threshold and null on dev sets, and fit the curve from raw scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from os.path import isdir, isfile, splitext
from pathlib import Path
from shlex import quote

import numpy as np

from weft.annotation.project import gold_file, is_project
from weft.arrays import BoolArray, FloatArray, IntArray
from weft.encoding.encoder import Encoded, Encoder, encode_pairs
from weft.errors import SettingError, WeftError
from weft.extraction.calibration import Calibration
from weft.extraction.extractor import extract
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.scoring.corpus import score
from weft.scoring.counts import Rates
from weft.text.gold import GoldFile, read_sentences
from weft.text.pairs import read_pairs
from weft.types import GoldAlignment, SentencePair

FEWEST_LINKS = 100
# Off, and similarities around those that weft-mini gives to links.
NULLS = (None, 10.0, 12.0, 14.0, 15.0, 16.0, 18.0, 20.0)
# How far away another line's sentence is taken from: neighbours in a text may speak of the same.
_FAR = 37
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class DevSet:
    """Sentences with gold links, used to choose settings. Do not use test sets, whose scores are reported, for this."""

    name: str
    pairs: tuple[SentencePair, ...]
    gold: tuple[GoldAlignment, ...]

    @classmethod
    def read(cls, prefix: str) -> DevSet:
        """Read PREFIX.src, PREFIX.tgt and PREFIX.talp, or what is confirmed in an annotation project.

        Pairs with an empty side are left out.
        """
        stem, ending = splitext(prefix)
        if ending in (".src", ".tgt", ".talp") and isfile(prefix) and not isfile(f"{prefix}.src"):
            raise SettingError(f"{prefix} is only one file of a dev set; name the prefix: `dev` {quote(stem)}")
        if isdir(prefix) and not isfile(f"{prefix}.src") and not is_project(prefix):
            found = min((path.stem for path in Path(prefix).glob("*.src")), default="PREFIX")
            advice = f"name the prefix of the files in it: `dev` {quote(str(Path(prefix, found)))}"
            raise SettingError(f"{prefix} is a folder; {advice}")
        if is_project(prefix):
            source = links = gold_file(prefix)
            sentences = read_pairs(links)
        else:
            source, target, links = (Path(f"{prefix}.{ending}") for ending in ("src", "tgt", "talp"))
            sentences = read_sentences(source, target)
        rows = GoldFile(links, sentences, pairs_name=str(source))
        kept = [(row.pair, row.gold) for row in rows if row.pair and all("".join(side).strip() for side in row.pair)]
        if not any(gold.sure for _, gold in kept):
            raise WeftError(f"{links} contains no sure links; tuning needs some.")
        return cls(prefix, tuple(pair for pair, _ in kept), tuple(gold for _, gold in kept))

    def unrelated(self) -> DevSet:
        """Half as many pairs: each a source with the target of a distant line, so no link between them is right."""
        numbers = range(0, len(self.pairs), 2)
        pairs = (SentencePair(self.pairs[number].source, self._far_from(number).target) for number in numbers)
        return DevSet(self.name, tuple(pairs), (GoldAlignment(frozenset(), frozenset()),) * len(numbers))

    def half_translated(self) -> DevSet:
        """Half as many pairs, in which one side says more than the other.

        By turns, half a sentence of a distant line is added after the target or after the source, or the second half of
        the target or of the source is cut off.
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
    """One combination and its rates on each dev set, in percent. `present` marks the model's own settings."""

    layer: int | None
    settings: ExtractionSettings
    rates: tuple[Rates, ...]
    present: bool = False

    @property
    def mean_aer(self) -> float:
        """The mean over the dev sets, so that a large dev set does not decide alone."""
        return self.mean.aer

    @property
    def mean(self) -> Rates:
        """The mean of each rate over the dev sets."""
        return Rates(*np.mean([astuple(rates) for rates in self.rates], axis=0).tolist())


@dataclass(frozen=True, slots=True)
class CalibrationErrors:
    """By how much probabilities are off on average, from 0 to 1 (expected calibration error).

    Attributes:
        before: for raw scores on the dev sets.
        after: for probabilities on the dev sets, each from a curve that was fitted on other sentences.
        with_unrelated: the same, where every third pair consists of two unrelated sentences.
    """

    before: float
    after: float
    with_unrelated: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best combination, and how far its probabilities are off.

    `errors` is None if no curve was fitted, because the model's own settings are the best and have one, or because the
    dev sets have too few links. The model's curve then stays if it fits the settings.
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
    present: tuple[int | None, ExtractionSettings] | None = None,
    thresholds: Sequence[float] | None = None,
    nulls: Sequence[float | None] = NULLS,
    report: Callable[[Trial], None] = lambda trial: None,
) -> Tuned:
    """Try every layer with every method and threshold, then the best layer and method with every null and threshold.

    The combination with the lowest mean AER gets a curve for probabilities (see `calibrated`). If its AER is no lower
    than that of the model's present settings, these settings stay, with the curve that they have.

    Args:
        load: a function that returns the encoder, cut at a layer.
        layers: the layers to try.
        methods: the methods to try, each with its thresholds.
        dev_sets: the dev sets on which AER is measured.
        base: the settings for everything that is not tried.
        present: the model's present layer and settings, if it has any.
        thresholds: the thresholds to try with methods that have one; by default, each method's own.
        nulls: the nulls to try; layers and methods are compared with the first one.
        report: called with each trial.

    Raises:
        WeftError: there is nothing to try.
    """
    judge = _Judge(load, dev_sets, report)
    own = None if present is None else judge.trial(*present, present=True)
    first, *others = nulls or (base.null,)
    best: Trial | None = None
    for layer in layers:
        for settings in _combinations(methods, thresholds, [first], base):
            best = _better(best, judge.trial(layer, settings))
    if best is None:
        raise WeftError("there is nothing to choose from: no layer or no method was given.")
    layer, method = best.layer, best.settings.method
    for settings in _combinations([method], thresholds, others, base):
        best = _better(best, judge.trial(layer, settings))
    if own is not None and own.mean_aer <= best.mean_aer:
        best = own
        if own.settings.calibration is not None:
            return Tuned(own)
    settings, errors = calibrated(judge.encoder(best.layer), best.settings, dev_sets)
    if errors is None and own is not None and own.layer == best.layer and own.settings.same_scores(settings):
        settings = replace(settings, calibration=own.settings.calibration)
    return Tuned(replace(best, settings=settings), errors)


def _better(best: Trial | None, trial: Trial) -> Trial:
    return trial if best is None or trial.mean_aer < best.mean_aer else best


class _Judge:
    """Scores combinations on dev sets; sentences are encoded anew only where the layer changes."""

    def __init__(
        self,
        load: Callable[[int | None], Encoder],
        dev_sets: Sequence[DevSet],
        report: Callable[[Trial], None],
    ) -> None:
        self._load = load
        self._dev_sets = dev_sets
        self._report = report
        self._encoders: dict[int | None, Encoder] = {}
        self._encoded: dict[int | None, _Encoded] = {}

    def encoder(self, layer: int | None) -> Encoder:
        """The encoder cut at a layer; the last one stays loaded."""
        if layer not in self._encoders:
            self._encoders = {layer: self._load(layer)}
        return self._encoders[layer]

    def trial(self, layer: int | None, settings: ExtractionSettings, *, present: bool = False) -> Trial:
        """Try a combination and report it."""
        if layer not in self._encoded:
            encoder = self.encoder(layer)
            self._encoded = {layer: [encode_pairs(encoder, dev.pairs) for dev in self._dev_sets]}
        pairs = zip(self._encoded[layer], self._dev_sets, strict=True)
        rates = (score(dev.gold, extract(*one, settings)).rates for one, dev in pairs)
        trial = Trial(layer, settings, tuple(rates), present)
        self._report(trial)
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

    The curve is fitted on the dev sets, mixed with other pairs: for every four true pairs, two of unrelated sentences
    and one that is half translated. So probabilities also hold for text that is not a translation.

    Args:
        encoder: the encoder that computes the hidden states.
        settings: how links are extracted.
        dev_sets: sentences with gold links.

    Returns:
        The settings with the curve, and by how much its probabilities are off. If the dev sets have too few links, the
        settings without a curve, and None.
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
