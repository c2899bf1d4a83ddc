"""What of a batch differs between devices, as far as it can be seen without a GPU."""

from __future__ import annotations

import torch

from weft.training.batches import Batch, Part
from weft.training.config import ThroughConfig
from weft.training.flat import attends_without_padding
from weft.training.losses import null_directions
from weft.training.through import composed


def test_only_what_lies_on_the_cpu_is_pinned():
    """Text on a GPU makes batches that are there already; torch refuses to pin those."""
    rows = Part(torch.ones(2, 3, device="meta"), torch.ones(2, 3, device="meta"))
    part = Batch(2, {"rows": rows}).pin_memory().parts["rows"]
    assert part.ids is rows.ids
    assert part.attention is rows.attention


def test_a_cpu_has_no_attention_without_padding():
    assert not attends_without_padding(torch.device("cpu"))


def test_pairs_by_way_of_a_third_language_are_exact_in_half_precision():
    torch.manual_seed(1)
    real = torch.ones(1, 7, dtype=torch.bool)
    one, two = (null_directions(*torch.randn(2, 1, 7, 9), real, real, null=1.0) for _ in range(2))
    first = one.forward[:, :, :-1].exp(), one.backward[:, :-1].exp()
    expected = composed(first, two, ThroughConfig())
    with torch.autocast("cpu", torch.bfloat16):
        found = composed(first, two, ThroughConfig())
    assert all(torch.equal(*both) for both in zip(found, expected, strict=True))
