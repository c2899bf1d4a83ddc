"""What an ONNX graph multiplies, adds and normalises, if it is one that weft's int8 export wrote with fixed ranges.

Every node on the way from the inputs to the states is looked at. A graph that differs anywhere is not read at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.encoding.batches import INPUTS
from weft.encoding.native.graph import Graph, Node, UnfitError

FloatVector = npt.NDArray[np.float32]

# Twice two products of a weight and an eight-bit number have to fit into 16 bits.
_LARGEST_WEIGHT = 64
_LARGEST_WIDTH = 1 << 15
_MOST_LAYERS = 256
# Numbers of sound models are far below. Sums of larger ones may be infinite, or differ from those of onnxruntime.
_LARGEST = 1e4
_SMALLEST_SCALE = 1e-20
_OTHER = "its graph is of another kind."
_MICROSOFT = "com.microsoft."
# How `weft.models.quantise` restores rows of packed words.
_WORDS: dict[str, tuple[str, tuple[str, ...], dict[str, float]]] = {
    "words.taken": ("Gather", ("words.rows", "input_ids"), {"axis": 0}),
    "words.bytes": ("Cast", ("words.taken",), {"to": 6}),
    "words.shares": ("Gather", ("words.levels", "words.bytes"), {"axis": 0}),
    "words.by_block": ("Reshape", ("words.shares", "words.blocks"), {}),
    "words.half": ("Gather", ("words.scales", "input_ids"), {"axis": 0}),
    "words.float": ("Cast", ("words.half",), {"to": 1}),
    "words.scale": ("Unsqueeze", ("words.float", "words.last"), {}),
    "words.scaled": ("Mul", ("words.by_block", "words.scale"), {}),
}


@dataclass(frozen=True, slots=True)
class Product:
    """An activation in eight bits, by its scale and zero, times int8 weights of shape (inputs, outputs), and a bias."""

    weights: npt.NDArray[np.int8]
    scales: FloatVector
    bias: FloatVector
    scale: float
    zero: int


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer norm."""

    weight: FloatVector
    bias: FloatVector
    epsilon: float


@dataclass(frozen=True, slots=True)
class Layer:
    """Attention (queries, keys and values in one product) and feed-forward, each with a norm after it."""

    attention: Product
    mixing: Product
    mixed: Norm
    widening: Product
    narrowing: Product
    narrowed: Norm
    heads: int


@dataclass(frozen=True, slots=True)
class Embedding:
    """Packed words: codes (vocabulary, width or half of it), scales of blocks, what a byte stands for; and the rest."""

    words: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float16]
    levels: npt.NDArray[np.float32]
    types: npt.NDArray[np.float32]
    positions: npt.NDArray[np.float32]
    norm: Norm


@dataclass(frozen=True, slots=True)
class Weights:
    """All of an encoder; `projection` is there if words are narrower than layers."""

    embedding: Embedding
    projection: Product | None
    layers: tuple[Layer, ...]

    @property
    def width(self) -> int:
        """How wide its states are."""
        return len(self.layers[0].mixed.weight)


def read_weights(graph: Graph) -> Weights:
    """Find the weights of an encoder in its graph.

    Raises:
        UnfitError: if it is another kind of graph, or has a shape that the kernels cannot multiply.
    """
    try:
        return _Reader(graph).weights()
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UnfitError(_OTHER) from error


def _demand(fine: object) -> None:
    if not fine:
        raise UnfitError(_OTHER)


