from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")

pytestmark = pytest.mark.skipif(
    not COMPILER or not hasattr(os, "pidfd_open"),
    reason="faults are injected on Linux, by a library that a C compiler builds",
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", path, HERE / "shim.c", "-ldl"], check=True)
    return path


def python(shim: Path, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    environment = os.environ | {"LD_PRELOAD": str(shim)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)


def test_after_any_fault_files_are_the_old_ones_or_the_new_ones(shim):
    """Every command that writes: a full disk, a broken one, an interrupted call and a kill."""
    done = python(shim, HERE / "injection.py", "--faults", 96, "--desk", 48)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("96 faults, 0 breaches.")
    assert re.search(r"^desk: 48 faults at \d+ calls, 0 breaches\.$", done.stdout, re.MULTILINE)


@pytest.mark.exhaustive
def test_a_project_survives_every_fault_at_every_call(shim):
    """Making, opening, changing and closing a project of the annotation desk."""
    done = python(shim, HERE / "injection.py", "--faults", 0, "--desk", 10_000)
    assert done.returncode == 0, done.stdout + done.stderr


# Writes as a careless program would: straight into the file.
CARELESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from faults import injection
from fuzz.cases import Case
import weft.cli.main

def careless():
    with open("out", "w") as file:
        file.write("new")

weft.cli.main.main = careless
injector = injection.Injector(Path("case").absolute())
case = Case([], {"out": b"old"})
print(injector.clean(case, anew=True)[1])
for call in (0, 1):
    print("---")
    print(*injection.breaches(injector, case, ["out"], {"out": b"new"}, call, injection.KILL), sep="; ")
"""


def test_a_careless_program_would_be_noticed(shim, tmp_path):
    done = python(shim, "-c", CARELESS, HERE.parent, cwd=tmp_path)
    calls, opening, writing = done.stdout.split("\n---\n")
    assert calls == "2"
    assert "neither the old file nor the new one" not in opening
    assert "neither the old file nor the new one" in writing
