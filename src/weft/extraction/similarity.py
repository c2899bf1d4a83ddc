"""Hidden states to directional probabilities: two batches compared, softmax, entmax and optimal transport.

Written once against the array API: the same lines run on numpy arrays and on torch tensors on any device. Letters in
shapes: b pairs of a batch, n source subwords, m target subwords, d width.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Cells, Marks, States, WordNumbers, array_namespace
from weft.errors import MissingExtraError
from weft.extraction.methods import Cost

# Finite on purpose: a row that is -inf throughout has no softmax, and entmax raises for it.
MASKED = -1e30
SINKHORN_REGULARISATION = 0.05
_SHORT = 1024


def dot_products(source: States, target: States) -> Cells:
    """S = h_x h_yᵀ (section 2.1). Shapes: (b, n, d), (b, m, d) to (b, n, m)."""
    xp = array_namespace(source)
    return xp.matmul(source, xp.matrix_transpose(target))


def cosines(source: States, target: States) -> Cells:
    """Cosine similarities. Shapes: (b, n, d), (b, m, d) to (b, n, m)."""
    return dot_products(_unit(source), _unit(target))


def _unit(states: States) -> States:
    xp = array_namespace(states)
    norms = xp.linalg.vector_norm(states, axis=-1, keepdims=True)
    return states / xp.where(norms > 0, norms, xp.ones_like(norms))


def distances(source: States, target: States) -> Cells:
    """Euclidean distances. Shapes: (b, n, d), (b, m, d) to (b, n, m)."""
    xp = array_namespace(source)
    squares = [xp.sum(states * states, axis=-1) for states in (source, target)]
    squared = squares[0][:, :, None] + squares[1][:, None, :] - 2 * dot_products(source, target)
    return xp.sqrt(xp.where(squared > 0, squared, xp.zeros_like(squared)))


class WordEdges(NamedTuple):
    """Where the word of each subword begins and ends: the places of its first and its last subword, both (b, n)."""

    first: WordNumbers
    last: WordNumbers


class Comparison:
    """Two batches of sentences side by side: their hidden states, and their similarities once somebody asks.

    Attributes:
        source: states of shape (b, n, d).
        target: states of shape (b, m, d).
        valid: which cells are real and not padding, shape (b, n, m).
        edges: the words of both sides; only methods that score look at them.
    """

    def __init__(
        self, source: States, target: States, valid: Marks, edges: tuple[WordEdges, WordEdges] | None = None
    ) -> None:
        self.source = source
        self.target = target
        self.valid = valid
        self.edges = edges
        self._log_totals: dict[float | None, tuple[Cells, Cells]] = {}

    @cached_property
    def products(self) -> Cells:
        """Dot products, very low at padding; shape (b, n, m)."""
        products = dot_products(self.source, self.target)
        xp = array_namespace(products)
        return xp.where(self.valid, products, xp.full_like(products, MASKED))

    def log_totals(self, null: float | None) -> tuple[Cells, Cells]:
        """The logarithms of softmax's denominators, of rows (b, n, 1) and of columns (b, 1, m)."""
        if null not in self._log_totals:
            rows, columns = (log_totals(self.products, axis=axis, null=null) for axis in (2, 1))
            self._log_totals[null] = rows, columns
        return self._log_totals[null]

    def word_shares(self, totals: Cells, *, axis: int) -> Cells:
        """How likely each subword finds the word of each subword of the other side, shape (b, n, m).

        That is the sum of its softmax over the pieces of that word.

        Args:
            totals: the logarithms of softmax's denominators along `axis`, which keeps a length of 1.
            axis: 2 for source subwords that look for target words, 1 for the reverse.
        """
        shares = array_namespace(totals).exp(self.products - totals)
        if self.edges is None:
            return shares
        if axis == 2:
            return _summed_over_words(shares, self.edges[1])
        turn = array_namespace(shares).matrix_transpose
        turned: Cells = turn(_summed_over_words(turn(shares), self.edges[0]))
        return turned

    @cached_property
    def closeness(self) -> Cells:
        """Cosines moved to the range from 0 to 1; shape (b, n, m)."""
        return (cosines(self.source, self.target) + 1) / 2


