"""Where the data for golden and parity tests lies, which tests are slow, and how the command line is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DATA = Path(os.environ.get("WEFT_DATA", TESTS.parents[1] / "shared" / "data"))

# Tests under these paths start programs, train, export or draw; `make quick` leaves them out.
SLOW = (
    *(
        "benchmarks/",
        "browser/",
        "faults/",
        "fuzz/",
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
    "test_repository.py::test_the_wheel",
)
# Of the tests of commands these are quick: the commands load no model.
QUICK_COMMANDS = ("help", "main", "convert", "score", "symmetrize")

try:
    from hypothesis import settings
except ImportError:  # the tests for a GPU do without it
    pass
else:
    # How long an example takes says more about the machine than about weft; pytest-timeout ends what hangs.
    settings.register_profile("weft", deadline=None)
    settings.register_profile("quick", deadline=None, max_examples=20)
    settings.load_profile("weft")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `slow` or `gpu` by where they stand."""
    quick_commands = tuple(f"cli/test_{name}.py" for name in QUICK_COMMANDS)
    for item in items:
        place = item.path.relative_to(TESTS).as_posix()
        name = f"{place}::{item.name}"
        if place.startswith("gpu/"):
            item.add_marker(pytest.mark.gpu)
        elif name.startswith(SLOW) or (place.startswith("cli/") and not place.startswith(quick_commands)):
            item.add_marker(pytest.mark.slow)


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
