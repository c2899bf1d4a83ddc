from __future__ import annotations

import pytest
import torch

from weft.training.config import ThroughConfig
from weft.training.losses import null_directions
from weft.training.through import composed


def logs_of(n, m, generator):
    """Log probabilities of two pairs of random states; the second pair is shorter by one on both sides."""
    states = [torch.randn(2, size, 5, generator=generator) for size in (n, m)]
    real = [torch.arange(size) < torch.tensor([[size], [size - 1]]) for size in (n, m)]
    return null_directions(*states, *real, null=0.5)


@pytest.fixture
def halves():
    generator = torch.Generator().manual_seed(3)
    first, second = logs_of(3, 4, generator), logs_of(4, 5, generator)
    return first, second


def through(halves, **settings):
    first, second = halves
    parts = first.forward[:, :, :-1].exp(), first.backward[:, :-1].exp()
    return composed(parts, second, ThroughConfig(**settings))


def test_probabilities_are_multiplied(halves):
    first, second = halves
    forward, backward = through(halves)
    for k, (x, e, y) in enumerate([(3, 4, 5), (2, 3, 4)]):
        for i in range(x):
            for j in range(y):
                expected = sum(first.forward[k, i, t].exp() * second.forward[k, t, j].exp() for t in range(e))
                assert forward[k, i, j].item() == pytest.approx(expected.item(), abs=1e-6)
                expected = sum(first.backward[k, i, t].exp() * second.backward[k, t, j].exp() for t in range(e))
                assert backward[k, i, j].item() == pytest.approx(expected.item(), abs=1e-6)
    assert (forward.sum(2) < 1).all()


def test_a_power_evens_them_and_odds_take_from_the_null(halves):
    forward, _ = through(halves)
    even, _ = through(halves, power=0.5)
    torch.testing.assert_close(even.sum(2), forward.sum(2))
    assert even[0].max() < forward[0].max()
    more, _ = through(halves, odds=4.0)
    mass, before = more[0].sum(1), forward[0].sum(1)
    torch.testing.assert_close(mass / (1 - mass), 4 * before / (1 - before))
    assert (more.sum(2) <= 1).all()
