"""The server's one desk: models that are loaded, work done one request at a time, and a queue with an end."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from weft.aligner import Aligner
from weft.encoding.encoder import Encoded, Encoder
from weft.encoding.subwords import Subwords

T = TypeVar("T")
_REMEMBERED = 16


class FullError(Exception):
    """The queue has reached its bound."""


class Desk:
    """Runs work on one thread, in order. Models are not made for several threads, and cores are few."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.waiting = 0
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weft-align")

    async def do(self, work: Callable[[], T]) -> T:
        """Wait for the work's turn and for its result; refused at once if too many wait already."""
        if self.waiting >= self.bound:
            raise FullError
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self.waiting -= 1


class RememberingEncoder:
    """An encoder that keeps the last few results: moving a threshold does not read the sentences again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.source, self.layer, self.joint = encoder.source, encoder.layer, encoder.joint
        self.runs_in_torch, self.device_name = encoder.runs_in_torch, encoder.device_name
        self.tokenize, self.save_changes = encoder.tokenize, encoder.save_changes
        self.long_sentences = encoder.long_sentences
        # Requests are small, and the memory is made for one thread.
        self.pace = replace(encoder.pace, chunks_at_once=1, threads=False)
        self._known: OrderedDict[tuple[bytes, bytes], Encoded] = OrderedDict()

    def device_stream(self) -> AbstractContextManager[object]:
        """One stream for all: what is remembered belongs to no chunk."""
        return nullcontext()

    def encode(self, subwords: Subwords) -> Encoded:
        """Encode sentences, or remember them."""
        if len(subwords) > 2:  # many pairs at once are not what somebody plays with
            return self._encoder.encode(subwords)
        # Sentences with the same subwords have the same states, but maybe other words.
        key = (subwords.ids.tobytes() + subwords.words.tobytes(), subwords.starts.tobytes())
        if key not in self._known:
            self._known[key] = self._encoder.encode(subwords)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def remembering(aligner: Aligner) -> Aligner:
    """The same aligner with a memory."""
    return Aligner(RememberingEncoder(aligner.encoder), aligner.settings)
