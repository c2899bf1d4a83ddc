"""Batches of like with like, sorted by length and packed under a budget; and work on several of them at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Task], Result], tasks: Iterable[Task], at_once: int) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in order, while the next ones are being worked on in threads.

    At most `at_once` tasks wait or run beside the one whose result is handed out, so memory stays bounded. A single
    task, and work that should not be shared (`at_once` = 1), need no thread.
    """
    tasks = iter(tasks)
    if at_once == 1:
        yield from ((task, work(task)) for task in tasks)
        return
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


def token_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group rows into batches whose padded size stays under `budget` tokens; longest rows first.

    A row longer than the budget is a batch of its own.
    """
    return cell_batches([(length, 1) for length in lengths], budget)


def cell_batches(shapes: Sequence[tuple[int, int]], budget: int) -> list[list[int]]:
    """Group matrices of like shape into batches whose padded size stays under `budget` cells; largest first."""
    batches: list[list[int]] = []
    height = width = 0
    for number in _largest_first(shapes):
        taller, wider = max(height, shapes[number][0]), max(width, shapes[number][1])
        if batches and (len(batches[-1]) + 1) * taller * wider <= budget:
            batches[-1].append(number)
            height, width = taller, wider
        else:
            batches.append([number])
            height, width = shapes[number]
    return batches


def _largest_first(shapes: Sequence[tuple[int, int]]) -> list[int]:
    # Heights count in steps of 8, so that inside a step widths are in order too; equal shapes stay in order.
    return sorted(range(len(shapes)), key=lambda n: (-(shapes[n][0] // 8), -shapes[n][1], -shapes[n][0]))
