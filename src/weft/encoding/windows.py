"""Sentences that are too long for an encoder: overlapping windows, and which of them each subword is taken from."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """Subwords `start` to `end` go through the encoder together; the states of `keep_start` to `keep_end` are used."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def n_windows(length: int, size: int) -> int:
    """How many windows of at most `size` subwords a sentence takes; they overlap by about a half."""
    return 1 if length <= size else -(-(length - size) // max(1, size // 2)) + 1


def windows(length: int, size: int) -> list[Window]:
    """Cover a sentence with windows of at most `size` subwords.

    A sentence that fits is one window. A longer one is covered by windows that overlap by about a half, and every
    subword is taken from the window in which it is farthest from the edges, so all of them have context.
    """
    starts = _even_starts(length, size, n_windows(length, size))
    cuts = [(start + size + following) // 2 for start, following in pairwise(starts)]
    return _windows(starts, [0, *cuts, length], min(length, size))


def windows_abreast(length: int, size: int, count: int) -> list[Window]:
    """Cover a sentence with as many windows as the longer sentence beside it takes, at least `n_windows`.

    Each gives its share of the subwords, so that every stretch of a sentence meets the same stretch of the other.

    Args:
        length: subwords of the sentence.
        size: the most subwords of a window.
        count: how many windows there are.
    """
    edges = [round(index * length / count) for index in range(count + 1)]
    return _windows(_even_starts(length, size, count), edges, min(length, size))


def _even_starts(length: int, size: int, count: int) -> list[int]:
    return [round(index * max(0, length - size) / max(1, count - 1)) for index in range(count)]


def _windows(starts: list[int], edges: list[int], width: int) -> list[Window]:
    return [
        Window(start, start + width, keep_start, keep_end)
        for start, (keep_start, keep_end) in zip(starts, pairwise(edges), strict=True)
    ]
