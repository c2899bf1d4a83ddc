from __future__ import annotations

import threading
import time
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.encoding.pending import in_order


def whole(work):
    """All of the work at its end."""
    return lambda task: lambda: work(task)


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4), st.booleans())
def test_order_is_kept_and_nothing_lost(tasks, at_once, threads):
    def work(task):
        time.sleep(task / 1000)
        return task * 10

    assert list(in_order(whole(work), tasks, at_once, threads=threads)) == [(task, task * 10) for task in tasks]


def test_without_threads_a_task_begins_before_the_one_before_it_ends():
    told = []

    def start(task):
        told.append(f"begin {task}")
        return lambda: told.append(f"end {task}")

    list(in_order(start, "abc", 2, threads=False))
    assert told == ["begin a", "begin b", "end a", "begin c", "end b", "end c"]
    told.clear()
    list(in_order(start, "ab", 1, threads=False))
    assert told == ["begin a", "end a", "begin b", "end b"]


@pytest.mark.parametrize("at_once", [1, 2])
def test_what_a_task_held_is_gone_when_the_next_but_one_begins(at_once):
    class States:
        pass

    alive = weakref.WeakSet()

    def start(task):
        assert len(alive) < at_once
        states = States()
        alive.add(states)
        return lambda: (task, states)[0]

    assert list(in_order(start, range(5), at_once, threads=False)) == [(task, task) for task in range(5)]


def test_threads_work_at_once_and_read_no_further_than_they_must():
    read, together = [], threading.Barrier(2, timeout=400)

    def tasks():
        for task in range(100):
            read.append(task)
            yield task

    results = in_order(whole(lambda task: together.wait() >= 0), tasks(), 2, threads=True)
    assert next(results) == (0, True)  # two threads met at the barrier
    assert len(read) <= 4
    together.abort()
    results.close()


def test_an_error_in_a_thread_is_raised_where_results_are_read():
    def work(task):
        if task == 3:
            raise ValueError("no")
        return task

    results = in_order(whole(work), range(10), 2, threads=True)
    assert [next(results)[1] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no"):
        next(results)
