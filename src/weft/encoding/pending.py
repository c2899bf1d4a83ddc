"""Work that has begun and is not waited for yet, and how to keep several pieces of it going at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
Task = TypeVar("Task")
Result = TypeVar("Result")

Pending = Callable[[], T]
"""A result that a device is still at work on. Call it to wait for the result; until then Python is free."""


def in_order(
    begin: Callable[[Task], Pending[Result]], tasks: Iterable[Task], at_once: int, *, threads: bool
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in order, while the next ones are being worked on; memory stays bounded.

    Args:
        begin: begins with a task.
        tasks: any number of them; a few are read ahead.
        at_once: how many are worked on at a time.
        threads: whether each of them has a thread of its own. Without, a task is begun before the one before it is
            ended, which is enough where a device works by itself, and better: threads that talk to a device wait for
            each other's Python.
    """
    if threads and at_once > 1:
        yield from _side_by_side(lambda task: begin(task)(), tasks, at_once)
        return
    begun: deque[tuple[Task, Pending[Result]]] = deque()
    for task in tasks:
        begun.append((task, begin(task)))
        if len(begun) == at_once:
            yield _ended(begun)
    while begun:
        yield _ended(begun)


def _ended(begun: deque[tuple[Task, Pending[Result]]]) -> tuple[Task, Result]:
    """End the first task. What it held, such as a chunk's states, must not live on while another one is begun."""
    task, pending = begun.popleft()
    return task, pending()


def _side_by_side(work: Callable[[Task], Result], tasks: Iterable[Task], at_once: int) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in order; a single task needs no thread."""
    tasks = iter(tasks)
    head = list(islice(tasks, 2))
    if len(head) < 2:
        yield from ((task, work(task)) for task in head)
        return
    with ThreadPoolExecutor(at_once) as pool:
        waiting: deque[tuple[Task, Future[Result]]] = deque()
        try:
            for task in chain(head, tasks):
                waiting.append((task, pool.submit(work, task)))
                if len(waiting) > at_once:
                    done, result = waiting.popleft()
                    yield done, result.result()
            while waiting:
                done, result = waiting.popleft()
                yield done, result.result()
        finally:
            for _, result in waiting:
                result.cancel()
