"""Batches of like with like, sorted by length and packed under a budget; and work on several of them at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(
    start: Callable[[Task], Callable[[], Result]], tasks: Iterable[Task], at_once: int, *, threads: bool
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in order, while the next ones are being worked on.

    `start` begins with a task, and what it returns ends it. With `threads` each of `at_once` tasks has one of its own.
    Without, a task is begun before the one before it is ended, which is enough where a device works by itself, and
    better: threads that talk to a device wait for each other's Python. Memory stays bounded either way.
    """
    if threads and at_once > 1:
        yield from _side_by_side(lambda task: start(task)(), tasks, at_once)
        return
    begun: deque[tuple[Task, Callable[[], Result]]] = deque()
    for task in tasks:
        begun.append((task, start(task)))
        if len(begun) == at_once:
            yield _ended(begun)
    while begun:
        yield _ended(begun)


def _ended(begun: deque[tuple[Task, Callable[[], Result]]]) -> tuple[Task, Result]:
    """End the first task. What it held, such as a chunk's states, must not live on while another one is begun."""
    task, end = begun.popleft()
    return task, end()


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


def token_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[list[int]]:
    """Group rows into batches whose padded size stays under `budget` tokens; longest rows first.

    A row longer than the budget is a batch of its own.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    return cell_batches(np.stack([lengths, np.ones_like(lengths)], axis=1), budget)


def cell_batches(shapes: IntArray, budget: int) -> list[list[int]]:
    """Group matrices of like shape into batches whose padded size stays under `budget` cells; largest first.

    `shapes` has the shape (matrices, 2).
    """
    order = _largest_first(shapes)
    sorted_shapes, batches, first = shapes[order], [], 0
    while first < len(order):
        # No batch can hold more than would fit if all were as large as its first one.
        most = max(1, budget // max(1, int(sorted_shapes[first].prod())))
        height, width = np.maximum.accumulate(sorted_shapes[first : first + most]).T
        fitting = np.searchsorted(height * width * np.arange(1, len(height) + 1), budget, side="right")
        end = first + max(1, int(fitting))
        batches.append(order[first:end].tolist())
        first = end
    return batches


def _largest_first(shapes: IntArray) -> IntArray:
    # Heights count in steps of 8, so that inside a step widths are in order too; equal shapes stay in order.
    heights, widths = shapes[:, 0], shapes[:, 1]
    return np.lexsort((-heights, -widths, -(heights // 8)))
