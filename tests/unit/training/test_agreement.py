from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from weft.training.agreement import agreement, has_little_to_learn, link_counts
from weft.training.config import CorpusConfig, GuideConfig, TrainingConfig
from weft.training.flat_batches import DIRECT, Grid, Group
from weft.training.grids import Cells, Comparison
from weft.training.losses import NullDirections

CONFIG = TrainingConfig("out", (CorpusConfig("text"),), method="softmax", guide=GuideConfig(threshold=0.5), null=5.0)


def seen(ours, theirs, unrelated):
    """Two pairs of two subwords with states that are given, and both once more with strangers on their second side."""
    rows = Grid(torch.tensor([[4 * k, 4 * k + 2, 2, 2] for k in range(4)]), (2, 2))
    asked = Grid(rows.sides[:2], (2, 2))
    weights = torch.tensor([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    logs = NullDirections(*torch.zeros(2, 4, 3, 3), *torch.ones(2, 4, 2, dtype=torch.bool))
    places = torch.tensor([[0, 1]] * 4)
    valid = torch.tensor([True, True, False, False])[:, None, None].expand(4, 2, 2)
    cells = Cells(torch.tensor([[0, 0], [1, 1], [0, 0], [0, 0]]), places, places, valid)
    group = Group(DIRECT, rows, torch.arange(3), asked, None, None, weights, weights > 2)
    passes = SimpleNamespace(
        states=torch.cat([flat(ours), flat(unrelated)]),
        taught_states=flat(theirs),
        comparisons=[Comparison(group, logs, cells)],
    )
    return link_counts(passes, CONFIG.extraction)


def flat(targets):
    """Sources that are (10, 0) and (0, 10), and targets of each pair that point to one of them, or to neither."""
    axes = {"x": [1.0, 0.0], "y": [0.0, 1.0], "-": [0.0, 0.0]}
    return torch.tensor([state for target in targets
                         for state in ([10.0, 0.0], [0.0, 10.0], *(axes[letter] for letter in target))])  # fmt: skip


def test_links_that_stayed_and_links_between_unrelated_words():
    found = agreement(seen(("xy", "x-"), ("xy", "xy"), ("x-", "--")))
    # the model has three links, the teacher four, and three are the same
    assert found["links kept"] == pytest.approx(100 * 2 * 3 / (3 + 4))
    # one link between two of eight subwords
    assert found["unrelated linked"] == pytest.approx(100 * 2 / 8)


def test_without_anything_to_count_nothing_is_said():
    assert agreement(torch.zeros(5)) == {}


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
