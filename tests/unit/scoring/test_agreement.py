"""Agreement of annotators against independent computations."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.scoring.agreement import Agreement, count_agreement
from weft.scoring.corpus import score
from weft.types import Alignment, GoldAlignment, Link, SentencePair

PAIR = SentencePair(tuple("abcd"), tuple("vwxyz"))
CELLS = [(i, j) for i in range(4) for j in range(5)]


def gold(labels: dict[tuple[int, int], str]) -> GoldAlignment:
    sure = frozenset(cell for cell, label in labels.items() if label == "sure")
    return GoldAlignment(sure, sure | frozenset(cell for cell, label in labels.items() if label == "possible"))


def annotated(seed: int) -> dict[tuple[int, int], str]:
    draw = random.Random(seed)
    return {cell: draw.choices(["none", "possible", "sure"], [6, 1, 3])[0] for cell in CELLS}


def test_kappa_is_that_of_nltk():
    task = pytest.importorskip("nltk.metrics.agreement", reason="nltk is not installed")
    sentences = [(annotated(k), annotated(k + 100)) for k in range(30)]
    rows = [
        (who, f"{number}-{cell}", str(labels[cell] != "none"))
        for number, both in enumerate(sentences)
        for who, labels in zip("ab", both, strict=True)
        for cell in CELLS
    ]
    found = Agreement.of(count_agreement(gold(one), gold(other), PAIR) for one, other in sentences).rates
    assert found.kappa == pytest.approx(task.AnnotationTask(data=rows).kappa())


def test_aer_counts_both_as_gold_once():
    """The errors of both directions over the links of both directions, as `weft score` counts them."""
    sentences = [(gold(annotated(k)), gold(annotated(k + 100))) for k in range(30)]
    totals = []
    for direction in (0, 1):
        truths = [pair[direction] for pair in sentences]
        systems = [Alignment.of(Link(*cell) for cell in pair[1 - direction].possible) for pair in sentences]
        totals.append(score(truths, systems).total)
    hits = sum(total.sure_hits + total.possible_hits for total in totals)
    expected = 100 * (1 - hits / sum(total.links + total.sure for total in totals))
    found = Agreement.of(count_agreement(one, other, PAIR) for one, other in sentences)
    assert found.rates.aer == pytest.approx(expected)
    low, high = found.interval
    assert low.aer < found.rates.aer < high.aer
    assert low.f1 < found.rates.f1 < high.f1
    assert low.kappa < found.rates.kappa < high.kappa


labels = st.dictionaries(st.sampled_from(CELLS), st.sampled_from(["possible", "sure"]))


@given(labels, labels)
def test_it_is_symmetric_and_perfect_only_with_oneself(one, other):
    there, back = (
        Agreement.of([count_agreement(a, b, PAIR)]) for a, b in ((gold(one), gold(other)), (gold(other), gold(one)))
    )
    assert there.rates == back.rates
    assert (there.disagreements == []) == (one == other)
    alone = Agreement.of([count_agreement(gold(one), gold(one), PAIR)])
    assert (alone.rates.aer, alone.rates.f1, alone.rates.kappa) == (0, 100, 1)


def test_without_sentences_there_is_no_kappa():
    found = Agreement.of([count_agreement(gold(annotated(1)), gold(annotated(2)))])
    assert found.rates.kappa is None
    assert found.interval[0].kappa is None
    assert "kappa" not in str(found)


def test_disagreements_begin_with_the_worst():
    same, near = gold({(0, 0): "sure", (1, 1): "sure"}), gold({(0, 0): "sure", (1, 1): "possible"})
    far = gold({(3, 3): "sure"})
    found = Agreement.of(count_agreement(same, other, PAIR) for other in (same, near, far))
    assert found.disagreements == [2, 1]
    assert [found.differs_in_sureness(number) for number in range(3)] == [False, True, False]
    assert np.isclose(found.by_sentence[2].f1, 0)
