from __future__ import annotations

import pytest

from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.defaults import epochs_by_size

CORPORA = (CorpusConfig("text"),)


@pytest.mark.parametrize(("pairs", "rounds"), [(100, 8), (2_500, 8), (5_000, 4), (10_000, 2), (1_000_000, 2)])
def test_small_texts_of_a_new_language_are_seen_more_often(pairs, rounds):
    assert epochs_by_size(TrainingConfig("out", CORPORA), pairs).epochs == rounds


@pytest.mark.parametrize("given", [{"epochs": 3.0}, {"minutes": 5.0}, {"max_steps": 7}])
def test_a_length_that_was_given_stays(given):
    config = TrainingConfig("out", CORPORA, **given)
    assert epochs_by_size(config, 100) == config
