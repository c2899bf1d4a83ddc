from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.extraction import cutting, pairing
from weft.extraction.pairing import StretchPair, best_way, likeliest_way, likely_pairs, probabilities
from weft.extraction.stretch_states import StretchStates

WIDTH = 64


def two_texts(seed, sentences, *, source, target):
    """Texts whose sentences share words: each side lists, for each of its stretches, the sentences that it holds."""
    generator = np.random.default_rng(seed)
    meaning = [generator.normal(size=(generator.integers(6, 14), WIDTH)) for _ in range(sentences)]

    def side(groups):
        states = [
            np.concatenate([meaning[k] + 0.4 * generator.normal(size=meaning[k].shape) for k in group])
            for group in groups
        ]
        starts = np.concatenate([[0], np.cumsum([len(part) for part in states])])
        return StretchStates(np.concatenate(states).astype(np.float32), starts)

    return side(source), side(target)


def way(source, target):
    return [pair[:4] for pair in best_way(likely_pairs(source, target, slack=0.0, skip=-1.0))]


def test_equal_texts_are_paired_one_to_one():
    groups = [[k] for k in range(8)]
    assert way(*two_texts(0, 8, source=groups, target=groups)) == [(k, k + 1, k, k + 1) for k in range(8)]


def test_what_is_dropped_or_joined_is_found():
    source = [[0], [1], [2, 3], [4], [5], [6], [8]]  # 2 and 3 are one sentence here, 7 is missing
    target = [[0], [2], [3], [4], [5, 6], [7], [8]]  # 1 is missing, 5 and 6 are one sentence
    assert way(*two_texts(1, 9, source=source, target=target)) == [
        (0, 1, 0, 1), (1, 2, 1, 1), (2, 3, 1, 3), (3, 4, 3, 4), (4, 6, 4, 5), (6, 6, 5, 6), (6, 7, 6, 7),
    ]  # fmt: skip


@pytest.mark.parametrize("slack", [0.0, 7.0])
def test_every_pair_can_be_left_out(slack):
    groups = [[k] for k in range(8)]
    steps = likely_pairs(*two_texts(4, 8, source=groups, target=groups), slack=slack, skip=-1.0)
    assert len(set(steps)) == len(steps)
    assert any(not step.is_skip for step in steps)
    # If links speak against all pairs, nothing is paired.
    against = [step._replace(gain=0.0 if step.is_skip else -50.0) for step in steps]
    for way in (best_way(against), likeliest_way(against)):
        assert all(step.is_skip for step in way)
        assert_complete(way, 8, 8)


def test_a_long_text_is_cut_at_anchors_and_paired_all_the_same():
    count = 400
    groups = [[k] for k in range(count)]
    source, target = two_texts(2, count, source=groups, target=[[k] for k in range(count) if k % 50 != 7])
    assert len(cutting.cut_places(source, target)) > 5
    found = [pair for pair in best_way(likely_pairs(source, target, slack=0.0, skip=-1.0)) if not pair.is_skip]
    kept = [k for k in range(count) if k % 50 != 7]
    assert [pair[:4] for pair in found] == [(k, k + 1, place, place + 1) for place, k in enumerate(kept)]


@pytest.mark.parametrize(("height", "width"), [(500, 500), (700, 300), (2000, 3)])
def test_a_text_that_repeats_itself_takes_no_more_than_its_length(height, width):
    # No place is a better anchor than another, and no pair of stretches a better one.
    texts = two_texts(5, 1, source=[[0]] * height, target=[[0]] * width)
    blocks = cutting.cut_places(*texts)
    assert (blocks[0], blocks[-1]) == ((0, 0), (height, width))
    cells = [(row_end - row) * (end - place) for (row, place), (row_end, end) in pairwise(blocks)]
    assert max(cells) <= 1.1 * cutting._MOST_CELLS
    found = likely_pairs(*texts, slack=5.0, skip=-1.0, most=3)
    assert sum(not pair.is_skip for pair in found) <= 3 * (height + width)
    assert_complete(best_way(found), height, width)


