"""`weft page`: what it writes, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.viewing.site import RUNTIME_FILES


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Something that looks like onnxruntime-web."""
    folder = tmp_path / "onnxruntime-web" / "dist"
    folder.mkdir(parents=True)
    for name in RUNTIME_FILES:
        (folder / name).write_text("// not the real one")
    return folder.parent


def test_writes_a_folder_of_plain_files_and_replaces_it(weft, tmp_path, runtime):
    for _ in range(2):
        done = weft("page", "-o", "site", "--runtime", runtime, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "http.server --directory site" in done.stderr
    site = tmp_path / "site"
    assert {path.name for path in site.iterdir()} == {
        *("index.html", "read.html", "page.json", "offline.js"),
        *("static", "aligner", "models", "runtime"),
    }
    assert (site / "models" / "weft-mini" / "model.onnx").stat().st_size > 1_000_000
    for page in ("index.html", "read.html"):
        text = (site / page).read_text(encoding="utf-8")
        scripts = re.findall(r'<script[^>]* src="([^"]*)"', text)
        assert scripts[0] == "aligner/page/server.js"
        assert 'src="/' not in text
        assert 'href="/' not in text


def test_a_folder_with_other_files_stays_as_it_is(weft, tmp_path, runtime):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "letter.txt").write_text("dear")
    done = weft("page", "-o", "work", "--runtime", runtime, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "weft: work contains other files; name a new folder.\n"
    assert (tmp_path / "work" / "letter.txt").read_text() == "dear"


def test_a_folder_without_the_runtime_is_named(weft, tmp_path):
    done = weft("page", "-o", "site", "--runtime", tmp_path, cwd=tmp_path)
    assert done.returncode == 1
    assert "does not contain onnxruntime-web: ort.wasm.min.mjs" in done.stderr
    assert not (tmp_path / "site").exists()


def test_where_no_runtime_is_near_the_message_says_how_to_get_it(tmp_path):
    # Under another folder the package has no checkout around it, and so no js/node_modules.
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "weft").symlink_to(Path(weft.__file__).parent)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "lib")}
    command = [sys.executable, "-m", "weft", "page", "-o", "site"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Run 'npm install onnxruntime-web' here, or name its folder with --runtime." in done.stderr
    assert "weft view PAIRS -o page.html" in done.stderr


def test_a_model_without_an_int8_graph_is_refused(weft, tmp_path, runtime):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    done = weft("page", "-o", "site", "--model", "./model", "--runtime", runtime, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("weft: ")
    assert not (tmp_path / "site").exists()
