"""Where a document and its translation part ways, if their segments do not correspond one to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weft.applications.documents.inline import DocumentSegment
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
    for first, second in _paired(segments, translation, cut, aligner):
        if first and not second:
            return f"This segment seems to have no translation: {shorten(segments[first[0]])}."
        if second and not first:
            return f"This line of the translation seems to belong to no segment: {shorten(translation[second[0]])}."
        if len(first) != len(second):
            return f"This segment seems to be divided differently in the translation: {shorten(segments[first[0]])}."
    return ""


def optional_translated(
    texts: Sequence[str],
    optional: Sequence[str],
    translation: Sequence[str],
    cut: tuple[Segmenter, Segmenter],
    aligner: Aligner,
) -> str:
    """A sentence about an optional segment that a line translates, though there are lines for the others alone.

    Then one of the others lacks its line, and every line after it would go to the wrong segment.

    Args:
        texts: the segments that need a translation.
        optional: those behind them that may be left out, such as what stands in attributes.
        translation: as many lines as `texts`.
        cut: what splits each side into words.
        aligner: compares what they mean.
    """
    known = {text.casefold() for text in texts}
    # A picture is often called what a heading says; then the line belongs to the heading.
    further = [text for text in optional if text.casefold() not in known]
    for first, second in _paired([*texts, *further], translation, cut, aligner):
        if second and first and first[0] >= len(texts):
            line, segment = shorten(translation[second[0]]), shorten(further[first[0] - len(texts)])
            return f"The line {line} seems to translate {segment}, which may be left out, so another line is missing."
    return ""


def other_verse(
    segments: Sequence[DocumentSegment], translation: Sequence[DocumentSegment], names: tuple[str, str]
) -> str:
    """A sentence about the first verse that is another one in the translation; nothing if a side numbers none.

    Args:
        segments: those of the document.
        translation: those of its translation.
        names: how messages call the two.
    """
    if not all(any(segment.verse for segment in side) for side in (segments, translation)):
        return ""
    for ours, theirs in zip(segments, translation, strict=False):
        if (ours.verse is None) != (theirs.verse is None) or any(
            one != other for one, other in zip(ours.verse or (), theirs.verse or (), strict=True) if one and other
        ):
            return f"{names[1]} has {_verse_of(theirs)} where {names[0]} has {_verse_of(ours)}."
    # Footnotes, which stand behind all verses, may be left out.
    ends, goes_on = names[::-1] if len(segments) > len(translation) else names
    rest = [*segments[len(translation) :], *translation[len(segments) :]]
    return f"{ends} ends where {goes_on} has {rest[0].verse}." if rest and rest[0].verse else ""


def _verse_of(segment: DocumentSegment) -> str:
    return str(segment.verse) if segment.verse else f"text that is no verse ({shorten(segment.text)})"


def _paired(
    segments: Sequence[str], translation: Sequence[str], cut: tuple[Segmenter, Segmenter], aligner: Aligner
) -> Iterator[tuple[list[int], list[int]]]:
    """The numbers of segments and of lines that belong together by what they say; those without words are left out."""
    ours, theirs = (
        [(number, words) for number, text in enumerate(texts) if (words := split(text).words)]
        for texts, split in zip((segments, translation), cut, strict=True)
    )
    if not ours or not theirs:
        return
    for first, second, _ in aligner.align_texts([words for _, words in ours], [words for _, words in theirs]):
        yield [ours[number][0] for number in first], [theirs[number][0] for number in second]
