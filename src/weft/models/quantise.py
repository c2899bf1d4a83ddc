"""A traced encoder made small and fast: products in int8, attention in one step, word embeddings in four bits.

Works on the graph as `weft.models.export` traces it. What is not recognised stays as it is: slower, never wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from weft.models.packed_embeddings import eight_bits, four_bits, pack, unpack
from weft.models.rounding import FloatArray, rounded

Ranges = Mapping[str, tuple[float, float]]
Moments = Mapping[str, FloatArray]

MICROSOFT = "com.microsoft"
# Without VNNI, x86 adds two products of an activation (at most 255) and a weight in 16 bits; up to 63 they always fit.
LARGEST_WEIGHT = 63


def quantise(model: Any, *, heads: int, embedding_bits: int, moments: Moments, ranges: Ranges | None = None) -> None:
    """Turn a traced float32 graph into its int8 form, in place.

    Args:
        model: the graph.
        heads: attention heads of a layer.
        embedding_bits: 4 or 8.
        moments: the mean outer products of each multiplied activation (`activations` names them), by which weights are
            rounded.
        ranges: what values each multiplied activation takes. Without them activations are quantised by what a batch
            happens to hold, so that a sentence's states depend on those beside it.
    """
    model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    _merge_attention(model.graph, heads)
    _quantise_products(model.graph, moments, ranges)
    _quantise_embedding(model.graph, embedding_bits)
    _tidy(model.graph)


def activations(model: Any) -> list[str]:
    """The values of a traced graph that are multiplied by weights."""
    graph = _Graph(model.graph)
    products = (node for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in graph.constants)
    return list(dict.fromkeys(node.input[0] for node in products))


def keep_norms_apart(model: Any) -> None:
    """Write the additions before norms as sums.

    onnxruntime would fuse additions and norms into an operator that takes several times as long as the two.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        before = makers.get(node.input[0]) if node.op_type == "LayerNormalization" else None
        if before is not None and before.op_type == "Add":
            before.op_type = "Sum"


class _Graph:
    """A graph with who makes and who uses each value."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.constants = {item.name: item for item in graph.initializer}
        self.makers = {name: node for node in graph.node for name in node.output}
        self.users: dict[str, list[Any]] = {}
        for node in graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)

    def value(self, name: str) -> Any:
        return numpy_helper.to_array(self.constants[name])

    def is_vector(self, name: str) -> bool:
        return name in self.constants and len(self.constants[name].dims) == 1

    def add(self, name: str, value: Any) -> str:
        self.graph.initializer.append(numpy_helper.from_array(value, name))
        return name

    def back(self, name: str, *kinds: str) -> list[Any] | None:
        """The nodes that lead to a value, nearest first, if they are of these kinds."""
        path: list[Any] = []
        for kind in kinds:
            node = self.makers.get(name)
            if node is None or node.op_type != kind:
                return None
            path.append(node)
            name = node.input[0]
        return path

    def forward(self, name: str, *kinds: str) -> list[Any] | None:
        """The nodes that a value alone goes through, if they are of these kinds."""
        path: list[Any] = []
        for kind in kinds:
            users = self.users.get(name, [])
            if len(users) != 1 or users[0].op_type != kind:
                return None
            path.append(users[0])
            name = users[0].output[0]
        return path


class _Attention(NamedTuple):
    """One layer's attention: the states it reads, its three linear maps (product, addition), and its last node."""

    states: str
    maps: list[tuple[Any, Any]]
    last: Any


def _merge_attention(raw: Any, heads: int) -> None:
    """Replace queries, keys, values and what follows by one `Attention`: one product, and no transposed copies."""
    graph = _Graph(raw)
    found = [item for node in raw.node if node.op_type == "Softmax" if (item := _attention(graph, node, heads))]
    if found:
        raw.node.append(helper.make_node("Cast", ["attention_mask"], ["mask32"], to=onnx.TensorProto.INT32))
    for number, attention in enumerate(found):
        weights = [graph.value(product.input[1]) for product, _ in attention.maps]
        biases = [graph.value(addition.input[1]) for _, addition in attention.maps]
        inputs = [
            attention.states,
            graph.add(f"attention.{number}.weight", np.concatenate(weights, axis=1)),
            graph.add(f"attention.{number}.bias", np.concatenate(biases)),
            "mask32",
        ]
        output = attention.last.output[0]
        raw.node.remove(attention.last)
        raw.node.append(helper.make_node("Attention", inputs, [output], domain=MICROSOFT, num_heads=heads))
    _tidy(raw)


