"""Weights as small integers, rounded so that what a layer gives changes least.

Rounding every weight to its nearest integer forgets what a model learned last: one that was made from int8 weights and
trained a little lies so near to the old integers that all of its weights would be rounded back to them. Here the error
of each rounded weight is made up for by the weights that are rounded after it (GPTQ, Frantar et al. 2023), so that many
small changes add up to a step of a few.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Round = Callable[[int, FloatArray], FloatArray]

# Added to the diagonal as a share of its mean: inputs that never vary would have no inverse.
_DAMPING = 0.01
_AT_ONCE = 64


def rounded(weight: FloatArray, moments: FloatArray, *, largest: int) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """A matrix as integers with one scale a column.

    Args:
        weight: shape (inputs, outputs).
        moments: the mean of the outer products of the inputs with themselves, shape (inputs, inputs).
        largest: the largest integer to use; the smallest is its negative.

    Returns:
        The integers, shape (inputs, outputs), and the scales, shape (outputs,): their product is about `weight`.
    """
    scale = np.abs(weight).max(axis=0) / largest
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    codes = np.empty(weight.shape, dtype=np.int8)

    def nearest(row: int, values: FloatArray) -> FloatArray:
        codes[row] = np.clip(np.round(values / scale), -largest, largest)
        restored: FloatArray = codes[row] * scale
        return restored

    _round_in_turn(weight, moments, nearest)
    return codes, scale


def _round_in_turn(weight: FloatArray, moments: FloatArray, nearest: Round) -> None:
    """Round the rows of a matrix one after the other; those still to come make up for the errors so far.

    Args:
        weight: shape (inputs, outputs).
        moments: the mean of the outer products of the inputs with themselves, shape (inputs, inputs).
        nearest: told a row's number and values (outputs,), remembers what they are rounded to and returns it.
    """
    damped = moments.astype(np.float64)
    damped[np.diag_indices_from(damped)] += max(_DAMPING * np.diag(damped).mean(), 1e-12)
    # Those that matter most come first, when there are many others left to make up for them.
    order = np.argsort(-np.diag(damped), kind="stable")
    upper = np.linalg.cholesky(np.linalg.inv(damped[np.ix_(order, order)])).T.astype(np.float32)
    rest = weight[order].astype(np.float32)
    for start in range(0, len(rest), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(rest))
        errors = np.empty((stop - start, rest.shape[1]), dtype=np.float32)
        for row in range(start, stop):
            error = (rest[row] - nearest(int(order[row]), rest[row])) / upper[row, row]
            rest[row + 1 : stop] -= np.outer(upper[row, row + 1 : stop], error)
            errors[row - start] = error
        rest[stop:] -= upper[start:stop, stop:].T @ errors
