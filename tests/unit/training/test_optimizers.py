from __future__ import annotations

import pytest
import torch

from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.optimizers import Muon, optimizers_of, orthogonal


@pytest.mark.parametrize("shape", [(2, 8, 8), (3, 4, 10), (1, 10, 4)])
def test_matrices_become_nearly_orthogonal(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    values = torch.linalg.svdvals(orthogonal(matrices))
    assert values.min() > 0.5
    assert values.max() < 1.3


def test_muon_goes_downhill_and_leaves_what_has_no_gradient():
    torch.manual_seed(2)
    target, still = torch.randn(6, 4), torch.nn.Parameter(torch.ones(6, 4))
    matrix = torch.nn.Parameter(torch.zeros(6, 4))
    optimizer = Muon([matrix, still], lr=0.1)
    losses = []
    for _ in range(60):
        loss = (matrix - target).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    assert torch.equal(still, torch.ones(6, 4))


def test_muon_has_the_matrices_of_the_layers_and_adam_the_rest():
    model = torch.nn.ModuleDict({"embeddings": torch.nn.Embedding(5, 3), "layer": torch.nn.Linear(3, 4)})
    config = TrainingConfig("o", (CorpusConfig("x"),), learning_rate=0.1, matrix_learning_rate=0.2)
    adam, muon = optimizers_of(model, [model["layer"]], config)
    assert [tuple(value.shape) for value in muon.param_groups[0]["params"]] == [(4, 3)]
    assert [tuple(value.shape) for value in adam.param_groups[0]["params"]] == [(5, 3), (4,)]
    config = TrainingConfig("o", (CorpusConfig("x"),), learning_rate=0.1)
    [adam] = optimizers_of(model, [model["layer"]], config)
    assert len(adam.param_groups[0]["params"]) == 3
