from __future__ import annotations

import json
import re
import shutil

import pytest

from models import SENTENCES
from weft.models.known import built_in_models

BUILT_IN = built_in_models()["weft-mini"]


@pytest.fixture
def dev(tmp_path):
    (tmp_path / "dev.src").write_text("".join(sentence + "\n" for sentence in SENTENCES * 3))
    (tmp_path / "dev.tgt").write_text("".join(sentence + "\n" for sentence in SENTENCES * 3))
    links = [" ".join(f"{i}-{i}" for i in range(len(sentence.split()))) for sentence in SENTENCES * 3]
    (tmp_path / "dev.talp").write_text("".join(line + "\n" for line in links))
    return tmp_path / "dev"


def test_what_is_chosen_is_stored_beside_the_model_and_used(weft, dev, tiny_bert, tmp_path):
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    done = weft("tune", "--model", model, "--dev", dev, "--layers", "1,2", "--methods", "softmax")
    assert done.returncode == 0, done.stderr
    assert "best: layer " in done.stdout
    assert re.search(r"^layer 1, softmax, threshold 0.1: AER [\d.]+ P [\d.]+ R [\d.]+$", done.stdout, re.M)
    assert "mixed with unrelated and half-translated sentences" in done.stdout
    stored = json.loads((model / "weft.json").read_text())
    assert stored["layer"] in (1, 2)
    assert stored["calibration"]["scores"] == sorted(stored["calibration"]["scores"])
    aligned = weft("align", "--model", model, "--scores", stdin="das ist gut ||| das ist gut\n")
    assert aligned.stderr == ""
    highest = max(stored["calibration"]["probabilities"])
    assert all(float(token.split(":")[1]) <= highest + 1e-6 for token in aligned.stdout.split())


def test_a_tuned_copy_can_be_saved_elsewhere(weft, dev, tiny_bert, tmp_path):
    done = weft(
        "tune", "--model", tiny_bert, "--dev", dev, "--layers", "2", "--methods", "itermax", "-o", tmp_path / "new"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "new" / "weft.json").read_text())["method"] == "itermax"
    assert not (tiny_bert / "weft.json").exists()
    assert weft("align", "--model", tmp_path / "new", stdin="das ||| das\n").stdout == "0-0\n"


def test_the_built_in_model_is_tuned_into_another_folder(weft, dev, tmp_path):
    before = (BUILT_IN / "weft.json").read_bytes()
    done = weft("tune", "--dev", dev, "--methods", "argmax", "-o", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    stored = json.loads((tmp_path / "new" / "weft.json").read_text())
    assert (stored["method"], stored["joint"]) == ("argmax", True)
    assert weft("align", "--model", tmp_path / "new", stdin="das ist ||| that is\n").stdout == "0-0 1-1\n"
    assert (BUILT_IN / "weft.json").read_bytes() == before


def test_what_is_found_for_the_built_in_model_is_printed_and_can_be_used(weft, dev, tmp_path):
    before = (BUILT_IN / "weft.json").read_bytes()
    done = weft("tune", "--dev", dev, "--dev", dev, "--methods", "softmax", "--null", "15", "--thresholds", "0.1")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^best: layer 6, softmax, threshold 0.1, null 15: AER [\d.]+ .* \(AER [\d.]+ [\d.]+\)$", done.stdout, re.M
    )
    first, *_, last = done.stderr.splitlines()
    assert first == (
        "weft: nothing will be stored, because weft-mini is not a local folder. To keep the result, add --output DIR."
    )
    _, line = last.split("weft: nothing was stored. To align with these settings: weft ")
    assert line == "align --layer 6 --method softmax --threshold 0.1 --null 15"
    assert weft(*line.split(), stdin="das ist ||| that is\n").stdout == "0-0 1-1\n"
    assert (BUILT_IN / "weft.json").read_bytes() == before


def test_too_few_links_for_probabilities(weft, tmp_path):
    for ending, line in (("src", "das ist"), ("tgt", "that is"), ("talp", "0-0 1-1")):
        (tmp_path / f"dev.{ending}").write_text(f"{line}\n")
    done = weft("tune", "--dev", tmp_path / "dev", "--methods", "argmax", "--null", "off")
    assert "weft: there are too few links to calibrate the probabilities.\n" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--dev", "missing", "--model", "MODEL"], 1, "missing.src: No such file"),
        (["--dev", "DEV", "--model", "MODEL", "--layers", "7"], 2, "there is no layer 7"),
        (["--dev", "DEV", "--model", "MODEL", "--layers", "x"], 2, "--layers must be numbers"),
        (["--dev", "DEV", "--layers", "6,7", "-o", "NEW"], 2, "an ONNX graph that was cut at layer 6"),
        (["--dev", "DEV", "--model", "MODEL", "--thresholds", "0.1,2"], 2, "must be numbers from 0 to 1"),
        (["--dev", "DEV", "--model", "MODEL", "--null", "off,x"], 2, "--null must be numbers or off"),
        (["--dev", "DEV", "--model", "MODEL", "--methods", "magic"], 2, "--methods must be one or more of softmax"),
        (["--dev", "DEV", "--model", "MODEL", "-o", "DEV.src"], 2, "is not a writable folder"),
        (["--model", "MODEL"], 2, "--dev"),
    ],
)
def test_mistakes_get_one_sentence(weft, dev, tiny_bert, options, code, message):
    names = {"MODEL": tiny_bert, "DEV": dev, "DEV.src": dev.with_suffix(".src"), "NEW": dev.parent / "new"}
    done = weft("tune", *[names.get(option, option) for option in options])
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
