"""A line on stderr that counts, for people; files and pipes never see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def counting(unit: str, *, quiet: bool) -> Iterator[Callable[[int], object]]:
    """A running count while stderr is a terminal: what is yielded takes how many more there are.

    `quiet` where the count would write over text.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    count = TextColumn(f"{{task.completed:,.0f}} {unit}")
    columns = (SpinnerColumn(), count, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield partial(progress.advance, task)


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