def _attention(graph: _Graph, softmax: Any, heads: int) -> _Attention | None:
    """The attention around a softmax, if it is the plain one: scaled products, a mask, nothing else."""
    scores = graph.back(softmax.input[0], "Add", "Mul", "MatMul")
    mixed = graph.forward(softmax.output[0], "MatMul", "Transpose", "Reshape")
    if scores is None or mixed is None or graph.back(scores[0].input[1], "Where") is None:
        return None
    _, scaled, product = scores
    ends = ((product.input[0], (0, 2, 1, 3)), (product.input[1], (0, 2, 3, 1)), (mixed[0].input[1], (0, 2, 1, 3)))
    maps = [_linear_map(graph, name, order) for name, order in ends]
    complete = [item for item in maps if item is not None]
    if len(complete) < 3 or len({item[0].input[0] for item in complete}) > 1 or scaled.input[1] not in graph.constants:
        return None
    width = graph.value(complete[0][0].input[1]).shape[1]
    # The fused operator divides by the root of a head's width and knows no other scale.
    if not np.allclose(graph.value(scaled.input[1]), (width / heads) ** -0.5):
        return None
    return _Attention(complete[0][0].input[0], complete, mixed[2])


def _linear_map(graph: _Graph, name: str, order: tuple[int, ...]) -> tuple[Any, Any] | None:
    """Product and addition behind the heads of queries, keys or values."""
    path = graph.back(name, "Transpose", "Reshape", "Add", "MatMul")
    if path is None or tuple(path[0].attribute[0].ints) != order:
        return None
    _, _, addition, product = path
    return (product, addition) if {addition.input[1], product.input[1]} <= graph.constants.keys() else None


def _quantise_products(raw: Any, moments: Moments, ranges: Ranges | None) -> None:
    """Multiply int8 weights, one scale a column, with activations in eight bits."""
    graph = _Graph(raw)
    quantised: set[str] = set()
    nodes: list[Any] = []
    for node in raw.node:
        if node.op_type not in ("MatMul", "Attention") or node.input[1] not in graph.constants:
            nodes.append(node)
            continue
        states = node.input[0]
        if states not in quantised:
            quantised.add(states)
            nodes.append(_eight_bit_states(graph, states, ranges))
        nodes.extend(_integer_product(graph, node, moments[states]))
    made = {name for node in nodes if node.op_type == "MatMulIntegerToFloat" for name in node.output}
    del raw.node[:]
    # An addition whose result a product now makes itself is there no more.
    raw.node.extend(node for node in nodes if node.op_type != "Add" or not made.intersection(node.output))


def _eight_bit_states(graph: _Graph, states: str, ranges: Ranges | None) -> Any:
    parts = [f"{states}.{part}" for part in ("int8", "scale", "zero")]
    if ranges is None:
        return helper.make_node("DynamicQuantizeLinear", [states], parts)
    low, high = min(0.0, ranges[states][0]), max(0.0, ranges[states][1])
    scale = max((high - low) / 255, 1e-12)
    graph.add(parts[1], np.array(scale, dtype=np.float32))
    graph.add(parts[2], np.array(round(-low / scale), dtype=np.uint8))
    return helper.make_node("QuantizeLinear", [states, *parts[1:]], parts[:1])


