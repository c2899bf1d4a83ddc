"""Text read and cut into subwords by a process of its own, ahead of the one that aligns; a GPU outruns one Python."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from weft.corpus.job import AlignJob, OnBadLine
from weft.corpus.records import Chunk, cut_records
from weft.corpus.workers import live_as_long_as_parent
from weft.errors import FormatError, WeftError

if TYPE_CHECKING:
    from weft.encoding.subwords import PairTokenizer

# A smaller text is read before another process has begun.
_WORTH_IT = 1 << 20


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
        with _no_interrupts():
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
        with _killed_reader_named():
            self._here.send((words, tokenize))
        while (sent := self._received()) is not None:
            if isinstance(sent, WeftError | OSError):
                raise sent
            chunk, bad_lines = sent
            for error in bad_lines:
                on_bad_line(error)
            yield chunk

    def _received(self) -> Any:
        with _killed_reader_named():
            return self._here.recv()


@contextmanager
def _killed_reader_named() -> Iterator[None]:
    """Say in a sentence what the end of the pipe means, between two messages or in the middle of one."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise WeftError("the process that reads the text was killed, perhaps because memory ran out.") from error


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C, which a process that begins here never hears; the parent does, a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tokenize_chunks(parent: Connection, job: AlignJob, path: str, target: str | None) -> None:
    """All of the other process: chunks with their bad lines, then None; or the error that ended it."""
    live_as_long_as_parent()
    logging.basicConfig(format="weft: %(message)s")  # segmenters have things to say
    bad_lines: list[FormatError] = []
    try:
        words, tokenize = parent.recv()
        for chunk in cut_records(job.read(path, target, bad_lines.append), words):
            tokenized = tokenize([record.pair for record in chunk.records])
            parent.send((Chunk(chunk.first, chunk.lines, tokenized=tokenized), tuple(bad_lines)))
            bad_lines.clear()
        parent.send(None)
    except (EOFError, ConnectionError):
        pass  # nobody wants the rest
    except (WeftError, OSError) as error:
        parent.send(error)
