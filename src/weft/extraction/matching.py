"""Similarities to links by competition instead of probability: argmax, itermax and maximum-weight matching.

These are SimAlign's methods (Jalili Sabet et al. 2020) on similarities in [0, 1], batched. Letters as in similarity.py.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Cells, Marks, array_namespace, to_device

_ITERMAX_DISCOUNT = 0.9
_ITERMAX_SMALLEST = 3


def best_links(similarities: Cells, valid: Marks, *, axis: int) -> Marks:
    """Each subword's best one along `axis`, the first of equals: 2 for the source's choice, 1 for the target's."""
    xp = array_namespace(similarities)
    masked = xp.where(valid, similarities, xp.full_like(similarities, -1))
    best = xp.argmax(masked, axis=axis, keepdims=True)
    places = xp.arange(masked.shape[axis], dtype=best.dtype, device=getattr(masked, "device", None))
    return (best == (places[None, :, None] if axis == 1 else places[None, None, :])) & valid


def mutual_best_links(similarities: Cells, valid: Marks) -> Marks:
    """Subwords that are each other's best."""
    return best_links(similarities, valid, axis=2) & best_links(similarities, valid, axis=1)


def itermax_links(similarities: Cells, valid: Marks) -> Marks:
    """SimAlign's IterMax with its two iterations: mutual best first, then once more among what is left.

    In the second round a pair of free words counts in full, a pair with one free word counts 0.9, and a pair of
    linked words is out. Pairs with a side under 3 subwords, or with nothing free on a side, keep the first round.
    """
    xp = array_namespace(similarities)
    first = mutual_best_links(similarities, valid)
    free_source = ~xp.any(first, axis=2, keepdims=True) & valid
    free_target = ~xp.any(first, axis=1, keepdims=True) & valid
    one_free, both_free = free_source | free_target, free_source & free_target
    discount = xp.where(both_free, xp.ones_like(similarities), xp.full_like(similarities, _ITERMAX_DISCOUNT))
    left = xp.where(one_free, similarities * discount, xp.zeros_like(similarities))
    second = mutual_best_links(left, valid)
    sides = [xp.sum(xp.astype(xp.any(valid, axis=axis), xp.int64), axis=1) for axis in (2, 1)]
    goes_on = (sides[0] >= _ITERMAX_SMALLEST) & (sides[1] >= _ITERMAX_SMALLEST)
    goes_on = goes_on & xp.any(free_source, axis=(1, 2)) & xp.any(free_target, axis=(1, 2))
    return first | (second & one_free & goes_on[:, None, None])


def matching_links(similarities: Cells, valid: Marks) -> Marks:
    """Maximum-weight matching of each pair on the host, by the algorithm of Jonker and Volgenant; shape (b, n, m)."""
    from lap import lapjv

    xp = array_namespace(similarities)
    weights = np.asarray(to_device(similarities, "cpu"))
    real = np.asarray(to_device(valid, "cpu"))
    links = np.zeros(weights.shape, dtype=bool)
    for number, pair in enumerate(weights):
        n, m = real[number].any(axis=1).sum(), real[number].any(axis=0).sum()
        # It looks for the lowest cost, and gives each row its column; a row that goes without has -1.
        _, columns, _ = lapjv(-pair[:n, :m], extend_cost=True)
        rows = np.flatnonzero(columns >= 0)
        links[number, rows, columns[rows]] = True
    return to_device(xp.asarray(links), getattr(similarities, "device", "cpu"))
