from __future__ import annotations

import os
import shutil

import pytest

from models import hub_with


def test_known_encoders_are_listed_with_their_layers(weft):
    done = weft("model", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert "mBERT\tknown encoder\tlayer 8 of 12" in done.stdout.splitlines()
    assert done.stdout.startswith("weft-mini\tbuilt in\t")


def test_listing_and_describing_need_no_torch(loaded_by, tiny_bert):
    for arguments in (["list"], ["info", tiny_bert]):
        loaded, printed = loaded_by({"torch", "transformers", "onnx"}, "model", *arguments)
        assert not loaded
        assert printed


def facts(text):
    return dict(line.split("\t") for line in text.splitlines())


def test_a_folder_is_exported_described_and_used(weft, tiny_bert, tmp_path):
    source = shutil.copytree(tiny_bert, tmp_path / "model")
    (source / "weft.json").write_text('{"layer": 2, "method": "itermax", "languages": ["de", "en"]}')
    before = facts(weft("model", "info", source).stdout)
    assert (before["kind"], before["encoder"], before["layer"]) == ("torch", "bert, 3 layers", "2")
    done = weft("model", "export", source, "--to", "onnx-int8", "-o", tmp_path / "small")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.splitlines()[-1].startswith("weft: wrote ")
    assert len(done.stderr.splitlines()) == 1
    after = facts(weft("model", "info", tmp_path / "small").stdout)
    assert after["kind"] == "onnx-int8"
    assert after["languages"] == "de en"
    assert {name: after[name] for name in ("layer", "method", "threshold", "vocabulary")} == {
        name: before[name] for name in ("layer", "method", "threshold", "vocabulary")
    }
    assert weft("align", "--model", tmp_path / "small", stdin="das ||| das\n").stdout == "0-0\n"


def test_text_to_calibrate_on_is_read_with_the_options_of_other_commands(weft, tiny_bert, tmp_path):
    (tmp_path / "t.csv").write_text("id,German,English\n1,Das Haus.,The house.\n2,Der Hund.,The dog.\n")
    export = ("model", "export", tiny_bert, "--to", "onnx-int8", "--layer", "2", "--text", "t.csv", "-o")
    advised = ("--source-field", "German", "--target-field", "English", "--raw")
    done = weft(*export, "advised", *advised, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1), done.stderr
    warned = weft(*export, "plain", cwd=tmp_path)
    assert "as in --source-field German --target-field English" in warned.stderr
    graphs = [(tmp_path / name / "model.onnx").read_bytes() for name in ("advised", "plain")]
    assert graphs[0] != graphs[1]


def test_the_built_in_model_describes_itself(weft):
    described = facts(weft("model", "info", "weft-mini").stdout)
    assert (described["kind"], described["method"], described["calibrated"]) == ("onnx-int8", "geometric", "yes")
    assert {"de", "en", "ja", "zh"} <= set(described["languages"].split())


def test_a_known_encoder_and_a_guess(weft, tiny_bert):
    assert facts(weft("model", "info", "mbert").stdout)["layer"] == "8"
    assert facts(weft("model", "info", tiny_bert).stdout)["layer"].startswith("2 (a guess")


@pytest.mark.parametrize("name", ["some/bert", "mBERT"])
def test_a_model_that_the_hub_gave_before_is_described(weft, tiny_bert, tmp_path, name):
    hub_name = "google-bert/bert-base-multilingual-cased" if name == "mBERT" else name
    home = hub_with(tmp_path, tiny_bert, name=hub_name)
    done = weft("model", "info", name, env={**os.environ, "HF_HOME": str(home)})
    assert (done.returncode, done.stderr) == (0, "")
    described = facts(done.stdout)
    assert described == facts(weft("model", "info", tiny_bert).stdout) | {"name": name}


def test_a_graph_of_the_hub_needs_no_configuration(weft, tiny_onnx, tmp_path):
    graph = shutil.copytree(tiny_onnx, tmp_path / "graph")
    (graph / "config.json").unlink(missing_ok=True)
    home = hub_with(tmp_path, graph)
    described = facts(weft("model", "info", "some/bert", env={**os.environ, "HF_HOME": str(home)}).stdout)
    assert (described["name"], described["layer"]) == ("some/bert", "2")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["info", "nothing"],
            1,
            "there is no model nothing on this machine, and 'weft model info' downloads nothing. ",
        ),
        (
            ["info", "some/bert"],
            1,
            "If it is on the Hugging Face Hub, any command with --model some/bert downloads it.",
        ),
        (["info", "weft-maxi"], 1, "and 'weft model info' downloads nothing. Did you mean weft-mini? If it is"),
        (["info", "EMPTY"], 1, "contains no model: it has neither model.onnx nor config.json"),
        (["info", "BROKEN"], 1, "expected a JSON object"),
        (["export", "nothing", "--to", "onnx", "-o", "OUT"], 1, "cannot load the model nothing: it is not on this"),
        (["info", "weft-mni"], 1, "there is no model weft-mni; did you mean weft-mini?"),
        (["export", "EMPTY", "--to", "onnx", "-o", "OUT"], 1, "contains no Hugging Face model"),
        (["export", "MODEL", "--to", "coreml", "-o", "OUT"], 2, "--to must be one of onnx, onnx-int8"),
        (["export", "MODEL", "--to", "onnx"], 2, "--output"),
        (["export", "MODEL", "--to", "onnx", "-o", "MODEL"], 2, "must not be the model's own folder"),
        (["export", "MODEL", "--to", "onnx", "-o", "MODEL/config.json"], 2, "is not a writable folder"),
        (["export", "MODEL", "--to", "onnx", "-o", "OUT", "--embedding-bits", "5"], 2, "must be 4 or 8"),
        (["export", "MODEL", "--to", "onnx", "-o", "OUT", "--text", "TEXT"], 2, "only works with --to onnx-int8"),
        (["export", "MODEL", "--to", "onnx-int8", "-o", "OUT", "--raw"], 2, "options only work with --text"),
        (["export", "MODEL", "--to", "onnx-int8", "-o", "OUT", "--text", "nothing.txt"], 1, "nothing.txt"),
    ],
)
def test_mistakes_get_one_sentence(weft, tiny_bert, tmp_path, arguments, code, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    places = {"EMPTY": tmp_path / "empty", "BROKEN": tmp_path / "broken", "OUT": tmp_path / "out", "MODEL": tiny_bert}
    places["MODEL/config.json"] = tiny_bert / "config.json"
    given = [places.get(argument, argument) for argument in arguments]
    done = weft("model", *given, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
