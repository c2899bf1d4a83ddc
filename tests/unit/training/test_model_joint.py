from __future__ import annotations

import json
import shutil
from itertools import chain

import pytest
import torch

from models import encode
from weft import Aligner
from weft.encoding.torch import TorchEncoder
from weft.training.config import TrainingConfig
from weft.training.loop import train
from weft.training.model import load_trainable
from weft.training.rows import single_rows

PAIRS = [(("lo", "house", "."), ("the", "house", ".")), (("un", "dog", "lo", "seesa", "."), ("a", "dog", "sees"))]


@pytest.fixture(scope="module")
def joint_base(toy, tmp_path_factory):
    """The toy encoder, made to read both sentences of a pair together."""
    folder = shutil.copytree(toy / "base", tmp_path_factory.mktemp("joint") / "base")
    (folder / "weft.json").write_text(json.dumps({"layer": 2, "joint": True}))
    return folder


def config_of(toy, base, output, **changes):
    record = {
        "output": str(output), "model": str(base), "objectives": ["mlm", "tlm", "so", "psi", "co"], "seed": 3,
        "corpora": [{"path": str(toy / "train.txt"), "links": str(toy / "train.links")}], "dev": [str(toy / "dev")],
        "batch_size": 32, "workers": 0, "learning_rate": 1e-3, "warmup": 0.1, "eval_every": 60, "max_steps": 60,
    }  # fmt: skip
    return TrainingConfig.from_record({**record, **changes})


def test_training_sees_the_states_that_aligning_sees(toy, joint_base):
    model, _ = load_trainable(config_of(toy, joint_base, "unused"))
    encoder = TorchEncoder(joint_base, layer=2, device="cpu", joint=True)
    pieces = list(encoder.tokenizer.split([side for pair in PAIRS for side in pair]))
    rows = single_rows([piece.ids for piece in (*pieces[::2], *pieces[1::2])], encoder.tokenizer)
    with torch.no_grad():
        lengths = tuple(2 + max(len(piece.ids) for piece in side) for side in (pieces[::2], pieces[1::2]))
        sides = model.eval().pair_states(torch.from_numpy(rows.ids), torch.from_numpy(rows.attention), lengths)
    encoded = encode(encoder, chain.from_iterable(PAIRS))
    for number in range(4):  # source and target of the first pair, then of the second
        expected = encoded.states[encoded.starts[number] : encoded.starts[number + 1]]
        found = sides[number % 2][number // 2, 1 : 1 + len(expected)]
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_a_joint_model_stays_joint_and_learns(toy, joint_base, tmp_path):
    aers = []
    untrained = config_of(toy, joint_base, tmp_path / "untrained", max_steps=1, learning_rate=1e-9)
    for config in (untrained, config_of(toy, joint_base, tmp_path / "trained")):
        train(config, report=lambda record: aers.append(record["aer"]) if "aer" in record else None)
    assert aers[-1] < aers[0] - 10
    aligner = Aligner.from_pretrained(tmp_path / "trained", device="cpu")
    assert aligner.encoder.joint
    assert json.loads((tmp_path / "trained" / "weft.json").read_text())["joint"] is True
