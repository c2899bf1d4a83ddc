"""Links between words to links between other pieces of the same text: subwords, merged words, another tokenisation."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from weft.types import Alignment, Link

Offsets = Sequence[tuple[int, int]]
Places = list[list[int]]
"""For each old piece the numbers of the new pieces that hold some of its characters."""


def places(old: Offsets, new: Offsets) -> Places:
    """Where the characters of old pieces are among new ones; both are in the order of one text.

    Args:
        old: `(start, end)` of the pieces that links count, in characters of the text.
        new: `(start, end)` of the pieces that they shall count.
    """
    starts, ends = [start for start, _ in new], [end for _, end in new]
    return [list(range(bisect_right(ends, start), bisect_left(starts, end))) for start, end in old]


def remap(alignment: Alignment, source: Places, target: Places) -> Alignment:
    """The alignment with every link drawn between all new pieces of its two old ones."""
    return Alignment.of(
        (
            Link(left, right, link.score, link.sure)
            for link in alignment.links
            for left in source[link.source]
            for right in target[link.target]
        ),
        alignment.score,
    )
