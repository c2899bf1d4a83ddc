"""A line on stderr that counts, for people; files and pipes never see it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

T = TypeVar("T")


class Count:
    """A running count; nothing is shown where there is nothing to show it on."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._task: TaskID | None = progress.add_task("", total=None) if progress else None

    def __call__(self, more: int) -> None:
        """Count so many more."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, more)

    def expect(self, total: int, done: int) -> None:
        """From now on show how far it is, and how long it will take.

        Args:
            total: how many there are in all.
            done: how many of them were done before, in another run.
        """
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, total=total, completed=done)


@contextmanager
def counting(unit: str, *, quiet: bool) -> Iterator[Count]:
    """A running count while stderr is a terminal: what is yielded takes how many more there are.

    `quiet` where the count would write over text.
    """
    if quiet or not sys.stderr.isatty():
        yield Count()
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TimeElapsedColumn
    from rich.text import Text

    class How(ProgressColumn):
        """How far it is."""

        def render(self, task: Task) -> Text:
            return Text(shown(task.completed, task.total, task.time_remaining, unit))

    columns = (SpinnerColumn(), How(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Count(progress)


def shown(done: float, total: float | None, seconds_left: float | None, unit: str) -> str:
    """A count in words: how many there are, of how many, and how much longer it takes, as far as that is known."""
    if total is None:
        return f"{done:,.0f} {unit}"
    share = 100 * done / total if total else 100
    left = "" if seconds_left is None else f", {timedelta(seconds=round(seconds_left))} left"
    return f"{done:,.0f} of {total:,.0f} {unit} ({share:.0f}%){left}"


def counted(items: Iterable[T], unit: str, *, quiet: bool) -> Iterator[T]:
    """Pass items on, with a running count of them.

    Args:
        items: any number of them.
        unit: what they are, in the plural.
        quiet: show nothing, since it would write over text.
    """
    with counting(unit, quiet=quiet) as count:
        for item in items:
            yield item
            count(1)
