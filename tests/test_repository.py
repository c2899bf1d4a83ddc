"""The shape of the repository itself: layers, file sizes, and a wheel that stands alone."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from weft.encoding.native.library import load_library

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "weft").rglob("*.py"))
BUILT_IN = [ROOT / "src" / "weft" / "models" / name for name in ("weft-mini", "weft-nano")]
DEPENDENCIES = sysconfig.get_path("purelib")
FRONT_END = sorted((ROOT / "src" / "weft" / "viewing" / "static").iterdir())
SCRIPTS = ROOT / "js" / "src"


def test_imports_point_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_are(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 350
    assert text.startswith('"""')


def file_map() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```\nsrc/weft/\n")[1].split("\n```\n")[0]


def mapped_files() -> list[str]:
    """The Python files that CONTRIBUTING.md names, with their folders below src/weft."""
    found, top, folder = [], "", ""
    for line in file_map().partition("\ntests/")[0].splitlines():
        if start := re.match(r"  (\w+)(/|\.py)", line):
            folder = top = f"{start[1]}/" if start[2] == "/" else ""
        elif within := re.match(r"    (\w+)/ ", line):
            folder = f"{top}{within[1]}/"
        found += [folder + name for name in re.findall(r"\w+\.py\b", line)]
    return sorted(found)


def test_the_file_map_is_that_of_the_tree():
    weft = ROOT / "src" / "weft"
    names = [path.relative_to(weft).as_posix() for path in SOURCES if not path.name.startswith("__")]
    assert mapped_files() == sorted(names), "CONTRIBUTING.md, 'Which file does what'"


TEST_FILES = [path for folder in ("unit", "cli") for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_tests_are_named_after_what_they_test(path):
    """`test_words.py` or `test_words_of_pairs.py` tests words.py, or the package words, of the same folder."""
    folder = path.parent.relative_to(ROOT / "tests")
    tested = ROOT / "src" / "weft" / folder.relative_to("unit" if folder.parts[0] == "unit" else ".")
    names = {tested.name, *(file.stem.strip("_") for file in tested.iterdir())}
    assert any(f"{path.stem}_".startswith(f"test_{name}_") for name in names)


def test_the_file_map_names_the_scripts_and_folders_that_are_there():
    text = file_map()
    scripts = set(re.findall(r"\w+\.js\b", text))
    assert scripts <= {path.name for path in (*FRONT_END, *SCRIPTS.rglob("*.js"))}
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - ignored
    assert folders == {"src", *re.findall(r"^(\w+)/ ", text, flags=re.MULTILINE)}


# Notes which modules of weft run from the first chunk on.
WALK = """
import pathlib, sys, threading
import weft
from weft.cli.main import main
from weft.corpus.job import LoadedJob

root, met, align = pathlib.Path(weft.__file__).parent, set(), LoadedJob.align

def note(frame, event, argument):
    path = pathlib.Path(frame.f_code.co_filename)
    if event == "call" and frame.f_code.co_name != "<module>" and path.is_relative_to(root):
        met.add(path.relative_to(root).as_posix())

def noted(*arguments, **options):
    threading.setprofile(note)
    sys.setprofile(note)
    yield from align(*arguments, **options)

LoadedJob.align = noted
sys.argv = ["weft", "align"]
try:
    main()
except SystemExit:
    sys.setprofile(None)
print(*sorted(met), file=sys.stderr)
"""


def test_the_walk_of_one_pair_is_as_it_is_told():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = text[text.index("## The walk of one pair") : text.index("## House rules")]
    stations = set(re.findall(r"^\d+\. `([\w/]+\.py)`", told, flags=re.MULTILINE))
    asked = set(re.findall(r"`([\w/]+\.py)`", told.partition("On the way they ask")[2]))
    pair = "das ist gut ||| that is good\n"
    done = subprocess.run([sys.executable, "-c", WALK], input=pair, capture_output=True, text=True, check=True)
    assert done.stdout == "0-0 1-1 2-2\n"
    aside = {"cli/main.py", "cli/progress.py", "cli/badlines.py", "errors.py"}
    if load_library() is None:  # installed without a compiler
        stations ^= {"encoding/native/encoder.py", "encoding/native/library.py", "encoding/onnx.py"}
    assert set(done.stderr.split()) - aside == (stations | asked) - {"cli/align.py"}


def test_the_lock_file_has_all_that_the_checks_need_with_hashes():
    text = (ROOT / "requirements-lock.txt").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    locked = {re.match(r"[\w.-]+", entry)[0]: entry for entry in entries}
    assert all("--hash=sha256:" in entry and "==" in entry for entry in entries)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    tools = (ROOT / "requirements-dev.txt").read_text().splitlines()
    wanted = {
        re.split(r"[^\w.-]", line)[0].lower().replace(".", "-").replace("_", "-")
        for line in (*project["dependencies"], *extras, *tools)
        if line and not line.startswith(("#", "weft["))
    }
    assert wanted - locked.keys() == {"torch"}, "run `make lock`"
    assert re.search(r"^torch==", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    assert "://" not in text


def test_the_citation_names_this_version():
    from weft import __version__

    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_container_serves_where_it_says_and_copies_what_it_may():
    from weft.cli.serve import serve

    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    port = inspect.signature(serve).parameters["port"].default
    assert f"EXPOSE {port}\n" in recipe
    assert f"127.0.0.1:{port}/health" in recipe
    copied = {name for line in re.findall(r"^COPY (.*) \S+$", recipe, flags=re.MULTILINE) for name in line.split()}
    allowed = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), flags=re.MULTILINE)
    assert copied == set(allowed)
    assert all((ROOT / name).exists() for name in copied)


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
    # With the encoder in C it is a wheel for one system, which any Python can use.
    compiled = {name for name in names if name.endswith((".so", ".dylib", ".dll"))}
    pure = wheel.name.endswith("-py3-none-any.whl")
    assert compiled == (set() if pure else {"weft/encoding/native/libencoder.so"})
    assert "-py3-none-" in wheel.name
    assert {"weft/encoding/native/encoder.c", "weft/encoding/native/kernels.h"} <= set(names)


