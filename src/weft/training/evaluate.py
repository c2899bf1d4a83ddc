"""AER on dev sets while training, through the same aligner that users run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.encoding.encoder import encode_pairs
from weft.encoding.subwords import Tokenizer
from weft.encoding.torch_base import TorchEncoderBase
from weft.extraction.settings import ExtractionSettings
from weft.training.model import TrainableEncoder
from weft.tuning import DevSet, dev_aer


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
