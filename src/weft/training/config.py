"""Everything that a training run depends on: read from TOML and options, checked, and saved beside the model."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from weft.errors import FormatError, SettingError
from weft.extraction.settings import ExtractionSettings
from weft.text.fields import PairFields
from weft.text.pairs import PairFormat
from weft.training.checking import configured

PAPER_OBJECTIVES = ("mlm", "tlm", "so", "psi")
STATISTICAL = "eflomal"
_METHODS = ("softmax", "entmax", "geometric")

Range = tuple[Callable[[float], bool], str]
_POSITIVE: Range = (lambda value: value > 0, "above 0")
_NOT_NEGATIVE: Range = (lambda value: value >= 0, "at least 0")
_ONE_OR_MORE: Range = (lambda value: value >= 1, "at least 1")
_UNDER_ONE: Range = (lambda value: 0 <= value < 1, "at least 0 and under 1")
_SHARE: Range = (lambda value: 0 <= value <= 1, "between 0 and 1")
_RANGES = {
    **dict.fromkeys(("batch_size", "batch_tokens", "max_subwords", "max_steps", "patience"), _ONE_OR_MORE),
    **dict.fromkeys(("log_every", "eval_every", "save_every"), _ONE_OR_MORE),
    **dict.fromkeys(("learning_rate", "epochs", "temperature", "clip", "minutes"), _POSITIVE),
    **dict.fromkeys(("beta", "weight_decay", "layer", "workers", "extend_vocabulary"), _NOT_NEGATIVE),
    **dict.fromkeys(("warmup", "dropout", "held_out"), _UNDER_ONE),
    "changed": _SHARE,
    "seed": (lambda value: 0 <= value < 1 << 63, "at least 0 and under 2 to the power of 63"),
    "null": (lambda value: True, "a finite number"),
}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """One source of sentence pairs."""

    path: str
    """Pairs in any format, or the source side if `target` is given."""
    target: str | None = None
    """The target side of two parallel files."""
    links: str | None = None
    """Gold or silver links line by line; an empty line means that none are given for it. `eflomal` has them made by
    a statistical aligner."""
    through: str | None = None
    """The same sentences in a third language, line by line: a teacher is asked about both sides with these. A blank
    line means that there is none."""
    silver: bool = False
    """Whether the links are an aligner's: `gold` then learns nothing from links that are missing."""
    weight: float = 1.0
    """How much a pair of this source counts in all that is learned from links or probabilities."""
    limit: int | None = None
    """At most so many pairs, drawn at random."""
    repeat: float | None = None
    """How often each pair is seen in an epoch; 8 times for gold links that the objective `gold` learns from."""
    raw: bool = False
    """The text is not split into words yet."""
    source_language: str | None = None
    """Of raw text: its code, as de or ja."""
    target_language: str | None = None
    through_language: str | None = None
    input_format: str = "auto"
    """How a line holds its pair: `auto`, `bars`, `tsv` or `jsonl`."""
    source_field: str | None = None
    """Of JSONL: the field with the source sentence."""
    target_field: str | None = None
    columns: str | None = None
    """Of TSV: the names of the columns, as in id,source,target."""

    def __post_init__(self) -> None:
        _check_ranges(self, {"weight": _NOT_NEGATIVE, "limit": _ONE_OR_MORE, "repeat": _POSITIVE})
        _check_choice(self, "input_format", tuple(PairFormat))
        PairFields.of(self.source_field, self.target_field, self.columns)  # names that make no sense are known at once
        languages = self.source_language or self.target_language or self.through_language
        _check(self.raw or not languages, "source_language", "and `target_language` need `raw`")


