"""Pairs of two languages by way of a third: what a teacher says of each with the third, put together.

A model that learned most of its pairs with English aligns two other languages better through English than directly.
"""

from __future__ import annotations

import torch
from torch import Tensor

from weft.training.config import ThroughConfig
from weft.training.losses import NullDirections

_TINY = 1e-9


def composed(first: tuple[Tensor, Tensor], second: NullDirections, settings: ThroughConfig) -> tuple[Tensor, Tensor]:
    """Probabilities source to target and back, both of shape (k, n, m); the null has the rest.

    Args:
        first: probabilities of sources with third sentences and back, (k, n, e), without the null's.
        second: log probabilities of third sentences with targets, (k, e, m + 1) and (k, e + 1, m).
        settings: how they are evened.
    """
    with torch.autocast(first[0].device.type, enabled=False):  # in half precision sums of them may exceed 1
        forward = first[0] @ second.forward[:, :, :-1].exp()
        backward = first[1] @ second.backward[:, :-1].exp()
    return _evened(forward, 2, settings), _evened(backward, 1, settings)


def _evened(probabilities: Tensor, axis: int, settings: ThroughConfig) -> Tensor:
    """Multiplied probabilities are peaked and lose to the null at each step: both are undone in part."""
    if settings.power == settings.odds == 1:
        return probabilities
    mass = probabilities.sum(axis, keepdim=True)
    even = probabilities**settings.power
    even = even * mass / even.sum(axis, keepdim=True).clamp(min=_TINY)
    return settings.odds * even / (1 + (settings.odds - 1) * mass)
