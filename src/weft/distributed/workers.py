"""Chunks through one process or several, in order: one process for each GPU, each with a model that stays loaded."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from multiprocessing import connection
from typing import Any

from weft.distributed.chunks import Chunk, Description, Finished, Job, Worker, portable
from weft.encoding.batching import in_order
from weft.errors import WeftError

# Portions that wait for each worker: enough that it never idles, few enough that memory stays flat.
_AHEAD = 2
# Chunks a portion holds for each thread of a worker.
_CHUNKS_A_THREAD = 2


class Workers:
    """Aligns chunks in `count` processes; with one, in this process. Use it in a `with` block."""

    def __init__(self, job: Job, count: int = 1, gpus: Sequence[str] = ()) -> None:
        self._job = job
        self._count = count
        self._gpus = gpus
        self._pool: ProcessPoolExecutor | None = None
        self._own: Worker | None = None
        self._description: Description | None = None

    @property
    def alone(self) -> bool:
        """Whether all is done in this process."""
        return self._count == 1

    def __enter__(self) -> Workers:
        if self._count > 1:
            # A forked copy of a process that has used CUDA or threads is broken from the start.
            context = multiprocessing.get_context("spawn")
            places = context.SimpleQueue()
            for number in range(self._count):
                places.put(self._gpus[number % len(self._gpus)] if self._gpus else None)
            self._pool = ProcessPoolExecutor(self._count, context, _begin, (self._job, places))
        return self

    def __exit__(self, *problem: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def describe(self) -> Description:
        """What the loaded model says about itself."""
        if self._description is None:
            if self._pool is None:
                self._own = self._job.load()
                self._description = self._own.describe()
            else:
                with _killed_workers_named():
                    self._description = self._pool.submit(_describe).result()
        return self._description

    def identity(self) -> dict[str, Any]:
        """All that the loaded model's results depend on besides the input."""
        if self._pool is not None:
            with _killed_workers_named():
                return self._pool.submit(_identity).result()
        self.describe()
        assert self._own is not None, "one process has its own model"
        return self._own.identity()

    def align(self, chunks: Iterable[Chunk], *, at_once: int | None = None) -> Iterator[Finished]:
        """Results in the order of the chunks; only a few chunks are read ahead, and none with `at_once` = 1."""
        description = self.describe()
        at_once = at_once or description.chunks_at_once
        if self._own is not None:
            yield from _through(self._own, chunks, at_once)
            return
        assert self._pool is not None, "workers are used in a with block"
        waiting: deque[Future[list[Finished]]] = deque()
        with _killed_workers_named():
            for portion in portions(chunks, portion_size(at_once, threads=description.threads)):
                waiting.append(self._pool.submit(_align, portion))
                if len(waiting) >= _AHEAD * self._count:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()


def _through(worker: Worker, chunks: Iterable[Chunk], at_once: int) -> Iterator[Finished]:
    """Chunks through one model, as many at a time as it can use."""
    return (done for _, done in in_order(worker.start, chunks, at_once, threads=worker.describe().threads))


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
            "a worker process was killed, perhaps because memory ran out; use fewer --workers or --batch-tokens."
        ) from error


# What a worker process keeps between chunks.
_job: Job | None = None
_worker: Worker | None = None
_warnings: list[str] = []


def _begin(job: Job, places: Any) -> None:
    """Set up a worker process; its GPU must be chosen before anything touches CUDA."""
    global _job
    gpu = places.get()
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    logging.getLogger("weft").addHandler(_Remembering())
    live_as_long_as_parent()
    _job = job


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


def _loaded() -> Worker:
    global _worker
    if _worker is None:
        assert _job is not None, "workers begin with _begin"
        _worker = _job.load()
    return _worker


@contextmanager
def _portable_errors() -> Iterator[None]:
    """Whatever goes wrong here must reach the parent."""
    try:
        yield
    except WeftError as error:
        raise portable(error) from None


@_portable_errors()
def _describe() -> Description:
    said = _loaded().describe()
    return replace(said, remarks=[*_warnings, *said.remarks], preparation=None)


@_portable_errors()
def _identity() -> dict[str, Any]:
    return _loaded().identity()


@_portable_errors()
def _align(portion: list[Chunk]) -> list[Finished]:
    worker = _loaded()
    return list(_through(worker, portion, worker.describe().chunks_at_once))
