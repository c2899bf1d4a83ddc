"""Everything that a training run depends on: read from TOML and options, checked, and saved beside the model."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from weft.errors import FormatError, SettingError
from weft.extraction.settings import ExtractionSettings
from weft.training.checking import configured
from weft.training.config_parts import (
    NOT_NEGATIVE,
    ONE_OR_MORE,
    POSITIVE,
    SHARE,
    UNDER_ONE,
    ChangesConfig,
    CorpusConfig,
    GoldConfig,
    GuideConfig,
    MaskingConfig,
    ThroughConfig,
    check,
    check_choice,
    check_ranges,
)

__all__ = [
    "ChangesConfig",
    "CorpusConfig",
    "GoldConfig",
    "GuideConfig",
    "MaskingConfig",
    "ThroughConfig",
    "TrainingConfig",
    "known",
]

PAPER_OBJECTIVES = ("mlm", "tlm", "so", "psi")
STATISTICAL, STATISTICAL_LIBRARY = "eflomal", "thot"
_METHODS = ("softmax", "entmax", "geometric")

_RANGES = {
    **dict.fromkeys(("batch_size", "batch_tokens", "max_subwords", "max_steps", "patience"), ONE_OR_MORE),
    **dict.fromkeys(("step_tokens", "teacher_tokens"), ONE_OR_MORE),
    **dict.fromkeys(("log_every", "eval_every", "save_every"), ONE_OR_MORE),
    **dict.fromkeys(("learning_rate", "epochs", "temperature", "clip", "minutes"), POSITIVE),
    **dict.fromkeys(
        ("beta", "weight_decay", "layer", "workers", "extend_vocabulary", "matrix_learning_rate"), NOT_NEGATIVE
    ),
    **dict.fromkeys(("warmup", "dropout", "held_out", "adam_beta", "start_share"), UNDER_ONE),
    "changed": SHARE,
    "seed": (lambda value: 0 <= value < 1 << 63, "at least 0 and under 2 to the power of 63"),
    "null": (lambda value: True, "a finite number"),
}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The settings of a training run. For settings that are None, the base model decides (`weft.training.defaults`)."""

    output: str
    corpora: tuple[CorpusConfig, ...]
    model: str = "bert-base-multilingual-cased"
    layer: int | None = None
    extend_vocabulary: int = 0
    """The maximum number of subwords added to the vocabulary, for words that it cannot read."""
    objectives: tuple[str, ...] | None = None
    """Names from the table of objectives. By default, the paper's for encoders that read sentences separately."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights of objectives by name, if they differ from those in the table."""
    teacher: str | None = None
    """The model whose probabilities `teacher` and `unrelated` learn from; by default, the starting model."""
    null: float | None = None
    """The similarity of every word to the null, an imaginary word to which words without a counterpart point."""
    changed: float = 0.34
    """Share of the pairs for which `unrelated` adds a changed pair, which is not a translation or only partly one."""
    changes: ChangesConfig = field(default_factory=ChangesConfig)
    masking: MaskingConfig = field(default_factory=MaskingConfig)
    through: ThroughConfig = field(default_factory=ThroughConfig)
    gold: GoldConfig = field(default_factory=GoldConfig)
    dropout: float | None = None
    """Share of activations dropped; by default, the base model's own."""
    method: str | None = None
    """How similarities become probabilities, in the losses and in the guide: `softmax`, `entmax` or `geometric`; by
    default, the base model's own, or softmax."""
    alpha: float | None = None
    """The sparsity of entmax; by default, the base model's own, or 1.5."""
    beta: float = 1.0
    """Weight of CO, if it is one of the objectives."""
    guide: GuideConfig = field(default_factory=GuideConfig)
    use_possible: bool = True
    """Whether possible links of gold are learned from."""
    temperature: float = 1.0
    """Corpora are sampled in proportion to size^(1/temperature). With 1, every pair is taken once per epoch."""
    exclude: tuple[str, ...] = ()
    """Prefixes of test sets (PREFIX.src, PREFIX.tgt) whose sentences must not be in the corpora."""
    overlap: str = "error"
    """What to do if such sentences are found: `error` or `drop`."""
    max_subwords: int = 128
    """Pairs with a longer side are left out."""
    epochs: float | None = None
    """Number of passes over the text; 1, or as many as there is time for if `minutes` is given."""
    max_steps: int | None = None
    minutes: float | None = None
    """Stop after this time, whatever else is set. The learning rate falls to 0 by then."""
    batch_size: int | None = None
    """Pairs per step, over all processes."""
    batch_tokens: int | None = None
    """Subwords that go through the encoder at once. A step is cut into as many parts as that takes. 8,192, or 512 on a
    CPU, where small parts cost nothing and have less padding. The result does not depend on it."""
    step_tokens: int | None = None
    """Subwords per step, instead of `batch_size`: pairs are drawn at random, according to the shares of their corpora,
    until the step is full. All steps have this size, so the encoder can be compiled."""
    teacher_tokens: int | None = None
    """Subwords that the teacher reads in such a step; by default, the same number. Pairs by way of a third language
    cost the teacher twice as much."""
    compile: bool | None = None
    """Whether to compile the encoder; by default, it is compiled on a GPU in half precision in runs with
    `step_tokens`."""
    learning_rate: float | None = None
    matrix_learning_rate: float = 0.0
    """The learning rate of Muon for the matrices of the layers. With 0, AdamW trains them too."""
    adam_beta: float = 0.999
    """The second decay rate of AdamW: how slowly it forgets the squares of gradients."""
    weight_decay: float = 0.0
    warmup: float | None = None
    """Share of the steps over which the learning rate rises. Then it falls linearly to 0."""
    clip: float = 1.0
    precision: str = "no"
    """`no` (float32), `bf16` or `fp16`."""
    seed: int = 42
    dev: tuple[str, ...] = ()
    """Prefixes of dev sets. The weights with the lowest mean AER are kept; these may be the starting weights."""
    held_out: float | None = None
    """Without a dev set, the share of the pairs that is held out. The weights with the lowest loss on them are kept."""
    start_share: float | None = None
    """The share of the starting weights in the weights that are kept and scored. The rest comes from the trained
    weights."""
    log_every: int = 10
    eval_every: int = 500
    save_every: int = 500
    keep_checkpoints: bool = False
    """Whether to keep the checkpoints of a complete run."""
    patience: int | None = None
    """Stop after this many evaluations without a better AER."""
    workers: int = 2
    """Processes that prepare batches."""
    tensorboard: bool = False
    architecture: dict[str, Any] | None = None
    """For training from scratch: `model_type` and the fields of its Hugging Face configuration; `model` then
    names the folder that holds the tokenizer."""

    def __post_init__(self) -> None:
        if self.objectives is not None:
            check(bool(self.objectives), "objectives", "must name at least one objective")
            _check_objectives("objectives", self.objectives)
        _check_objectives("weights", self.weights)
        for weight in self.weights.values():
            check(isfinite(weight) and weight >= 0, "weights", f"must be at least 0, got {weight}")
        check(bool(self.corpora), "corpora", "must name at least one corpus")
        check_choice(self, "method", (None, *_METHODS))
        check_choice(self, "overlap", ("error", "drop"))
        check_choice(self, "precision", ("no", "bf16", "fp16"))
        check_ranges(self, _RANGES)
        # Gradients of a second optimizer would be scaled back twice.
        both = self.precision == "fp16" and self.matrix_learning_rate
        check(not both, "matrix_learning_rate", "needs `precision` no or bf16")
        self._check_drawing()

    def _check_drawing(self) -> None:
        """Shares are for runs that draw at random, and those need an end."""
        drawn, shares = self.step_tokens is not None, [corpus.share is not None for corpus in self.corpora]
        ended = self.epochs is None and not (self.max_steps is None and self.minutes is None)
        check(not drawn or ended, "step_tokens", "needs `max_steps` or `minutes`, and no `epochs`")
        check(drawn or not any(shares), "share", "needs `step_tokens`")
        check(all(shares) or not any(shares), "share", "must be set for all corpora or for none")
        hubs = [corpus.hub is not None for corpus in self.corpora]
        check(not (self.extend_vocabulary and any(hubs)), "extend_vocabulary", "reads pairs, not text with a `hub`")
        check(drawn or not any(corpus.others for corpus in self.corpora), "others", "needs `step_tokens`")

    @property
    def extraction(self) -> ExtractionSettings:
        """How the trained model, and its guide during training, extract links."""
        given = {"method": self.method, "threshold": self.guide.threshold, "alpha": self.alpha, "null": self.null}
        return ExtractionSettings().updated(**given)

    @property
    def chosen_objectives(self) -> tuple[str, ...]:
        """The objectives that were given, or the paper's."""
        return PAPER_OBJECTIVES if self.objectives is None else self.objectives

    def with_extraction_of(self, base: ExtractionSettings) -> TrainingConfig:
        """The same settings, completed from the base model: a tuned model keeps its method and threshold."""
        if base.method not in _METHODS:
            base = ExtractionSettings()
        found = base.updated(method=self.method, threshold=self.guide.threshold, alpha=self.alpha)
        guide = replace(self.guide, threshold=found.threshold)
        return replace(self, method=str(found.method), alpha=found.alpha, guide=guide)

    @classmethod
    def read(cls, path: str | Path, **changes: Any) -> TrainingConfig:
        """Read a TOML file. `changes` that are not None override it."""
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
        """Make a configuration from plain values. Unknown names are an error; they are not ignored."""
        return configured(cls, record)

    def save(self, path: Path) -> None:
        """Write the effective configuration as JSON."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _check_objectives(name: str, found: Iterable[str]) -> None:
    found = set(found)
    if not found:
        return
    from weft.training.objectives import OBJECTIVES  # needs torch, and reads this module

    unknown = sorted(found - set(OBJECTIVES))
    check(not unknown, name, f"must be one or more of {', '.join(OBJECTIVES)}, got {', '.join(unknown)}")


def known(value: T | None) -> T:
    """A setting that was chosen by the base model if it was not given."""
    assert value is not None, "settings are settled before a run"
    return value
