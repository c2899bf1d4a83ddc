"""Training on several devices is accelerate's: its launcher starts weft's entry point, here on two CPU processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from toy import make_base, write_corpus


def test_accelerate_launches_training(tmp_path):
    pytest.importorskip("accelerate", reason="the extra torch is not installed")
    make_base(tmp_path / "base", write_corpus(tmp_path, "train", 60, seed=1))
    options = ["train.txt", "--model", "base", "--layer", "2", "--objectives", "tlm", "--max-steps", "2", "-o", "model"]
    # Two processes that did not find each other would both write every step.
    launch = ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"]
    done = subprocess.run(
        [sys.executable, "-m", *launch, "--main_process_port", "0", "-m", "weft.training", *options],
        cwd=tmp_path,
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr.count("weft: saved the model to model.") == 1
    steps = [json.loads(line)["step"] for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == len(set(steps))
    assert json.loads((tmp_path / "model" / "training.json").read_text())["max_steps"] == 2
    assert (tmp_path / "model" / "model.safetensors").is_file()
