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
    done = weft("tune", "--model", model, "--dev", dev, "--layers", "1,2", "--methods", "softmax", "--all")
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
    done = weft("tune", "--dev", dev, "--dev", dev, "--methods", "argmax", "--null", "-100")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^best: layer 6, argmax, null -100: AER [\d.]+ .* \(AER [\d.]+ [\d.]+\)$", done.stdout, re.M)
    first, *_, last = done.stderr.splitlines()
    assert first == (
        "weft: nothing will be stored, because weft-mini is not a local folder. To keep the result, add --output DIR."
    )
    _, line = last.split("weft: nothing was stored. To align with these settings: weft ")
    assert line == "align --layer 6 --method argmax --null -100"
    assert weft(*line.split(), stdin="das ist ||| that is\n").stdout == "0-0 1-1\n"
    assert (BUILT_IN / "weft.json").read_bytes() == before


def copied(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    for file in BUILT_IN.iterdir():
        if file.is_file():
            shutil.copyfile(file, model / file.name)
    return model


def changed(model, **settings):
    """Other settings beside a model, which keeps its calibration."""
    path = model / "weft.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return json.loads(path.read_text())


def test_settings_that_are_the_best_already_stay_with_their_calibration(weft, dev, tmp_path):
    model = copied(tmp_path)
    before = json.loads((model / "weft.json").read_text())
    done = weft("tune", "--model", model, "--dev", dev, "--methods", "softmax", "--thresholds", "0.9", "--null", "20")
    assert done.returncode == 0, done.stderr
    assert "the model's own settings, layer 6, geometric, threshold 0.15, null 18: AER " in done.stdout
    assert "\nbest: the model's own settings, layer 6, geometric," in done.stdout
    assert "nothing that was tried has a lower AER than the model's own settings, so they stay." in done.stderr
    assert "the calibration of its link probabilities stays too." in done.stderr
    after = json.loads((model / "weft.json").read_text())
    assert {**before, "weft": ""} == {**after, "weft": ""}


def write_few(tmp_path):
    for ending, line in (("src", "das ist"), ("tgt", "that is"), ("talp", "0-0 1-1")):
        (tmp_path / f"few.{ending}").write_text(f"{line}\n")
    return tmp_path / "few"


def test_too_few_links_for_probabilities(weft, tiny_bert, tmp_path):
    done = weft("tune", "--model", tiny_bert, "--layers", "1", "--dev", write_few(tmp_path), "-o", tmp_path / "new")
    assert "weft: there are too few links to calibrate the probabilities.\n" in done.stderr
    assert "weft: there is only 1 sentence with gold links. That is too few to choose settings by" in done.stderr


def test_few_links_leave_a_calibration_that_still_fits(weft, tmp_path):
    model = copied(tmp_path)
    before = changed(model, threshold=1.0)
    few = write_few(tmp_path)
    options = ["--methods", "geometric", "--thresholds", "0.1", "--null", "18"]
    done = weft("tune", "--model", model, "--dev", few, *options)
    assert "too few links to calibrate the probabilities anew. The model's calibration stays" in done.stderr
    after = json.loads((model / "weft.json").read_text())
    assert (after["threshold"], after["calibration"]) == (0.1, before["calibration"])


def test_it_is_said_that_a_calibration_is_lost(weft, tmp_path):
    model = copied(tmp_path)
    changed(model, threshold=1.0)
    done = weft("tune", "--model", model, "--dev", write_few(tmp_path), "--methods", "argmax", "--null", "off")
    assert "the model's calibration was made for others, so it is lost." in done.stderr
    assert "calibration" not in json.loads((model / "weft.json").read_text())


def test_the_ten_best_trials_are_printed_and_the_others_counted(weft, dev, tiny_bert, tmp_path):
    options = ("--model", tiny_bert, "--dev", dev, "--layers", "1,2", "--methods", "softmax", "-o", tmp_path / "new")
    every, best = (weft("tune", *options, *more) for more in (["--all"], []))
    tried = every.stdout.partition("best: ")[0].splitlines()
    shown, _, rest = best.stdout.partition("best: ")
    assert rest == every.stdout.partition("best: ")[2]
    by_aer = sorted(tried, key=lambda line: float(line.partition("AER ")[2].split()[0]))
    assert shown.splitlines() == by_aer[:10]
    assert f"weft: {len(tried) - 10} more were tried" in best.stderr
    assert "weft: layer 1: lowest AER " in best.stderr
    assert "more were tried" not in every.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--dev", "DEV.src", "--model", "MODEL"], 2, "is only one file of a dev set; name the prefix: --dev /"),
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
