"""The shape of the repository itself: layers, file sizes, and a wheel that stands alone."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "weft").rglob("*.py"))
FRONT_END = sorted((ROOT / "src" / "weft" / "viewing" / "static").iterdir())


def test_imports_point_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_are(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 350
    assert text.startswith('"""')


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, capture_output=True, check=True)
    return next(folder.glob("weft-*.whl"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "weft/py.typed" in names
    assert all(name.startswith(("weft/", "weft-")) for name in names)
    packed = {name for name in names if name.startswith("weft/") and name.endswith(".py")}
    assert packed == {str(path.relative_to(ROOT / "src")) for path in SOURCES}


def test_the_wheel_holds_the_front_end_as_it_is_in_the_sources(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("weft/viewing/static/")}
    assert packed == {str(path.relative_to(ROOT / "src")): path.read_bytes() for path in FRONT_END}
    assert {"weft/viewing/static/index.html", "weft/viewing/static/view.js"} <= packed.keys()


def test_the_wheel_scores_from_an_environment_of_its_own(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    # No network in tests: the dependencies come from this environment, weft itself only from the wheel.
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, capture_output=True)
    dependencies = sysconfig.get_path("purelib")
    (tmp_path / "gold").write_text("0-0\n")
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "weft", "score", "gold", "gold"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": dependencies},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[1].startswith("gold  0.0 [0.0, 0.0]  100.0"), done.stderr
