"""Where the data for golden and parity tests lies, which tests are slow, and how the command line is run."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import forking
from asking import needs_torch

TESTS = Path(__file__).parent
FORKS = hasattr(os, "pidfd_open")
DATA = Path(os.environ.get("WEFT_DATA", TESTS.parents[1] / "shared" / "data"))

# Tests under these paths start programs, train, export or draw; `make quick` leaves them out.
SLOW = (
    *(
        "benchmarks/",
        "browser/",
        "faults/",
        "fuzz/",
        "js/",
        "docs/test_commands",
        "docs/test_docs",
        "golden/",
        "parity/",
        "recipes/",
    ),
    *(
        "unit/corpus/",
        "unit/models/",
        "unit/training/",
        "unit/viewing/serve/",
        "unit/viewing/test_png",
    ),
    *("test_repository.py::test_the_wheel", "test_repository.py::test_the_walk"),
    # Every architecture, and every method with every null by its definition: a second each.
    "unit/encoding/test_encoder.py::test_a_cut_encoder",
    "unit/extraction/test_methods_null.py::test_batches_and_strips",
    # Exports to ONNX take ten seconds.
    "unit/encoding/test_encoder.py::test_onnx_gives",
    "unit/encoding/test_encoder.py::test_long_sentences",
    "unit/encoding/test_bert.py::test_a_model_that_the_hub_gave",
    *(
        f"unit/encoding/test_native.py::test_{name}"
        for name in ("a_model_that", "every_kernel", "leaving_idle", "links_of", "other_graphs")
    ),
    *(f"unit/test_aligner.py::test_{name}" for name in ("an_onnx_folder", "the_onnx_folder", "a_damaged_onnx")),
)
# Of the tests of commands these are quick: the commands load no model.
QUICK_COMMANDS = ("help", "main", "convert", "score", "symmetrize")

# Nothing needs the network. Two processes that run tests beside each other have a core each: threads would only wait.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    from hypothesis import settings
except ImportError:  # the tests for a GPU do without it
    pass
else:
    # How long an example takes says more about the machine than about weft; pytest-timeout ends what hangs.
    # A change is judged by the same examples every time; on a developer's machine new ones are tried.
    settings.register_profile("weft", deadline=None, derandomize="CI" in os.environ)
    settings.register_profile("quick", deadline=None, max_examples=20)
    settings.load_profile("weft")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where slow tests are left out, files that hold nothing else are not even imported."""
    place = collection_path.relative_to(TESTS).as_posix() if collection_path.is_relative_to(TESTS) else ""
    return True if "not slow" in config.option.markexpr and place.endswith(".py") and is_slow(place) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `slow` or `gpu` by where they stand."""
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        if place.startswith("gpu/"):
            item.add_marker(pytest.mark.gpu)
        elif is_slow(f"{place}::{item.name}"):
            item.add_marker(pytest.mark.slow)


def is_slow(name: str) -> bool:
    """Whether a test, or every test of a file, starts programs, trains, exports or draws."""
    quick_commands = tuple(f"cli/test_{name}.py" for name in QUICK_COMMANDS)
    return name.startswith(SLOW) or (name.startswith("cli/") and not name.startswith(quick_commands))


@pytest.fixture(scope="session")
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"no data at {DATA}; set WEFT_DATA to the folder with gold/ and peers/")
    return DATA


@pytest.fixture(scope="session")
def servers():
    """Two programs that fork when a command is to be run: one has imported the light half, the other torch too."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(forking.Server(Path(folder, name), torch=name == "torch"))
            for name in ("light", "torch")
        ]


@pytest.fixture
def weft(servers):
    """Run `weft` in a process of its own; returns the finished process with text output.

    The process is forked. It is started anew where that might make a difference: with another environment, or with
    options of `subprocess.run`.
    """

    def run(*arguments: object, stdin: str | bytes = b"", **options: Any) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        given = stdin.encode() if isinstance(stdin, str) else stdin
        if options.keys() <= {"cwd", "env"} and options.get("env", os.environ) == os.environ and FORKS:
            folder = options.get("cwd", os.getcwd())
            done = servers[needs_torch(words, folder)].run(words, stdin=given, cwd=folder, env=os.environ)
        else:
            command = [sys.executable, "-m", "weft", *words]
            done = subprocess.run(command, input=given, capture_output=True, timeout=300, **options)
        return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def loaded_by():
    """Which of some libraries a command loads, with what it prints: run in a process of its own."""

    def run(libraries: set[str], *arguments: object, **options: object) -> tuple[set[str], str]:
        code = (
            "import sys\n"
            "from weft.cli.main import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print(*sorted(sys.modules))"
        )
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
        printed, _, modules = done.stdout.removesuffix("\n").rpartition("\n")
        return libraries & set(modules.split()), printed

    return run


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    from models import make_model

    return make_model(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="session")
def tiny_onnx(tmp_path_factory, tiny_bert) -> Path:
    from models import export_onnx

    return export_onnx(tiny_bert, tmp_path_factory.mktemp("models") / "onnx", layer=2)
