"""Which stretch of a long text belongs to which stretch of its translation: the coarse pass before words are aligned.

A stretch is a sentence, or part of a long one. Evidence is how much closer the words of a stretch come to some word of
another stretch than they come to a word of stretches that have nothing to do with them. Dynamic programming over pairs
of one to three stretches, and stretches without a counterpart, finds the best way through both texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from weft.arrays import FloatArray, IntArray
from weft.extraction.cutting import cut_places
from weft.extraction.sounds import Likeness, Sounds
from weft.extraction.stretch_states import StretchStates

# How many stretches of either side may make a pair, and what speaks for such a pair, as a logarithm of odds. This
# and the weights below were fitted to dev sets and slices of training text, with sentences left out and joined.
_SHAPES = {
    (1, 1): 0.8, (1, 2): 1.0, (2, 1): 1.0, (1, 3): -3.0, (3, 1): -3.0, (2, 2): 0.9, (2, 3): 0.7, (3, 2): 0.7,
}  # fmt: skip
_MOST_TOGETHER = 3
# Two stretches belong together if their words are on average so many deviations closer than words of any stretches.
_NEEDED = 0.2
# The largest of n similarities grows with log n; for Gumbel's distribution by so many of its deviations.
_GROWTH = 0.78
# Words of a stretch are no independent witnesses: the sum of what they say counts by the root of their number.
_CLOSENESS = 0.76
# The longer stretches are, the less likely it is that they lack a counterpart.
_PER_SUBWORD = 0.04
# How the logarithm of the ratio of two lengths varies: its variance for one subword, and the most that it may cost.
_LENGTH_VARIANCE, _LENGTH_MOST = 2.5, 12.0
# What counts for stretches that sound alike, before links say the rest.
_SOUNDS = 1.0
_ROUNDING = 1e-6
# Doubtful pairs are better left out than guessed: below this probability a pair lowers the F1 that is to be expected.
_PROBABLE = 0.45


class StretchPair(NamedTuple):
    """Stretches `source` to `source_end` correspond to `target` to `target_end`; a side without any is empty."""

    source: int
    source_end: int
    target: int
    target_end: int
    gain: float = 0.0

    @property
    def is_skip(self) -> bool:
        """Whether a side is empty."""
        return self.source == self.source_end or self.target == self.target_end

    def moved(self, source: int, target: int) -> StretchPair:
        """The same pair in a text that begins so many stretches earlier."""
        return StretchPair(
            self.source + source, self.source_end + source, self.target + target, self.target_end + target, self.gain
        )


def likely_pairs(
    source: StretchStates,
    target: StretchStates,
    *,
    slack: float,
    skip: float,
    most: int = 24,
    sounds: Sounds | None = None,
) -> list[StretchPair]:
    """Find which stretches of two texts may belong together, by what they say.

    Args:
        source: states of the source text, each stretch encoded by itself.
        target: states of its translation.
        slack: how much less the best way with a pair may gain than the best of all; 0 gives the best way alone.
        skip: what a stretch without a counterpart gains: less than nothing.
        most: how many pairs to find for each stretch, where so many ways gain as much.
        sounds: what both texts sound like, if that says anything.

    Returns:
        Pairs of neighbouring stretches, and stretches whose other side is empty, in order. Some of them make up a way
        through both texts that has every stretch once. None of the pairs is on every way.
    """
    pairs: list[StretchPair] = []
    ratio = float(np.log(max(1, source.starts[-1]) / max(1, target.starts[-1])))
    for (first, other), (last, other_last) in pairwise(cut_places(source, target)):
        ours, theirs = source.part(first, last), target.part(other, other_last)
        gains = _gains(ours, theirs, ratio) if len(ours) and len(theirs) else {}
        if sounds is not None:
            likeness = sounds.likeness(slice(first, last), slice(other, other_last))
            gains = {shape: gain + _SOUNDS * _alike(likeness, *shape) for shape, gain in gains.items()}
        block = _likely_steps(gains, len(ours), len(theirs), slack=slack, skip=skip, most=most)
        pairs.extend(pair.moved(first, other) for pair in block)
    return _with_skips(pairs, skip)


def _with_skips(pairs: Sequence[StretchPair], skip: float) -> list[StretchPair]:
    """The pairs, and round each of them a way that leaves its stretches without a counterpart.

    In texts that have nothing to do with each other, some way of chance pairs gains much more by states than none at
    all does. Links could not say so if they had only such ways to choose from.
    """
    skips = {StretchPair(i, i + 1, pair.target, pair.target, skip) for pair in pairs for i in range(*pair[:2])}
    skips |= {
        StretchPair(pair.source_end, pair.source_end, j, j + 1, skip) for pair in pairs for j in range(*pair[2:4])
    }
    return sorted(skips.union(pairs))


def best_way(pairs: Sequence[StretchPair]) -> list[StretchPair]:
    """Of pairs that `likely_pairs` found, with their gains as they are now, those that gain most together."""
    best: dict[tuple[int, int], tuple[float, StretchPair | None]] = {(0, 0): (0.0, None)}
    for pair in sorted(pairs):
        before = best.get((pair.source, pair.target))
        if before is None:
            continue
        end = (pair.source_end, pair.target_end)
        if end not in best or before[0] + pair.gain > best[end][0]:
            best[end] = (before[0] + pair.gain, pair)
    way: list[StretchPair] = []
    last = best[max(best)][1]
    while last is not None:
        way.append(last)
        last = best[last.source, last.target][1]
    return way[::-1]


def likeliest_way(pairs: Sequence[StretchPair]) -> list[StretchPair]:
    """Of pairs that `likely_pairs` found, with logarithms of odds for gains, a way with as many right ones as possible.

    The pairs of the way have for their gain how much more probable than needed they are.
    """
    shares, _ = probabilities(pairs)
    return best_way(
        [
            pair._replace(gain=0.0 if pair.is_skip else share - _PROBABLE)
            for pair, share in zip(pairs, shares, strict=True)
        ]
    )


def probabilities(pairs: Sequence[StretchPair]) -> tuple[list[float], float]:
    """How probable each pair is if gains are logarithms of odds, and the logarithm of the odds of all ways together."""
    ordered = sorted(pairs)
    ahead = _log_totals((pair.source, pair.target, pair.source_end, pair.target_end, pair.gain) for pair in ordered)
    behind = _log_totals(
        (-pair.source_end, -pair.target_end, -pair.source, -pair.target, pair.gain) for pair in reversed(ordered)
    )
    total = ahead[max(ahead)] if ahead else 0.0
    shares = [
        math.exp(ahead[pair.source, pair.target] + pair.gain + behind[-pair.source_end, -pair.target_end] - total)
        for pair in pairs
    ]
    return shares, total


def _log_totals(steps: Iterable[tuple[int, int, int, int, float]]) -> dict[tuple[int, int], float]:
    """For every place, the logarithm of the summed odds of all ways there, of steps in order of where they begin."""
    totals: dict[tuple[int, int], float] = {}
    for row, column, row_end, column_end, gain in steps:
        before = totals.setdefault((row, column), 0.0 if not totals else -math.inf)
        here = totals.get((row_end, column_end), -math.inf)
        low, high = sorted((here, before + gain))
        totals[row_end, column_end] = high + math.log1p(math.exp(low - high)) if high > -math.inf else high
    return totals


def _gains(source: StretchStates, target: StretchStates, ratio: float) -> dict[tuple[int, int], FloatArray]:
    """What speaks for neighbouring stretches by their words and lengths, one array for each shape of pairs."""
    gains = {}
    for (height, width), of_words in _word_evidence(source, target).items():
        lengths = [_sums(side.lengths, size) for side, size in ((source, height), (target, width))]
        both = np.add.outer(lengths[0], lengths[1])
        unequal = np.subtract.outer(np.log(lengths[0]), np.log(lengths[1])) - ratio
        misfit = unequal**2 * np.minimum.outer(lengths[0], lengths[1]) / (2 * _LENGTH_VARIANCE)
        gains[height, width] = (
            _SHAPES[height, width]
            + _CLOSENESS * of_words / np.sqrt(both)
            + _PER_SUBWORD * both
            - np.minimum(misfit, _LENGTH_MOST)
        )
    return gains


def _alike(likeness: Likeness, height: int, width: int) -> FloatArray:
    """How much so many neighbouring stretches sound alike. What two of them share counts twice, unlike by links."""
    shared = _sums(_sums(likeness.shared, height).T, width).T
    both = np.add.outer(_sums(likeness.source, height), _sums(likeness.target, width))
    alike: FloatArray = shared / np.sqrt(np.maximum(both, _ROUNDING))
    return alike


def _word_evidence(source: StretchStates, target: StretchStates) -> dict[tuple[int, int], FloatArray]:
    """How much closer than usual the words of neighbouring stretches come, one array for each shape of pairs."""
    there = np.empty((source.starts[-1], len(target)), dtype=np.float32)
    back = np.empty((target.starts[-1], len(source)), dtype=np.float32)
    for number, (start, end) in enumerate(pairwise(source.starts.tolist())):
        products = source.states[start:end] @ target.states.T
        there[start:end] = np.maximum.reduceat(products, target.starts[:-1], axis=1)
        back[:, number] = products.max(axis=0)
    forward, backward = _evidence(there, source, target), _evidence(back, target, source)
    return {
        (height, width): _sums(forward[width], height) + _sums(backward[height], width).T
        for height, width in _SHAPES
        if height <= len(source) and width <= len(target)
    }


def _evidence(best: FloatArray, ours: StretchStates, theirs: StretchStates) -> dict[int, FloatArray]:
    """How much closer than usual our stretches come to so many neighbouring stretches of theirs.

    Args:
        best: the largest similarity of each subword with a stretch of theirs, shape (our subwords, their stretches).
        ours: the stretches whose subwords are asked.
        theirs: the stretches that they are compared with.

    Returns:
        For every number of neighbours, sums over the subwords of a stretch, shape (our stretches, places).
    """
    count = len(theirs)
    if count == 1:  # nothing to compare with
        return {1: np.zeros((len(ours), 1))}
    # The stretch that a word belongs to says nothing of how close it comes to others.
    peak = best.max(axis=1)
    usual = (best.sum(axis=1) - peak) / (count - 1)
    deviation = float(best.std(axis=1).mean()) or 1.0
    typical = float(np.log(theirs.lengths).mean())
    found = {}
    for size in range(1, min(_MOST_TOGETHER, count) + 1):
        together = np.lib.stride_tricks.sliding_window_view(best, size, axis=1).max(axis=2)
        expected = _GROWTH * (np.log(_sums(theirs.lengths, size)) - typical)
        excess = (together - usual[:, None]) / deviation - expected[None] - _NEEDED
        found[size] = np.add.reduceat(excess, ours.starts[:-1], axis=0)
    return found


def _sums(values: FloatArray | IntArray, size: int) -> FloatArray:
    """Sums of so many neighbours along the first axis."""
    sums: FloatArray = np.lib.stride_tricks.sliding_window_view(values, size, axis=0).sum(axis=-1)
    return sums


def _likely_steps(
    gains: dict[tuple[int, int], FloatArray], height: int, width: int, *, slack: float, skip: float, most: int
) -> list[StretchPair]:
    """The steps of all ways through a block, from corner to corner, that gain at most `slack` less than the best."""
    gains = {**gains, (1, 0): np.full((height, width + 1), skip), (0, 1): np.full((height + 1, width), skip)}
    ahead = _best_gains(gains, height, width, skip)
    turned = {shape: gain[::-1, ::-1] for shape, gain in gains.items()}
    behind = _best_gains(turned, height, width, skip)[::-1, ::-1]
    ways = {(a, b): ahead[: height + 1 - a, : width + 1 - b] + gain + behind[a:, b:] for (a, b), gain in gains.items()}
    least = _least(ways, ahead[height, width] - slack - _ROUNDING, most * (height + width))
    return sorted(
        StretchPair(i, i + a, j, j + b, float(gains[a, b][i, j]))
        for (a, b), way in ways.items()
        for i, j in np.argwhere(way >= least).tolist()
    )


def _least(ways: dict[tuple[int, int], FloatArray], least: float, count: int) -> float:
    """What a way must gain at least, or more where so many steps are on ways that gain it."""
    good = np.concatenate([way[way >= least] for way in ways.values()])
    return float(np.partition(good, -count)[-count]) - _ROUNDING if len(good) > count else least


def _best_gains(gains: dict[tuple[int, int], FloatArray], height: int, width: int, skip: float) -> FloatArray:
    """What the best way from the first corner to each place gains, shape (height + 1, width + 1)."""
    best = np.full((height + 1, width + 1), -np.inf)
    best[0, 0] = 0.0
    # A run of target stretches without a counterpart loses as much on the way to each place of a row.
    skipped = skip * np.arange(width + 1)
    for i, row in enumerate(best):
        for (a, b), gain in gains.items():
            if 0 < a <= i:
                np.maximum(row[b:], best[i - a, : width + 1 - b] + gain[i - a], out=row[b:])
        row[:] = np.maximum.accumulate(row - skipped) + skipped
    return best
