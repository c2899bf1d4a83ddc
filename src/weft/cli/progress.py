"""A line on stderr that counts, for people; files and pipes never see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def counted(items: Iterable[T], unit: str, *, quiet: bool, size: Callable[[T], int] = lambda item: 1) -> Iterator[T]:
    """Pass items on, with a running count while stderr is a terminal; `quiet` where it would write over text.

    `size` is how many units an item stands for.
    """
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    count = TextColumn(f"{{task.completed:,.0f}} {unit}")
    columns = (SpinnerColumn(), count, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for item in items:
            yield item
            progress.advance(task, size(item))
