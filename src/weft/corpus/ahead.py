"""Text read and cut into subwords by a process of its own, ahead of the one that aligns; a GPU outruns one Python.

That process begins while the other one is still importing torch and loading the model, which takes seconds.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from logging.handlers import MemoryHandler
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from weft.corpus.job import AlignJob, OnBadLine
from weft.corpus.records import Chunk, cut_records
from weft.corpus.workers import live_as_long_as_parent, no_interrupts
from weft.encoding.encoder import GPU_PACE
from weft.errors import FormatError, WeftError

if TYPE_CHECKING:
    from weft.encoding.subwords import PairTokenizer

# A smaller text is read before another process has begun.
_WORTH_IT = 1 << 20
# Chunks that may wait until the model is loaded; each takes some ten megabytes.
_MOST_WAITING = 16
# What is sent: a chunk with its bad lines, or the error that ended reading.
_Sent = tuple[Chunk, tuple[FormatError, ...]] | WeftError | OSError
_Read = Callable[[int, "PairTokenizer"], Iterator[_Sent]]


def is_worth_it(path: str, target: str | None) -> bool:
    """Whether there is a GPU, as far as one can tell without asking it, and more text than a moment's."""
    paths = [name for name in (path, target) if name is not None]
    return (
        os.path.exists("/dev/nvidiactl")
        and all(os.path.isfile(name) for name in paths)
        and sum(map(os.path.getsize, paths)) > _WORTH_IT
    )


class ReadAhead:
    """A process that cuts text into subwords, one chunk ahead of those that were taken. Use it in a `with` block."""

    def __init__(self, job: AlignJob, path: str, target: str | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, self._there = context.Pipe()
        arguments = (self._there, job, path, target)
        self._process = context.Process(target=_tokenize_chunks, args=arguments, daemon=True)

    def __enter__(self) -> ReadAhead:
        with no_interrupts():
            self._process.start()
        self._there.close()  # so that the end of the process is the end of the pipe
        return self

    def __exit__(self, *problem: object) -> None:
        self._here.close()
        self._process.terminate()
        self._process.join()

    def chunks(self, words: int, tokenize: PairTokenizer, on_bad_line: OnBadLine) -> Iterator[Chunk]:
        """Chunks as `cut_records` gives them, but cut into subwords.

        Args:
            words: how large a chunk is.
            tokenize: how its text is cut into subwords.
            on_bad_line: told of lines without a pair, before the chunk that they are in.
        """
        self._send((words, tokenize.identity()))
        if not self._received():
            self._send(tokenize)
        while (sent := self._received()) is not None:
            chunk, bad_lines = sent
            for error in bad_lines:
                on_bad_line(error)
            yield chunk

    def _send(self, message: object) -> None:
        with _killed_reader_named():
            self._here.send(message)

    def _received(self) -> Any:
        with _killed_reader_named():
            sent = self._here.recv()
        if isinstance(sent, WeftError | OSError):
            raise sent
        return sent


@contextmanager
def _killed_reader_named() -> Iterator[None]:
    """Say in a sentence what the end of the pipe means, between two messages or in the middle of one."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise WeftError("the process that reads the text was killed, perhaps because memory ran out.") from error


def _tokenize_chunks(parent: Connection, job: AlignJob, path: str, target: str | None) -> None:
    """All of the other process: chunks with their bad lines, or the error that ended reading; then None."""
    live_as_long_as_parent()
    try:
        for sent in _asked_for(parent, _guess(job), partial(_tokenized, job, path, target), _remarks()):
            parent.send(sent)
        parent.send(None)
    except (EOFError, ConnectionError):
        pass  # nobody wants the rest


def _guess(job: AlignJob) -> PairTokenizer | None:
    try:
        return job.tokenizer_ahead()
    except (WeftError, OSError):
        return None  # the parent, which loads the model, has the words for it


def _remarks() -> MemoryHandler:
    """Holds back what readers and segmenters have to say: the parent may read the text itself, and say it again."""
    spoken = logging.StreamHandler()
    spoken.setFormatter(logging.Formatter("weft: %(message)s"))
    held_back = MemoryHandler(1 << 20, flushLevel=logging.CRITICAL + 1, target=spoken, flushOnClose=False)
    logging.getLogger().addHandler(held_back)
    return held_back


def _asked_for(parent: Connection, guess: PairTokenizer | None, read: _Read, remarks: MemoryHandler) -> Iterator[_Sent]:
    """What the parent wants; it is begun by a guess, before the parent has loaded the model and can say how."""
    begun = iter(()) if guess is None else read(GPU_PACE.chunk_words, guess)
    waiting: deque[_Sent] = deque()
    while len(waiting) < _MOST_WAITING and not parent.poll() and (sent := next(begun, None)) is not None:
        waiting.append(sent)
    words, identity = parent.recv()
    right = guess is not None and (words, identity) == (GPU_PACE.chunk_words, guess.identity()) and bool(identity)
    parent.send(right)
    if not right:
        waiting.clear()
        remarks.buffer.clear()
        begun = read(words, parent.recv())
    remarks.flush()
    remarks.capacity = 0  # from now on, they are said at once
    while waiting:
        yield waiting.popleft()
    yield from begun


def _tokenized(job: AlignJob, path: str, target: str | None, words: int, tokenize: PairTokenizer) -> Iterator[_Sent]:
    bad_lines: list[FormatError] = []
    try:
        for chunk in cut_records(job.read(path, target, bad_lines.append), words):
            tokenized = tokenize([record.pair for record in chunk.records])
            yield Chunk(chunk.first, chunk.lines, tokenized=tokenized, headings=chunk.headings), tuple(bad_lines)
            bad_lines.clear()
    except (WeftError, OSError) as error:
        yield error  # in its place: it may come up before the parent listens