def _summed_over_words(shares: Cells, edges: WordEdges) -> Cells:
    """Every cell becomes the sum of its row over the columns of its word, shape (b, n, m)."""
    xp, device = array_namespace(shares), getattr(shares, "device", None)
    if shares.shape[2] <= _SHORT:  # the fastest way, but it takes the square of the length
        same = edges.first[:, :, None] == edges.first[:, None, :]
        return xp.matmul(shares, xp.astype(same, shares.dtype))
    pair, row = (xp.arange(size, device=device) for size in shares.shape[:2])
    place = pair[:, None, None], row[None, :, None]
    up_to = xp.cumulative_sum(shares, axis=2)
    summed: Cells = up_to[*place, edges.last[:, None, :]] - (up_to - shares)[*place, edges.first[:, None, :]]
    return summed


def softmax(scores: Any, *, axis: int, null: float | None = None) -> Any:
    """Scores of any shape to probabilities along `axis`.

    Args:
        scores: the scores, of any shape.
        axis: the axis along which probabilities sum to 1.
        null: the score of one more place along `axis`, the null. Its probability is not returned, so that the others
            sum to less than 1. None for no null.

    Returns:
        Probabilities, of the shape of `scores`.
    """
    xp = array_namespace(scores)
    peak = _peak(scores, axis=axis, null=null)
    exponentials = xp.exp(scores - peak)
    total = xp.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / (total if null is None else total + xp.exp(null - peak))


def log_totals(scores: Any, *, axis: int, null: float | None = None) -> Any:
    """The logarithms of softmax's denominators along `axis`, which keeps a length of 1.

    Args:
        scores: the scores, of any shape.
        axis: the axis that is summed over.
        null: the score of one more place along `axis`. None for no null.
    """
    xp = array_namespace(scores)
    peak = _peak(scores, axis=axis, null=null)
    total = xp.sum(xp.exp(scores - peak), axis=axis, keepdims=True)
    return peak + xp.log(total if null is None else total + xp.exp(null - peak))


def _peak(scores: Any, *, axis: int, null: float | None) -> Any:
    """The largest score along `axis`, the null's among them; `axis` keeps a length of 1."""
    xp = array_namespace(scores)
    peak = xp.max(scores, axis=axis, keepdims=True)
    return peak if null is None else xp.where(peak > null, peak, xp.full_like(peak, null))


def entmax(scores: Any, *, axis: int, alpha: float, null: float | None = None) -> Any:
    """α-entmax (Peters et al. 2019): without torch for α = 1.5, else by deep-spin's library for torch tensors.

    Args:
        scores: the scores, of any shape.
        axis: the axis along which probabilities sum to 1.
        alpha: 1 is softmax, 2 is sparsemax; above 1 some probabilities are exactly 0.
        null: the score of one more place along `axis`, the null. Its probability is not returned, so that the others
            may sum to less than 1. None for no null.

    Returns:
        Probabilities, of the shape of `scores`.
    """
    if alpha == 1:
        return softmax(scores, axis=axis, null=null)
    on_host = isinstance(scores, np.ndarray)
    if alpha == 1.5 and on_host:
        return _entmax15(scores, axis=axis, null=null)
    try:
        import entmax as library
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "Entmax with an alpha other than 1.5") from error
    known = {1.5: library.entmax15, 2.0: library.sparsemax}
    # Entmax does not change when all scores move together; at 0 the bisection has all the digits it needs, even in
    # a row that is nothing but padding.
    peak = _peak(scores, axis=axis, null=null)
    shifted = _with_null(scores - peak, None if null is None else null - peak, axis=axis)
    tensor = torch.from_numpy(shifted) if on_host else shifted
    if alpha in known:
        probabilities = known[alpha](tensor, dim=axis)
    else:
        probabilities = library.entmax_bisect(tensor, alpha=alpha, dim=axis)
    if null is not None:
        probabilities = probabilities.narrow(axis, 0, scores.shape[axis])
    return probabilities.numpy() if on_host else probabilities


def _with_null(scores: Any, null: Any | None, *, axis: int) -> Any:
    """Scores with the null's, of length 1 along `axis`, behind them; without one, the scores themselves."""
    return scores if null is None else array_namespace(scores).concat([scores, null], axis=axis)


