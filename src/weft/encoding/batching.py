"""Batches of like with like: sorted by length and packed under a budget, so that little is padding."""

from __future__ import annotations

from collections.abc import Sequence


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
