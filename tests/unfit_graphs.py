"""weft-nano with other graphs: changed in any way, and in those that weft's own encoder must leave to onnxruntime."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from weft.models.known import built_in_models

NANO = built_in_models()["weft-nano"]


def changed(folder: Path, change) -> Path:
    """A copy of weft-nano with another graph."""
    shutil.copytree(NANO, folder)
    model = onnx.load(NANO / "model.onnx")
    change(model.graph)
    onnx.save(model, folder / "model.onnx")
    return folder


def node_of(graph, kind: str, number: int = 0):
    return [node for node in graph.node if node.op_type == kind][number]


def set_constant(graph, name: str, change) -> None:
    tensor = next(item for item in graph.initializer if item.name == name)
    tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), name))


def gelu(graph):
    node_of(graph, "Relu").op_type = "Gelu"


def dynamic(graph):
    rounding = node_of(graph, "QuantizeLinear", 2)
    name, parts = rounding.input[0], [rounding.output[0], *rounding.input[1:]]
    rounding.CopyFrom(helper.make_node("DynamicQuantizeLinear", [name], parts))


def another_way_past_a_layer(graph):
    node_of(graph, "Sum", 3).input[1] = node_of(graph, "LayerNormalization", 1).output[0]


def attribute(kind: str, name: str, value: float):
    return lambda graph: node_of(graph, kind).attribute.append(helper.make_attribute(name, value))


def half_a_head(graph):
    for node in graph.node:
        if node.op_type == "QAttention":
            node.attribute[0].CopyFrom(helper.make_attribute("num_heads", 0.5))


def filled(name: str, number: float):
    return lambda graph: set_constant(graph, name, lambda old: np.full_like(old, number))


def circle(graph):
    for node in graph.node:
        for number, name in enumerate(node.input):
            if name == "linear":  # the states before the first layer
                node.input[number] = "states"


UNFIT = {
    "another activation": gelu,
    "ranges of each batch": dynamic,
    "large weights": lambda graph: set_constant(graph, "attention.0.weight.int8", lambda old: old * 2),
    "wide numbers": lambda graph: set_constant(graph, "val_114.scale", lambda old: old.astype(np.float64)),
    "odd heads": lambda graph: setattr(node_of(graph, "QAttention").attribute[0], "i", 16),
    "unequal heads": lambda graph: setattr(node_of(graph, "QAttention").attribute[0], "i", 8),
    "no mask": lambda graph: node_of(graph, "QAttention").input.__setitem__(5, ""),
    "other blocks": lambda graph: set_constant(graph, "words.blocks", lambda old: old[[0, 1, 3, 2]]),
    "a zero after the ReLU": lambda graph: set_constant(graph, "relu.zero", lambda old: old + np.uint8(3)),
    "no types": lambda graph: graph.input.pop(2),
    "another axis": lambda graph: node_of(graph, "LayerNormalization").attribute.append(
        helper.make_attribute("axis", 0)
    ),
    "another way": another_way_past_a_layer,
    "a circle": circle,
    "two outputs": lambda graph: graph.output.append(helper.make_empty_tensor_value_info("linear")),
    "a number that is missing": lambda graph: graph.initializer.pop(3),
    "no blocks": lambda graph: set_constant(graph, "words.scales", lambda old: old[:, :0]),
    "half a head": half_a_head,
    "words by column": attribute("Gather", "axis", 1),
    "a Relu with a number": attribute("Relu", "alpha", 0.1),
    "scales by block": lambda graph: set_constant(graph, "words.last", lambda old: old * 2),
    "another width of words": lambda graph: set_constant(graph, "words.width", lambda old: old[[0, 2, 1]]),
    "a norm below zero": lambda graph: node_of(graph, "LayerNormalization").attribute.append(
        helper.make_attribute("epsilon", -1.0)
    ),
    "a value made twice": lambda graph: graph.node.append(node_of(graph, "Relu")),
    "a constant made twice": lambda graph: graph.initializer.append(graph.initializer[0]),
    "an activation without a range": filled("linear.scale", 1e-39),
    "a norm that is no number": filled("model.embeddings.LayerNorm.bias", np.nan),
    "an endless scale of a word": filled("words.scales", np.inf),
    "an endless scale of a product": filled("attention.0.weight.scale", -3e38),
    "a norm whose sums are not exact": filled("model.encoder.layer.0.output.LayerNorm.bias", 1e10),
}
