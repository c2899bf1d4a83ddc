"""Where the data for golden and parity tests lies, and how the command line is run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"no data at {DATA}; set WEFT_DATA to the folder with gold/ and peers/")
    return DATA


@pytest.fixture
def weft():
    """Run `weft` in a process of its own; returns the finished process with text output."""

    def run(*arguments: object, stdin: str | bytes = b"", **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "weft", *map(str, arguments)]
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(command, input=given, capture_output=True, timeout=300, **options)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    from models import make_model

    return make_model(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="session")
def tiny_onnx(tmp_path_factory, tiny_bert) -> Path:
    from models import export_onnx

    return export_onnx(tiny_bert, tmp_path_factory.mktemp("models") / "onnx", layer=2)
