"""The weights that a run keeps: the trained ones, moved part of the way back to where the run started.

Such a mean keeps most of what was learned and loses less of what was known before: languages that are not in the text
drift half as far (Wortsman and others 2022, Robust fine-tuning of zero-shot models; figures in docs/training.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class KeptWeights:
    """The mean of a model's weights in training and of those that it had when this was made.

    Args:
        model: the model in training, before its first step.
        start_share: how much of the mean the starting weights are; 0 keeps the trained ones as they are.
    """

    def __init__(self, model: nn.Module, start_share: float) -> None:
        self._model, self._share = model, start_share
        self._start = self._copies() if start_share else []

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model has the weights to keep, and those in training again afterwards, bit for bit."""
        trained = self._copies() if self._start else []
        with torch.no_grad():
            for weight, start in zip(self._model.parameters(), self._start, strict=False):
                weight.lerp_(start, self._share)
        try:
            yield
        finally:
            with torch.no_grad():
                for weight, value in zip(self._model.parameters(), trained, strict=False):
                    weight.copy_(value)

    def _copies(self) -> list[Tensor]:
        return [weight.detach().clone() for weight in self._model.parameters()]
