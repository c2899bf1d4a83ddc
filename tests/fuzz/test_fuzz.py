from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LONG_RUN = Path(__file__).with_name("long_run.py")
needs_linux = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="cases run in forked processes that Linux watches"
)


@needs_linux
def test_no_case_breaks_the_rule(tmp_path):
    """A short form of `make fuzz`: the same cases every time, without those that need torch."""
    command = [sys.executable, LONG_RUN, "--cases", "300", "--seed", "7", "--no-training"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("300 cases of seed 7, 0 broke the rule.")


@needs_linux
def test_a_breach_of_the_rule_is_noticed(tmp_path):
    """The rule is checked on a run that breaks all of it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from fuzz import rule\n"
        "from fuzz.cases import Case\n"
        "import weft.cli.main\n"
        "def broken():\n"
        "    Path('pairs').unlink(); Path('out.partial').write_text('half'); Path('out').write_text('one line')\n"
        "    raise KeyError('traceback')\n"
        "weft.cli.main.main = broken\n"
        "case = Case(['align', 'pairs', '-o', 'out'], {'pairs': b'a\\nb\\n', 'out': b'old'}, output='out')\n"
        "run, breaches = rule.try_case(case, rule.cleared(Path('case')), seconds=60)\n"
        "print(run.code, *breaches, sep='; ')"
    )
    tests = str(LONG_RUN.parents[1])
    done = subprocess.run([sys.executable, "-c", code, tests], cwd=tmp_path, capture_output=True, text=True, check=True)
    code, *breaches = done.stdout.strip().split("; ")
    assert code == "70"
    assert "exit code 70" in breaches
    assert "Python's own words on stderr: 'Traceback'" in breaches
    assert {"pairs was changed or lost", "out was changed or lost", "out.partial was left behind"} <= set(breaches)
