from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from weft.training.agreement import agreement, has_little_to_learn, link_counts
from weft.training.batches import ALIGNED, AlignedRows, Batch
from weft.training.config import CorpusConfig, GuideConfig, TrainingConfig
from weft.training.unrelated import UNRELATED, UnrelatedRows

CONFIG = TrainingConfig("out", (CorpusConfig("text"),), method="softmax", guide=GuideConfig(threshold=0.5), null=5.0)


class Seen:
    """Two pairs of two subwords with states that are given, and both once more with a side exchanged."""

    config = CONFIG

    def __init__(self, ours, theirs, unrelated, weights):
        ids, words = torch.zeros(4, 4), torch.tensor([[0, 1], [0, 1]])
        nothing, ones = torch.zeros(2, 2, 2, dtype=torch.bool), torch.ones(2)
        self.aligned = AlignedRows(ids, ids, words, words, nothing, nothing, ones > 2, ones > 2, ones)
        elsewhere = torch.full((2, 2), -1)
        changed = UnrelatedRows(ids, ids, words, elsewhere, torch.arange(2), torch.tensor(weights))
        self.batch = Batch(2, {ALIGNED.name: self.aligned, UNRELATED.name: changed})
        self.pair_states, self.taught_states, self.unrelated_states = ours, theirs, unrelated


def states(*targets):
    """Sources that are (10, 0) and (0, 10), and targets of each pair that point to one of them, or to neither."""
    axes = {"x": [1.0, 0.0], "y": [0.0, 1.0], "-": [0.0, 0.0]}
    source = torch.tensor([[[10.0, 0.0], [0.0, 10.0]]]).repeat(len(targets), 1, 1)
    return source, torch.tensor([[axes[letter] for letter in target] for target in targets])


def test_links_that_stayed_and_links_between_unrelated_words():
    seen = Seen(states("xy", "x-"), states("xy", "xy"), states("x-", "--"), [1.0, 1.0])
    found = agreement(link_counts(seen))
    # the model has three links, the teacher four, and three are the same
    assert found["links kept"] == pytest.approx(100 * 2 * 3 / (3 + 4))
    # one link between two of eight subwords
    assert found["unrelated linked"] == pytest.approx(100 * 2 / 8)


def test_rows_without_weight_do_not_count():
    counts = link_counts(Seen(states("xy", "xy"), states("xy", "xy"), states("xy", "--"), [0.0, 0.0]))
    assert agreement(counts) == {"links kept": 100.0}


@pytest.mark.parametrize(
    ("changes", "strays", "little"),
    [
        ({}, 0.2, True),
        ({}, 5.0, False),
        ({"teacher": "a-better-one"}, 0.2, False),
        ({"objectives": ("gold", "teacher", "unrelated")}, 0.2, False),
    ],
)
def test_a_copy_of_itself_teaches_a_good_model_little(changes, strays, little):
    config = replace(CONFIG, **{"objectives": ("teacher", "unrelated"), **changes})
    assert has_little_to_learn(config, {"unrelated linked": strays}) is little
