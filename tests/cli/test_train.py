from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from toy import make_base, write_corpus
from weft import Link
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
from weft.errors import install_command


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder, "dev", 30, seed=2)
    (folder / "short.links").write_text("\n\n")
    make_base(folder / "base", write_corpus(folder, "train", 300, seed=1))
    return folder


def test_train_then_align(weft, toy, tmp_path):
    done = weft(
        "train", "train.txt", "--links", "train.links", "--model", "base", "--layer", 2, "--objectives", "so,tlm",
        "--dev", "dev", "--batch-size", 16, "--learning-rate", "3e-3", "--epochs", 3, "-o", tmp_path / "model", cwd=toy,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "dev AER" in done.stderr
    assert all(line.startswith("weft: ") for line in done.stderr.splitlines())
    assert f"weft: saved the model to {tmp_path / 'model'}." in done.stderr
    aligned = weft("align", toy / "dev.src", toy / "dev.tgt", "--model", tmp_path / "model", "-o", tmp_path / "links")
    assert aligned.returncode == 0, aligned.stderr
    score = weft("score", toy / "dev.talp", tmp_path / "links", "--format", "json")
    best = json.loads((tmp_path / "model" / "metrics.jsonl").read_text().splitlines()[-1])["aer"]
    assert json.loads(score.stdout)["systems"][0]["aer"] == pytest.approx(best, abs=0.2)
    again = weft("train", "train.txt", "--model", "base", "--output", tmp_path / "model", cwd=toy)
    assert (again.returncode, again.stdout) == (2, "")
    assert "already contains a model. Use --resume to continue or --overwrite to replace it." in again.stderr


def test_a_configuration_file(weft, toy, tmp_path):
    (tmp_path / "run.toml").write_text(
        f'output = "{tmp_path}/model"\nmodel = "{toy}/base"\nobjectives = ["mlm"]\nmax_steps = 2\nlayer = 1\n'
        f'[[corpus]]\npath = "{toy}/train.src"\ntarget = "{toy}/train.tgt"\n'
    )
    done = weft("train", "--config", tmp_path / "run.toml", "--seed", 7)
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "model" / "training.json").read_text())
    assert (saved["seed"], saved["max_steps"], saved["layer"]) == (7, 2, 1)


def test_text_may_come_from_stdin(weft, toy, tmp_path):
    text = (toy / "train.txt").read_text()
    options = ("--model", "base", "--layer", 1, "--objectives", "mlm", "--max-steps", 1, "-o", tmp_path / "model")
    done = weft("train", "-", *options, stdin=text, cwd=toy)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model" / "config.json").is_file()
    done = weft("train", "-", *options, "--overwrite", stdin="no pair\n", cwd=toy)
    assert done.returncode == 1
    assert "-stdin: expected sentence pairs in a format that weft reads, found none." in done.stderr
    done = weft("train", "-", *options, "--resume", stdin=text, cwd=toy)
    assert (done.returncode, "text comes from stdin cannot be resumed" in done.stderr) == (2, True)
    done = weft("train", "-", "-", *options, stdin=text, cwd=toy)
    assert (done.returncode, "only one input can be stdin" in done.stderr) == (2, True)


def test_an_annotation_project_is_gold(weft, toy, tmp_path):
    lines = (toy / "train.txt").read_text().splitlines()[:40]
    (tmp_path / "pairs.txt").write_text("".join(f"{line}\n" for line in lines))
    made = weft("annotate", tmp_path / "work", "--pairs", tmp_path / "pairs.txt", "--only-create")
    assert made.returncode == 0, made.stderr
    run = ("--model", toy / "base", "--layer", 2, "--objectives", "so", "--max-steps", 2, "-o", tmp_path / "model")
    refused = weft("train", tmp_path / "work", *run)
    assert (refused.returncode, "no confirmed pair yet: mark pairs as done" in refused.stderr) == (2, True)
    project = Project.open(tmp_path / "work")
    for annotator, link in (("Ann", Link(0, 0)), ("Ben", Link(0, 0, sure=False))):
        project.put(annotator, 31, Annotation((link,), State.DONE))
    unsettled = weft("train", tmp_path / "work", *run)
    assert "no confirmed pair yet: settle the disagreements between annotators" in unsettled.stderr
    for number in range(30):
        project.put("Ann", number, Annotation((Link(0, 0),), State.DONE if number % 3 else State.DOUBTFUL))
    done = weft("train", tmp_path / "work", *run)  # while somebody annotates
    project.close()
    assert done.returncode == 0, done.stderr
    packed = json.loads(next((tmp_path / "model").rglob("meta.json")).read_text())["counts"]
    assert packed["with links"] == packed["pairs"] <= 20


