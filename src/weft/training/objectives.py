"""The table of objectives: what each one looks at, its loss, and what the loss is a mean over.

Everything else goes through this table: rows are made, losses added, counts taken and settings checked for whatever
is in it. Adding an objective is adding an entry, here or from outside: `OBJECTIVES[name] = Objective(…)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from weft.training.batches import ALIGNED, MASKED_APART, MASKED_TOGETHER, PARALLEL, Batch, RowMaker
from weft.training.config import TrainingConfig
from weft.training.losses import (
    asked_of,
    consistency,
    cross_entropy,
    gold_links,
    masked_language_model,
    moved_probabilities,
    parallel_identification,
    self_training,
)
from weft.training.model import TrainableEncoder
from weft.training.passes import Passes, denoised, guide_links
from weft.training.through import THROUGH
from weft.training.unrelated import UNRELATED


def _pairs(batch: Batch, config: TrainingConfig) -> float:
    return float(batch.pairs)


@dataclass(frozen=True)
class Objective:
    """One thing to learn.

    Attributes:
        meaning: what is learned, for help and messages.
        rows: makers of what it looks at.
        loss: its loss, summed over a batch.
        unit: how many things the sum is over (pairs, masked tokens, subwords): the mean over all of a step is trained.
        weight: by what the mean is multiplied.
        needs: `mask` for a mask token, `psi` for a head that tells parallel sentences, `teacher` for a teacher.
    """

    meaning: str
    rows: tuple[RowMaker[Any], ...]
    loss: Callable[[Passes], Tensor]
    unit: Callable[[Batch, TrainingConfig], float] = _pairs
    weight: Callable[[TrainingConfig], float] = lambda config: 1.0
    needs: frozenset[str] = frozenset()

    def scale(self, name: str, config: TrainingConfig) -> float:
        """Its weight in a run: the run's own if that has one."""
        return config.weights.get(name, self.weight(config))


def _masked_words(rows: RowMaker[Any], meaning: str) -> Objective:
    def loss(passes: Passes) -> Tensor:
        part = passes.batch.part(rows)
        return masked_language_model(passes.predictions(part), part.labels)

    return Objective(
        meaning,
        (rows,),
        loss,
        unit=lambda batch, _: float(len(batch.part(rows).labels)),
        weight=lambda _: 2.0,  # two terms: both sentences (MLM), or both orders (TLM)
        needs=frozenset({"mask"}),
    )


def _self_training(passes: Passes) -> Tensor:
    guide = passes.config.guide
    threshold = max(passes.config.extraction.effective_threshold, guide.strict)
    probabilities, rows = passes.probabilities, passes.aligned
    links = guide_links(probabilities, rows, guide, threshold=threshold, denoise=passes.denoise)
    return self_training(probabilities, links, rows.weights)


def _parallel(passes: Passes) -> Tensor:
    rows = passes.batch.part(PARALLEL)
    states = passes.model.top_states(rows.ids, rows.attention, rows.positions)
    return parallel_identification(passes.model.parallel_scores(states), rows.parallel)


def _taught(batch: Batch, config: TrainingConfig) -> Tensor:
    """Which pairs the teacher is asked about: where there is gold, gold has the word. Shape (b,)."""
    rows = batch.part(ALIGNED)
    return ~rows.given if "gold" in config.chosen_objectives else torch.ones_like(rows.given)


def _teacher(passes: Passes) -> Tensor:
    theirs = passes.taught
    weights = passes.aligned.weights * _taught(passes.batch, passes.config)
    return cross_entropy(passes.logs, theirs.forward.exp(), theirs.backward.exp(), weights)


def _taught_subwords(batch: Batch, config: TrainingConfig) -> float:
    rows, taught = batch.part(ALIGNED), _taught(batch, config)
    return float(((rows.source_words >= 0).sum(1) + (rows.target_words >= 0).sum(1))[taught].sum())


def _unrelated(passes: Passes) -> Tensor:
    rows = passes.batch.part(UNRELATED)
    expected = moved_probabilities(passes.taught.some(rows.chosen), rows.source_origin, rows.target_origin)
    return cross_entropy(passes.unrelated, *expected, rows.weights)


