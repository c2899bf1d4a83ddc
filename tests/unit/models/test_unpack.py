from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
import transformers

from fuzz.workshop import make_graph_model
from models import SENTENCES, encode
from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.encoding.onnx import OnnxEncoder
from weft.encoding.torch import TorchEncoder
from weft.errors import SettingError, WeftError
from weft.extraction.settings import ExtractionSettings
from weft.models.export import export_model
from weft.models.known import built_in_models
from weft.models.save import save_model
from weft.models.settings import ExportKind
from weft.models.unpack import graph_tensors, torch_folder, unpack_model

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]
OBVIOUS = [
    ("Das Haus ist klein .", "The house is small ."),
    ("Ieri am citit o carte foarte bună .", "Yesterday I read a very good book ."),
    ("El museo es muy grande .", "The museum is very big ."),
]


def test_a_float_graph_comes_back_as_it_was(tiny_bert, tmp_path):
    export_model(tiny_bert, tmp_path / "graph", to=ExportKind.ONNX, layer=2)
    export_model(tmp_path / "graph", tmp_path / "back", to=ExportKind.TORCH)
    original = transformers.AutoModel.from_pretrained(tiny_bert).state_dict()
    back = transformers.AutoModel.from_pretrained(tmp_path / "back").state_dict()
    compared = [name for name in back if not name.startswith("pooler.")]
    assert len(compared) > 30
    for name in compared:
        torch.testing.assert_close(back[name], original[name])


def test_an_int8_graph_comes_back_as_the_numbers_it_computes_with(tiny_bert, tmp_path):
    export_model(tiny_bert, tmp_path / "graph", layer=2)
    unpack_model(tmp_path / "graph", tmp_path / "back")
    graph = encode(OnnxEncoder(tmp_path / "graph", max_length=32), WORDS).states
    back = encode(TorchEncoder(tmp_path / "back", layer=2, device="cpu"), WORDS).states.numpy()
    cosines = (graph * back).sum(1) / np.linalg.norm(graph, axis=1) / np.linalg.norm(back, axis=1)
    assert cosines.min() > 0.99  # activations are rounded in the graph alone


def test_weft_mini_runs_in_torch():
    folder = torch_folder(built_in_models()["weft-mini"])
    transformers.AutoModel.from_pretrained(folder)
    theirs = Aligner.from_pretrained(folder, device="cpu")
    assert isinstance(theirs.encoder, BertEncoder)
    ours = Aligner.from_pretrained()
    assert [item.pairs for item in theirs.align_batch(OBVIOUS)] == [item.pairs for item in ours.align_batch(OBVIOUS)]


def test_weft_nano_runs_in_torch_with_its_projected_embeddings(tmp_path):
    unpack_model(built_in_models()["weft-nano"], tmp_path)
    assert transformers.AutoModel.from_pretrained(tmp_path).config.embedding_size == 128
    theirs = Aligner.from_pretrained(tmp_path, device="cpu").align_batch(OBVIOUS)
    ours = Aligner.from_pretrained("weft-nano").align_batch(OBVIOUS)
    assert [item.pairs for item in theirs] == [item.pairs for item in ours]


def test_a_graph_runs_in_torch_without_the_detour_over_a_file(tiny_bert, tmp_path):
    export_model(tiny_bert, tmp_path, layer=2)
    graph = read_bert(tmp_path, graph_tensors(tmp_path))
    assert graph.config.num_hidden_layers == 2
    theirs = encode(TorchEncoder(torch_folder(tmp_path), layer=2, device="cpu"), WORDS)
    torch.testing.assert_close(encode(BertEncoder(graph, layer=2, device="cpu"), WORDS).states, theirs.states)
    with pytest.raises(SettingError, match="there is no layer 3"):
        BertEncoder(graph, layer=3, device="cpu")


def test_a_graph_that_runs_in_torch_is_saved_with_weights(tmp_path):
    folder = built_in_models()["weft-mini"]
    encoder = BertEncoder(read_bert(folder, graph_tensors(folder)), layer=6, device="cpu", joint=True)
    save_model(tmp_path, encoder, ExtractionSettings())
    assert transformers.AutoModel.from_pretrained(tmp_path).config.num_hidden_layers == 6


def test_a_folder_with_weights_is_used_as_it_is(tiny_bert):
    assert torch_folder(tiny_bert) == tiny_bert


def test_what_cannot_be_unpacked_is_said(tiny_bert, tiny_onnx, tmp_path):
    with pytest.raises(WeftError, match=r"has no config\.json"):
        unpack_model(tiny_onnx, tmp_path / "out")
    with pytest.raises(WeftError, match="or already has torch weights"):
        export_model(tiny_bert, tmp_path / "out", to=ExportKind.TORCH)
    export_model(tiny_bert, tmp_path / "graph", layer=2)
    with pytest.raises(WeftError, match="to turn it back into weights"):
        export_model(tmp_path / "graph", tmp_path / "out")
    other = shutil.copytree(tmp_path / "graph", tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "vocab_size": config["vocab_size"] + 1}))
    with pytest.raises(WeftError, match=r"is not the bert of its config\.json"):
        unpack_model(other, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "bert", "hidden_size": 8}, "describes no model: The hidden size"),
        ({"model_type": "bert", "hidden_size": 12, "vocab_size": 5}, "was not exported by weft"),
    ],
)
def test_graphs_that_weft_has_not_exported_are_a_sentence(tmp_path, config, message):
    folder = make_graph_model(tmp_path / "graph")
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeftError, match=message):
        export_model(folder, tmp_path / "out", to=ExportKind.TORCH)
    assert not (tmp_path / "out").exists()


def test_a_damaged_graph_is_a_sentence(tmp_path):
    folder = make_graph_model(tmp_path / "graph")
    (folder / "model.onnx").write_bytes(b"\x08\x09nothing")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": 12}))
    with pytest.raises(WeftError, match="was not exported by weft"):
        export_model(folder, tmp_path / "out", to=ExportKind.TORCH)
