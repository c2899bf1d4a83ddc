"""What encoders of the light half have in common: batches side by side on all cores, and the folder they come from."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import numpy as np
from tokenizers import Tokenizer

from weft.arrays import ChunkIds, ChunkStates
from weft.encoding.batches import RowSpans
from weft.encoding.encoder import CHUNK_WORDS, Pace, TransformerEncoder
from weft.encoding.subwords import FastTokenizer
from weft.errors import WeftError, first_line

DEFAULT_BATCH_TOKENS = 512  # larger batches leave the cache
_MOST_THREADS = 32
_LARGEST = 1e30  # squares of a batch's states, added up; those of a sound model come to some millions


class LightEncoder(TransformerEncoder):
    """An encoder that runs a folder's `model.onnx` without torch, each batch on one core."""

    # Links of one chunk are taken while the next is in the encoder; the two together take 100 MB.
    pace = Pace(CHUNK_WORDS // 2, chunks_at_once=2, threads=True)
    _bound: ClassVar[tuple[str, ...]] = ("_counting", "_pool")

    def __init__(
        self, folder: Path, tokenizer: Tokenizer, *, width: int, max_length: int, batch_tokens: int | None, joint: bool
    ) -> None:
        self.source = str(folder)
        self._folder = folder
        super().__init__(
            FastTokenizer(tokenizer),
            width=width,
            max_length=max_length,
            batch_tokens=batch_tokens or DEFAULT_BATCH_TOKENS,
            joint=joint,
        )

    def _bind(self) -> None:
        super()._bind()
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, n_cores()), thread_name_prefix="encoder")

    def _empty(self, subwords: int) -> ChunkStates:
        return np.empty((subwords, self.width), dtype=np.float32)

    def _run_all(self, batches: Sequence[RowSpans], ids: ChunkIds, states: ChunkStates) -> None:
        if len(batches) == 1:
            self._run(batches[0], ids, states)  # nobody else's batches come before it
            return
        # Exhausted, so that an error in a thread is raised here.
        deque(self._pool.map(lambda rows: self._run(rows, ids, states), batches), maxlen=0)

    def _check(self, size: float) -> None:
        """Refuse the states of a batch by the sum of their squares."""
        if not size < _LARGEST:
            raise WeftError(f"the model in {self._folder} is damaged: its numbers are too large to be compared.")


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a folder.

    Raises:
        WeftError: if it cannot be read.
    """
    try:
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library has no error of its own
        raise WeftError(f"cannot load the model in {folder}: {first_line(error)}") from error


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
