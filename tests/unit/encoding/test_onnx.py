"""Graphs that weft did not export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from tokenizers import Tokenizer, processors

from fuzz.workshop import make_graph_model
from weft import Aligner, WeftError


def test_a_graph_with_an_input_of_another_name_is_a_sentence(tmp_path):
    folder = make_graph_model(tmp_path / "graph")
    graph = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(graph.replace(b"attention_mask", b"at[ention_mask"))
    with pytest.raises(WeftError, match=r"asks for 'at\[ention_mask'; weft gives input_ids, attention_mask"):
        Aligner.from_pretrained(str(folder))


def test_a_name_that_is_not_text_is_a_sentence(tmp_path):
    folder = make_graph_model(tmp_path / "graph")
    graph = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(graph.replace(b"attention_mask", b"\x95ttention_mask"))
    with pytest.raises(WeftError, match="a name in its graph is not text"):
        Aligner.from_pretrained(str(folder))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [1e25, float("inf"), float("nan")])
def test_states_that_cannot_be_compared_are_a_sentence(tmp_path, number):
    folder = make_graph_model(tmp_path / "graph")
    model = onnx.load(folder / "model.onnx")
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.ndim == 2:
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full_like(values, number), tensor.name))
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(WeftError, match="is damaged: its numbers are too large to be compared"):
        Aligner.from_pretrained(str(folder)).align("das ist gut", "that is good")


def changed(folder: Path, change: Callable[[Any], object]) -> str:
    model = onnx.load(folder / "model.onnx")
    change(model.graph)
    onnx.save(model, folder / "model.onnx")
    return str(folder)


def other_type(graph):
    graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT32


def less_than_a_state_each(graph):
    graph.node[0].output[0] = "all"
    graph.node.append(onnx.helper.make_node("ReduceMean", ["all"], ["states"], axes=[1], keepdims=1))


@pytest.mark.parametrize("change", [other_type, less_than_a_state_each])
def test_a_graph_that_cannot_be_run_is_a_sentence(tmp_path, change):
    folder = changed(make_graph_model(tmp_path / "graph"), change)
    with pytest.raises(WeftError, match=f"the model in {folder} cannot be run: "):
        Aligner.from_pretrained(folder).align("das ist gut", "that is good")


def test_a_graph_that_does_not_say_how_wide_its_states_are_is_a_sentence(tmp_path):
    def change(graph):
        graph.output[0].type.tensor_type.shape.dim.pop()
        graph.node[0].CopyFrom(onnx.helper.make_node("Cast", ["input_ids"], ["states"], to=onnx.TensorProto.FLOAT))

    folder = changed(make_graph_model(tmp_path / "graph"), change)
    with pytest.raises(WeftError, match="its graph does not say how wide its states are"):
        Aligner.from_pretrained(folder)


def test_special_tokens_that_fill_a_row_are_a_sentence(tmp_path):
    folder = make_graph_model(tmp_path / "graph")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    template = " ".join(["[CLS]"] * 31) + " $A [SEP]"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(WeftError, match="it puts 32 special tokens round a sentence, and a row holds 32"):
        Aligner.from_pretrained(str(folder))
