"""The compiled encoder.c as Python sees it: its structures, its kernels, and encoders made of weights."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_float, c_int32, c_size_t, c_void_p
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from weft.encoding.batches import RowSpans
from weft.encoding.native import weights as py
from weft.encoding.subwords import Tokenizer
from weft.errors import SettingError

LIBRARY = Path(__file__).with_name("libencoder.so")
CHOICE = "WEFT_NATIVE"
_INTERFACE = 1  # of encoder.c
_ALIGNED = 64
_BY_ITSELF = -1.0  # the kernel knows from what share of idle neurons on it pays to leave them out

Array = npt.NDArray[Any]


class _Product(Structure):
    _fields_ = (
        *((name, c_void_p) for name in ("weights", "scales", "bias")),
        ("scale", c_float),
        *((name, c_int32) for name in ("zero", "inputs", "outputs")),
    )


class _Norm(Structure):
    _fields_ = (("weight", c_void_p), ("bias", c_void_p), ("epsilon", c_float))


class _Layer(Structure):
    _fields_ = (
        ("attention", _Product),
        ("mixing", _Product),
        ("mixed", _Norm),
        ("widening", _Product),
        ("narrowing", _Product),
        ("narrowed", _Norm),
    )


class _Embedding(Structure):
    _fields_ = (
        *((name, c_void_p) for name in ("words", "scales", "levels", "types", "positions")),
        ("norm", _Norm),
        *((name, c_int32) for name in ("vocabulary", "n_types", "n_positions", "width", "per_byte", "blocks")),
    )


class _Model(Structure):
    _fields_ = (
        ("embedding", _Embedding),
        ("projection", POINTER(_Product)),
        ("layers", POINTER(_Layer)),
        *((name, c_int32) for name in ("n_layers", "heads", "width", "wide")),
        ("sparse", c_float),
    )


class _Batch(Structure):
    _fields_ = (
        *((name, c_void_p) for name in ("start", "end", "keep_start", "keep_end", "ids", "prefix", "suffix")),
        *((name, c_int32) for name in ("rows", "sides", "n_prefix", "n_suffix")),
    )


@cache
def load_library(path: Path = LIBRARY) -> Any:
    """The compiled library; None if weft was installed without it, or with one that other code was compiled into."""
    try:
        library = ctypes.CDLL(str(path))
        if library.weft_interface() != _INTERFACE:
            return None
    except (OSError, AttributeError):
        return None
    library.weft_kernel.restype = c_char_p
    library.weft_load.restype = c_void_p
    library.weft_free.argtypes = [c_void_p]
    library.weft_scratch.restype, library.weft_scratch.argtypes = c_size_t, [c_void_p, c_void_p]
    library.weft_run.restype, library.weft_run.argtypes = c_double, [c_void_p, c_void_p, c_void_p, c_void_p]
    return library


def kernels(library: Any) -> dict[str, int]:
    """The numbers of the kernels that this processor can run, by their names; the fastest first."""
    found, number, available = {}, 0, c_int32()
    while name := library.weft_kernel(number, byref(available)):
        if available:
            found[name.decode()] = number
        number += 1
    return found


def chosen_kernel(library: Any) -> int | None:
    """The kernel that `$WEFT_NATIVE` names, or the fastest; None if there is none, or `$WEFT_NATIVE` is 0.

    Raises:
        SettingError: if it names a kernel that is not there.
    """
    wanted = os.environ.get(CHOICE, "")
    if wanted == "0" or (library is None and not wanted):
        return None
    found = kernels(library) if library is not None else {}
    if wanted and wanted not in found:
        can_be = ", ".join(["0 (use onnxruntime)", *found])
        raise SettingError(f"the environment variable {CHOICE} cannot be {wanted!r} here. It can be: {can_be}.")
    return found[wanted] if wanted else next(iter(found.values()), None)


class NativeModel:
    """An encoder in the memory of the C code. Any number of threads may run it at a time."""

    def __init__(self, library: Any, kernel: int, given: py.Weights, *, sparse: float = _BY_ITSELF) -> None:
        layers = (_Layer * len(given.layers))(*map(_layer, given.layers))
        projection = POINTER(_Product)() if given.projection is None else ctypes.pointer(_product(given.projection))
        heads, wide = given.layers[0].heads, given.layers[0].widening.weights.shape[1]
        embedding = _embedding(given.embedding)
        model = _Model(embedding, projection, layers, len(layers), heads, given.width, wide, sparse)
        self._library = library
        self._encoder = library.weft_load(byref(model), kernel)
        if self._encoder is None:
            raise MemoryError
        finalize(self, library.weft_free, self._encoder).atexit = False  # the end of the process frees it sooner
        self._spare: list[Array] = []  # scratch memory that no thread is using
        self.vocabulary, self.width = len(given.embedding.words), given.width
        self.positions = len(given.embedding.positions)

    def run(self, rows: RowSpans, ids: Array, tokenizer: Tokenizer, states: Array) -> float:
        """Write the states of rows of subwords to their places in `states`; the sum of all states' squares.

        The C code believes what it is told: that ids are of the vocabulary has to be known before.
        """
        longest = self.positions - len(tokenizer.prefix) - len(tokenizer.suffix)
        ordered: tuple[Any, ...] = (0, rows.start, rows.keep_start, rows.keep_end, rows.end, len(ids))
        if not all(np.all(low <= high) for low, high in pairwise(ordered)) or (rows.end - rows.start > longest).any():
            raise IndexError("rows that the chunk or the model does not have")
        given = (rows.start, rows.end, rows.keep_start, rows.keep_end, ids, tokenizer.prefix, tokenizer.suffix)
        arrays = [np.ascontiguousarray(part, dtype=np.int64) for part in given]
        special = len(tokenizer.prefix), len(tokenizer.suffix)
        batch = _Batch(*(array.ctypes.data for array in arrays), *rows.start.shape, *special)
        needed = self._library.weft_scratch(self._encoder, byref(batch)) + _ALIGNED
        try:
            scratch = self._spare.pop()
        except IndexError:
            scratch = np.empty(0, dtype=np.uint8)
        if len(scratch) < needed:
            scratch = np.empty(needed, dtype=np.uint8)
        start = -(-scratch.ctypes.data // _ALIGNED) * _ALIGNED
        size: float = self._library.weft_run(self._encoder, byref(batch), states.ctypes.data, start)
        self._spare.append(scratch)
        return size


def _layer(layer: py.Layer) -> _Layer:
    return _Layer(
        _product(layer.attention),
        _product(layer.mixing),
        _norm(layer.mixed),
        _product(layer.widening),
        _product(layer.narrowing),
        _norm(layer.narrowed),
    )


def _product(product: py.Product) -> _Product:
    arrays = (product.weights, product.scales, product.bias)
    return _Product(*(array.ctypes.data for array in arrays), product.scale, product.zero, *product.weights.shape)


def _norm(norm: py.Norm) -> _Norm:
    return _Norm(norm.weight.ctypes.data, norm.bias.ctypes.data, norm.epsilon)


def _embedding(embedding: py.Embedding) -> _Embedding:
    tables = (embedding.words, embedding.scales, embedding.levels, embedding.types, embedding.positions)
    return _Embedding(
        *(table.ctypes.data for table in tables),
        _norm(embedding.norm),
        len(embedding.words),
        len(embedding.types),
        *embedding.positions.shape,
        embedding.levels.shape[1],
        embedding.scales.shape[1],
    )
