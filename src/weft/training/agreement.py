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
from weft.training.passes import Passes
from weft.training.unrelated import UNRELATED

COUNTS = 5
_FEW_STRAYS = 1.0


@torch.no_grad()
def link_counts(passes: Passes) -> Tensor:
    """Counts over a batch, shape (5,), to be added up and read by `agreement`.

    Links that model and teacher share, those of the model, those of the teacher; then subwords of wholly unrelated
    pairs that have a link, and all of their subwords.
    """
    settings = passes.config.extraction
    rows, changed = passes.aligned, passes.batch.part(UNRELATED)
    source, target = rows.source_words >= 0, rows.target_words >= 0
    ours = _links(passes.pair_states, source, target, settings)
    theirs = _links(passes.taught_states, source, target, settings)
    source, target = changed.source_origin > -2, changed.target_origin > -2
    foreign = (changed.source_origin < 0).all(1) | (changed.target_origin < 0).all(1)
    foreign &= changed.weights > 0
    strays = _links(passes.unrelated_states, source, target, settings) & foreign[:, None, None]
    linked = strays.any(2).sum() + strays.any(1).sum()
    words = ((source.sum(1) + target.sum(1)) * foreign).sum()
    return torch.stack([(ours & theirs).sum(), ours.sum(), theirs.sum(), linked, words]).double()


def _links(states: tuple[Tensor, Tensor], source: Tensor, target: Tensor, settings: ExtractionSettings) -> Tensor:
    compared = Comparison(states[0].float(), states[1].float(), source[:, :, None] & target[:, None, :])
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
