from __future__ import annotations

import asyncio
import os
import sys
import threading
import time

import pytest

from weft.viewing.serve.queue import FairQueue, FullError, LateError


def steps(name: str, done: list[str], count: int = 1, cost: float = 1.0, wait: threading.Event | None = None):
    """Work of some steps that says when each is done."""
    for number in range(count):
        if wait is not None:
            wait.wait(10)
        done.append(name)
        if number < count - 1:
            yield cost
    return name
    yield


def test_work_is_done_and_counted():
    async def scenario():
        queue, done = FairQueue(3), []
        results = await asyncio.gather(*(queue.do("me", steps(str(number), done)) for number in range(3)))
        assert (results, done, queue.waiting) == (["0", "1", "2"], ["0", "1", "2"], 0)

    asyncio.run(scenario())


def test_a_short_request_does_not_wait_for_long_ones():
    """Ten long requests of the same address are under way; a short one comes next."""

    async def scenario():
        queue, done, go = FairQueue(20), [], threading.Event()
        long = [asyncio.ensure_future(queue.do("a", steps("long", done, 20, wait=go), 1.0)) for _ in range(10)]
        await asyncio.sleep(0.05)
        short = asyncio.ensure_future(queue.do("a", steps("short", done), 0.01))
        await asyncio.sleep(0.05)
        go.set()
        await short
        place = done.index("short")
        await asyncio.gather(*long)
        assert place <= 2
        assert len(done) == 201

    asyncio.run(scenario())


def test_a_short_step_does_not_wait_for_a_long_one_that_is_under_way():
    async def scenario():
        queue, done, go = FairQueue(4), [], threading.Event()
        long = asyncio.ensure_future(queue.do("a", steps("long", done, wait=go), 1.0))
        await asyncio.sleep(0.05)
        await asyncio.wait_for(queue.do("a", steps("short", done), 0.01), 5)
        go.set()
        await long
        return done

    assert asyncio.run(scenario()) == ["short", "long"]


def test_long_steps_come_one_after_another():
    """Two at once would take the memory of two."""
    running = []

    def long():
        running.append(+1)
        time.sleep(0.02)
        assert sum(running) == 1
        running.append(-1)
        return sum(running)
        yield

    async def scenario():
        queue = FairQueue(8)
        return await asyncio.gather(*(queue.do(str(number), long(), 1.0) for number in range(5)))

    assert asyncio.run(scenario()) == [0] * 5


def test_nobody_starves_while_short_requests_keep_coming():
    async def scenario():
        queue, done = FairQueue(20), []
        long = asyncio.ensure_future(queue.do("a", steps("long", done, 5), 1.0))
        for _ in range(400):
            await queue.do("a", steps("short", done), 0.1)
            if long.done():
                return done.count("short")
        raise AssertionError("the long request was never finished")

    assert asyncio.run(scenario()) <= 200


def test_time_is_shared_between_clients_not_requests():
    async def scenario():
        queue, done, go = FairQueue(40), [], threading.Event()
        busy = [asyncio.ensure_future(queue.do("busy", steps("busy", done, 10, wait=go), 1.0)) for _ in range(20)]
        await asyncio.sleep(0.05)
        modest = asyncio.ensure_future(queue.do("modest", steps("modest", done, 10, wait=go), 1.0))
        await asyncio.sleep(0.05)
        go.set()
        await asyncio.gather(modest, *busy)
        last = max(place for place, name in enumerate(done) if name == "modest")
        return done[:last].count("busy")

    assert asyncio.run(scenario()) <= 14  # as much as the other one, and what was under way


def test_a_full_queue_refuses_but_gives_everybody_a_place():
    async def scenario():
        queue, done, go = FairQueue(4), [], threading.Event()
        greedy = [asyncio.ensure_future(queue.do("greedy", steps("greedy", done, wait=go))) for _ in range(4)]
        await asyncio.sleep(0.05)
        with pytest.raises(FullError):
            await queue.do("greedy", steps("one more", done))
        modest = asyncio.ensure_future(queue.do("modest", steps("modest", done)))
        await asyncio.sleep(0.05)
        go.set()
        results = await asyncio.gather(modest, *greedy, return_exceptions=True)
        assert results[:4] == ["modest", "greedy", "greedy", "greedy"]
        assert isinstance(results[4], FullError)

    asyncio.run(scenario())


def test_work_that_nobody_waits_for_stops_at_its_next_step():
    async def scenario():
        queue, done, go = FairQueue(4), [], threading.Event()
        gone = asyncio.ensure_future(queue.do("a", steps("gone", done, 100, wait=go)))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.sleep(0.05)
        go.set()
        await queue.do("b", steps("next", done))
        await asyncio.sleep(0.05)
        return done, queue.waiting

    done, waiting = asyncio.run(scenario())
    assert done.count("gone") <= 1  # the step that was under way, if there was one
    assert (done.count("next"), waiting) == (1, 0)


def test_time_is_over_when_it_is_over():
    steps = []

    def slow():
        for step in range(100):
            steps.append(step)
            time.sleep(0.02)
            yield 0.02

    async def scenario():
        queue = FairQueue(4, seconds=0.1)
        with pytest.raises(LateError):
            await queue.do("a", slow())
        assert len(steps) < 100
        assert queue.waiting == 0

    asyncio.run(scenario())


def test_an_error_belongs_to_its_request():
    def failing():
        yield 0.0
        raise ValueError("mine")

    async def scenario():
        queue = FairQueue(4)
        with pytest.raises(ValueError, match="mine"):
            await queue.do("a", failing())
        assert await queue.do("a", steps("next", [])) == "next"

    asyncio.run(scenario())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_the_thread_of_long_steps_gives_way():
    def niceness():
        yield from ()
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def both():
        queue = FairQueue(bound=4)
        return [await queue.do("somebody", niceness(), cost) for cost in (0.01, 10.0)]

    short, long = asyncio.run(both())
    assert long == min(short + 5, 19)
