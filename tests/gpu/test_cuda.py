"""What runs on a GPU gives what a CPU gives: links, scores, order, long sentences, streams and low precision.

Needs torch, transformers, tokenizers, numpy and pytest, and no data: the models are tiny and random.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from models import SENTENCES, make_model  # noqa: E402 - needs torch
from toy import make_base, write_corpus  # noqa: E402
from weft import Aligner, Alignment  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that CUDA knows of")

PAIRS = [(source, target) for source in SENTENCES for target in SENTENCES]
LONG = (" ".join(SENTENCES * 6), " ".join(reversed(SENTENCES * 6)))  # far beyond 64 positions: read in windows
# The families that BertEncoder runs, and others that go through transformers.
ARCHITECTURES = ["bert", "xlm-roberta", "distilbert", "t5"]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def folder(request, tmp_path_factory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / request.param, request.param)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "bert")


def load(folder: Path, device: str, **options: object) -> Aligner:
    return Aligner.from_pretrained(folder, layer=2, device=device, **{"dtype": "float32", **options})


def shared(found: list[Alignment], expected: list[Alignment]) -> float:
    """The share of links that both have (F1)."""
    both = sum(len(one.pairs & other.pairs) for one, other in zip(found, expected, strict=True))
    return 2 * both / sum(len(one) + len(other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("method", ["softmax", "argmax", "itermax", "match"])
def test_links_are_those_of_the_cpu(folder, method):
    expected = load(folder, "cpu", method=method).align_batch(PAIRS)
    found = load(folder, "cuda", method=method).align_batch(PAIRS)
    assert sum(map(len, expected)) > len(PAIRS)
    # Where two words or two matchings are equally good, the last digit decides.
    assert shared(found, expected) > (0.999 if method == "softmax" else 0.99)


def test_scores_are_those_of_the_cpu(folder):
    expected = load(folder, "cpu").align_batch(PAIRS, scores="raw")
    found = load(folder, "cuda").align_batch(PAIRS, scores="raw")
    known = {(row, link.indices): link.score for row, one in enumerate(expected) for link in one}
    pairs = [(link.score, known.get((row, link.indices))) for row, one in enumerate(found) for link in one]
    gaps = [abs(score - other) for score, other in pairs if other is not None]
    assert len(gaps) > 0.999 * len(pairs)
    assert max(gaps) < 1e-3


def test_entmax_on_the_gpu(folder):
    pytest.importorskip("entmax")
    expected = load(folder, "cpu", method="entmax").align_batch(PAIRS)
    assert shared(load(folder, "cuda", method="entmax").align_batch(PAIRS), expected) > 0.999


def test_similarities_are_those_of_the_cpu(folder):
    expected = load(folder, "cpu").similarity(*PAIRS[1])
    np.testing.assert_allclose(load(folder, "cuda").similarity(*PAIRS[1]), expected, atol=1e-4)


def test_long_sentences_are_read_in_windows(bert):
    expected, found = (load(bert, device).align_batch([LONG, PAIRS[0]]) for device in ("cpu", "cuda"))
    assert len(expected[0]) > 20
    assert shared(found, expected) > 0.999


def test_streams_keep_order_and_number_whatever_the_chunks(bert):
    aligner = load(bert, "cuda")
    pairs = [pair for pair in PAIRS for _ in range(3)] + [("", "a b"), ("a", [])]
    expected = [aligner.align(*pair) for pair in pairs]
    for chunk_words in (1, 50, 100_000):
        found = list(aligner.stream(iter(pairs), chunk_words=chunk_words))
        assert len(found) == len(pairs)
        assert shared(found, expected) > 0.999
        assert [one.pair for one in found] == [one.pair for one in expected]


def test_the_same_run_gives_the_same_links_twice(bert):
    aligner = load(bert, "cuda")
    first, second = (aligner.align_batch(PAIRS * 3, scores="raw") for _ in range(2))
    assert first == second


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_the_precision_gives_nearly_the_same_links(folder, dtype):
    exact, rough = load(folder, "cuda"), load(folder, "cuda", dtype=dtype)
    np.testing.assert_allclose(rough.similarity(*PAIRS[1]), exact.similarity(*PAIRS[1]), atol=0.05)
    assert shared(rough.align_batch(PAIRS), exact.align_batch(PAIRS)) > 0.9


def test_memory_does_not_grow_with_the_corpus(bert):
    aligner = load(bert, "cuda")
    held = []
    for _ in range(4):
        for _ in aligner.stream(PAIRS * 5, chunk_words=200):
            pass
        torch.cuda.synchronize()
        held.append(torch.cuda.memory_allocated())
    assert held[-1] <= held[1] + 1_000_000


def test_the_cpu_is_not_left_by_mistake(bert):
    aligner = load(bert, "cpu")
    before = torch.cuda.memory_allocated()
    aligner.align_batch(PAIRS)
    assert torch.cuda.memory_allocated() == before
    assert load(bert, "auto").encoder.device.type == "cuda"


def test_steps_of_one_size_are_the_same_compiled_or_not(tmp_path):
    """The first step has the losses of a CPU; compiled or not, attention without padding learns the same."""
    pytest.importorskip("accelerate")
    from weft.training.config import TrainingConfig
    from weft.training.loop import train

    base = make_base(tmp_path / "base", write_corpus(tmp_path, "train", 500, seed=1), width=64)
    (base / "weft.json").write_text('{"layer": 2, "joint": true}')
    record = {
        "model": str(base), "corpora": [{"path": str(tmp_path / "train.txt")}], "step_tokens": 4096, "max_steps": 20,
        "objectives": ["teacher", "unrelated", "masked"], "learning_rate": 1e-3, "matrix_learning_rate": 1e-3,
        "null": 3.0, "log_every": 1, "held_out": 0.0, "dropout": 0.0,
    }  # fmt: skip
    curves = []
    for name, options in (("exact", {}), ("plain", {"precision": "bf16", "compile": False}),
                          ("compiled", {"precision": "bf16"})):  # fmt: skip
        found: list[dict[str, float]] = []
        train(TrainingConfig.from_record({**record, **options, "output": str(tmp_path / name)}), report=found.append)
        curves.append([[step[key] for key in ("teacher", "unrelated", "masked")] for step in found])
    for curve in curves[1:]:
        np.testing.assert_allclose(curve[0], curves[0][0], rtol=0.05)
        np.testing.assert_allclose(curve[-1], curves[0][-1], rtol=0.2, atol=0.1)
        assert curve[-1][1] < curve[0][1] / 2


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_training_with_defaults_runs_through(tmp_path, workers, precision):
    """Steps, scores on pairs that are kept back, checkpoints and a resumed run, with text that lies on the GPU."""
    pytest.importorskip("accelerate")
    from weft.training.config import TrainingConfig
    from weft.training.loop import train

    base = make_base(tmp_path / "base", write_corpus(tmp_path, "train", 500, seed=1), width=64)
    (base / "weft.json").write_text('{"layer": 2, "joint": true}')
    record = {
        "model": str(base), "corpora": [{"path": str(tmp_path / "train.txt")}], "output": str(tmp_path / "out"),
        "workers": workers, "precision": precision, "matrix_learning_rate": 1e-3, "log_every": 1, "save_every": 2,
        "max_steps": 4, "keep_checkpoints": True,
    }  # fmt: skip
    config = TrainingConfig.from_record(record)
    found: list[dict[str, float]] = []
    train(config, report=found.append)
    assert all(np.isfinite(list(step.values())).all() for step in found)
    assert any("links kept" in step for step in found)
    shutil.rmtree(tmp_path / "out" / "checkpoints" / "step-000000004")
    again: list[dict[str, float]] = []
    assert train(config, resume=True, report=again.append).step == 4
    assert again[0]["step"] == 3
