"""The light half's encoder: an ONNX graph that ends at the layer used, run by onnxruntime without torch."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from weft.arrays import ChunkIds, ChunkStates, RowStates
from weft.encoding.batches import INPUTS, Batch, RowSpans
from weft.encoding.encoder import CHUNK_WORDS, Pace, TransformerEncoder
from weft.encoding.subwords import FastTokenizer
from weft.errors import WeftError, first_line

DEFAULT_BATCH_TOKENS = 512  # larger batches leave the cache
_MOST_THREADS = 32
_LARGEST = 1e30  # squares of a batch's states, added up; those of a sound model come to some millions


class OnnxEncoder(TransformerEncoder):
    """Runs `model.onnx` of a folder; the graph takes ids and a mask and returns the states of one layer."""

    # Links of one chunk are taken while the next is in the encoder; the two together take 100 MB.
    pace = Pace(CHUNK_WORDS // 2, chunks_at_once=2, threads=True)
    _bound = ("_counting", "_pool", "_session")
    _session: Any

    def __init__(
        self, folder: Path, *, max_length: int = 512, batch_tokens: int | None = None, joint: bool = False
    ) -> None:
        self.source = str(folder)
        self._folder = folder
        with ThreadPoolExecutor(1) as aside:  # the graph is loaded without Python's lock, the tokenizer with it
            loading = aside.submit(_load_session, folder)
            tokenizer = _load_tokenizer(folder)
        session = loading.result()
        self._inputs, self._output, width = _ends_of(session, folder)
        if unknown := self._inputs.difference(INPUTS):
            raise WeftError(f"the graph in {folder} asks for {min(unknown)!r}; weft gives {', '.join(INPUTS)}.")
        super().__init__(
            FastTokenizer(tokenizer),
            width=width,
            max_length=max_length,
            batch_tokens=batch_tokens or DEFAULT_BATCH_TOKENS,
            joint=joint,
        )
        self._session = session

    def _bind(self) -> None:
        super()._bind()
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, n_cores()), thread_name_prefix="onnx")
        self._session = None  # loaded when it is needed: many forked processes never align anything

    def _empty(self, subwords: int) -> ChunkStates:
        return np.empty((subwords, self.width), dtype=np.float32)

    def _run_all(self, batches: Sequence[RowSpans], ids: ChunkIds, states: ChunkStates) -> None:
        if len(batches) == 1:
            self._run(batches[0], ids, states)  # nobody else's batches come before it
            return
        # Exhausted, so that an error in a thread is raised here.
        deque(self._pool.map(lambda rows: self._run(rows, ids, states), batches), maxlen=0)

    def _forward(self, batch: Batch) -> RowStates:
        with self._counting:
            session = self._session = self._session or _load_session(self._folder)
        given = {name: value for name, value in batch.inputs().items() if name in self._inputs}
        states: RowStates = session.run([self._output], given)[0]
        with np.errstate(all="ignore"):
            size = np.vdot(states, states)
        if not size < _LARGEST:
            raise WeftError(f"the model in {self._folder} is damaged: its numbers are too large to be compared.")
        return states


def _ends_of(session: Any, folder: Path) -> tuple[set[str], str, int]:
    """The names of a graph's inputs, that of its output, and how wide that is."""
    try:
        output = session.get_outputs()[0]
        return {item.name for item in session.get_inputs()}, output.name, output.shape[-1]
    except UnicodeDecodeError as error:
        raise WeftError(f"cannot load the model in {folder}: a name in its graph is not text.") from error


def _load_tokenizer(folder: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library has no error of its own
        raise WeftError(f"cannot load the model in {folder}: {first_line(error)}") from error


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


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
