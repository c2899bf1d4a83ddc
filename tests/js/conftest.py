"""node, which runs the modules of `js/` as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "js"


@pytest.fixture(scope="session")
def node() -> Callable[..., str]:
    """Run node in `js/`, and give its output."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not installed (Debian: apt-get install nodejs npm)")

    def run(*arguments: str, stdin: object = None) -> str:
        done = subprocess.run(
            [program, *arguments], cwd=FOLDER, input=json.dumps(stdin), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    return run