def _unrelated_subwords(batch: Batch, config: TrainingConfig) -> float:
    rows = batch.part(UNRELATED)
    lengths = (rows.source_origin > -2).sum(1) + (rows.target_origin > -2).sum(1)
    return float((lengths * rows.weights).sum())


def _gold(passes: Passes) -> Tensor:
    rows, settings, logs = passes.aligned, passes.config.gold, passes.logs
    sure = rows.sure
    if passes.denoise:
        checked = denoised(sure, logs.between_words(), rows, passes.config.guide)
        sure = torch.where((rows.given & ~rows.trusted)[:, None, None], checked, sure)
    weights = rows.weights * rows.given
    return gold_links(
        logs,
        sure,
        rows.possible,
        rows.trusted,
        weights,
        cross=settings.cross,
        stray=settings.stray,
        null=passes.config.null is not None,
    )


def _gold_subwords(batch: Batch, config: TrainingConfig) -> float:
    rows = batch.part(ALIGNED)
    total = 0.0
    for words, axis in ((rows.source_words, 2), (rows.target_words, 1)):
        linked, alone = asked_of(rows.sure, rows.possible, words >= 0, rows.trusted, axis=axis)
        total += float(linked.sum() + (alone.sum() if config.null is not None else 0))
    return total


OBJECTIVES: dict[str, Objective] = {
    "mlm": _masked_words(MASKED_APART, "to fill in masked subwords of each sentence"),
    "tlm": _masked_words(MASKED_TOGETHER, "to fill in masked subwords of both sentences, read together"),
    "so": Objective("to make linked words more similar", (ALIGNED,), _self_training),
    "psi": Objective("to tell parallel from other pairs", (PARALLEL,), _parallel, needs=frozenset({"psi"})),
    "co": Objective(
        "to make the two directions agree",
        (ALIGNED,),
        lambda passes: consistency(passes.probabilities, passes.aligned.weights),
        weight=lambda config: config.beta,
    ),
    "teacher": Objective(
        "to give the probabilities of a frozen teacher",
        (ALIGNED,),
        _teacher,
        unit=_taught_subwords,
        needs=frozenset({"teacher"}),
    ),
    "unrelated": Objective(
        "to leave words unlinked that have no counterpart",
        (ALIGNED, UNRELATED),
        _unrelated,
        unit=_unrelated_subwords,
        needs=frozenset({"teacher"}),
    ),
    "gold": Objective("to link what was given, and nothing else", (ALIGNED,), _gold, unit=_gold_subwords),
}


def makers(config: TrainingConfig) -> list[RowMaker[Any]]:
    """What the objectives of a run look at, each kind once."""
    found = {maker.name: maker for name in config.chosen_objectives for maker in OBJECTIVES[name].rows}
    if needs(config, "teacher") and any(corpus.through for corpus in config.corpora):
        found[THROUGH.name] = THROUGH
    return list(found.values())


def needs(config: TrainingConfig, what: str) -> bool:
    """Whether some objective of a run needs a mask token, a head, a teacher."""
    return any(what in OBJECTIVES[name].needs for name in config.chosen_objectives)


class Losses(nn.Module):
    """All objectives of a run, each summed over a batch; the module that accelerate wraps and trains."""

    def __init__(
        self,
        model: TrainableEncoder,
        config: TrainingConfig,
        *,
        special: tuple[int, int],
        teacher: TrainableEncoder | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self._config = config
        self._special = special
        self._teacher = [teacher]  # in a list: it is not trained, moved or saved with this module

    def forward(self, batch: Batch, *, denoise: bool = False) -> dict[str, Tensor]:
        """The summed losses of one batch by objective; `denoise` checks given links against the model."""
        return self.of(self.passes(batch, denoise=denoise))

    def passes(self, batch: Batch, *, denoise: bool = False) -> Passes:
        """What model and teacher make of a batch."""
        teacher = self._teacher[0]
        return Passes(self.model, batch, self._config, teacher=teacher, special=self._special, denoise=denoise)

    def of(self, passes: Passes) -> dict[str, Tensor]:
        """The summed losses of passes over a batch by objective."""
        return {name: OBJECTIVES[name].loss(passes) for name in self._config.chosen_objectives}
