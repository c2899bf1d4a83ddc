"""The server's one desk: models that are loaded, work done one request at a time, and a queue with an end."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from weft.aligner import Aligner
from weft.encoding.encoder import Encoded, Encoder
from weft.types import Words

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
        self.joint = encoder.joint
        self.long_sentences = encoder.long_sentences
        self.chunk_words = encoder.chunk_words
        # Requests are small, and the memory is made for one thread.
        self.chunks_at_once, self.threads = 1, False
        self._known: OrderedDict[tuple[object, ...], Encoded] = OrderedDict()

    def lane(self) -> AbstractContextManager[object]:
        """One lane for all: what is remembered belongs to no chunk."""
        return nullcontext()

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences, or remember them."""
        return self._remember(("sentences", *sentences), lambda: self._encoder.encode(sentences))

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs, or remember them."""
        return self._remember(("pairs", *pairs), lambda: self._encoder.encode_pairs(pairs))

    def _remember(self, key: tuple[object, ...], encode: Callable[[], Encoded]) -> Encoded:
        if len(key) > 3:  # many pairs at once are not what somebody plays with
            return encode()
        if key not in self._known:
            self._known[key] = encode()
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def remembering(aligner: Aligner) -> Aligner:
    """The same aligner with a memory."""
    return Aligner(RememberingEncoder(aligner.encoder), aligner.settings)
