"""Where a document and its translation part ways, if they have different numbers of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.text.json_objects import shorten
from weft.text.segment import Segmenter

if TYPE_CHECKING:
    from weft.aligner import Aligner


def first_misfit(
    segments: Sequence[str], translation: Sequence[str], cut: tuple[Segmenter, Segmenter], aligner: Aligner
) -> str:
    """A sentence about the first segment that does not correspond to exactly one; nothing if none is found.

    Args:
        segments: the texts of the document.
        translation: those of its translation.
        cut: what splits each side into words.
        aligner: compares what they mean.
    """
    ours, theirs = (
        [(text, words) for text in texts if (words := split(text).words)]
        for texts, split in zip((segments, translation), cut, strict=True)
    )
    if not ours or not theirs:
        return ""
    for first, second, _ in aligner.align_texts([words for _, words in ours], [words for _, words in theirs]):
        if first and not second:
            return f"This segment seems to have no translation: {shorten(ours[first[0]][0])}."
        if second and not first:
            return f"This line of the translation seems to belong to no segment: {shorten(theirs[second[0]][0])}."
        if len(first) != len(second):
            return f"This segment seems to be divided differently in the translation: {shorten(ours[first[0]][0])}."
    return ""
