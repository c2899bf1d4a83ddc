"""Losses as pure functions of hidden states, masks and labels: the paper's five, and those with a null.

The paper maximises its objectives; these are their negatives, to be minimised. All are *sums* over what they cover, so
that a batch may be cut into pieces (for memory, or over processes) and still have the loss of the whole: the caller
divides by the number of sentence pairs, or of masked tokens, in the whole batch.

Letters in shapes: b pairs, n source subwords, m target subwords, d width, v vocabulary. Padding is masked out by
`source` and `target` of shape (b, n) and (b, m), true for real subwords; special tokens are not among them.

The null is one more word on each side, whose similarity with every word of the other side is a constant: a word that
has no counterpart points to it.
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


class NullDirections(NamedTuple):
    """Log probabilities with a null: `forward` (b, n, m + 1) sums to 1 over each row, `backward` (b, n + 1, m) over
    each column; the null comes last. `source` (b, n) and `target` (b, m) are true for real subwords.
    """  # noqa: D205

    forward: Tensor
    backward: Tensor
    source: Tensor
    target: Tensor

    def between_words(self) -> Directions:
        """The probabilities themselves, without those of the null."""
        valid = self.source[:, :, None] & self.target[:, None, :]
        forward, backward = self.forward[:, :, :-1].exp(), self.backward[:, :-1].exp()
        return Directions(forward * valid, backward * valid, valid)


def null_directions(
    source_states: Tensor, target_states: Tensor, source: Tensor, target: Tensor, *, null: float | None
) -> NullDirections:
    """Dot products to log probabilities in both directions, by softmax, with a null of constant similarity.

    Args:
        source_states: shape (b, n, d).
        target_states: shape (b, m, d).
        source: real source subwords, shape (b, n).
        target: real target subwords, shape (b, m).
        null: its similarity with every word; None for no null, whose probability is then 0.
    """
    valid = source[:, :, None] & target[:, None, :]
    with torch.autocast(source_states.device.type, enabled=False):
        products = source_states.float() @ target_states.float().transpose(1, 2)
        products = products.masked_fill(~valid, MASKED)
        constant = MASKED if null is None else null
        forward = torch.nn.functional.pad(products, (0, 1), value=constant).log_softmax(2)
        backward = torch.nn.functional.pad(products, (0, 0, 0, 1), value=constant).log_softmax(1)
    return NullDirections(forward, backward, source, target)


def cross_entropy(ours: NullDirections, forward: Tensor, backward: Tensor) -> Tensor:
    """Cross entropy with somebody else's probabilities in both directions, summed over subwords of both sides: (b,).

    Args:
        ours: log probabilities that are trained.
        forward: theirs, shape (b, n, m + 1).
        backward: theirs, shape (b, n + 1, m).
    """
    there = -(forward * ours.forward).sum(2).masked_fill(~ours.source, 0)
    back = -(backward * ours.backward).sum(1).masked_fill(~ours.target, 0)
    return there.sum(1) + back.sum(1)


class Asked(NamedTuple):
    """Which subwords gold asks something of: those with sure links, and those that must point to the null."""

    linked: Tensor
    alone: Tensor


def asked_of(sure: Tensor, possible: Tensor, real: Tensor, complete: Tensor, *, axis: int) -> Asked:
    """What gold says about each subword of one side, shape (b, n) or (b, m).

    Args:
        sure: links that are asked for, shape (b, n, m).
        possible: links that may be there or not, shape (b, n, m).
        real: real subwords of this side.
        complete: pairs whose words without links have none, shape (b,).
        axis: 2 for the source side, 1 for the target side.
    """
    linked = sure.any(axis)
    return Asked(linked, real & ~linked & ~possible.any(axis) & complete[:, None])


def gold_links(
    logs: NullDirections,
    sure: Tensor,
    possible: Tensor,
    strays: Tensor,
    complete: Tensor,
    weights: Tensor,
    *,
    cross: float,
    null: bool,
) -> Tensor:
    """Supervised links, summed over the subwords of both sides that gold asks something of.

    A linked subword should give its links all of its probability (SO), and `cross` times as much each of them (their
    mean cross entropy); a subword without links should point to the null. Two subwords that are not linked should not
    find each other: that is -log(1 - p), p being the smaller of both directions. Possible links are allowed and not
    asked for.

    Args:
        logs: of the batch.
        sure: links that are asked for, shape (b, n, m).
        possible: links that may be there or not, shape (b, n, m).
        strays: by pair, the weight of links between subwords that gold does not link, shape (b,).
        complete: pairs whose words without links have none, shape (b,).
        weights: one weight a pair, shape (b,).
        cross: weight of the cross entropy.
        null: whether there is a null to point to.
    """
    wanted = sure.float()
    allowed = sure | possible
    total = logs.forward.new_zeros(())
    for part, nobody, axis, real in (
        (logs.forward[:, :, :-1], logs.forward[:, :, -1], 2, logs.source),
        (logs.backward[:, :-1], logs.backward[:, -1], 1, logs.target),
    ):
        linked, alone = asked_of(sure, possible, real, complete, axis=axis)
        found = (part.exp() * allowed).sum(axis)
        entropy = -(part * wanted).sum(axis) / wanted.sum(axis).clamp(min=1)
        losses = (1 - found + cross * entropy).masked_fill(~linked, 0)
        if null:
            losses = losses + cross * (-nobody).masked_fill(~alone, 0)
        total = total + (losses.sum(1) * weights).sum()
    agreed = 0.99 * torch.minimum(logs.forward[:, :, :-1], logs.backward[:, :-1]).exp()
    found = -torch.log1p(-agreed).masked_fill(allowed, 0).sum(dim=(1, 2))
    return total + (found * weights * strays).sum()


def _lengths(valid: Tensor) -> tuple[Tensor, Tensor]:
    """Real source and target subwords of each pair, both of shape (b,)."""
    return valid.any(dim=2).sum(dim=1), valid.any(dim=1).sum(dim=1)
