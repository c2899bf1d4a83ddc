"""How good the model in training is: AER on dev sets through the same aligner that users run, or the loss on pairs
that were kept back. Lower is better in both.
"""  # noqa: D205

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from weft.encoding.encoder import encode_pairs
from weft.encoding.subwords import Tokenizer
from weft.encoding.torch_base import TorchEncoderBase
from weft.extraction.settings import ExtractionSettings
from weft.training.agreement import COUNTS, agreement, link_counts
from weft.training.batches import Batch
from weft.training.config import TrainingConfig
from weft.training.model import TrainableEncoder
from weft.training.objectives import OBJECTIVES, Losses
from weft.tuning import DevSet, dev_aer

Sum = Callable[[Tensor], Tensor]


class LiveEncoder(TorchEncoderBase):
    """The model in training as an encoder of the aligner."""

    def __init__(self, model: TrainableEncoder, tokenizer: Tokenizer, *, max_length: int, batch_tokens: int) -> None:
        self._model = model
        super().__init__(
            tokenizer,
            device=next(model.parameters()).device,
            width=model.library.config.hidden_size,
            max_length=max_length,
            batch_tokens=batch_tokens,
            joint=model.joint,
        )

    def _hidden(
        self, input_ids: Any, attention_mask: Any, token_type_ids: Any | None = None, position_ids: Any | None = None
    ) -> Any:
        return self._model.states(input_ids, attention_mask, position_ids)


def dev_aers(
    encoder: LiveEncoder, model: TrainableEncoder, dev_sets: Sequence[DevSet], settings: ExtractionSettings
) -> list[float]:
    """The AER of each dev set, in percent; the model is put back into training afterwards."""
    was_training = model.training
    model.eval()
    try:
        return [dev_aer(encode_pairs(encoder, dev.pairs), settings, dev) for dev in dev_sets]
    finally:
        model.train(was_training)


@torch.no_grad()
def held_out_losses(
    losses: Losses, steps: Iterable[list[Batch]], config: TrainingConfig, device: torch.device, total: Sum
) -> dict[str, float]:
    """The mean loss of each objective on pairs that are kept back, weighted as in training, and what it leaves unsaid.

    Where there is a teacher and pairs that are no translations, also the figures of `agreement`.

    Args:
        losses: the objectives, with the model that is looked at.
        steps: the pairs, in batches.
        config: the run.
        device: where the model is.
        total: sums a tensor over all processes.

    Returns:
        Losses as `held out NAME`, their sum as `held out`, and the figures of `agreement`.
    """
    names = config.chosen_objectives
    counted = "unrelated" in names
    counts = torch.zeros(COUNTS, dtype=torch.float64, device=device)
    sums = torch.zeros(2, len(names), dtype=torch.float64, device=device)
    was_training = losses.training
    losses.eval()
    try:
        for batches in steps:
            for batch in batches:
                units = [OBJECTIVES[name].unit(batch, config) for name in names]
                passes = losses.passes(batch.mapped(lambda tensor: tensor.to(device)))
                found = losses.of(passes)
                sums[0] += torch.stack([found[name].double() for name in names])
                sums[1] += torch.tensor(units, dtype=torch.float64, device=device)
                if counted:
                    counts += link_counts(passes.flat, config.extraction)
    finally:
        losses.train(was_training)
    sums = total(sums)
    means = (sums[0] / sums[1].clamp(min=1)).tolist()
    weighted = {name: mean * OBJECTIVES[name].scale(name, config) for name, mean in zip(names, means, strict=True)}
    parts = {"held out": sum(weighted.values())} | {f"held out {name}": mean for name, mean in weighted.items()}
    return parts | (agreement(total(counts)) if counted else {})
