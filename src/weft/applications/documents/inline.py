"""What every kind of document offers: segments with inline tags, and a way to put translated segments back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple, Protocol

from weft.applications.arranging import Part, Piece, Tag
from weft.applications.markup import Element, Markup, MarkupBuilder

LARGEST = 200_000_000
"""Bytes of the largest document, unpacked, that is read."""
# Whitespace as HTML and Word mean it; a no-break space is a character.
_BLANKS = re.compile(r"[ \t\n\r\f]+")
NOTE_MARK = re.compile(r"\s*[\[(]?(?:\d{1,4}|[a-z*†‡§]{1,2})[\])]?\s*")
"""A raised number that is a link is the mark of a note, and no word."""


class Verse(NamedTuple):
    """Which verse of the Bible a segment is; book and chapter are empty if the document does not name them."""

    book: str
    chapter: str
    number: str

    def __str__(self) -> str:
        place = f"{self.chapter}:{self.number}" if self.chapter else f"verse {self.number}"
        return f"{self.book} {place}".strip()


@dataclass(frozen=True, slots=True)
class DocumentSegment:
    """A paragraph, heading or cell: its text with inline tags, and what follows.

    `translation` is what the document itself gives as its translation, as in XLIFF. `done` says that this translation
    has all the tags already. `attribute` names what the text stands in beside the others, such as the attribute of
    a tag or a footnote; a translation may leave such texts out. `verse` is the verse that the text is.
    """

    markup: Markup
    translation: str | None = None
    done: bool = False
    attribute: str | None = None
    verse: Verse | None = None

    @property
    def text(self) -> str:
        """The text without tags."""
        return self.markup.text.strip()


@dataclass(frozen=True, slots=True)
class Languages:
    """Codes of the languages of a document and of its translation, if they are known."""

    source: str | None = None
    target: str | None = None


class Document(Protocol):
    """A document that is read: its segments in order."""

    @property
    def language(self) -> str | None:
        """The language that the document says it is in, and will go on saying; None if it does not say, or not that."""

    @property
    def segments(self) -> Sequence[DocumentSegment]:
        """The segments with words."""

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Put a translated segment in its place; name the tags for which the format has none."""

    def written(self) -> bytes:
        """The document with what was put into it."""


class TextBuilder(MarkupBuilder):
    """Builds markup from text in which a run of whitespace is one blank, and none at the ends."""

    def __init__(self) -> None:
        super().__init__()
        self._between_words = False

    def add(self, text: str) -> None:
        """Take in text."""
        text = _BLANKS.sub(" ", text)
        if self._between_words and text:
            self._between_words = False
            if self.ends_in_letter and text[0].isalnum():
                super().add(" ")
        if text[:1] == " " and self.ends_in_blank:
            for element in takewhile(lambda element: not element.blank_behind, self.just_ended):
                element.blank_behind = True
            text = text[1:]
        super().add(text)

    def part(self) -> None:
        """Part the words before from the words after."""
        self.add(" ")

    def part_words(self) -> None:
        """Part the words before from the words after, if nothing else stands between them."""
        self._between_words = True


def trimmed(markup: Markup) -> Markup:
    """The markup without a blank at the end of its text; one that stands before an element stays."""
    last = max((element.start for element in markup.elements), default=0)
    text = markup.text[:last] + markup.text[last:].rstrip(" ")
    for element in markup.elements:
        element.end = min(element.end, len(text))
    return Markup(text, markup.elements, markup.strays)


def without_hollow(pieces: Sequence[Piece], needs_words: Callable[[Element], bool]) -> tuple[list[Piece], list[str]]:
    """Pieces without the elements around nothing that have to be around something, and the names of those."""
    kept: list[Piece] = []
    lost: list[str] = []
    for piece in pieces:
        if isinstance(piece, Tag) and piece.part is Part.CLOSE and needs_words(piece.element):
            last = kept[-1] if kept else ""
            if isinstance(last, Tag) and last.part is Part.OPEN and last.element is piece.element:
                kept.pop()
                lost += [] if piece.element.minor else [piece.element.name]
                continue
        kept.append(piece)
    return kept, lost