def test_the_wheel_holds_the_front_end_as_it_is_in_the_sources(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("weft/viewing/static/")}
    assert packed == {str(path.relative_to(ROOT / "src")): path.read_bytes() for path in FRONT_END}
    assert {"weft/viewing/static/index.html", "weft/viewing/static/view.js"} <= packed.keys()


def test_the_wheel_holds_the_aligner_for_browsers(wheel):
    with zipfile.ZipFile(wheel) as archive:
        folder = "weft/viewing/browser/"
        packed = {name.removeprefix(folder) for name in archive.namelist() if name.startswith(folder)}
    assert packed == {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.*")}


def test_the_wheel_holds_the_built_in_models(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.startswith("weft/models/weft-")}
    files = [path for folder in BUILT_IN for path in folder.iterdir()]
    assert packed == {str(path.relative_to(ROOT / "src")): path.read_bytes() for path in files}
    assert {path.name for path in BUILT_IN[1].iterdir()} >= {"model.onnx", "tokenizer.json", "weft.json"}
    assert wheel.stat().st_size < 32_000_000


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """The programs of an environment that has weft from the wheel."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    # No network in tests: the dependencies come from this environment, weft itself only from the wheel.
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "bin"


def run(command: list[object], folder: Path, path: list[object], **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, **options)


def test_the_wheel_scores_from_an_environment_of_its_own(programs, tmp_path):
    (tmp_path / "gold").write_text("0-0\n")
    done = run([programs / "weft", "score", "gold", "gold"], tmp_path, [DEPENDENCIES])
    assert done.stdout.splitlines()[1].startswith("gold  0.0 [0.0, 0.0]  100.0"), done.stderr


# Python runs a sitecustomize at its start. This one ends the process, so that no `except` can hide an attempt.
GUARD = """
import os, sys

def refuse(event, arguments):
    heavy = event == "import" and arguments[0].split(".")[0] in ("torch", "transformers")
    if heavy or event.startswith("socket."):
        os.write(2, f"refused: {event} {arguments[0]}".encode())
        os._exit(99)

sys.addaudithook(refuse)
"""


def test_the_wheel_aligns_without_torch_and_without_a_network(programs, tmp_path):
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    path = [tmp_path / "guard", DEPENDENCIES]
    for code in ("import torch", "import transformers", "import socket; socket.socket()"):
        assert run([programs / "python", "-c", code], tmp_path, path).returncode == 99
    done = run([programs / "weft", "align"], tmp_path, path, input="das ist gut ||| that is good\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0-0 1-1 2-2\n", "")
    where = run([programs / "python", "-c", "import weft; print(weft.__file__)"], tmp_path, path).stdout
    assert Path(where).is_relative_to(programs.parent)