class _Reader:
    """Goes through a graph from its end to its beginning."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def weights(self) -> Weights:
        _demand(sorted(self._graph.inputs) == sorted(INPUTS) and len(self._graph.outputs) == 1)
        layers: list[Layer] = []
        value, projection = self._graph.outputs[0], None
        while self._is_layer(value):
            layer, value = self._layer(value)
            layers.insert(0, layer)
            _demand(len(layers) <= _MOST_LAYERS)  # it does not go in circles
        _demand(layers)
        (width, wide), heads = layers[0].widening.weights.shape, layers[0].heads
        if self._graph.makers[value].kind == f"{_MICROSOFT}MatMulIntegerToFloat":
            projection, value = self._product(value)
        embedding = self._embedding(value)
        narrow = embedding.types.shape[1]
        _demand(projection.weights.shape == (narrow, width) if projection else narrow == width)
        for layer in layers:
            shapes = [layer.attention, layer.mixing, layer.widening, layer.narrowing]
            wanted = [(width, 3 * width), (width, width), (width, wide), (wide, width)]
            _demand([product.weights.shape for product in shapes] == wanted and layer.heads == heads)
            _demand(layer.narrowing.zero == 0 and len(layer.mixed.weight) == len(layer.narrowed.weight) == width)
        # What kernels take at a time: two vectors of columns, and a vector of bytes.
        _demand(width % 64 == wide % 64 == narrow % 32 == 0 and width % (32 * heads) == 0)
        _demand(max(width, wide, narrow) <= _LARGEST_WIDTH)
        return Weights(embedding, projection, tuple(layers))

    def _is_layer(self, value: str) -> bool:
        norm = self._graph.makers[value]
        if norm.kind != "LayerNormalization":
            return False
        added = self._graph.makers[norm.inputs[0]].inputs[0]
        return self._graph.makers[added].kind == f"{_MICROSOFT}MatMulIntegerToFloat"

    def _layer(self, value: str) -> tuple[Layer, str]:
        """The layer that ends with a value, and the value that it begins with."""
        narrowed, (summed, between) = self._norm(value)
        narrowing, active = self._product(summed)
        widening, widened = self._product(self._made(active, "Relu", 1).inputs[0])
        mixed, (summed, before) = self._norm(between)
        mixing, attended = self._product(summed)
        attention, heads, looked_at = self._attention(attended)
        _demand(widened == between and looked_at == before)
        return Layer(attention, mixing, mixed, widening, narrowing, narrowed, heads), before

    def _made(self, value: str, kind: str, inputs: int, **numbers: object) -> Node:
        """The node that makes a value, if it is of this kind; `...` stands for any number."""
        node = self._graph.makers[value]
        _demand(node.kind == kind and len(node.inputs) == inputs and len(node.outputs) == 1)
        _demand(all(numbers.get(name) in (number, ...) for name, number in node.numbers.items()))
        return node

    def _constant(self, name: str, kind: type[np.generic], dimensions: int) -> Any:
        value = self._graph.constants[name]
        _demand(value.dtype == kind and value.ndim == dimensions)
        if kind == np.float32:
            _demand(np.abs(value).max(initial=0) <= _LARGEST)
        elif kind == np.float16:
            _demand(np.isfinite(value).all())
        return value

    def _norm(self, value: str) -> tuple[Norm, tuple[str, ...]]:
        """A norm, and the two values that are added before it."""
        node = self._made(value, "LayerNormalization", 3, axis=-1, stash_type=1, epsilon=...)
        weight, bias = (self._constant(name, np.float32, 1) for name in node.inputs[1:])
        epsilon = node.numbers.get("epsilon", 1e-5)
        _demand(len(weight) == len(bias) and 0 < epsilon <= _LARGEST)
        return Norm(weight, bias, epsilon), self._made(node.inputs[0], "Sum", 2).inputs

    def _product(self, value: str) -> tuple[Product, str]:
        """A product, and the value whose eight bits are multiplied."""
        node = self._made(value, f"{_MICROSOFT}MatMulIntegerToFloat", 7)
        octets, weights, scale, scales, zero, none, bias = node.inputs
        _demand(not none)
        return self._multiplied(octets, weights, scales, bias, scale, zero)

    def _attention(self, value: str) -> tuple[Product, int, str]:
        node = self._made(value, f"{_MICROSOFT}QAttention", 7, num_heads=...)
        octets, weights, bias, scale, scales, mask, zero = node.inputs
        heads = node.numbers["num_heads"]
        _demand(isinstance(heads, int) and heads > 0)
        _demand(self._made(mask, "Cast", 1, to=6).inputs == ("attention_mask",))
        product, before = self._multiplied(octets, weights, scales, bias, scale, zero)
        return product, int(heads), before

    def _multiplied(
        self, octets: str, weights: str, scales: str, bias: str, scale: str, zero: str
    ) -> tuple[Product, str]:
        value, *fixed = self._made(octets, "QuantizeLinear", 3).inputs
        _demand(fixed == [scale, zero])
        product = Product(
            self._constant(weights, np.int8, 2),
            self._constant(scales, np.float32, 1),
            self._constant(bias, np.float32, 1),
            float(self._constant(scale, np.float32, 0)),
            int(self._constant(zero, np.uint8, 0)),
        )
        outputs = product.weights.shape[1]
        _demand(len(product.scales) == len(product.bias) == outputs and product.scale >= _SMALLEST_SCALE)
        _demand(product.weights.min() >= -_LARGEST_WEIGHT and product.weights.max() <= _LARGEST_WEIGHT)
        return product, value

    def _embedding(self, value: str) -> Embedding:
        norm, (some, positions) = self._norm(value)
        words, types = self._made(some, "Add", 2).inputs
        for name, (kind, inputs, numbers) in _WORDS.items():
            _demand(self._made(name, kind, len(inputs), **numbers).inputs == inputs)
        _demand(self._made(words, "Reshape", 2).inputs == ("words.scaled", "words.width"))
        embedding = Embedding(
            self._constant("words.rows", np.uint8, 2),
            self._constant("words.scales", np.float16, 2),
            self._constant("words.levels", np.float32, 2),
            self._looked_up(types, "token_type_ids"),
            self._looked_up(positions, "position_ids"),
            norm,
        )
        (vocabulary, n_bytes), (n_scales, blocks) = embedding.words.shape, embedding.scales.shape
        n_levels, per_byte = embedding.levels.shape
        width = len(norm.weight)
        _demand((n_levels, per_byte) in ((256, 1), (256, 2)) and n_bytes * per_byte == width and n_scales == vocabulary)
        _demand(width % blocks == 0 and embedding.types.shape == (2, width) and embedding.positions.shape[1] == width)
        for name, shape in (("blocks", [0, 0, blocks, -1]), ("last", [-1]), ("width", [0, 0, width])):
            _demand(self._constant(f"words.{name}", np.int64, 1).tolist() == shape)
        return embedding

    def _looked_up(self, value: str, by: str) -> Any:
        table, numbers = self._made(value, "Gather", 2, axis=0).inputs
        _demand(numbers == by)
        return self._constant(table, np.float32, 2)
