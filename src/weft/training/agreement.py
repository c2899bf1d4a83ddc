"""What a loss does not say: how many links of pairs that are kept back are still the teacher's, and how many are wrong.

Links are taken as the trained model will take them, between subwords.
"""

from __future__ import annotations

import torch
from torch import Tensor

from weft.extraction.extractor import subword_links
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import Comparison
from weft.training.config import TrainingConfig
from weft.training.flat_batches import DIRECT, Grid
from weft.training.grids import FlatPasses, gathered, moved, states_of

COUNTS = 5
LITTLE_TO_LEARN = (
    "the base leaves words of unrelated sentences alone already, so text without links will change little. Gold links, "
    "or a better model as its teacher, change more."
)
_FEW_STRAYS = 1.0


@torch.no_grad()
def link_counts(passes: FlatPasses, settings: ExtractionSettings) -> Tensor:
    """Counts over a batch, shape (5,), to be added up and read by `agreement`.

    Links that model and teacher share, those of the model, those of the teacher; then subwords of wholly unrelated
    pairs that have a link, and all of their subwords.
    """
    counts = torch.zeros(COUNTS, dtype=torch.float64, device=passes.states.device)
    for group, logs, cells in passes.comparisons:
        if group.kind != DIRECT:
            continue
        ours = _links(passes.states, group.rows, settings)
        changed = group.weights[:, 1] > 0
        if group.asked is not None:
            theirs = moved(_links(passes.taught_states, group.asked, settings), cells)
            plain = ~changed[:, None, None]
            counts[:3] += torch.stack([(each & plain).sum() for each in (ours & theirs, ours, theirs)])
        foreign = changed & ~cells.valid.any(dim=(1, 2))
        strays = ours & foreign[:, None, None]
        counts[3] += strays.any(2).sum() + strays.any(1).sum()
        counts[4] += ((logs.source.sum(1) + logs.target.sum(1)) * foreign).sum()
    return counts


def _links(states: Tensor, grid: Grid, settings: ExtractionSettings) -> Tensor:
    """Links between the subwords of rows, shape (b, n, m)."""
    (source, target), (left, right) = states_of(states, grid), gathered(grid)[1]
    compared = Comparison(source.float(), target.float(), left[:, :, None] & right[:, None, :])
    links: Tensor = subword_links(compared, settings)
    return links


def has_little_to_learn(config: TrainingConfig, before: dict[str, float]) -> bool:
    """Whether a run can hardly change the links: its own copy is the teacher, and unrelated words stay alone already.

    Args:
        config: the run.
        before: the figures of `agreement` for the starting weights.
    """
    own_copy = config.teacher is None and set(config.chosen_objectives) <= {"teacher", "unrelated"}
    return own_copy and before.get("unrelated linked", 100.0) < _FEW_STRAYS


def agreement(counts: Tensor) -> dict[str, float]:
    """Two figures in percent: links that are the teacher's (F1), and unrelated subwords that have a link."""
    shared, ours, theirs, linked, words = counts.tolist()
    found = {"links kept": 200 * shared / (ours + theirs)} if ours + theirs else {}
    return found | ({"unrelated linked": 100 * linked / words} if words else {})
