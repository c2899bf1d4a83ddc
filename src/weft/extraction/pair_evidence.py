"""What the links of their words say about whether stretches of two texts belong together, as logarithms of odds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray
from weft.types import Alignment

Edges = tuple[Sequence[int], Sequence[int]]
"""For either side of a pair: where its stretches begin among its words, and behind them the number of its words."""

# A logarithm is taken of what may be nothing at all.
_LITTLE = 0.1
_LEAST_SUPPORT = 0.003
# Few translations have a score under a quarter (here as a logarithm of odds), and most sentences that merely stand at
# the same place of two texts do: such a pair takes that much more evidence.
_UNRELATED, _DOUBT = -1.1, 2.5


class Weights(NamedTuple):
    """What each piece of evidence counts for. `benchmarks/accuracy/fit_document_pairs.py` fits them to dev sets.

    Attributes:
        one: the pair has one stretch on either side.
        two: one stretch on one side and two on the other; so on for `three`, `two_two` and `two_three`.
        linked: how many words of both sides are linked, by how surely each is.
        linked_by_length: the same, divided by the root of the number of words: they are no independent witnesses.
        support: the score of the pair, as a logarithm of odds.
        weakest: of several stretches of a side, how surely the words of the worst linked one are linked on average.
        bridge: whether stretches could as well be paired one by one: the least of the links that would be cut, as a
            logarithm.
        own: of several stretches of a side, how many words of the other side the one with the fewest has for itself, as
            a logarithm.
        skip: a stretch has no counterpart.
        skip_length: the logarithm of its number of subwords.
        alike: how much both sides sound alike, where one is Japanese.
        unheard: the share of what the other side sounds like that is names which the Japanese side lacks.
    """

    one: float = 2.28
    two: float = -0.206
    three: float = -4.16
    two_two: float = -1.34
    two_three: float = 0.297
    linked: float = 0.0477
    linked_by_length: float = 0.722
    support: float = 0.666
    weakest: float = 4.71
    bridge: float = 0.962
    own: float = 0.659
    skip: float = -0.691
    skip_length: float = 0.439
    alike: float = 0.593
    unheard: float = -3.31


WEIGHTS = Weights()
_SHAPES = {(1, 1): "one", (1, 2): "two", (1, 3): "three", (2, 2): "two_two", (2, 3): "two_three"}


def pair_evidence(found: Alignment, edges: Edges) -> Weights:
    """How much of each piece of evidence there is for a pair with these links.

    Args:
        found: the links of the pair's words, and its score where it has one.
        edges: the stretches of either side.
    """
    sure = _surest(found, edges)
    linked = [sure.max(axis=1), sure.max(axis=0)]
    total, n_words = float(sum(side.sum() for side in linked)), sum(sure.shape)
    support = total / n_words if found.score is None else found.score
    parts = [side[a:b] for side, own in zip(linked, edges, strict=True) for a, b in pairwise(own)]
    several = len(parts) > 2
    shape = sorted(len(own) - 1 for own in edges)
    return Weights(*[0.0] * len(Weights._fields))._replace(
        **{_SHAPES[shape[0], shape[1]]: 1.0},
        linked=total,
        linked_by_length=total / math.sqrt(n_words),
        support=_log_odds(support),
        weakest=min(float(part.sum()) / max(1, len(part)) for part in parts) if several else 0.0,
        bridge=math.log(_bridge(sure, edges) + _LITTLE) if shape[0] > 1 else 0.0,
        own=math.log(_own(sure, edges) + _LITTLE) if several else 0.0,
    )


def skip_evidence(n_subwords: int) -> Weights:
    """How much of each piece of evidence there is for a stretch without a counterpart."""
    nothing = Weights(*[0.0] * len(Weights._fields))
    return nothing._replace(skip=1.0, skip_length=math.log(max(1, n_subwords)))


def gain(evidence: Weights, weights: Weights = WEIGHTS) -> float:
    """What speaks for a pair, or a stretch without a counterpart, in all."""
    doubt = _DOUBT if evidence.support < _UNRELATED else 0.0
    return sum(weight * amount for weight, amount in zip(weights, evidence, strict=True)) - doubt


def _surest(found: Alignment, edges: Edges) -> FloatArray:
    """How surely each source word is linked with each target word."""
    sure = np.zeros((edges[0][-1], edges[1][-1]))
    for link in found.links:
        sure[link.source, link.target] = 1.0 if link.score is None else link.score
    return sure


def _log_odds(score: float) -> float:
    bounded = min(max(score, _LEAST_SUPPORT), 1 - _LEAST_SUPPORT)
    return math.log(bounded / (1 - bounded))


def _bridge(sure: FloatArray, edges: Edges) -> float:
    """The least that links between the first stretches of a side and the last of the other amount to."""
    cuts = product(edges[0][1:-1], edges[1][1:-1])
    return min(float(sure[:i, j:].sum() + sure[i:, :j].sum()) for i, j in cuts)


def _own(sure: FloatArray, edges: Edges) -> float:
    """The least number of words of the other side that a stretch links more surely than its neighbours do."""
    found = []
    for side, own in ((sure, edges[0]), (sure.T, edges[1])):
        if len(own) > 2:
            best = np.maximum.reduceat(side, np.array(own[:-1]), axis=0)
            others = np.sort(best, axis=0)[-2]
            found.append(float(np.maximum(0.0, best - others).sum(axis=1).min()))
    return min(found)
