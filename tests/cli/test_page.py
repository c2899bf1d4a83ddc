"""`weft page`: what it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.models.known import built_in_models
from weft.viewing.site import RUNTIME_FILES


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A model with a graph that weft's own encoder cannot run."""
    model = shutil.copytree(built_in_models()["weft-nano"], tmp_path / "other")
    settings = json.loads((model / "weft.json").read_text(encoding="utf-8"))
    (model / "weft.json").write_text(json.dumps({**settings, "max_length": 129}))  # more than it has positions
    return model


def test_writes_a_folder_of_plain_files_and_replaces_it(weft, tmp_path):
    for _ in range(2):
        done = weft("page", "-o", "my site", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.endswith("http.server --directory 'my site'\n")
    site = tmp_path / "my site"
    assert {path.name for path in site.iterdir()} == {
        *("index.html", "read.html", "page.json", "offline.js"),
        *("static", "aligner", "models"),
    }
    assert (site / "models" / "weft-mini" / "model.onnx").stat().st_size > 1_000_000
    for page in ("index.html", "read.html"):
        text = (site / page).read_text(encoding="utf-8")
        scripts = re.findall(r'<script[^>]* src="([^"]*)"', text)
        assert scripts[0] == "aligner/page/server.js"
        assert 'src="/' not in text
        assert 'href="/' not in text


def test_a_folder_with_other_files_stays_as_it_is(weft, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "letter.txt").write_text("dear")
    done = weft("page", "-o", "work", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "weft: work contains other files; name a new folder.\n"
    assert (tmp_path / "work" / "letter.txt").read_text() == "dear"


def test_other_graphs_take_onnxruntime_with_them(weft, tmp_path, other):
    folder = tmp_path / "onnxruntime-web" / "dist"
    folder.mkdir(parents=True)
    for name in RUNTIME_FILES:
        (folder / name).write_text("// not the real one")
    done = weft("page", "-o", "site", "--model", other, "--runtime", folder.parent, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "site" / "runtime").iterdir()} == set(RUNTIME_FILES)


def test_a_folder_without_the_runtime_is_named(weft, tmp_path, other):
    done = weft("page", "-o", "site", "--model", other, "--runtime", tmp_path, cwd=tmp_path)
    assert done.returncode == 1
    assert "does not contain onnxruntime-web: ort.wasm.min.mjs" in done.stderr
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("built_in", [True, False])
def test_nothing_of_npm_is_needed_but_for_other_graphs(tmp_path, other, built_in):
    # A checkout without js/node_modules.
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "weft").symlink_to(Path(weft.__file__).parent)
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "src").symlink_to(Path(__file__).parents[2] / "js" / "src")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    command = [sys.executable, "-m", "weft", "page", "-o", "site", "--model", "weft-nano" if built_in else other]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    if built_in:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    assert "other has a graph that browsers run with onnxruntime-web, which does not come with weft." in done.stderr
    assert "Run 'npm install onnxruntime-web' here, or name its folder with --runtime." in done.stderr


def test_a_model_without_an_int8_graph_is_refused(weft, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    done = weft("page", "-o", "site", "--model", "./model", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("weft: ")
    assert not (tmp_path / "site").exists()
