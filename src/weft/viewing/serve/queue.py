"""The server's desk: work done step by step, shared out fairly between clients.

Cores are few. So a request is a generator: each step does a little, and yields about how many seconds the next one will
take. Between steps others have their turn. Whose turn it is follows weighted fair queueing: as if all clients had been
served at once, each with the same share of the time, the step comes first that would have ended first. A client with
twenty requests therefore gets no more than a client with one.

A long pair is one step that nobody can interrupt. Such steps have a thread of their own, one for all of them, so that
short pairs wait for short steps only.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Generator
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, get_native_id
from typing import Any, Generic, TypeVar

# Seconds; what takes longer would keep somebody who plays with a short pair waiting.
_LONG_STEP = 0.15
# Seconds; steps of up to this length count alike, so that of short pairs the first to come is the first to go.
_SHORT_STEP = 0.05

# Five steps of niceness are a third of the time that others get.
_LONG_NICENESS = 5

T = TypeVar("T")
Steps = Generator[float, None, T]


class FullError(Exception):
    """The queue has reached its bound."""


class LateError(Exception):
    """The request was not answered within its time."""


@dataclass(eq=False, slots=True)
class _Job(Generic[T]):
    """A request's work: its steps, the moment of shared time at which the next one would end, and who wants it."""

    client: str
    steps: Steps[T]
    cost: float
    end: float = 0.0
    begun: bool = False
    running: bool = False
    result: Future[T] = field(default_factory=Future)

    @property
    def is_long(self) -> bool:
        """Whether its next step belongs to the thread for long ones."""
        return self.cost > _LONG_STEP

    def settle(self, value: T | None, error: BaseException | None = None) -> None:
        """Tell the result, unless nobody wants it any more."""
        with suppress(InvalidStateError):
            if error is None:
                self.result.set_result(value)  # type: ignore[arg-type]
            else:
                self.result.set_exception(error)


class _Lane:
    """A thread for short steps or for long ones, and whether it is at work."""

    def __init__(self, long: bool) -> None:
        self.thread = ThreadPoolExecutor(
            max_workers=1,
            thread_name_prefix="weft-align-long" if long else "weft-align",
            initializer=_step_back if long else None,
        )
        self.working = False


def _step_back() -> None:
    """Where cores are short, the thread for long steps waits more often than others (on Linux; elsewhere never)."""
    if sys.platform == "linux":
        me = get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, me, os.getpriority(os.PRIO_PROCESS, me) + _LONG_NICENESS)


class FairQueue:
    """Runs the steps of all requests, short and long ones side by side.

    Args:
        bound: how many requests may wait or be worked on.
        seconds: how long each may take until its answer, waiting included.
    """

    def __init__(self, bound: int, seconds: float = float("inf")) -> None:
        self.bound = bound
        self.seconds = seconds
        self._jobs: list[_Job[Any]] = []
        self._clock = 0.0
        self._lock = Lock()
        self._lanes = {long: _Lane(long) for long in (False, True)}

    @property
    def waiting(self) -> int:
        """Requests that wait or are being worked on."""
        return len(self._jobs)

    async def do(self, client: str, steps: Steps[T], cost: float = 0.0) -> T:
        """Wait for the result of work; whoever stops waiting stops the work at its next step.

        Args:
            client: whose work it is.
            steps: the work; it yields how many seconds the next step will take, and returns the result.
            cost: how many seconds the first step will take.

        Raises:
            FullError: too many requests wait already.
            LateError: the time was over before the work was done.
        """
        job = _Job(client, steps, cost)
        self._admit(job)
        try:
            async with asyncio.timeout(self.seconds if self.seconds != float("inf") else None):
                return await asyncio.wrap_future(job.result)
        except TimeoutError as error:
            raise LateError from error
        finally:
            self._leave(job)

    def _admit(self, job: _Job[Any]) -> None:
        with self._lock:
            if len(self._jobs) >= self.bound:
                self._make_room(job.client)
            self._jobs.append(job)
            self._schedule(job, self._clock)

    def _make_room(self, client: str) -> None:
        """Whoever has most requests here gives up the last one that was not begun, for somebody who has fewer."""
        counts = Counter(job.client for job in self._jobs)
        greedy, most = counts.most_common(1)[0] if counts else ("", 0)
        spare = [job for job in self._jobs if job.client == greedy and not job.begun]
        if most < counts[client] + 2 or not spare:
            raise FullError
        self._jobs.remove(spare[-1])
        spare[-1].settle(None, FullError())

    def _schedule(self, job: _Job[Any], start: float) -> None:
        mine = sum(other.client == job.client for other in self._jobs)
        job.end = max(start, self._clock) + max(job.cost, _SHORT_STEP) * mine
        lane = self._lanes[job.is_long]
        if not lane.working:
            lane.working = True
            lane.thread.submit(self._work, job.is_long)

    def _leave(self, job: _Job[Any]) -> None:
        job.result.cancel()
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)

    def _work(self, long: bool) -> None:
        while (job := self._next(long)) is not None:
            try:
                cost = next(job.steps)
            except StopIteration as end:
                self._done(job, end.value)
            except BaseException as error:  # whatever it is, it belongs to this request
                self._done(job, None, error)
            else:
                with self._lock:
                    start, job.cost, job.running = job.end, cost, False
                    self._schedule(job, start)

    def _next(self, long: bool) -> _Job[Any] | None:
        with self._lock:
            ready = [job for job in self._jobs if job.is_long == long and not job.running]
            if not ready:
                self._lanes[long].working = False
                return None
            job = min(ready, key=lambda job: job.end)
            job.begun = job.running = True
            self._clock += job.cost / len({other.client for other in self._jobs})
            return job

    def _done(self, job: _Job[Any], value: object, error: BaseException | None = None) -> None:
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)
        job.settle(value, error)