@pytest.mark.parametrize(("source", "target"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 1)])
def test_every_stretch_is_in_one_pair_however_few_there_are(source, target):
    texts = two_texts(3, 5, source=[[k] for k in range(source)], target=[[k] for k in range(target)])
    assert_complete(best_way(likely_pairs(*texts, slack=0.0, skip=-1.0)), source, target)


def assert_complete(steps, height, width):
    ends = [(0, 0), *((pair.source_end, pair.target_end) for pair in steps)]
    assert all((pair.source, pair.target) == end for pair, end in zip(steps, ends, strict=False))
    assert ends[-1] == (height, width)
    assert all(before != after for before, after in pairwise(ends))


def every_way(cells, i, j, height, width):
    """All ways to the far corner, each a list of steps, one by one."""
    if (i, j) == (height, width):
        yield []
        return
    for (a, b), gains in cells.items():
        if i + a <= height and j + b <= width:
            for rest in every_way(cells, i + a, j + b, height, width):
                yield [StretchPair(i, i + a, j, j + b, gains[i][j]), *rest]


def steps_and_ways(height, width, seed):
    """All steps through a small text with any gains, and all ways."""
    generator = np.random.default_rng(seed)
    shapes = [*pairing._SHAPES, (1, 0), (0, 1)]
    cells = {
        (a, b): generator.normal(size=(height - a + 1, width - b + 1)).tolist()
        for a, b in shapes
        if a <= height and b <= width
    }
    steps = [
        StretchPair(i, i + a, j, j + b, gain)
        for (a, b), rows in cells.items()
        for i, row in enumerate(rows)
        for j, gain in enumerate(row)
    ]
    return steps, list(every_way(cells, 0, 0, height, width))


@settings(max_examples=40)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 10**6))
def test_probabilities_are_shares_of_the_odds_of_all_ways(height, width, seed):
    steps, ways = steps_and_ways(height, width, seed)
    odds = [math.exp(sum(step.gain for step in way)) for way in ways]
    shares, total = probabilities(steps)
    assert total == pytest.approx(math.log(sum(odds)))
    for step, share in zip(steps, shares, strict=True):
        own = sum(odd for odd, way in zip(odds, ways, strict=True) if step in way)
        assert share == pytest.approx(own / sum(odds), abs=1e-9)
    assert_complete(likeliest_way(steps), height, width)


def test_empty_texts_have_an_empty_way():
    assert likeliest_way([]) == []


def test_a_doubtful_pair_is_left_out_of_the_likeliest_way():
    skips = [StretchPair(0, 1, 0, 0), StretchPair(1, 1, 0, 1), StretchPair(0, 0, 0, 1), StretchPair(0, 1, 1, 1)]
    for odds, is_found in ((0.5, False), (20.0, True)):
        pair = StretchPair(0, 1, 0, 1, math.log(odds))
        assert (pair[:4] in [step[:4] for step in likeliest_way([*skips, pair])]) is is_found


@settings(max_examples=40)
@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 10**6), st.sampled_from([0.0, 1.5, 100.0]))
def test_likely_steps_are_those_of_all_ways_that_gain_enough(height, width, seed, slack):
    generator = np.random.default_rng(seed)
    gains = {
        (a, b): generator.normal(size=(height - a + 1, width - b + 1))
        for a, b in pairing._SHAPES
        if a <= height and b <= width
    }
    found = pairing._likely_steps(gains, height, width, slack=slack, skip=-1.0, most=10**6)
    cells = {shape: gain.tolist() for shape, gain in gains.items()}
    cells[1, 0] = [[-1.0] * (width + 1)] * height
    cells[0, 1] = [[-1.0] * width] * (height + 1)
    ways = list(every_way(cells, 0, 0, height, width))
    totals = [sum(step.gain for step in steps) for steps in ways]
    expected = {
        step for steps, total in zip(ways, totals, strict=True) if total >= max(totals) - slack for step in steps
    }
    assert set(found) == expected
    few = pairing._likely_steps(gains, height, width, slack=slack, skip=-1.0, most=1)
    assert set(few) <= expected
    for steps in (found, few):
        assert sum(step.gain for step in best_way(steps)) == pytest.approx(max(totals))
        assert_complete(best_way(steps), height, width)
