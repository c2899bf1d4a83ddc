"""An ONNX file without a library for it: the nodes and constants of its graph, read straight from the file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

# The numbers that the format gives to the fields of its messages, and to the types of numbers.
_GRAPH, _FUNCTION = 7, 25
_NODE, _CONSTANT, _INPUT, _OUTPUT = 1, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_KIND, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 4, 5, 7
_ATTRIBUTE_NAME, _ATTRIBUTE_FLOAT, _ATTRIBUTE_INTEGER, _ATTRIBUTE_TYPE = 1, 2, 3, 20
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_BYTES = 1, 2, 8, 9
_VALUE_NAME = 1
_FLOAT, _INTEGER = 1, 2
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}
_VARINT, _EIGHT_BYTES, _STRETCH, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST = 70  # bits: ten groups of seven


class UnfitError(Exception):
    """A file is damaged, or is not of a kind that weft writes. Nobody sees it: onnxruntime is tried instead."""


class Node(NamedTuple):
    """One step of a graph: what it is, the names of what it takes and gives, and its numbers."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numbers: dict[str, float]


class Graph(NamedTuple):
    """What a file says: names of inputs and outputs, nodes by what they give, and constants, which lie in the file."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    makers: dict[str, Node]
    constants: dict[str, npt.NDArray[Any]]


def read_graph(file: memoryview) -> Graph:
    """Read the graph of an ONNX file.

    Raises:
        UnfitError: if the file is damaged or has what weft's own files do not have.
    """
    try:
        if any(_all(file, _FUNCTION)):
            raise ValueError("operators may mean something else")
        graph = _one(file, _GRAPH)
        nodes = [_node(part) for part in _all(graph, _NODE)]
        inputs = tuple(_text(_one(part, _VALUE_NAME)) for part in _all(graph, _INPUT))
        outputs = tuple(_text(_one(part, _VALUE_NAME)) for part in _all(graph, _OUTPUT))
        constants = [_constant(part) for part in _all(graph, _CONSTANT)]
    except (IndexError, KeyError, OverflowError, TypeError, ValueError, struct.error) as error:
        raise UnfitError("its graph is damaged.") from error
    names = [*inputs, *(name for node in nodes for name in node.outputs), *(name for name, _ in constants)]
    if len(set(names)) < len(names):
        raise UnfitError("a name in its graph stands for two values.")
    return Graph(inputs, outputs, {name: node for node in nodes for name in node.outputs}, dict(constants))


def _node(message: memoryview) -> Node:
    parts: dict[int, list[Any]] = {}
    for number, value in _fields(message):
        parts.setdefault(number, []).append(value)
    domain = "".join(f"{_text(name)}." for name in parts.get(_NODE_DOMAIN, ()) if name)
    inputs, outputs = (tuple(map(_text, parts.get(number, ()))) for number in (_NODE_INPUT, _NODE_OUTPUT))
    (kind,) = parts[_NODE_KIND]
    return Node(domain + _text(kind), inputs, outputs, dict(map(_attribute, parts.get(_NODE_ATTRIBUTE, ()))))


def _attribute(message: memoryview) -> tuple[str, float]:
    fields = dict(_fields(message))
    name = _text(fields[_ATTRIBUTE_NAME])
    if fields[_ATTRIBUTE_TYPE] == _FLOAT:
        return name, struct.unpack("<f", fields.get(_ATTRIBUTE_FLOAT, bytes(4)))[0]
    if fields[_ATTRIBUTE_TYPE] == _INTEGER:
        return name, _signed(fields.get(_ATTRIBUTE_INTEGER, 0))
    raise ValueError(f"{name} is not a number")


def _constant(message: memoryview) -> tuple[str, npt.NDArray[Any]]:
    shape: list[int] = []
    fields: dict[int, Any] = {}
    for number, value in _fields(message):
        if number == _TENSOR_SHAPE:
            shape.extend([value] if isinstance(value, int) else _varints(value))
        fields[number] = value
    values = np.frombuffer(fields[_TENSOR_BYTES], dtype=np.dtype(_TYPES[fields[_TENSOR_TYPE]]).newbyteorder("<"))
    return _text(fields[_TENSOR_NAME]), values.reshape(shape)


def _one(message: memoryview, wanted: int) -> memoryview:
    found = list(_all(message, wanted))
    if len(found) > 1:
        raise ValueError(f"field {wanted} is there twice")
    return found[0] if found else memoryview(b"")


def _all(message: memoryview, wanted: int) -> Iterator[memoryview]:
    for number, value in _fields(message):
        if number == wanted:
            if isinstance(value, int):
                raise ValueError(f"field {number} is a number")
            yield value


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message with their numbers: integers as such, all others as stretches of the file."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if key < 8:  # as in a file of zeros, which would take minutes to read
            raise ValueError("no field has the number 0")
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == _STRETCH:
            size, place = _varint(message, place)
        else:
            size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}[kind]
        if place + size > len(message):
            raise ValueError("the message ends early")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and the place after it."""
    value = shift = 0
    while shift < _LONGEST:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
    raise ValueError("a number of more than 64 bits")


def _varints(message: memoryview) -> Iterator[int]:
    place = 0
    while place < len(message):
        value, place = _varint(message, place)
        yield value


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _text(stretch: Any) -> str:
    return str(stretch, "utf-8")  # which takes no integers
