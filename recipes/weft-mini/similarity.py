"""Subwords of both sides compared: what training teaches and evaluation looks at."""

from __future__ import annotations

from typing import Any

import torch
from packed import Group
from torch import Tensor

# Similarities are divided by this while training; `pretrain.fold` moves it into the last LayerNorm.
TEMPERATURE = 16.0
NOWHERE = -1e4


def both_ways(states: Tensor, group: Group) -> tuple[Tensor, Tensor]:
    """Log probabilities source to target and target to source, both of shape (b, n, m)."""
    source, target = (states[place] for place in group.places)
    similarity = source.float() @ target.float().transpose(1, 2) / TEMPERATURE
    valid = group.inside[0][:, :, None] & group.inside[1][:, None, :]
    similarity = similarity.masked_fill(~valid, NOWHERE)
    forward, backward = (similarity.log_softmax(axis).masked_fill(~valid, NOWHERE) for axis in (2, 1))
    return forward, backward


def both_ways_with_null(states: Tensor, group: Any, null: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Log probabilities with a null: source to target and back (b, n, m), and of the null, (b, n) and (b, m)."""
    source, target = (states[place].float() for place in group.places)
    similarity = source @ target.transpose(1, 2) / TEMPERATURE
    valid = group.inside[0][:, :, None] & group.inside[1][:, None, :]
    similarity = similarity.masked_fill(~valid, NOWHERE)
    totals = [torch.logaddexp(similarity.logsumexp(axis), similarity.new_tensor(null)) for axis in (2, 1)]
    forward = (similarity - totals[0][:, :, None]).masked_fill(~valid, NOWHERE)
    backward = (similarity - totals[1][:, None, :]).masked_fill(~valid, NOWHERE)
    return forward, backward, null - totals[0], null - totals[1]
