"""Graphs that weft did not export."""

from __future__ import annotations

import pytest

from fuzz.workshop import make_graph_model
from weft import Aligner, WeftError


def test_a_graph_with_an_input_of_another_name_is_a_sentence(tmp_path):
    folder = make_graph_model(tmp_path / "graph")
    graph = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(graph.replace(b"attention_mask", b"at[ention_mask"))
    with pytest.raises(WeftError, match=r"asks for 'at\[ention_mask'; weft gives input_ids, attention_mask"):
        Aligner.from_pretrained(str(folder))
