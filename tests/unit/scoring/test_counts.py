from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from nltk.metrics import f_measure, precision, recall
from nltk.translate.metrics import alignment_error_rate

from strategies import word_pair_sets
from weft.scoring.corpus import score
from weft.scoring.counts import Counts, Rates, count_sentence, rates
from weft.types import Alignment, GoldAlignment, Link


@given(sure=word_pair_sets, extra=word_pair_sets, links=word_pair_sets)
def test_aer_equals_nltk(sure, extra, links):
    assume(sure or links)
    gold = GoldAlignment(frozenset(sure), frozenset(sure | extra))
    ours = Rates.of(count_sentence(gold, links))
    assert ours.aer == pytest.approx(100 * alignment_error_rate(sure, links, sure | extra))


@given(sure=word_pair_sets, links=word_pair_sets)
def test_rates_equal_nltk_where_all_links_are_sure(sure, links):
    assume(sure and links)
    ours = Rates.of(count_sentence(GoldAlignment(frozenset(sure), frozenset(sure)), links))
    assert ours.precision == pytest.approx(100 * precision(sure, links))
    assert ours.recall == pytest.approx(100 * recall(sure, links))
    assert ours.f1 == pytest.approx(100 * (f_measure(sure, links) or 0))


def test_och_and_ney_by_hand():
    # S = {00, 11}, P = S + {12}, A = {00, 12, 20}: A∩S = 1, A∩P = 2, so AER = 1 - 3/5, P = 2/3, R = 1/2.
    gold = GoldAlignment.of([Link(0, 0), Link(1, 1), Link(1, 2, None, False)])
    counts = count_sentence(gold, {(0, 0), (1, 2), (2, 0)})
    assert counts == Counts(1, 2, 3, 2)
    found = Rates.of(counts)
    assert (found.aer, found.recall) == (pytest.approx(40.0), pytest.approx(50.0))
    assert found.precision == pytest.approx(200 / 3)
    assert count_sentence(gold.only_sure(), {(0, 0), (1, 2)}) == Counts(1, 1, 2, 2)


def test_rates_over_nothing_are_zero():
    assert rates(np.zeros(4, dtype=np.int64)).tolist() == [0, 0, 0, 0]
    assert Rates.of(Counts(0, 0, 0, 5)).aer == 100


def test_corpus_rates_come_from_summed_counts_and_not_from_means():
    gold = [GoldAlignment.of([Link(0, 0)]), GoldAlignment.of([Link(i, i) for i in range(9)])]
    system = [Alignment(), Alignment.of([Link(i, i) for i in range(9)])]
    assert score(gold, system).rates.aer == pytest.approx(100 * (1 - 18 / 19))
