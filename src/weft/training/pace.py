"""How far a run is, by steps or by the clock: what the learning rate follows and when to stop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 90:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"


@dataclass(slots=True)
class Pace:
    """A run of `total` steps, or of `minutes`, whichever ends first.

    Attributes:
        total: steps; None if only time counts.
        minutes: time; None if only steps count.
        warmup: share of the run over which the learning rate rises.
        spent: seconds of it that were over before this process began.
    """

    total: int | None
    minutes: float | None
    warmup: float
    spent: float = 0.0
    _began: float = field(default_factory=time.perf_counter)
    _first: int | None = None

    def start(self, step: int, spent: float) -> None:
        """Begin to count, at a step that a run was at after some time."""
        self._first, self.spent, self._began = step, spent, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time spent on the whole run."""
        return self.spent + time.perf_counter() - self._began

    def share(self, step: int, seconds: float) -> float:
        """How much of the run is over, 0 to 1."""
        by_steps = 0.0 if self.total is None else step / self.total
        by_time = 0.0 if self.minutes is None else seconds / (60 * self.minutes)
        return min(1.0, max(by_steps, by_time))

    def rate(self, step: int, seconds: float) -> float:
        """The share of the learning rate at a step: up in a straight line, then down in another."""
        if self.minutes is None and self.total is not None:
            rising = round(self.warmup * self.total)
            return (step + 1) / rising if step < rising else (self.total - step) / max(1, self.total - rising)
        share = self.share(step, seconds)
        return share / self.warmup if share < self.warmup else (1 - share) / (1 - self.warmup)

    def left(self, step: int) -> float | None:
        """About how many seconds are left; None before the first step is done."""
        done = step - (self._first or 0)
        share = self.share(step, self.seconds)
        if done < 1 or share == 0:
            return None
        if self.total is None or (self.minutes is not None and share > step / self.total):
            return 60 * (self.minutes or 0) - self.seconds
        return (self.total - step) * (time.perf_counter() - self._began) / done
