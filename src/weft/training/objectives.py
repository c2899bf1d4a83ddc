"""The paper's five objectives as losses: pure functions of hidden states, masks and labels.

The paper maximises its objectives; these are their negatives, to be minimised. All are *sums* over what they cover, so
that a batch may be cut into pieces (for memory, or over processes) and still have the loss of the whole: the caller
divides by the number of sentence pairs, or of masked tokens, in the whole batch.

Letters in shapes: b pairs, n source subwords, m target subwords, d width, v vocabulary. Padding is masked out by
`source` and `target` of shape (b, n) and (b, m), true for real subwords; special tokens are not among them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from weft.extraction.similarity import MASKED, entmax


class Directions(NamedTuple):
    """S_xy and S_yxᵀ of a batch, both of shape (b, n, m): rows of the first sum to 1, columns of the second."""

    forward: Tensor
    backward: Tensor
    valid: Tensor


def directions(
    source_states: Tensor, target_states: Tensor, source: Tensor, target: Tensor, *, alpha: float = 1.0
) -> Directions:
    """Similarities to probabilities in both directions (section 2.1).

    Computed in float32 even under autocast: dot products reach hundreds, where bfloat16 moves in steps of 2.

    Args:
        source_states: shape (b, n, d).
        target_states: shape (b, m, d).
        source: real source subwords, shape (b, n).
        target: real target subwords, shape (b, m).
        alpha: α of entmax; 1 is softmax.
    """
    valid = source[:, :, None] & target[:, None, :]
    with torch.autocast(source_states.device.type, enabled=False):
        products = source_states.float() @ target_states.float().transpose(1, 2)
        products = products.masked_fill(~valid, MASKED)
        forward = entmax(products, axis=2, alpha=alpha).masked_fill(~valid, 0)
        backward = entmax(products, axis=1, alpha=alpha).masked_fill(~valid, 0)
    return Directions(forward, backward, valid)


def self_training(probabilities: Directions, links: Tensor, weights: Tensor | None = None) -> Tensor:
    """SO (equation 4), summed over pairs: -Σ_ij A_ij ½ (S_xy_ij / n + S_yxᵀ_ij / m).

    With A from the model itself this is the paper's self-training objective, with A from annotators or another aligner
    it is supervision; pairs of both kinds may share a batch.

    Args:
        probabilities: of the batch.
        links: A, between subwords, shape (b, n, m); no gradient flows into it.
        weights: one weight a pair, shape (b,).
    """
    n, m = _lengths(probabilities.valid)
    chosen = links.detach().to(probabilities.forward.dtype)
    there = (chosen * probabilities.forward).sum(dim=(1, 2)) / n
    back = (chosen * probabilities.backward).sum(dim=(1, 2)) / m
    gain = (there + back) / 2
    return -(gain if weights is None else gain * weights).sum()


def consistency(probabilities: Directions, weights: Tensor | None = None) -> Tensor:
    """CO (equation 6), summed over pairs: -trace(S_xyᵀ S_yx) / min(m, n).

    With both matrices laid out source by target the trace is the sum of their products cell by cell.
    """
    n, m = _lengths(probabilities.valid)
    gain = (probabilities.forward * probabilities.backward).sum(dim=(1, 2)) / torch.minimum(n, m)
    return -(gain if weights is None else gain * weights).sum()


def masked_language_model(logits: Tensor, labels: Tensor) -> Tensor:
    """MLM and TLM (equations 2 and 3), summed over masked tokens: -Σ log p(token | masked sentences).

    For TLM the two sentences are one sequence, masked on both sides, in both orders.

    Args:
        logits: predictions at the masked positions only, shape (tokens, v).
        labels: what stood there, shape (tokens,).
    """
    return torch.nn.functional.cross_entropy(logits.float(), labels, reduction="sum")


def parallel_identification(scores: Tensor, parallel: Tensor) -> Tensor:
    """PSI (equation 5), summed over pairs: -(l log s + (1 - l) log(1 - s)).

    Args:
        scores: the head's scores before the sigmoid, shape (b,).
        parallel: l, true where the two sentences translate each other, shape (b,).
    """
    return torch.nn.functional.binary_cross_entropy_with_logits(
        scores.float(), parallel.to(torch.float32), reduction="sum"
    )


def _lengths(valid: Tensor) -> tuple[Tensor, Tensor]:
    """Real source and target subwords of each pair, both of shape (b,)."""
    return valid.any(dim=2).sum(dim=1), valid.any(dim=1).sum(dim=1)
