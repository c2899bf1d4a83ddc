"""Whole documents: the formatting of a page, text or file carried into its translation.

A format is a class that reads bytes into segments with inline tags and puts translated segments back. Which class
reads which file is said in one table, `FORMATS`. Everything between is the same for all: words, links, tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from os import fspath
from typing import TYPE_CHECKING

from weft.applications.documents.inline import LARGEST, Document, DocumentSegment, Languages
from weft.applications.documents.misfits import first_misfit, optional_translated, other_verse
from weft.applications.labels import Listing
from weft.applications.linked import LinkFile, with_links
from weft.applications.projection import Gaps, Projected, Reason, Span
from weft.applications.tagging import MarkupRecord, Tagged, project_markup
from weft.errors import FormatError, number_of
from weft.extraction.scores import Scores
from weft.text.lines import FilePath, decode, display_name, open_bytes, read_lines
from weft.text.segment import Segmenter, segmenter_for

if TYPE_CHECKING:
    from weft.aligner import Aligner

Opener = Callable[[bytes, str, Languages], Document]


def _opener(module: str, name: str, **options: object) -> Callable[[], Opener]:
    """How to get at a format; its library is not imported before one of its files is read."""
    return lambda: partial(getattr(import_module(f"{__name__}.{module}"), name), **options)


FORMATS: dict[str, Callable[[], Opener]] = {
    ".htm": _opener("html", "HtmlDocument"),
    ".html": _opener("html", "HtmlDocument"),
    ".xhtml": _opener("html", "HtmlDocument", xml=True),
    ".md": _opener("markdown", "MarkdownDocument"),
    ".markdown": _opener("markdown", "MarkdownDocument"),
    ".docx": _opener("docx", "DocxDocument"),
    ".xlf": _opener("xliff", "XliffDocument"),
    ".xliff": _opener("xliff", "XliffDocument"),
    ".sdlxliff": _opener("xliff", "XliffDocument"),
    ".mqxliff": _opener("xliff", "XliffDocument"),
    ".mxliff": _opener("xliff", "XliffDocument", codes_in_text=True),
    ".tmx": _opener("tmx", "TmxDocument"),
    ".usfm": _opener("usfm", "UsfmDocument"),
    ".sfm": _opener("usfm", "UsfmDocument"),
}
"""What a file's name ends in, and what reads it. A new kind of document is a new line here."""


def is_document(path: FilePath) -> bool:
    """Whether a file's name is that of a document weft can read."""
    return _suffix(path) in FORMATS


def _suffix(path: FilePath) -> str:
    name = fspath(path).lower()
    return next((suffix for suffix in FORMATS if name.endswith(suffix)), "")


def read_document(path: FilePath, languages: Languages | None = None) -> Document:
    """Read a document by the type its name says.

    Raises:
        FormatError: The file is no such document, is damaged, protected by a password, or not safe to open.
        MissingExtraError: The library that reads it is not installed.
    """
    with open_bytes(path) as file:
        # Compressed files may hold far more than their size says.
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise FormatError(display_name(path), None, f"the document has more than {LARGEST:,} bytes; split it.")
    return FORMATS[_suffix(path)]()(data, display_name(path), languages or Languages())


def read_translation(
    path: FilePath,
    languages: Languages | None = None,
    *,
    original: Sequence[DocumentSegment] = (),
    name: str = "the document",
) -> list[str]:
    """The segments of a translation: those of a document without their tags, or the lines of a text with words.

    Args:
        path: the translation.
        languages: codes of both languages.
        original: the segments that it translates. If both number their verses, they have to be the same.
        name: how messages call the original.

    Raises:
        FormatError: Besides what `read_document` raises: the two have different verses.
    """
    if is_document(path):
        segments = read_document(path, languages).segments
        if found := other_verse(original, segments, (name, "this file")):
            advice = "Both files need the same verses in the same order, joined (`\\v 2-3`) in both or in neither."
            raise FormatError(display_name(path), None, f"{found} {advice}")
        return [segment.text for segment in segments]
    texts = (decode(line, path, number) for number, line in enumerate(read_lines(path), start=1))
    return [" ".join(text.split()) for text in texts if text.strip()]


