"""What rows are made of pairs: each as it is, two in one row, and some once more as what they should not be.

Pairs that are no translations, or not quite, are what a model must learn to leave unlinked. One side of such a row is
another pair's sentence (`unrelated`), or has such a sentence before or behind it (`added`), or lacks a part (`cut`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from weft.arrays import BoolArray, IntArray
from weft.training.config import TrainingConfig
from weft.training.packed import NOBODY, PackedCorpus, Units
from weft.training.segments import Segments, Sentences

UNCHANGED, UNRELATED, ADDED, CUT = range(4)
# How far a sentence of the same document is looked for.
_NEIGHBOURS = 4
# A part of a sentence that is cut out is so long; shorter sentences are left whole.
_CUT_AT_LEAST, _CUT_AT_MOST, _SHORTEST = 0.2, 0.6, 8


class Drawn(NamedTuple):
    """What was drawn for units, arrays of shape (units, …).

    `flipped` are read with their sides exchanged. `partner` (units, 4) is another unit of the same languages: its
    source, target, third sentence and pair. `change` is what becomes of the second side in a row of its own. `double`
    says which stand in one row with their partner. `numbers` (units, 3) are uniform, `key` is for masks.
    """

    flipped: BoolArray
    partner: IntArray
    change: IntArray
    double: BoolArray
    numbers: npt.NDArray[np.float64]
    key: npt.NDArray[np.uint64]

    def some(self, which: IntArray | slice) -> Drawn:
        """What was drawn for some of the units."""
        parts: tuple[Any, ...] = tuple(part[which] for part in self)
        return Drawn(*parts)


class Made(NamedTuple):
    """Rows of units: the units, their partners in double rows behind them; parts; and of each row what it is.

    `flipped` (units,) says whose links are stored the other way round, `unit` (rows,) is the first unit of each row,
    `changed` (rows,) is true for rows that are no translations, or not quite.
    """

    units: Units
    flipped: BoolArray
    segments: Segments
    unit: IntArray
    changed: BoolArray


def draw(
    generator: np.random.Generator, units: Units, corpus: PackedCorpus, config: TrainingConfig, longest: int
) -> Drawn:
    """Draw all that is random about the rows of some units.

    Args:
        generator: for this step.
        units: all of the step.
        corpus: where partners come from.
        config: for the shares of each kind.
        longest: subwords that there is room for on a side.
    """
    count, kinds = len(units), config.changes
    flipped = (generator.random(count) < 0.5) & (units.pair >= 0)
    partner = _partners(generator, units, corpus, kinds.near)
    partner = np.where(flipped[:, None], partner[:, [1, 0, 2, 3]], partner)
    sides = np.where(flipped, units.target, units.source), np.where(flipped, units.source, units.target)
    lengths, target = corpus.lengths, sides[1]
    fits = [lengths[own] + lengths[other] <= longest for own, other in zip(sides, partner.T[:2], strict=True)]
    stranger = ~_same(corpus, target, partner[:, 1])
    weights = np.array([kinds.unrelated, kinds.added, kinds.cut])
    kind = UNRELATED + np.searchsorted(np.cumsum(weights)[:-1], generator.random(count) * weights.sum(), side="right")
    kind = np.where((kind == ADDED) & ~fits[1], UNRELATED, kind)
    kind = np.where((kind == CUT) & (lengths[target] < _SHORTEST), UNRELATED, kind)
    is_changed = (generator.random(count) < config.changed) & (stranger | (kind == CUT))
    double = (generator.random(count) < kinds.double) & fits[0] & fits[1] & stranger
    double &= corpus.is_given(units.pair) == corpus.is_given(partner[:, 3])
    key = generator.integers(1 << 63, size=count, dtype=np.uint64)
    return Drawn(flipped, partner, np.where(is_changed, kind, UNCHANGED), double, generator.random((count, 3)), key)


def _partners(generator: np.random.Generator, units: Units, corpus: PackedCorpus, near_by: float) -> IntArray:
    """Another unit of the same languages for each, shape (units, 4); a share of them are neighbours in the text."""
    count, paired = len(units), units.pair >= 0
    firsts, sizes = (np.array([pool[k] for pool in corpus.pools] or [0], dtype=np.int64) for k in (1, 2))
    pool = np.where(paired, units.pool, 0)
    first, size = firsts[pool], np.maximum(1, sizes[pool])
    anywhere = first + (generator.random(count) * size).astype(np.int64)
    step = generator.integers(1, _NEIGHBOURS + 1, count) * generator.choice([-1, 1], count)
    near = np.clip(units.pair + step, first, first + size - 1)
    number = np.where(generator.random(count) < near_by, near, anywhere)
    number = np.where(number == units.pair, first + (units.pair - first + _NEIGHBOURS + 1) % size, number)
    found = np.stack([units.source, units.target, units.third, units.pair], axis=1)
    # Lines of two languages: the next one with the same second language, or whatever is next.
    others = np.flatnonzero(~paired)
    others = others[np.argsort(units.pool[others], kind="stable")]
    result = np.empty_like(found)
    result[others] = found[np.roll(others, 1)]
    chosen = corpus.units(number[paired])
    result[paired] = np.stack([chosen.source, chosen.target, chosen.third, chosen.pair], axis=1)
    return result


def _same(corpus: PackedCorpus, some: IntArray, others: IntArray) -> BoolArray:
    """Whether sentences are the same, or as good as: as long, with the same beginning, middle and end."""
    ids, starts, lengths = corpus.arrays["ids"], corpus.arrays["starts"], corpus.lengths
    result: BoolArray = lengths[some] == lengths[others]
    for share in (0.0, 0.5, 0.999):
        one, other = (ids[starts[which] + (share * lengths[which]).astype(np.int64)] for which in (some, others))
        result &= one == other
    return result


def made_rows(units: Units, drawn: Drawn, sentences: Sentences, *, changed: bool = True) -> Made:
    """Rows of units: all of them as they are, then the changed ones.

    Args:
        units: some units of a step.
        drawn: what was drawn for them.
        sentences: all text.
        changed: whether there are any changed rows.
    """
    sides = np.where(drawn.flipped, [units.target, units.source], [units.source, units.target])
    count, second = len(units), np.flatnonzero(drawn.double)
    chosen = np.flatnonzero(drawn.change != UNCHANGED) if changed else np.zeros(0, dtype=np.int64)
    rows, number = Segments.empty(count + len(chosen)), np.arange(count)
    for side, (own, partner) in enumerate(zip(sides, drawn.partner.T[:2], strict=True)):
        rows.put(number, side, 0, sentences, own, number)
        rows.put(second, side, 1, sentences, partner[second], count + np.arange(len(second)))
    _put_changed(rows, count + np.arange(len(chosen)), chosen, sides, drawn, sentences)
    partners = drawn.partner[second]
    beside = Units(
        partners[:, 0], partners[:, 1], partners[:, 2], partners[:, 3], units.corpus[second], units.pool[second]
    )
    own = Units(sides[0], sides[1], units.third, units.pair, units.corpus, units.pool)
    return Made(
        Units.joined([own, beside]),
        np.concatenate([drawn.flipped, drawn.flipped[second]]),
        rows,
        np.concatenate([number, chosen]),
        np.repeat([False, True], [count, len(chosen)]),
    )


def _put_changed(
    rows: Segments, places: IntArray, chosen: IntArray, sides: IntArray, drawn: Drawn, sentences: Sentences
) -> None:
    """Fill changed rows, at `places`, of the units `chosen`."""
    kind, source, target = drawn.change[chosen], sides[0][chosen], sides[1][chosen]
    stranger, numbers = drawn.partner[chosen, 1], drawn.numbers[chosen]
    rows.put(places, 0, 0, sentences, source, np.where(kind == UNRELATED, NOBODY, chosen))
    rows.put(places, 1, 0, sentences, target, chosen)
    here = np.flatnonzero(kind == UNRELATED)
    rows.put(places[here], 1, 0, sentences, stranger[here], NOBODY)
    here = np.flatnonzero(kind == ADDED)
    rows.put(places[here], 1, 1, sentences, stranger[here], NOBODY)
    here = here[numbers[here, 0] < 0.5]
    rows.put(places[here], 1, 0, sentences, stranger[here], NOBODY)
    rows.put(places[here], 1, 1, sentences, target[here], chosen[here])
    here = np.flatnonzero(kind == CUT)
    length = sentences.lengths[target[here]]
    share = _CUT_AT_LEAST + (_CUT_AT_MOST - _CUT_AT_LEAST) * numbers[here, 1]
    out = np.maximum(1, (length * share).astype(np.int64))
    begin = (numbers[here, 2] * (length - out + 1)).astype(np.int64)
    rows.put(places[here], 1, 1, sentences, target[here], chosen[here])
    rows.length[places[here], 1, 0] = begin
    rows.start[places[here], 1, 1] += begin + out
    rows.place[places[here], 1, 1] = begin + out
    rows.length[places[here], 1, 1] = length - begin - out
