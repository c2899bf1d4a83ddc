"""The table of objectives: what each one looks at, its loss, and what the loss is a mean over.

Everything else goes through this table: rows are made, losses added, counts taken and settings checked for whatever
is in it. Adding an objective is adding an entry, here or from outside: `OBJECTIVES[name] = Objective(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from weft.training.batches import ALIGNED, MASKED_APART, MASKED_TOGETHER, PARALLEL, Batch, RowMaker
from weft.training.config import TrainingConfig, known
from weft.training.flat_batches import FLAT
from weft.training.grids import link_matrices, moved
from weft.training.losses import (
    consistency,
    gold_links,
    masked_language_model,
    parallel_identification,
    self_training,
)
from weft.training.model import TrainableEncoder
from weft.training.passes import Passes, denoised, guide_links


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


def _flat_count(name: str) -> Callable[[Batch, TrainingConfig], float]:
    return lambda batch, _: batch.part(FLAT).counts[name]


def _cross_entropy(column: int) -> Callable[[Passes], Tensor]:
    """The cross entropy with the teacher's probabilities, of rows that have a weight in this column."""

    def loss(passes: Passes) -> Tensor:
        found = [(entropy * group.weights[:, column]).sum() for group, entropy in passes.flat.entropies]
        return _total(found, passes)

    return loss


def _total(losses: list[Tensor], passes: Passes) -> Tensor:
    """Their sum; of no losses it is 0, and still hangs on the model, as several processes expect."""
    return torch.stack(losses).sum() if losses else passes.flat.states.sum() * 0


def _gold(passes: Passes) -> Tensor:
    config, flat = passes.config, passes.flat
    losses = []
    for group, logs, cells in flat.comparisons:
        if group.links is None:
            continue
        links = moved(link_matrices(group.links), cells)
        sure, possible = links == 2, links == 1
        trusted, complete = group.trust.unbind(1)
        if passes.denoise:
            checked = denoised(sure, logs.between_words(), flat.words(group), config.guide)
            sure = torch.where(trusted[:, None, None], sure, checked)
        strays = torch.where(trusted, config.gold.stray, known(config.gold.silver_stray))
        losses.append(gold_links(
            logs, sure, possible, strays, complete, group.weights[:, 2],
            cross=config.gold.cross, null=config.null is not None,
        ))  # fmt: skip
    return _total(losses, passes)


def _masked_along(passes: Passes) -> Tensor:
    loss = passes.flat.masked_words()
    return _total([] if loss is None else [loss * passes.masking], passes)


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
        (FLAT,),
        _cross_entropy(0),
        unit=_flat_count("teacher"),
        needs=frozenset({"teacher"}),
    ),
    "unrelated": Objective(
        "to leave words unlinked that have no counterpart",
        (FLAT,),
        _cross_entropy(1),
        unit=_flat_count("unrelated"),
        needs=frozenset({"teacher"}),
    ),
    "gold": Objective("to link what was given, and nothing else", (FLAT,), _gold, unit=_flat_count("gold")),
    "masked": Objective(
        "to fill in masked subwords of the rows that alignments are learned from",
        (FLAT,),
        _masked_along,
        unit=_flat_count("masked"),
        needs=frozenset({"mask"}),
    ),
}


def makers(config: TrainingConfig) -> list[RowMaker[Any]]:
    """What the objectives of a run look at, each kind once."""
    return list({maker.name: maker for name in config.chosen_objectives for maker in OBJECTIVES[name].rows}.values())


def needs(config: TrainingConfig, what: str) -> bool:
    """Whether some objective of a run needs a mask token, a head, a teacher."""
    return any(what in OBJECTIVES[name].needs for name in config.chosen_objectives)


def scales(
    batches: Sequence[Batch], config: TrainingConfig, total: Callable[[list[float]], list[float]]
) -> dict[str, float]:
    """By what each summed loss is multiplied: its weight over its units in the whole step of all processes.

    Args:
        batches: those of this process.
        config: the run.
        total: sums numbers over all processes.
    """
    names = config.chosen_objectives
    counts = total([sum(OBJECTIVES[name].unit(batch, config) for batch in batches) for name in names])
    return {
        name: OBJECTIVES[name].scale(name, config) / max(1.0, count) for name, count in zip(names, counts, strict=True)
    }


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

    def forward(self, batch: Batch, *, denoise: bool = False, masking: float = 0.0) -> dict[str, Tensor]:
        """The summed losses of one batch by objective.

        Args:
            batch: some pairs.
            denoise: check given links against the model.
            masking: how strongly words are masked where alignments are learned; 0 for not at all.
        """
        return self.of(self.passes(batch, denoise=denoise, masking=masking))

    def passes(self, batch: Batch, *, denoise: bool = False, masking: float = 0.0) -> Passes:
        """What model and teacher make of a batch."""
        return Passes(
            self.model,
            batch,
            self._config,
            teacher=self._teacher[0],
            special=self._special,
            denoise=denoise,
            masking=masking,
        )

    def of(self, passes: Passes) -> dict[str, Tensor]:
        """The summed losses of passes over a batch by objective."""
        return {name: OBJECTIVES[name].loss(passes) for name in self._config.chosen_objectives}
