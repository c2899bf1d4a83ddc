from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import weft as package
from processes import interruptible
from weft.cli.main import _Saying


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


@pytest.mark.parametrize("module", ["typer", "weft.cli.align", "weft.aligner"])
def test_ctrl_c_while_something_is_imported_is_silent(tmp_path, module):
    code = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from weft.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code, "align", "-", "-o", "links"]
    running = interruptible(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert (running.communicate(timeout=400)[1], running.returncode) == (b"", 130)


def test_being_told_to_stop_again_while_stopping_changes_nothing(tmp_path):
    """As `timeout` does, which tells a process and then its group."""
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\n" * 50_000)
    command = [sys.executable, "-m", "weft", "align", "pairs", "-o", "links", "--shards", "100"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        while not list(tmp_path.glob("links.shards/*")):
            assert running.poll() is None
            time.sleep(0.01)
        for _ in range(20):
            running.send_signal(signal.SIGTERM)
            time.sleep(0.005)
        said = running.stderr.read()
    assert running.returncode == 128 + signal.SIGTERM
    assert not [line for line in said.splitlines() if not line.startswith("weft: ")], said


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


def test_help_imports_nothing_heavy(loaded_by):
    heavy = {"numpy", "lap", "torch", "transformers", "onnxruntime", "tokenizers"}
    loaded, printed = loaded_by(heavy, "--help")
    assert not loaded
    assert "weft align" in printed


def shell(command: str, folder) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `weft` is this environment's."""
    line = f'weft() {{ "{sys.executable}" -m weft "$@"; }}; {command}'
    return subprocess.run(["/bin/bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


def test_a_reader_of_stderr_that_leaves_costs_no_line(tmp_path):
    (tmp_path / "pairs").write_text("bad\n" * 500 + "a ||| a\n" * 500)
    done = shell("weft align pairs > links 2> >(head -1 > /dev/null); echo $?", tmp_path)
    assert done.stdout == "0\n"
    assert (tmp_path / "links").read_text() == "\n" * 500 + "0-0\n" * 500


def test_a_reader_of_stderr_that_left_before_the_first_word_does_not_change_the_exit_code(tmp_path):
    (tmp_path / "pairs").write_text("bad\na ||| a\n")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "weft", "align", "pairs"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, b"\n0-0\n")


def test_closed_streams_are_no_traceback(tmp_path):
    (tmp_path / "one").write_text("1-1\n")
    (tmp_path / "pairs").write_text("a ||| a\n")
    assert shell("weft align pairs 2>&-", tmp_path).stdout == "0-0\n"
    assert shell("weft score one one --system-base 1 2>&-", tmp_path).stdout.splitlines()[1].startswith("one  0.0")
    for command, message in (
        ("weft align <&-", "stdin is closed"),
        ("weft convert one >&-", "stdout is closed"),
    ):
        done = shell(command, tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_output_through_a_symlink_goes_to_its_target(tmp_path):
    (tmp_path / "target").write_text("old\n")
    (tmp_path / "target").chmod(0o640)
    (tmp_path / "link").symlink_to("target")
    done = shell("echo 0-0 | weft convert - link; echo 1-1 | weft convert - /dev/stdout > plain", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "0-0\n"
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "plain").read_text() == "1-1\n"


def test_being_told_to_stop_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-m", "weft", "convert", "-", "out"]
    running = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE)
    running.stdin.write(b"0-0\n")
    running.stdin.flush()
    deadline = time.monotonic() + 240
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.terminate()
    running.communicate(timeout=400)
    assert running.returncode == 128 + 15
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("weft convert a /nowhere/b", "weft: /nowhere/b: the folder /nowhere does not exist.\n"),
        ("weft convert ''", "weft: '': No such file or directory.\n"),
        ("weft symmetrize - - < a", "weft: only one input can be stdin.\n"),
        ("weft score empty empty", "weft: empty contains no sentences to score.\n"),
        ("gzip -c a | head -c 15 | weft score - a", "weft: stdin:1: the compressed data is damaged"),
    ],
)
def test_odd_names_and_places_are_one_sentence(tmp_path, command, message):
    (tmp_path / "a").write_text("0-0\n")
    (tmp_path / "empty").write_text("")
    done = shell(command, tmp_path)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_name_that_is_no_text_can_be_scored(tmp_path):
    done = shell("echo 0-0 > $'\\xff.links'; weft score $'\\xff.links' $'\\xff.links'", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["align text", "filter text --links links --keep 1", "lexicon text --links links"])
def test_a_full_disk_is_one_sentence_in_every_command(tmp_path, command):
    (tmp_path / "text").write_text("gut ||| good\n")
    (tmp_path / "links").write_text("0-0\n")
    done = shell(f"weft {command} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("weft: stdout: No space left on device.\n")


def test_numbers_beyond_counting_are_refused(tmp_path):
    (tmp_path / "text").write_text("gut ||| good\n")
    done = shell(f"weft view text --limit {'9' * 20}", tmp_path)
    assert (done.returncode, done.stderr.startswith("weft: --limit must be at most ")) == (2, True)


@pytest.mark.parametrize("arguments", [["Der Hund bellt", "The dog barks"], ["Der Hund bellt. ||| The dog barks."]])
def test_a_sentence_in_place_of_a_file_is_answered_with_what_to_type(weft, arguments):
    done = weft("align", *arguments)
    assert done.returncode == 1
    assert "type: echo 'SENTENCE ||| TRANSLATION' | weft align --raw" in done.stderr


def test_a_pattern_that_the_shell_left_alone_is_answered_with_what_takes_patterns(weft):
    said = weft("align", "shard*.tsv", "-o", "links").stderr
    assert said.startswith("weft: shard*.tsv: No such file or directory. Patterns need --engine ray;")


def test_a_file_that_is_missing_is_not_taken_for_a_sentence(weft):
    assert weft("align", "my pairs.txt").stderr == "weft: my pairs.txt: No such file or directory.\n"


@pytest.mark.parametrize(
    "command",
    [
        ("align",),
        ("lexicon", "-", "--links", "none"),
        ("phrases", "-", "--links", "none"),
        ("filter", "--links", "none", "--keep", 1),
        ("convert", "-"),
        ("convert", "-", "--to", "tsv"),
        ("convert", "-", "--remap", "spaces"),
        ("symmetrize", "-", "none"),
        ("project", "-", "--from", "jsonl", "--links", "none"),
        ("project", "-", "none", "--from", "conll", "--links", "none"),
    ],
)
def test_an_empty_input_is_remarked(weft, tmp_path, command):
    (tmp_path / "none").write_text("")
    done = weft(*command, stdin="", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[0] == "weft: the input is empty."


@pytest.mark.parametrize(
    "command", [("lexicon",), ("phrases",), ("filter", "--keep", 1), ("convert", "-", "--to", "tsv")]
)
def test_names_of_columns_alone_are_no_pairs(weft, command):
    options = ("--source-field", "a", "--target-field", "b")
    done = weft(*command, *options, stdin="a\tb\n")
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "weft: the input contains no sentence pairs.")


def test_a_doubt_about_a_file_that_is_read_again_is_said_once(capsys):
    handler = _Saying()
    for name in ("weft.text.watches", "weft.training.loop"):
        for _ in range(2):
            handler.emit(logging.LogRecord(name, logging.WARNING, "", 0, f"{name} speaks", None, None))
    said = ["weft: weft.text.watches speaks", *["weft: weft.training.loop speaks"] * 2]
    assert capsys.readouterr().err.splitlines() == said
