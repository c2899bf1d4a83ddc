"""Graphs that weft did not export."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

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
