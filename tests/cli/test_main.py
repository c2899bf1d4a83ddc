from __future__ import annotations

import re
import subprocess
import sys

import weft as package


def test_version_and_help(weft):
    assert weft("--version").stdout == f"weft {package.__version__}\n"
    assert "Usage:" in weft("--help").stdout
    assert weft().returncode == 2


def test_every_command_explains_itself_with_an_example(weft):
    commands = re.findall(r"^  ([a-z]+)  ", weft("--help").stdout.split("Commands:")[1], flags=re.MULTILINE)
    assert {"score", "convert", "symmetrize"} <= set(commands)
    for command in commands:
        done = weft(command, "--help")
        assert done.returncode == 0
        assert f"weft {command}" in done.stdout.split("Example:")[1]


def test_a_reader_that_leaves_is_no_error(tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n" * 200_000)
    done = subprocess.run(
        f"set -o pipefail; {sys.executable} -m weft convert {tmp_path}/links | head -1",
        shell=True, executable="/bin/bash", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("0-0 1-1\n", "", 0)


def test_a_full_disk_is_one_sentence():
    done = subprocess.run(
        f"echo 0-0 | {sys.executable} -m weft convert - > /dev/full",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['weft', '--help']\n"
        "from weft.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'torch', 'transformers', 'onnxruntime', 'tokenizers'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