def _integer_product(graph: _Graph, node: Any, moments: FloatArray) -> Iterator[Any]:
    states, name, result = node.input[0], node.input[1], node.output[0]
    if f"{name}.int8" not in {item.name for item in graph.graph.initializer}:
        weight, scale = rounded(graph.value(name), moments, largest=LARGEST_WEIGHT)
        graph.add(f"{name}.int8", weight)
        graph.add(f"{name}.scale", scale)
    if node.op_type == "Attention":
        parts = [f"{states}.int8", f"{name}.int8", node.input[2], f"{states}.scale", f"{name}.scale", node.input[3]]
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        inputs = [*parts, f"{states}.zero"]
        yield helper.make_node("QAttention", inputs, [result], domain=MICROSOFT, **attributes)
        return
    inputs = [f"{states}.int8", f"{name}.int8", f"{states}.scale", f"{name}.scale", f"{states}.zero"]
    addition = graph.forward(result, "Add")
    if addition and graph.is_vector(addition[0].input[1]):
        inputs += ["", addition[0].input[1]]  # no zero points of weights, then the bias
        result = addition[0].output[0]
    yield helper.make_node("MatMulIntegerToFloat", inputs, [result], domain=MICROSOFT)


def _quantise_embedding(raw: Any, bits: int) -> None:
    """Store the rows of words in few bits; only the rows that a batch needs are restored."""
    graph = _Graph(raw)
    for number, node in enumerate(raw.node):
        if node.op_type == "Gather" and node.input[0] in graph.constants and node.input[1] == "input_ids":
            table = graph.value(node.input[0])
            raw.node.remove(node)
            for offset, step in enumerate(_restore(graph, table, bits, node.output[0])):
                raw.node.insert(number + offset, step)
            return


def _restore(graph: _Graph, table: FloatArray, bits: int, result: str) -> Iterator[Any]:
    """The nodes that take rows out of the packed table, shape (batch, length, width)."""
    in_pairs = bits == 4 and table.shape[1] % 2 == 0
    quantised = four_bits(table) if in_pairs else eight_bits(table)
    # A byte is looked up as a whole: with four bits it stands for two levels, which saves taking it apart.
    every_byte = np.arange(256, dtype=np.uint8)[:, None]
    levels = quantised.levels[unpack(every_byte) if in_pairs else every_byte]
    graph.add("words.rows", pack(quantised.codes) if in_pairs else quantised.codes)
    graph.add("words.scales", quantised.scales)
    graph.add("words.levels", levels)
    graph.add("words.blocks", np.array([0, 0, quantised.scales.shape[1], -1], dtype=np.int64))
    graph.add("words.width", np.array([0, 0, table.shape[1]], dtype=np.int64))
    graph.add("words.last", np.array([-1], dtype=np.int64))
    yield helper.make_node("Gather", ["words.rows", "input_ids"], ["words.taken"])
    yield helper.make_node("Cast", ["words.taken"], ["words.bytes"], to=onnx.TensorProto.INT32)
    yield helper.make_node("Gather", ["words.levels", "words.bytes"], ["words.shares"])
    yield helper.make_node("Reshape", ["words.shares", "words.blocks"], ["words.by_block"])
    yield helper.make_node("Gather", ["words.scales", "input_ids"], ["words.half"])
    yield helper.make_node("Cast", ["words.half"], ["words.float"], to=onnx.TensorProto.FLOAT)
    yield helper.make_node("Unsqueeze", ["words.float", "words.last"], ["words.scale"])
    yield helper.make_node("Mul", ["words.by_block", "words.scale"], ["words.scaled"])
    yield helper.make_node("Reshape", ["words.scaled", "words.width"], [result])


def _tidy(raw: Any) -> None:
    """Drop what nothing uses any more, and put the rest in an order in which it can be computed."""
    makers = {name: node for node in raw.node for name in node.output}
    needed = set()
    pending = [item.name for item in raw.output]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending.extend(makers[name].input if name in makers else ())
    constants = [item for item in raw.initializer if item.name in needed]
    known = {"", *(item.name for item in raw.input), *(item.name for item in constants)}
    waiting = [node for node in raw.node if needed.intersection(node.output)]
    nodes: list[Any] = []
    while waiting:
        ready = [node for node in waiting if known.issuperset(node.input)]
        waiting = [node for node in waiting if not known.issuperset(node.input)]
        known.update(name for node in ready for name in node.output)
        nodes.extend(ready)
    del raw.node[:], raw.initializer[:], raw.value_info[:]
    raw.node.extend(nodes)
    raw.initializer.extend(constants)
