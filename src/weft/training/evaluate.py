"""AER on dev sets while training, through the same aligner that users run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from weft.aligner import encode_pairs
from weft.encoding.encoder import Batch, TransformerEncoder
from weft.encoding.subwords import IntArray, Tokenizer
from weft.extraction.settings import ExtractionSettings
from weft.training.model import TrainableEncoder
from weft.tuning import DevSet, dev_aer


class LiveEncoder(TransformerEncoder):
    """The model in training as an encoder of the aligner."""

    def __init__(self, model: TrainableEncoder, tokenizer: Tokenizer, *, max_length: int, batch_tokens: int) -> None:
        self._model = model
        self._device = next(model.parameters()).device
        width = model.library.config.hidden_size
        super().__init__(tokenizer, width=width, max_length=max_length, batch_tokens=batch_tokens, joint=model.joint)

    def _empty(self, subwords: int) -> Any:
        return torch.empty((subwords, self.width), dtype=torch.float32, device=self._device)

    def _indices(self, places: IntArray) -> Any:
        return torch.from_numpy(places).to(self._device)

    def _forward(self, batch: Batch) -> Any:
        with torch.inference_mode():
            given = (self._indices(rows) for rows in (batch.ids, batch.mask, batch.positions))
            return self._model.states(*given).float()


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
