"""Everything that a training run depends on: read from TOML and options, checked, and saved beside the model."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any

from weft.errors import FormatError, SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.resolve import resolve_model
from weft.training.checking import configured

OBJECTIVES = ("mlm", "tlm", "so", "psi", "co")
_METHODS = ("softmax", "entmax")

Range = tuple[Callable[[float], bool], str]
_POSITIVE: Range = (lambda value: value > 0, "above 0")
_NOT_NEGATIVE: Range = (lambda value: value >= 0, "at least 0")
_ONE_OR_MORE: Range = (lambda value: value >= 1, "at least 1")
_UNDER_ONE: Range = (lambda value: 0 <= value < 1, "at least 0 and under 1")
_SHARE: Range = (lambda value: 0 <= value <= 1, "between 0 and 1")
_RANGES = {
    **dict.fromkeys(("batch_size", "batch_tokens", "max_subwords", "max_steps", "patience"), _ONE_OR_MORE),
    **dict.fromkeys(("log_every", "eval_every", "save_every"), _ONE_OR_MORE),
    **dict.fromkeys(("learning_rate", "epochs", "temperature", "clip"), _POSITIVE),
    **dict.fromkeys(("beta", "weight_decay", "layer", "seed", "workers"), _NOT_NEGATIVE),
    "warmup": _UNDER_ONE,
}


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """One source of sentence pairs."""

    path: str
    """Pairs in any format, or the source side if `target` is given."""
    target: str | None = None
    """The target side of two parallel files."""
    links: str | None = None
    """Gold or silver links line by line; an empty line means that none are given for it."""
    weight: float = 1.0
    """How much a pair of this source counts in SO and CO."""
    limit: int | None = None
    """At most so many pairs, drawn at random."""

    def __post_init__(self) -> None:
        _check_ranges(self, {"weight": _NOT_NEGATIVE, "limit": _ONE_OR_MORE})


@dataclass(frozen=True, slots=True)
class GuideConfig:
    """Where the links of SO come from when none are given, and how far given links are trusted."""

    threshold: float | None = None
    """The model links what both directions give more than this; the base model's own or the method's if not given."""
    strict: float = 0.0
    """A stricter threshold for self-training: links below it are not learned from. 0 is the paper."""
    denoise_after: float = 1.0
    """From this share of the run on, given links are checked against the model; 1 is never."""
    denoise_keep: float = 0.05
    """A given link stays only if one direction gives it more than this."""
    denoise_add: float = 0.5
    """A link is added to given ones if both directions give it more than this."""

    def __post_init__(self) -> None:
        _check_ranges(self, {item.name: _SHARE for item in fields(self)})


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """A training run. The defaults are the paper's for fine-tuning an existing encoder."""

    output: str
    corpora: tuple[CorpusConfig, ...]
    model: str = "bert-base-multilingual-cased"
    layer: int | None = None
    objectives: tuple[str, ...] = ("mlm", "tlm", "so", "psi")
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
    epochs: float = 1.0
    max_steps: int | None = None
    batch_size: int = 8
    """Pairs in a step, over all processes."""
    batch_tokens: int = 8192
    """Subwords that go through the encoder at once; a step is cut into as many pieces as that takes."""
    learning_rate: float = 2e-5
    weight_decay: float = 0.0
    warmup: float = 0.0
    """Share of the steps over which the learning rate rises; then it falls to 0 in a straight line."""
    clip: float = 1.0
    precision: str = "no"
    """`no` (float32), `bf16` or `fp16`."""
    seed: int = 42
    dev: tuple[str, ...] = ()
    """Prefixes of dev sets; the checkpoint with the lowest mean AER is kept."""
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
        unknown = sorted(set(self.objectives) - set(OBJECTIVES))
        _check(not unknown, "objectives", f"must be some of {', '.join(OBJECTIVES)}, got {', '.join(unknown)}")
        _check(bool(self.objectives), "objectives", "must name at least one objective")
        _check(bool(self.corpora), "corpora", "must name at least one corpus")
        _check_choice(self, "method", (None, *_METHODS))
        _check_choice(self, "overlap", ("error", "drop"))
        _check_choice(self, "precision", ("no", "bf16", "fp16"))
        _check_ranges(self, _RANGES)

    @property
    def extraction(self) -> ExtractionSettings:
        """How the trained model takes links, and its guide while training."""
        return ExtractionSettings().updated(method=self.method, threshold=self.guide.threshold, alpha=self.alpha)

    def settled(self) -> TrainingConfig:
        """The same with what is not given taken from the base model: a tuned model keeps its method and threshold."""
        base = ExtractionSettings() if self.architecture else resolve_model(self.model).settings.extraction
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
        return cls.from_record({**record, **{name: value for name, value in changes.items() if value is not None}})

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


def _check_choice(settings: object, name: str, choices: tuple[str | None, ...]) -> None:
    value = getattr(settings, name)
    *some, last = (str(choice) for choice in choices if choice is not None)
    _check(value in choices, name, f"must be {', '.join(some)} or {last}, got {value!r}")


def _check_ranges(settings: object, ranges: dict[str, Range]) -> None:
    """Numbers that are not given are right, and those that are no numbers are not."""
    for name, (allowed, words) in ranges.items():
        value = getattr(settings, name)
        _check(value is None or (isfinite(value) and allowed(value)), name, f"must be {words}, got {value}")
