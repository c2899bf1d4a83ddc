"""What the command line says of values that an option cannot take."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["filter", "--keep", "90"], "--keep must be between 0 and 1, got 90. For 90%, use 0.9."),
        (["filter", "--keep", "-1"], "--keep must be between 0 and 1, got -1."),
        (["align", "--min-probability", "90"], "--min-probability must be between 0 and 1, got 90. For 90%, use 0.9."),
        (["convert", "links", "--from-base", "2"], "--from-base must be between 0 and 1, got 2."),
        (
            ["align", "--output-format", "json"],
            "--output-format must be one of pharaoh, jsonl, words, naacl, got 'json'. Did you mean jsonl?",
        ),
        (
            ["align", "--method", "geo-metric"],
            "--method must be one of softmax, entmax, geometric, ot, argmax, itermax, match, got 'geo-metric'. "
            "Did you mean geometric?",
        ),
        (
            ["symmetrize", "a", "b", "--method", "gdfa"],
            "--method must be one of intersection, union, forward, backward, grow-diag, grow-diag-final, "
            "grow-diag-final-and, got 'gdfa'. Did you mean grow-diag-final-and?",
        ),
        (["filter", "--keep", "half"], "--keep must be a number, got 'half'."),
        (["view", "--pair", "0"], "--pair must be at least 1, got 0."),
        (["view", "--pair", "first"], "--pair must be a whole number, got 'first'."),
        (["align", "--layer", "1.5"], "--layer must be a whole number, got '1.5'."),
        (["convert", "links", "--from-base", "-1"], "--from-base must be between 0 and 1, got -1."),
    ],
)
def test_a_wrong_number_is_refused_in_one_sentence(weft, command, sentence):
    done = weft(*command)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weft: {sentence}\n")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["align", "--model", "nano"], "nano"),
        (["view", "--model", "weft-mini", "--model", "Mini"], "Mini"),
        (["train", "pairs", "--output", "model", "--model", "mini"], "mini"),
        (["model", "info", "nano"], "nano"),
    ],
)
def test_a_built_in_model_by_half_its_name(weft, tmp_path, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    done = weft(*command)
    assert done.returncode == 1
    assert done.stderr == f"weft: there is no model {name}; did you mean weft-{name.lower()}?\n"


def test_a_folder_of_that_name_is_a_folder(weft, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nano").mkdir()
    assert "did you mean" not in weft("align", "--model", "nano", stdin="a ||| b\n").stderr
