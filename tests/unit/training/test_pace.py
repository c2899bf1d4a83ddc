from __future__ import annotations

import pytest

from weft.training.pace import Pace, duration


def test_the_rate_rises_and_falls_in_straight_lines():
    pace = Pace(total=10, minutes=None, warmup=0.2)
    assert [pace.rate(step, 0.0) for step in range(10)] == pytest.approx(
        [0.5, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    )


def test_by_the_clock_it_follows_time():
    pace = Pace(total=None, minutes=1.0, warmup=0.5)
    assert [pace.rate(7, seconds) for seconds in (0, 15, 30, 45, 60, 90)] == [0, 0.5, 1, 0.5, 0, 0]
    assert pace.share(10**9, 30) == 0.5


def test_whichever_ends_first_ends_the_run():
    pace = Pace(total=100, minutes=1.0, warmup=0.0)
    assert pace.share(50, 6) == 0.5
    assert pace.share(5, 30) == 0.5
    assert pace.share(100, 0) == 1


@pytest.mark.parametrize(
    ("seconds", "words"), [(20, "about 20 seconds"), (600, "about 10 minutes"), (9000, "about 2.5 hours")]
)
def test_times_are_for_people(seconds, words):
    assert duration(seconds) == words


def test_what_is_left_is_guessed_from_the_steps_of_this_process(monkeypatch):
    clock = iter([100.0, 110.0, 110.0])
    monkeypatch.setattr("weft.training.pace.time.perf_counter", lambda: next(clock))
    pace = Pace(total=20, minutes=None, warmup=0.0)
    pace.start(10, spent=50.0)
    assert pace.left(12) == pytest.approx(8 * 5)
