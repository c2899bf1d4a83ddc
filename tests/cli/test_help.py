"""`--help` and completion: what someone meets who has never used weft."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import weft as package
from weft.cli.main import command_line

COMMANDS = [
    "align", "score", "view", "serve", "annotate", "page", "train", "tune", "project", "lexicon", "phrases", "filter",
    "symmetrize", "convert", "model", "model list", "model info", "model export", "model average",
]  # fmt: skip
GROUPED = {
    "align": {"Output", "Model", "Links", "Text", "Large runs"},
    "view": {"Output", "Model", "Links", "Text"},
    "train": {"Output", "Model", "Run", "Data", "Text"},
    "filter": {"What to keep (choose one)", "Output", "Model", "Links", "Text"},
    "model export": {"Output", "Model", "Text"},
}


def headings(text: str) -> list[str]:
    return re.findall(r"^(\S[^:]*):$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_comes_first_and_can_be_copied(weft, command):
    first, blank, usage = weft(*command.split(), "--help").stdout.splitlines()[:3]
    assert first.startswith("Example: ")
    assert f"weft {command}" in first
    assert blank == ""
    assert f"weft {command} [OPTIONS]" in usage


@pytest.mark.parametrize("command", GROUPED)
def test_options_stand_under_headings(weft, command):
    text = weft(*command.split(), "--help").stdout
    assert headings(text)[0] == "Arguments"
    assert set(headings(text)) == {"Arguments", *GROUPED[command], "Other options"}
    assert " ".join(text.split("Other options:\n")[1].split()) == "-h, --help Show this message and exit."


def test_a_few_options_need_no_headings(weft):
    assert headings(weft("model", "average", "--help").stdout) == ["Arguments", "Options"]


@pytest.mark.parametrize(
    ("command", "name", "default"),
    [
        ("align", "--model NAME", "weft-mini"),
        ("align", "--threshold C", "the model's own, or the method's"),
        ("align", "--alpha A", "1.5"),
        ("serve", "--port N", "8080"),
        ("train", "--learning-rate RATE", "depends on the base"),
        ("project", "--label-column N", "the last"),
    ],
)
def test_defaults_are_shown_even_where_the_model_decides(weft, command, name, default):
    text = re.sub(r"\s+", " ", weft(command, "--help").stdout)
    assert re.search(rf"{re.escape(name)} [^\[]*\[default: {re.escape(default)}\]", text), text


def test_the_commands_fit_on_their_lines(weft):
    assert "..." not in weft("--help").stdout.split("Commands:")[1]


def test_usage_names_arguments_as_people_write_them(weft):
    assert "weft score [OPTIONS] GOLD SYSTEM...\n" in weft("score", "--help").stdout
    assert "weft view [OPTIONS] [INPUT] [LINKS...]\n" in weft("view", "--help").stdout
    assert "weft score [OPTIONS]" in weft("score").stderr  # and no example before an error
    assert "Example" not in weft("score").stderr


def test_python_dash_m_is_the_same_program(tmp_path):
    done = subprocess.run([sys.executable, "-m", "weft", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"weft {package.__version__}\n")


def completions(shell: str, line: str) -> str:
    """What a shell is told for a command line that is being typed."""
    environment = {
        **os.environ,
        "_WEFT_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    code = "import sys; sys.argv = ['weft']; from weft.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_options_and_values_are_completed(shell):
    assert "align" in completions(shell, "weft al")
    assert "--method" in completions(shell, "weft align --me")
    assert "itermax" in completions(shell, "weft align --method ")


def test_files_are_left_to_the_shell():
    assert completions("bash", "weft align pai").strip() == ""
    assert completions("zsh", "weft align pai").strip() == "_files"
    assert completions("fish", "weft align pai").strip() == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell):
    code = "import sys; sys.argv = ['weft']; from weft.cli.main import main; main()"
    environment = {**os.environ, "_WEFT_COMPLETE": f"source_{shell}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert f"_WEFT_COMPLETE=complete_{shell}" in done.stdout


def test_every_command_uses_this_help():
    app = command_line()
    assert len(app.registered_commands) + len(app.registered_groups) == len([c for c in COMMANDS if " " not in c])


def test_help_may_be_asked_for_as_a_command(weft):
    assert weft("help").stdout == weft("--help").stdout
    assert weft("help", "align").stdout == weft("align", "--help").stdout
    assert weft("help", "model", "info").stdout == weft("model", "info", "--help").stdout