@dataclass(frozen=True, slots=True)
class GuideConfig:
    """Where the links of SO come from when none are given, and how far given links are trusted."""

    threshold: float | None = None
    """The model links what both directions give more than this; the base model's own or the method's if not given."""
    strict: float = 0.0
    """A stricter threshold for self-training: links below it are not learned from. 0 is the paper."""
    denoise_after: float | None = None
    """From this share of the run on, given links that are not gold are checked against the model; 1, which is never,
    or 0.5 for a new language."""
    denoise_keep: float = 0.05
    """A given link stays only if one direction gives it more than this."""
    denoise_add: float = 0.5
    """A link is added to given ones if both directions give it more than this."""

    def __post_init__(self) -> None:
        _check_ranges(self, {item.name: _SHARE for item in fields(self)})


@dataclass(frozen=True, slots=True)
class GoldConfig:
    """What the objective `gold` weighs beside giving linked words all the probability."""

    cross: float = 0.5
    """The cross entropy with each link, and with the null for words without links."""
    stray: float = 2.0
    """Pairs of subwords that are not linked and find each other."""

    def __post_init__(self) -> None:
        _check_ranges(self, {item.name: _NOT_NEGATIVE for item in fields(self)})


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """A training run. What is None is chosen by the base model (`weft.training.defaults`)."""

    output: str
    corpora: tuple[CorpusConfig, ...]
    model: str = "bert-base-multilingual-cased"
    layer: int | None = None
    extend_vocabulary: int = 0
    """So many pieces at most are added to the vocabulary, for words that it cannot read."""
    objectives: tuple[str, ...] | None = None
    """Names in the table of objectives; the paper's for encoders that read sentences apart."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights of objectives by name, where they are to differ from the table's."""
    teacher: str | None = None
    """The model whose probabilities `teacher` and `unrelated` learn from; the starting model if not given."""
    null: float | None = None
    """The similarity of a word that is not there, to which words without a counterpart point."""
    changed: float = 0.34
    """Share of the pairs beside which `unrelated` puts one that is no translation, or not quite."""
    gold: GoldConfig = field(default_factory=GoldConfig)
    dropout: float | None = None
    """Share of activations dropped; the base model's own if not given."""
    method: str | None = None
    """How similarities become probabilities, in the losses and in the guide: `softmax` or `entmax`; the base model's
    own if not given, or softmax."""
    alpha: float | None = None
    """The sparsity of entmax; 1.5 if neither this nor the base model says otherwise."""
    beta: float = 1.0
    """Weight of CO where it is among the objectives."""
    guide: GuideConfig = field(default_factory=GuideConfig)
    use_possible: bool = True
    """Whether possible links of gold are learned from."""
    temperature: float = 1.0
    """Corpora are sampled in proportion to size^(1/temperature); 1 takes every pair once an epoch."""
    exclude: tuple[str, ...] = ()
    """Prefixes of test sets (PREFIX.src, PREFIX.tgt) whose sentences must not be in the corpora."""
    overlap: str = "error"
    """What to do about such sentences: `error` or `drop`."""
    max_subwords: int = 128
    """Pairs with a longer side are left out."""
    epochs: float | None = None
    """Rounds through the text; 1, or as many as there is time for if `minutes` is given."""
    max_steps: int | None = None
    minutes: float | None = None
    """Stop after this time, whatever else is set; the learning rate falls to 0 by then."""
    batch_size: int | None = None
    """Pairs in a step, over all processes."""
    batch_tokens: int | None = None
    """Subwords that go through the encoder at once; a step is cut into as many pieces as that takes. 8,192, or 512 on a
    CPU, where small pieces cost nothing and have less padding. What is learned does not depend on it."""
    learning_rate: float | None = None
    weight_decay: float = 0.0
    warmup: float | None = None
    """Share of the steps over which the learning rate rises; then it falls to 0 in a straight line."""
    clip: float = 1.0
    precision: str = "no"
    """`no` (float32), `bf16` or `fp16`."""
    seed: int = 42
    dev: tuple[str, ...] = ()
    """Prefixes of dev sets; the weights with the lowest mean AER are kept, those at the start among them."""
    held_out: float | None = None
    """Without a dev set, the share of the pairs that is kept back; the weights with the lowest loss there are kept."""
    log_every: int = 10
    eval_every: int = 500
    save_every: int = 500
    patience: int | None = None
    """Stop after so many evaluations without a better AER."""
    workers: int = 2
    """Processes that prepare batches."""
    tensorboard: bool = False
    architecture: dict[str, Any] | None = None
    """For training from scratch: `model_type` and the fields of its Hugging Face configuration; `model` then
    names the folder that holds the tokenizer."""

    def __post_init__(self) -> None:
        if self.objectives is not None:
            _check(bool(self.objectives), "objectives", "must name at least one objective")
            _check_objectives("objectives", self.objectives)
        _check_objectives("weights", self.weights)
        for weight in self.weights.values():
            _check(isfinite(weight) and weight >= 0, "weights", f"must be at least 0, got {weight}")
        _check(bool(self.corpora), "corpora", "must name at least one corpus")
        _check_choice(self, "method", (None, *_METHODS))
        _check_choice(self, "overlap", ("error", "drop"))
        _check_choice(self, "precision", ("no", "bf16", "fp16"))
        _check_ranges(self, _RANGES)

    @property
    def extraction(self) -> ExtractionSettings:
        """How the trained model takes links, and its guide while training."""
        given = {"method": self.method, "threshold": self.guide.threshold, "alpha": self.alpha, "null": self.null}
        return ExtractionSettings().updated(**given)

    @property
    def chosen_objectives(self) -> tuple[str, ...]:
        """The objectives given, or the paper's."""
        return PAPER_OBJECTIVES if self.objectives is None else self.objectives

    def with_extraction_of(self, base: ExtractionSettings) -> TrainingConfig:
        """The same with what is not given taken from the base model: a tuned model keeps its method and threshold."""
        if base.method not in _METHODS:
            base = ExtractionSettings()
        found = base.updated(method=self.method, threshold=self.guide.threshold, alpha=self.alpha)
        guide = replace(self.guide, threshold=found.threshold)
        return replace(self, method=str(found.method), alpha=found.alpha, guide=guide)

    @classmethod
    def read(cls, path: str | Path, **changes: Any) -> TrainingConfig:
        """Read a TOML file; `changes` that are not None win over it."""
        try:
            record = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FormatError(str(path), None, f"expected TOML ({error}).") from error
        if "corpus" in record:
            record["corpora"] = record.pop("corpus")
        given = {name: value for name, value in changes.items() if value is not None}
        try:
            return cls.from_record({**record, **given})
        except SettingError as error:
            # Settings are named as the file names them, not as options.
            raise SettingError(f"{path}: {str(error).replace('`', chr(39))}") from error

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> TrainingConfig:
        """Make a configuration of plain values; names that do not exist are an error, not ignored."""
        return configured(cls, record)

    def save(self, path: Path) -> None:
        """Write the effective configuration as JSON."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _check(right: bool, name: str, message: str) -> None:
    if not right:
        raise SettingError(f"`{name}` {message}.")


def _check_objectives(name: str, found: Iterable[str]) -> None:
    found = set(found)
    if not found:
        return
    from weft.training.objectives import OBJECTIVES  # needs torch, and reads this module

    unknown = sorted(found - set(OBJECTIVES))
    _check(not unknown, name, f"must be one or more of {', '.join(OBJECTIVES)}, got {', '.join(unknown)}")


def known(value: T | None) -> T:
    """A setting that was chosen by the base model if it was not given."""
    assert value is not None, "settings are settled before a run"
    return value


def _check_choice(settings: object, name: str, choices: tuple[str | None, ...]) -> None:
    value = getattr(settings, name)
    *some, last = (str(choice) for choice in choices if choice is not None)
    _check(value in choices, name, f"must be {', '.join(some)} or {last}, got {value!r}")


def _check_ranges(settings: object, ranges: dict[str, Range]) -> None:
    """Numbers that are not given are right, and those that are no numbers are not."""
    for name, (allowed, words) in ranges.items():
        value = getattr(settings, name)
        _check(value is None or (isfinite(value) and allowed(value)), name, f"must be {words}, got {value}")