def project_document(
    document: Document,
    translation: Sequence[str] | None,
    links: LinkFile | Aligner,
    *,
    name: str = "the document",
    languages: Languages | None = None,
    segmenters: tuple[Segmenter, Segmenter] | None = None,
    gaps: Gaps | str = Gaps.DENSE,
    max_gap: int = 1,
    listing: Listing | None = None,
) -> bytes:
    """Write a document in another language, with the formatting it has.

    Args:
        document: the formatted document.
        translation: its segments in the other language. None takes the translations that the document holds itself,
            as XLIFF and TMX do; those that have all their tags stay as they are.
        links: an aligner, or a file with the links of the segments.
        name: how messages call the document.
        languages: codes of both languages, which say how words are found.
        segmenters: how words are found, if not by the languages.
        gaps: what becomes of elements whose words stand apart.
        max_gap: see `project_spans`.
        listing: takes note of the tags that links did not place.

    Raises:
        FormatError: The translation has another number of segments, or as many as the document has without those that
            may be left out, although it translates one of these.
    """
    languages = languages or Languages()
    cut = segmenters or (segmenter_for(languages.source), segmenter_for(languages.target))
    aligner = None if isinstance(links, LinkFile) else links  # one that can tell what belongs together
    try:
        paired = list(_paired(document.segments, translation))
        if translation is not None and aligner is not None and len(paired) < len(document.segments):
            _check_left_out(document.segments, translation, cut, aligner)
    except ValueError as error:
        texts = [segment.text for segment in document.segments]
        misfit = "" if aligner is None else first_misfit(texts, translation or (), cut, aligner)
        raise FormatError(name, None, " ".join(filter(None, (str(error), misfit)))) from error
    wanted = [
        (number, MarkupRecord.of(segment.markup, text, cut))
        for number, (segment, text) in enumerate(paired)
        if text and not (translation is None and segment.done)
    ]
    joined = with_links(iter(wanted), lambda item: item[1].pair, links, name=name, scores=Scores.CALIBRATED)
    for (number, record), alignment in joined:
        tagged = project_markup(record, alignment, gaps=gaps, max_gap=max_gap)
        lost = document.fill(number, tagged.pieces)
        if listing is not None:
            listing.add(number + 1, *_with_lost(tagged, lost), tagged.words)
    if listing is not None:
        _list_attributes(listing, document.segments, len(paired))
    return document.written()


def _with_lost(tagged: Tagged, lost: Sequence[str]) -> tuple[list[Span], list[Projected]]:
    """The elements and their places, where the format could not write those of some names."""
    spans, places = list(tagged.spans), list(tagged.projected)
    for name in lost:
        hollow = (
            number
            for number, (span, place) in enumerate(zip(spans, places, strict=True))
            if span.label == name and place.runs and all(start == end for start, end in place.runs)
        )
        number = next(hollow, None)
        if number is None:
            spans.append(Span(0, 0, name))
            places.append(Projected(reason=Reason.NO_PLACE))
        else:
            places[number] = Projected(reason=Reason.EMPTY)
    return spans, places


def _list_attributes(listing: Listing, segments: Sequence[DocumentSegment], translated: int) -> None:
    """Take note of attributes: those that were translated, and those behind them, which were not."""
    for number, segment in enumerate(segments, start=1):
        if segment.attribute is not None:
            words = segment.text.split()
            place = Projected(reason=None if number <= translated else Reason.NOT_TRANSLATED)
            listing.add(number, [Span(0, len(words), segment.attribute)], [place], words)


def _paired(
    segments: Sequence[DocumentSegment], translation: Sequence[str] | None
) -> Iterator[tuple[DocumentSegment, str]]:
    if translation is None:
        if all(segment.translation is None for segment in segments):
            raise ValueError("this file contains no translation; also name the file that does.")
        return ((segment, segment.translation or "") for segment in segments)
    texts = [segment for segment in segments if segment.attribute is None]
    if len(translation) == len(texts):
        return zip(texts, translation, strict=True)
    if len(translation) != len(segments):
        raise ValueError(_other_number(segments, translation))
    return zip(segments, translation, strict=True)


def _other_number(segments: Sequence[DocumentSegment], translation: Sequence[str]) -> str:
    return (
        f"the document has {number_of(len(segments), 'segment')}, but the translation has {len(translation):,}. "
        "`weft project DOCUMENT --segments` lists the segments of a document, one per line."
    )


def _check_left_out(
    segments: Sequence[DocumentSegment], translation: Sequence[str], cut: tuple[Segmenter, Segmenter], aligner: Aligner
) -> None:
    """Refuse a translation that has as many lines as there are sentences only because some other line is missing."""
    texts = [segment.text for segment in segments if segment.attribute is None]
    optional = [segment.text for segment in segments if segment.attribute is not None]
    found = optional_translated(texts, optional, translation, cut, aligner)
    if found:
        raise ValueError(f"{_other_number(segments, translation)} {found}")


__all__ = [
    "FORMATS",
    "Document",
    "DocumentSegment",
    "Languages",
    "is_document",
    "project_document",
    "read_document",
    "read_translation",
]
