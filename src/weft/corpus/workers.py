"""Chunks through several processes, in order: one process for each GPU, each with a model that stays loaded."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from multiprocessing import connection
from typing import Any, TypeVar

from weft.corpus.job import AlignJob, Description, LoadedJob, collecting_seldom
from weft.corpus.records import AlignedChunk, Chunk
from weft.errors import WeftError

T = TypeVar("T")

# Portions that wait for each worker: enough that it never idles, few enough that memory stays flat.
_AHEAD = 2
# Chunks a portion holds for each thread of a worker.
_CHUNKS_A_THREAD = 2


class Workers:
    """Aligns chunks in `count` processes; what a `LoadedJob` does in one. Use it in a `with` block."""

    def __init__(self, job: AlignJob, count: int, gpus: Sequence[str] = ()) -> None:
        self._count = count
        # A forked copy of a process that has used CUDA or threads is broken from the start.
        context = multiprocessing.get_context("spawn")
        places = context.SimpleQueue()
        for number in range(count):
            places.put(gpus[number % len(gpus)] if gpus else None)
        self._pool = ProcessPoolExecutor(count, context, _begin, (job, places))
        self._description: Description | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        if kind is not None:
            self._kill()
        self._pool.shutdown(cancel_futures=True)

    def _kill(self) -> None:
        """End the processes at once: a portion may take many seconds, and nobody wants it any more."""
        pool: Any = self._pool  # it has no public way to do this before Python 3.14
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool._result_queue._writer.close()  # whoever reads half a result would wait for the rest for ever

    def describe(self) -> Description:
        """What the loaded model says about itself."""
        if self._description is None:
            with _killed_workers_named():
                self._description = self._submit(_describe).result()
        return self._description

    def identity(self) -> dict[str, Any]:
        """All that the loaded model's results depend on besides the input."""
        with _killed_workers_named():
            return self._submit(_identity).result()

    def align(self, chunks: Iterable[Chunk], *, at_once: int | None = None) -> Iterator[AlignedChunk]:
        """Results in the order of the chunks; only a few chunks are read ahead."""
        pace = self.describe().pace
        size = portion_size(at_once or pace.chunks_at_once, threads=pace.threads)
        waiting: deque[Future[list[AlignedChunk]]] = deque()
        with _killed_workers_named():
            for portion in portions(chunks, size):
                waiting.append(self._submit(_align, portion))
                if len(waiting) >= _AHEAD * self._count:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()

    def _submit(self, work: Callable[..., T], *arguments: object) -> Future[T]:
        with no_interrupts():  # it may begin a process
            return self._pool.submit(work, *arguments)


def portions(chunks: Iterable[Chunk], size: int) -> Iterator[list[Chunk]]:
    """Chunks for one trip to a worker."""
    rest = iter(chunks)
    while portion := list(islice(rest, size)):
        yield portion


def portion_size(at_once: int, *, threads: bool) -> int:
    """As many chunks as keep a worker busy; those of a GPU are large, and it should not wait for many."""
    return at_once * (_CHUNKS_A_THREAD if threads and at_once > 1 else 1)


def visible_gpus() -> list[str]:
    """The GPUs this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name.strip() for name in named.split(",") if name.strip() not in ("", "-1")]
    try:
        import torch
    except ImportError:
        return []
    return [str(number) for number in range(torch.cuda.device_count())]


@contextmanager
def _killed_workers_named() -> Iterator[None]:
    """Say in a sentence what a broken pool means, whether it is noticed with new work or with old."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WeftError(
            "a worker process was killed, perhaps because memory ran out; lower `workers` or `batch_tokens`."
        ) from error


# What a worker process keeps between chunks.
_job: AlignJob | None = None
_loaded_job: LoadedJob | None = None
_warnings: list[str] = []


def _begin(job: AlignJob, places: Any) -> None:
    """Set up a worker process; its GPU must be chosen before anything touches CUDA."""
    global _job
    gpu = places.get()
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    logging.getLogger("weft").addHandler(_Remembering())
    live_as_long_as_parent()
    _job = job
    collecting_seldom().__enter__()  # for as long as the process lives


@contextmanager
def no_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C, which a process that begins here never hears; the parent does, a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def live_as_long_as_parent() -> None:
    """Leave Ctrl-C to the parent, which hears it too and ends its processes in order; and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """A killed parent cannot say goodbye; without it there is nobody to work for."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class _Remembering(logging.Handler):
    """Keeps warnings for the parent, so that they are said once and not by every worker."""

    def emit(self, record: logging.LogRecord) -> None:
        _warnings.append(record.getMessage())


def _loaded() -> LoadedJob:
    global _loaded_job
    if _loaded_job is None:
        assert _job is not None, "workers begin with _begin"
        _loaded_job = _job.load()
    return _loaded_job


def _describe() -> Description:
    said = _loaded().describe()
    return replace(said, remarks=[*_warnings, *said.remarks], tokenize=None)


def _identity() -> dict[str, Any]:
    return _loaded().identity()


def _align(portion: list[Chunk]) -> list[AlignedChunk]:
    return list(_loaded().align(portion))
