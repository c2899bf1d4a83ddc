from __future__ import annotations

import torch
from torch import nn

from weft.training.kept import KeptWeights


def test_the_kept_weights_are_a_mean_for_a_while_and_the_trained_ones_come_back_bit_for_bit():
    torch.manual_seed(1)
    model = nn.Linear(3, 2)
    start = [weight.detach().clone() for weight in model.parameters()]
    kept = KeptWeights(model, 0.25)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight))
    trained = [weight.detach().clone() for weight in model.parameters()]
    with kept.in_place():
        for weight, first, last in zip(model.parameters(), start, trained, strict=True):
            torch.testing.assert_close(weight.detach(), 0.25 * first + 0.75 * last)
    assert all(torch.equal(weight, last) for weight, last in zip(model.parameters(), trained, strict=True))


def test_without_a_share_nothing_is_copied_or_changed():
    model = nn.Linear(3, 2)
    kept = KeptWeights(model, 0.0)
    with torch.no_grad():
        model.weight.add_(1.0)
    trained = model.weight.detach().clone()
    with kept.in_place():
        assert torch.equal(model.weight, trained)
    assert torch.equal(model.weight, trained)


def test_the_start_is_kept_exactly_while_nothing_was_learned():
    """The starting weights are scored and saved first, and must be the base's own."""
    torch.manual_seed(2)
    model = nn.Linear(30, 20)
    start = model.weight.detach().clone()
    with KeptWeights(model, 1 / 3).in_place():
        assert torch.equal(model.weight, start)
