"""The table of objectives: entries are complete, and one from outside is trained like any other."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from weft.training.batches import ALIGNED, Batch, Part, RowMaker, tensors
from weft.training.config import TrainingConfig
from weft.training.loop import train
from weft.training.objectives import OBJECTIVES, Objective, makers


def test_objectives_with_the_same_rows_share_them():
    config = TrainingConfig.from_record({"output": "o", "corpora": [{"path": "x"}], "objectives": list(OBJECTIVES)})
    names = [maker.name for maker in makers(config)]
    assert len(names) == len(set(names)) == 5


@dataclasses.dataclass(slots=True)
class Lengths(Part):
    wanted: torch.Tensor


def _lengths(pairs, draws, material):
    aligned = ALIGNED.make(pairs, (), material)
    wanted, *_ = tensors(draws[0])
    return Lengths(aligned.ids, aligned.attention, wanted)


ROWS = RowMaker("lengths", _lengths, lambda generator, pairs, _: (generator.random((len(pairs), 2)),))


def _squared(passes):
    rows = passes.batch.part(ROWS)
    lengths = passes.model.states(rows.ids, rows.attention).norm(dim=-1) * rows.attention
    return ((lengths.sum(1) / rows.attention.sum(1) - 3) ** 2).sum()


@pytest.fixture
def calm():
    OBJECTIVES["calm"] = Objective(
        "to have states of length 3", (ROWS,), _squared, unit=lambda batch, _: 2.0 * batch.pairs, weight=lambda _: 0.5
    )
    yield
    del OBJECTIVES["calm"]


def test_an_objective_from_outside_is_checked_made_counted_and_trained(toy, tmp_path, calm):
    records = []
    record = {
        "output": str(tmp_path / "out"), "model": str(toy / "base"), "layer": 1, "objectives": ["calm", "so"],
        "corpora": [{"path": str(toy / "train.txt")}], "batch_size": 32, "workers": 0, "learning_rate": 1e-2,
        "max_steps": 30, "log_every": 1, "weights": {"so": 0.0}, "dropout": 0.0,
    }  # fmt: skip
    train(TrainingConfig.from_record(record), report=records.append)
    assert all(record["so"] == 0 for record in records)
    # Layer norm gives vectors of width 48 a length of about √48; half of the squared distance from 3 is the first loss.
    assert records[0]["calm"] == pytest.approx(0.5 * (math.sqrt(48) - 3) ** 2, rel=0.05)
    assert records[-1]["calm"] < records[0]["calm"] / 2


def test_a_batch_moves_as_a_whole():
    part = Lengths(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2))
    moved = Batch(2, {"lengths": part}).mapped(torch.Tensor.double)
    assert moved.part(ROWS).wanted.dtype == moved.part(ROWS).ids.dtype == torch.float64
    assert moved.tokens == 6