def _entmax15(scores: Any, *, axis: int, null: float | None) -> Any:
    """1.5-entmax p = max(z - τ, 0)², z = scores / 2, with the τ that makes it sum to 1.

    Sorted downwards, the first k scores are the support if the τ that they alone would have is not above the k-th. Few
    are large enough to be in any support, and only those are looked at.
    """
    xp = array_namespace(scores)
    peak = _peak(scores, axis=axis, null=null)
    halves = (scores - peak) / 2
    # With the largest at 0, τ is at least -1. What lies well below that is never in the support, and its squares, those
    # of padding above all, would only cost digits; at -1 itself rounding would decide.
    halves = xp.where(halves > -2, halves, xp.full_like(halves, -2))
    everything = _with_null(halves, None if null is None else xp.clip((null - peak) / 2, -2, None), axis=axis)
    most = max(1, int(xp.max(xp.count_nonzero(everything > -1, axis=axis))))
    first = tuple(slice(most) if k == axis else slice(None) for k in range(halves.ndim))
    ordered = xp.flip(xp.sort(everything, axis=axis), axis=axis)[first]
    counts = xp.reshape(
        xp.arange(1, most + 1, dtype=halves.dtype), [-1 if k == axis else 1 for k in range(halves.ndim)]
    )
    means = xp.cumulative_sum(ordered, axis=axis) / counts
    spreads = xp.cumulative_sum(ordered * ordered, axis=axis) - counts * means * means
    rest = (1 - spreads) / counts
    thresholds = means - xp.sqrt(xp.where(rest > 0, rest, xp.zeros_like(rest)))
    size = xp.count_nonzero(thresholds <= ordered, axis=axis, keepdims=True)
    above = halves - xp.take_along_axis(thresholds, size - 1, axis=axis)
    above = xp.where(above > 0, above, xp.zeros_like(above))
    return above * above


def transport(
    source: States, target: States, valid: Marks, *, cost: Cost | str, regularisation: float | None = None
) -> Cells:
    """Entropic optimal transport between two uniform distributions (section 2.1), by POT's batched Sinkhorn.

    The cost is scaled to [0, 1] over the real cells of each pair.

    Args:
        source: states of shape (b, n, d).
        target: states of shape (b, m, d).
        valid: true for real cells, shape (b, n, m).
        cost: the distance to scale.
        regularisation: the weight of the entropy; small means sparse.

    Returns:
        Plans of shape (b, n, m); each one's real cells sum to 1.
    """
    try:
        from ot.batch import solve_batch
    except ImportError as error:
        raise MissingExtraError("ot", "The optimal transport method") from error
    xp = array_namespace(source)
    scaled = xp.astype(_scaled(_cost(source, target, Cost(cost)), valid), xp.float64)
    rows = xp.astype(xp.any(valid, axis=2), xp.float64)
    columns = xp.astype(xp.any(valid, axis=1), xp.float64)
    solution = solve_batch(
        scaled,
        reg=regularisation or SINKHORN_REGULARISATION,
        a=rows / xp.sum(rows, axis=-1, keepdims=True),
        b=columns / xp.sum(columns, axis=-1, keepdims=True),
        method="sinkhorn",
        max_iter=1000,
        tol=1e-9,
        grad="detach",
    )
    return solution.plan


def relative_plan(plan: Cells, valid: Marks) -> Cells:
    """A plan as shares of what could be moved: the smaller of the two words' masses 1/n and 1/m. Shapes (b, n, m).

    The plan itself shrinks as sentences grow; its shares lie between 0 and 1 for every length, so that one threshold
    serves all.
    """
    xp = array_namespace(plan)
    sides = [xp.sum(xp.astype(xp.any(valid, axis=axis), plan.dtype), axis=1) for axis in (2, 1)]
    return plan * xp.where(sides[0] > sides[1], sides[0], sides[1])[:, None, None]


def _cost(source: States, target: States, cost: Cost) -> Cells:
    if cost is Cost.COSINE:
        return 1 - cosines(source, target)
    return -dot_products(source, target) if cost is Cost.DOT else distances(source, target)


def _scaled(cost: Cells, valid: Marks) -> Cells:
    """Min-max scaling over each pair's real cells; padding costs 0 and has no mass."""
    xp = array_namespace(cost)
    huge = xp.full_like(cost, -MASKED)
    least = xp.min(xp.where(valid, cost, huge), axis=(1, 2), keepdims=True)
    most = xp.max(xp.where(valid, cost, -huge), axis=(1, 2), keepdims=True)
    span = xp.where(most > least, most - least, xp.ones_like(most))
    return xp.where(valid, (cost - least) / span, xp.zeros_like(cost))