def test_a_dev_set_that_is_trained_on_is_no_secret(weft, toy, tmp_path):
    run = ("--model", toy / "base", "--layer", 2, "--objectives", "so", "--max-steps", 1, "--dev", toy / "dev")
    done = weft("train", toy / "dev.txt", *run, "-o", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "30 of 30 dev pairs have a source or target sentence that is also in the text" in done.stderr
    assert "name the dev set with --exclude too." in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["train.txt"], 2, "weft: name one or more files with sentence pairs, and a folder for the model: weft train "),
        (["-o", "OUT"], 2, "weft: name one or more files with sentence pairs, and a folder for the model: weft train "),
        (
            ["dev.src", "-o", "OUT"],
            1,
            "weft: dev.src: expected sentence pairs in a format that weft reads, found none.",
        ),
        (
            ["dev.src", "dev.tgt", "-o", "OUT"],
            1,
            "are the two sides of one text, join them first: paste dev.src dev.tgt",
        ),
        (["train.txt", "-o", "OUT", "--objectives", "magic"], 2, "weft: --objectives must be one or more of mlm, tlm"),
        (
            ["train.txt", "-o", "OUT", "--links", "a", "--links", "b"],
            2,
            "weft: there are more --links (2) than corpora (1).",
        ),
        (["missing", "-o", "OUT"], 1, "weft: missing: No such file or directory."),
        (
            ["train.txt", "-o", "OUT", "--links", "short.links"],
            1,
            "short.links has 2 lines but train.txt has 300 lines;",
        ),
        (["train.txt", "-o", "OUT", "--dev", "train.txt"], 1, "train.txt.src: No such file or directory."),
        (["train.txt", "-o", "OUT", "--config", "missing.toml"], 1, "missing.toml: No such file or directory."),
        (["train.txt", "-o", "OUT", "--exclude", "train"], 1, "train.txt:1: this sentence is in the test set train."),
        (["train.txt", "-o", "OUT", "--exclude", "train"], 1, 'pairs: overlap = "drop" in the file for --config.'),
        (["train.txt", "-o", "OUT", "--dev", "."], 2, ". is a folder; name the prefix of the files in it: --dev "),
    ],
)
def test_mistakes_get_one_sentence(weft, toy, tmp_path, options, code, message):
    given = [tmp_path / "out" if option == "OUT" else option for option in options]
    done = weft("train", *given, "--model", "base", "--layer", 2, cwd=toy)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ('batch_size = "8"', "'batch_size' must be a whole number, got the text '8'; write it without quotes."),
        ('objectives = "mlm"', "'objectives' must be a list, got the text 'mlm'; write [\"mlm\"]."),
        ("guide = 3", "'guide' must be a table of settings, got 3."),
        ("epochs = inf", "'epochs' must be a finite number, got inf."),
    ],
)
def test_a_file_with_a_wrong_value_gets_one_sentence(weft, toy, tmp_path, top, message):
    (tmp_path / "run.toml").write_text(f'output = "out"\n{top}\n[[corpus]]\npath = "train.txt"\n')
    done = weft("train", "--config", tmp_path / "run.toml", cwd=toy)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weft: {tmp_path / 'run.toml'}: {message}\n")


def test_help_names_every_objective(weft):
    from weft.training.objectives import OBJECTIVES

    assert f"any of {', '.join(OBJECTIVES)}." in " ".join(weft("train", "--help").stdout.split())


WORKER_ENDED = (
    "weft: a process that prepares batches was killed, perhaps because memory ran out; continue with --resume"
)


@pytest.mark.parametrize(("to", "message"), [("killed", WORKER_ENDED), ("all", "")])
def test_a_run_that_is_told_to_stop_ends_without_a_traceback(toy, tmp_path, to, message):
    """A process that prepares batches is killed, or the whole group is told to stop, as schedulers do."""
    command = [sys.executable, "-m", "weft", "train", "train.txt", "--model", "base", "--layer", "2", "--objectives",
               "tlm", "--max-steps", "1000000", "-o", str(tmp_path / "out")]  # fmt: skip
    run = subprocess.Popen(command, cwd=toy, stderr=subprocess.PIPE, text=True, start_new_session=True)
    metrics, deadline = tmp_path / "out" / "metrics.jsonl", time.monotonic() + 240
    try:
        while not (metrics.exists() and metrics.read_text()):
            assert run.poll() is None, run.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        if to == "killed":
            psutil.Process(run.pid).children()[0].kill()
        else:
            os.killpg(run.pid, signal.SIGTERM)
        said = run.communicate(timeout=400)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == (1 if message else 143)
    assert message in said
    assert "Traceback" not in said


@pytest.mark.parametrize("missing", ["torch", "accelerate", "cattrs"])
def test_a_missing_extra_is_named(toy, tmp_path, missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", code, "train", "train.txt", "--model", "base", "--output", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=toy, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"weft: Training needs an optional part of weft: {install_command('torch')}.\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["missing", "--output", "new"], "weft: missing: No such file or directory.\n"),
        (["pairs", "--output", "new", "--dev", "missing"], "weft: missing.src: No such file or directory.\n"),
        (["pairs", "--output", "old"], "weft: old already contains a model. Use --resume to continue or --overwrite"),
    ],
)
def test_mistakes_are_said_before_torch_is_loaded(tmp_path, options, sentence):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.json").write_text("{}")
    program = "import sys; sys.modules['torch'] = None; from weft.cli.main import main; main()"
    command = [sys.executable, "-c", program, "train", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.startswith(sentence)
    assert done.returncode in (1, 2)
