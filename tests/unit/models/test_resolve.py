from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch

from models import hub_with
from weft import Aligner
from weft.errors import FormatError, SettingError, WeftError
from weft.models.known import ALIKE_IF_UNKNOWN, KNOWN_ENCODERS, built_in_models, nearest_name
from weft.models.resolve import resolve_model


def test_a_built_in_name_is_its_folder():
    source = resolve_model("weft-mini")
    assert source.folder == built_in_models()["weft-mini"]
    assert (source.built_in, source.is_graph_only, source.settings.joint) == (True, True, True)


def test_a_folder_is_itself(tiny_bert, tiny_onnx):
    weights, graph = resolve_model(tiny_bert), resolve_model(str(tiny_onnx))
    assert (weights.folder, weights.built_in, weights.has_graph) == (tiny_bert, False, False)
    assert (graph.folder, graph.has_graph, graph.settings.layer) == (tiny_onnx, True, 2)


@pytest.mark.parametrize(
    ("model", "device", "expected"),
    [
        ("weft-mini", "auto", False),
        ("weft-mini", "cpu", False),
        ("weft-mini", "cuda", True),
        ("weft-mini", "cuda:1", True),
        ("some/encoder", "auto", True),
        ("some/encoder", "cpu", False),
    ],
)
def test_graphs_run_on_a_gpu_only_when_told_to(model, device, expected):
    assert resolve_model(model).may_use_gpu(device) is expected


def test_known_encoders_are_found_by_the_names_that_are_listed():
    for known in KNOWN_ENCODERS:
        for name in (known.name, known.name.lower(), known.name.upper()):
            source = resolve_model(name, revision="v1", token="secret", local_files_only=True)
            assert (source.hub_name, source.folder) == (known.hub_name, None)
            assert (source.hub.revision, source.hub.token, source.hub.local_files_only) == ("v1", "secret", True)
            assert "secret" not in repr(source)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("weft-mni", "weft-mini"), ("weftmini", "weft-mini"), ("Weft-Mini", "weft-mini"), ("mBRT", "mBERT"),
     ("LaBSEE", "LaBSE"), ("XLM-R-base", "XLM-R base")],
)  # fmt: skip
def test_a_misspelt_name_is_answered_with_the_nearest(name, meant):
    with pytest.raises(WeftError, match=f"there is no model {name}; did you mean {meant}\\?"):
        resolve_model(name)


@pytest.mark.parametrize(
    "name",
    [
        "bert-base-multilingual-cased",
        "xlm-roberta-base",
        "bert-base-cased",
        "roberta-base",
        "weft/mini",
        "me/weft-mini",
    ],
)
def test_names_of_other_models_are_left_alone(name):
    assert resolve_model(name).hub_name == name


@pytest.mark.parametrize("known", KNOWN_ENCODERS)
def test_names_that_the_hub_has_are_not_doubted(known):
    own = known.hub_name.rpartition("/")[2]
    assert [nearest_name(name, alike=ALIKE_IF_UNKNOWN) for name in (known.hub_name, own, own.upper())] == [None] * 3


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("", SettingError, "must be a name or a folder"),
        ("  ", SettingError, "must be a name or a folder"),
        ("./nowhere", WeftError, r"there is no folder \./nowhere\."),
        ("a/b/c", WeftError, "there is no folder a/b/c"),
        ("a\0b", WeftError, "there is no folder"),
    ],
)
def test_what_is_no_model_is_one_sentence(name, error, message):
    with pytest.raises(error, match=message):
        resolve_model(name)


@pytest.mark.parametrize("kind", ["tiny_bert", "tiny_onnx"])
def test_a_revision_of_a_model_on_the_hub_is_found_in_its_cache(request, tmp_path, kind):
    model = request.getfixturevalue(kind)
    home = hub_with(tmp_path, model, revision="v2")
    code = (
        "from weft import Aligner\n"
        "found = Aligner.from_pretrained('some/bert', revision='v2', local_files_only=True, layer=2, device='cpu')\n"
        "print([link[:2] for link in found.align('das ist gut', 'that is good').links])\n"
        "try: Aligner.from_pretrained('some/bert', local_files_only=True)\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "HF_HOME": str(home)},
    )  # fmt: skip
    links = Aligner.from_pretrained(model, layer=2, device="cpu").align("das ist gut", "that is good").links
    first, second = done.stdout.splitlines()
    assert first == str([link[:2] for link in links])
    assert second.startswith("WeftError cannot load the model some/bert: it is not on this machine")


def test_pickled_weights_are_refused(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(WeftError, match=r"has no weights but pytorch_model\.bin.*run code"):
        Aligner.from_pretrained(folder)


def test_a_link_that_leads_out_of_the_folder_is_refused(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "config.json").rename(tmp_path / "config.json")
    (folder / "config.json").symlink_to("../config.json")
    with pytest.raises(WeftError, match=r"config\.json is a link that leads out of the model's folder"):
        resolve_model(folder)


def test_links_within_the_folder_and_to_it_are_fine(tiny_bert, tmp_path):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "copy.json").symlink_to("config.json")
    (tmp_path / "elsewhere").symlink_to(folder)
    assert resolve_model(tmp_path / "elsewhere").folder == tmp_path / "elsewhere"


@pytest.mark.parametrize("name", ["../model.safetensors", "/etc/passwd", 3])
def test_an_index_that_leads_out_of_the_folder_is_refused(tiny_bert, tmp_path, name):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"embeddings": name}}))
    with pytest.raises(FormatError, match="expected files of the same folder in `weight_map`"):
        resolve_model(folder)


def test_a_model_that_is_nowhere_is_answered_with_those_that_weft_has():
    with pytest.raises(WeftError, match=r"weft comes with weft-mini and weft-nano\.$"):
        resolve_model("no-such-model-anywhere", local_files_only=True).fetched()
