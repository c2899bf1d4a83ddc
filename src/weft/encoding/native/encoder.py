"""The light half's encoder in C: for graphs that weft's int8 export wrote, where the compiled library is there."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from weft.arrays import ChunkIds, ChunkStates
from weft.encoding.batches import RowSpans
from weft.encoding.light import LightEncoder, load_tokenizer
from weft.encoding.native.graph import UnfitError, read_graph
from weft.encoding.native.library import NativeModel, chosen_kernel, load_library
from weft.encoding.native.weights import Weights, read_weights
from weft.errors import WeftError, first_line


class NativeEncoder(LightEncoder):
    """Runs the weights of a folder's `model.onnx`. Rows are laid flat, so there is no padding."""

    _bound = (*LightEncoder._bound, "_model")
    _model: NativeModel | None

    def __init__(self, folder: Path, tokenizer: Tokenizer, model: NativeModel, **options: Any) -> None:
        super().__init__(folder, tokenizer, width=model.width, **options)
        self._model = model
        self._shape = model.width, model.positions

    def _bind(self) -> None:
        super()._bind()
        # A forked process has its parent's copy; one that the encoder was sent to reads the file again.
        self._model = getattr(self, "_model", None)

    def _loaded(self) -> NativeModel:
        with self._counting:
            if self._model is None:
                try:
                    weights = read_model(self._folder)
                    if (weights.width, len(weights.embedding.positions)) != self._shape:
                        raise UnfitError("it is not the one that was there before.")
                    self._model = _packed(weights)
                except (MemoryError, OSError, UnfitError) as error:
                    raise WeftError(f"cannot load the model in {self._folder}: {first_line(error)}") from error
            return self._model

    def _run_all(self, batches: Sequence[RowSpans], ids: ChunkIds, states: ChunkStates) -> None:
        used = (*self.tokenizer.prefix, *self.tokenizer.suffix, int(ids.min(initial=0)), int(ids.max(initial=0)))
        if min(used) < 0 or max(used) >= self._loaded().vocabulary:
            raise WeftError(f"the model in {self._folder} is damaged: its tokenizer has more subwords than its graph.")
        super()._run_all(batches, ids, states)

    def _run(self, rows: RowSpans, ids: ChunkIds, states: ChunkStates) -> None:
        self._check(self._loaded().run(rows, ids, self.tokenizer, states))


def native_encoder(folder: Path, *, max_length: int, batch_tokens: int | None, joint: bool) -> NativeEncoder | None:
    """The encoder of a folder, or None if onnxruntime has to run it.

    Raises:
        SettingError: if `$WEFT_NATIVE` asks for what is not there.
        WeftError: if the tokenizer cannot be read.
    """
    if chosen_kernel(load_library()) is None:
        return None
    weights = fitting_weights(folder, max_length)
    if weights is None:
        return None
    with ThreadPoolExecutor(1) as aside:  # weights are packed without Python's lock, the tokenizer is parsed with it
        packing = aside.submit(_packed, weights)
        tokenizer = load_tokenizer(folder)
    try:
        model = packing.result()
    except MemoryError:  # layers that share their weights are packed one by one
        return None
    return NativeEncoder(folder, tokenizer, model, max_length=max_length, batch_tokens=batch_tokens, joint=joint)


def fitting_weights(folder: Path, max_length: int) -> Weights | None:
    """The weights of a folder's graph, if the code in C can run it in rows of a length; else None."""
    try:
        weights = read_model(folder)
    except (OSError, UnfitError):  # onnxruntime can read it, or knows what is wrong with it
        return None
    return weights if len(weights.embedding.positions) >= max_length else None


def read_model(folder: Path) -> Weights:
    """The weights of a folder's graph, where they lie in the file.

    Raises:
        OSError: if the file cannot be read.
        UnfitError: if it is damaged, or is not a graph that weft's int8 export wrote with fixed ranges.
    """
    with (folder / "model.onnx").open("rb") as file:
        try:
            return read_weights(read_graph(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))))
        except ValueError as error:  # an empty file
            raise UnfitError(f"{file.name} is empty.") from error


def _packed(weights: Weights) -> NativeModel:
    library = load_library()
    kernel = chosen_kernel(library)
    if kernel is None:  # where the encoder was sent to
        raise UnfitError("it was loaded for the encoder in C, which this process does not have.")
    return NativeModel(library, kernel, weights)
