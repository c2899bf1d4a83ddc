"""The light half's encoder: an ONNX graph that ends at the layer used, run by onnxruntime without torch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from weft.arrays import RowStates
from weft.encoding.batches import INPUTS, Batch
from weft.encoding.light import LightEncoder, load_tokenizer
from weft.errors import WeftError, first_line


class OnnxEncoder(LightEncoder):
    """Runs `model.onnx` of a folder; the graph takes ids and a mask and returns the states of one layer."""

    _bound = (*LightEncoder._bound, "_session")
    _session: Any

    def __init__(
        self, folder: Path, *, max_length: int = 512, batch_tokens: int | None = None, joint: bool = False
    ) -> None:
        with ThreadPoolExecutor(1) as aside:  # the graph is loaded without Python's lock, the tokenizer with it
            loading = aside.submit(_load_session, folder)
            tokenizer = load_tokenizer(folder)
        session = loading.result()
        self._inputs, self._output, width = _ends_of(session, folder)
        if unknown := self._inputs.difference(INPUTS):
            raise WeftError(f"the graph in {folder} asks for {min(unknown)!r}; weft gives {', '.join(INPUTS)}.")
        super().__init__(folder, tokenizer, width=width, max_length=max_length, batch_tokens=batch_tokens, joint=joint)
        self._session = session

    def _bind(self) -> None:
        super()._bind()
        self._session = None  # loaded when it is needed: many forked processes never align anything

    def _forward(self, batch: Batch) -> RowStates:
        with self._counting:
            session = self._session = self._session or _load_session(self._folder)
        given = {name: value for name, value in batch.inputs().items() if name in self._inputs}
        try:
            states: RowStates = session.run([self._output], given)[0]
        except Exception as error:  # the library has many errors for graphs that do not fit together
            raise WeftError(f"the model in {self._folder} cannot be run: {first_line(error)}") from error
        if states.shape != (*batch.ids.shape, self.width):
            raise WeftError(f"the model in {self._folder} cannot be run: its graph gives no state for each subword.")
        with np.errstate(all="ignore"):
            self._check(float(np.vdot(states, states)))
        return states


def _ends_of(session: Any, folder: Path) -> tuple[set[str], str, int]:
    """The names of a graph's inputs, that of its output, and how wide that is."""
    try:
        output = session.get_outputs()[0]
        inputs = {item.name for item in session.get_inputs()}
    except UnicodeDecodeError as error:
        raise WeftError(f"cannot load the model in {folder}: a name in its graph is not text.") from error
    if len(output.shape) != 3 or not isinstance(output.shape[-1], int):
        raise WeftError(f"cannot load the model in {folder}: its graph does not say how wide its states are.")
    return inputs, output.name, output.shape[-1]


def _load_session(folder: Path) -> Any:
    options = onnxruntime.SessionOptions()
    # Batches differ in shape all the time; remembering an arena for each would only grow the memory.
    options.enable_mem_pattern = False
    # Whole batches side by side, each on one core, beat one batch spread over all cores: nobody waits for anybody.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has many errors for damaged files
        raise WeftError(f"cannot load the model in {folder}: {first_line(error)}") from error
