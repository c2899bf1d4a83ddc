"""USFM, the markup of Bible translators: a segment is a verse, a heading or a paragraph, and each footnote is one more.

Markers are told apart by what they do, not by a list of all of them: one with an end marker stands among words, one
that a verse may run on across (a line of a poem) is a break in it, and all others begin a segment of their own.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.applications.arranging import Part, Piece, Tag
from weft.applications.documents.inline import DocumentSegment, Languages, TextBuilder, Verse, trimmed, without_hollow
from weft.applications.markup import Element, Markup
from weft.errors import FormatError
from weft.text.lines import decode_text

_ATTRIBUTES = r"\s*(?:\|[^\\|]*)?"
_MARKER = re.compile(
    rf"\\\+?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:(?P<end>\*)|(?P<milestone>{_ATTRIBUTES}\\\*)|\s|(?=\\)|\Z)|(?P<fold>//)"
)
# Paragraphs and lines that a verse may go on in.
_LINE = r"(?:p|m|po|pr|cls|pmo|pm|pmc|pmr|mi|nb|pc|b|qr|qc|(?:pi|ph|q|qm|li|lim)\d?)"
_LINES = re.compile(_LINE)
# Lines before and after the words of a segment, and chunks for translators, are none of its words.
_TOKEN = re.compile(rf"(?P<outside>\s+|\\{_LINE}(?=[\s\\]|\Z)|\\ts(?:-[se])?{_ATTRIBUTES}\\\*)|[^\s\\]+|\\")
_NUMBER = re.compile(r"\s*\S+")
_VERSE = re.compile(r"\\[cv]\s")
# What follows these is no text to translate.
_NOT_TEXT = frozenset({"id", "ide", "usfm", "sts", "rem", "c", "cp", "restore"})
# What stands between these and their end markers belongs to no sentence; footnotes are segments themselves.
_FOOTNOTES = frozenset({"f", "fe", "ef", "efe"})
_OPAQUE = _FOOTNOTES | {"x", "ex", "fig", "cat", "ca", "va", "vp", "fv", "rb"}
_CALLER = re.compile(r"\s*\S+\s*(?:\\cat\s[^\\]*\\cat\*\s*)?(?:\\fr\s[^\\]*(?:\\fr\*\s*)?)?")
# Parts of a footnote: each ends where the next begins. Text that is none of the others is `ft`.
_PARTS = frozenset({"fq", "fqa", "fk", "fl", "fw", "fdc"})
# Text cannot hold the two characters that begin markers and attributes.
_HARMLESS = str.maketrans({"\\": "\uff3c", "|": "\uff5c"})


@dataclass(slots=True)
class _Note:
    """A footnote: what stands before its text, the text with its tags, and what was put in its place."""

    opening: str
    markup: Markup
    closing: str
    text: str

    def written(self) -> str:
        return f"{self.opening}{self.text}{self.closing}"


class UsfmDocument:
    """A book of the Bible. Footnotes come behind all other segments, since a translation may leave them out."""

    language: str | None = None  # it does not go on naming that of the original

    def __init__(self, data: bytes, name: str, languages: Languages) -> None:
        text = decode_text(data, name)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._text = text.replace("\r\n", "\n")
        if not _MARKER.search(self._text):
            raise FormatError(name, None, "this file contains no USFM markers, such as \\id or \\v.")
        self._notes: list[_Note] = []
        read = ((region, verse, self._read(*region)) for region, verse in _regions(self._text))
        found = [item for item in read if item[2].text.strip()]
        self._regions = [region for region, _, _ in found]
        self._notes = [note for note in self._notes if note.markup.text.strip()]
        self.segments = [DocumentSegment(markup, verse=verse) for _, verse, markup in found]
        self.segments += [DocumentSegment(note.markup, attribute="footnote") for note in self._notes]
        self._filled: dict[int, Sequence[Piece]] = {}

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Take in a translated segment, and name the markers around words that got none."""
        pieces, lost = without_hollow(pieces, _is_around_words)
        if number < len(self._regions):
            self._filled[number] = pieces
        else:
            self._notes[number - len(self._regions)].text = _Writer(note=True).written(pieces)
        return lost

    def written(self) -> bytes:
        """The book."""
        parts: list[str] = []
        position = 0
        for number, (start, end) in enumerate(self._regions):
            if number in self._filled:
                parts += [self._text[position:start], _Writer().written(self._filled[number])]
                position = end
        parts.append(self._text[position:])
        return "".join(parts).replace("\n", self._newline).encode("utf-8")

    def _read(self, start: int, end: int, *, note: bool = False) -> Markup:
        """The markup of a stretch of the text."""
        builder = TextBuilder()
        part: Element | None = None
        while start < end and (marker := _MARKER.search(self._text, start, end)):
            text, bar, attributes = self._text[start : marker.start()].partition("|" if marker["end"] else "\0")
            builder.add(text.replace("~", "\u00a0"))
            name = marker["name"]
            start = marker.end()
            if note and name in (*_PARTS, "ft"):
                if part is not None:
                    builder.end(part)
                part = None if name == "ft" or marker["end"] else _around(name)
                if part is not None:
                    builder.start(part)
            elif marker["end"]:
                self._end(builder, marker, bar + attributes)
            else:
                start = self._begin(builder, marker, end)
        builder.add(self._text[start:end].replace("~", "\u00a0"))
        return trimmed(builder.built())

    def _begin(self, builder: TextBuilder, marker: re.Match[str], limit: int) -> int:
        """Take in a marker, and say where what it stands for ends."""
        name, literal = marker["name"], marker.group()
        closing = self._text.find(f"{literal.rstrip()}*", marker.end(), limit)
        if marker["fold"]:
            builder.point(Element("//", {}, alone=True, breaks=True, code=("//", "")))
        elif marker["milestone"]:
            _milestone(builder, name, literal)
        elif name in _OPAQUE and closing >= 0:
            behind = closing + len(literal.rstrip()) + 1
            builder.point(self._opaque(name, marker.start(), behind))
            return behind
        elif closing >= 0:
            builder.start(_around(name))
        elif _LINES.fullmatch(name):
            builder.part()
            builder.point(Element(name, {}, alone=True, breaks=True, code=(f"\n{literal.rstrip()} ", "")))
        else:
            builder.point(_point(name, literal))
        return marker.end()

    def _end(self, builder: TextBuilder, marker: re.Match[str], attributes: str) -> None:
        ended = builder.innermost(marker["name"])
        if ended is None:
            builder.point(_point(marker["name"], f"{attributes}{marker.group()}"))
        else:
            ended.attributes["|"] = attributes
            builder.end(ended)

    def _opaque(self, name: str, start: int, end: int) -> Element:
        literal = self._text[start:end]
        caller = _CALLER.match(self._text, start + len(name) + 1, end - len(name) - 2)
        if name not in _FOOTNOTES or caller is None:
            return _point(name, literal)
        text = caller.end(), end - len(name) - 2
        note = _Note(
            self._text[start : text[0]], self._read(*text, note=True), f"\\{name}*", self._text[text[0] : text[1]]
        )
        self._notes.append(note)
        return Element(name, {}, alone=True, origin=note)


def _around(name: str) -> Element:
    return Element(name, {}, cuttable=name != "w", may_be_empty=name not in _PARTS)


def _is_around_words(element: Element) -> bool:
    return not element.alone and element.code is None and element.name not in _PARTS


def _point(name: str, literal: str) -> Element:
    return Element(name, {}, alone=True, code=(literal, ""))


def _milestone(builder: TextBuilder, name: str, literal: str) -> None:
    """A milestone: one that ends something joins the one that began it."""
    stem, _, kind = name.rpartition("-")
    begun = builder.begun(stem, "") if kind == "e" else None
    if begun is not None and begun.code is not None:
        begun.code = (begun.code[0], literal)
        builder.finish(begun)
    elif kind == "s":
        builder.begin(_point(stem, literal))
    else:
        builder.point(_point(name, literal))


def _regions(text: str) -> Iterator[tuple[tuple[int, int], Verse | None]]:
    """Where segments stand in a text, without what is before and behind their words, and which verses they are."""
    verses = [match.start() for match in _VERSE.finditer(text)]
    verses.append(len(text))
    start, position = -1, 0
    here, verse = Verse("", "", ""), None
    while marker := _MARKER.search(text, position):
        name, position = marker["name"], marker.end()
        closer = f"{marker.group().rstrip()}*"
        limit = verses[min(bisect_right(verses, marker.start()), len(verses) - 1)]
        if marker["end"] or marker["milestone"] or marker["fold"] or (verse and _LINES.fullmatch(name)):
            continue
        if name not in ("v", "c") and (closing := text.find(closer, position, limit)) >= 0:
            position = closing + len(closer) if name in _OPAQUE else position
            continue
        if start >= 0:
            yield _without_lines(text, start, marker.start()), verse
        number = _NUMBER.match(text, position)
        if name == "v" and number:
            position = number.end()
        here = _reached(here, name, number.group() if number else "")
        verse = here if name == "v" else None
        start = -1 if name in _NOT_TEXT else position
    if start >= 0:
        yield _without_lines(text, start, len(text)), verse


def _reached(here: Verse, marker: str, label: str) -> Verse:
    """Where a marker leads, by the code or number behind it; people write digits and dashes of several scripts."""
    label = "".join(
        "-" if unicodedata.category(sign) == "Pd" else str(unicodedata.decimal(sign, sign))
        for sign in label.strip().partition("\\")[0]
        if unicodedata.category(sign) != "Cf"
    )
    if marker == "id":
        return Verse(label.upper(), "", "")
    if marker == "c":
        return here._replace(chapter=label)
    return here._replace(number=label) if marker == "v" else here


def _without_lines(text: str, start: int, end: int) -> tuple[int, int]:
    inside = [token.span() for token in _TOKEN.finditer(text, start, end) if not token["outside"]]
    return (inside[0][0], inside[-1][1]) if inside else (end, end)


class _Writer:
    """Writes pieces. Markers within others get a plus sign; the parts of a footnote need no end markers."""

    def __init__(self, *, note: bool = False) -> None:
        self._note = note
        self._written: list[str] = []
        self._open: list[Element] = []
        self._parts: list[str] = ["ft"]
        self._owed = note

    def written(self, pieces: Sequence[Piece]) -> str:
        """The pieces as USFM."""
        for piece in pieces:
            if isinstance(piece, str):
                self._text(piece.translate(_HARMLESS))
            else:
                self._tag(piece)
        text = "".join(self._written)
        return re.sub(r"[ \t]+\n", "\n", re.sub(r"(\\\+?\w+ ) +", r"\1", text))

    def _text(self, text: str) -> None:
        if self._owed and text.strip():
            blank = " " if text[0] == " " and self._written else ""
            self._written.append(f"{blank}\\{self._parts[-1]} ")
            text, self._owed = text.lstrip(" "), False
        self._written.append(text)

    def _tag(self, tag: Tag) -> None:
        element = tag.element
        if tag.part is Part.WHOLE and isinstance(element.origin, _Note):
            self._written.append(element.origin.written())
        elif tag.part is Part.WHOLE and element.code is None:
            self._tag(Tag(element, Part.OPEN))
            for child in element.children:
                self._tag(Tag(child, Part.WHOLE))
            self._tag(Tag(element, Part.CLOSE))
        elif element.code is not None and element.code[0].startswith("\n"):
            # Markers among words end with their line.
            self._written += [self._closing(number) for number in range(len(self._open) - 1, -1, -1)]
            self._written.append(element.code[0])
            self._written += [self._opening(number) for number in range(len(self._open))]
        elif element.code is not None:
            self._written.append(element.code[1] if tag.part is Part.CLOSE else element.code[0])
        elif self._note and not self._open and element.name in _PARTS:
            self._part(tag)
        elif tag.part is Part.OPEN:
            if self._owed:
                self._written.append(f"\\{self._parts[-1]} ")
                self._owed = False
            self._open.append(element)
            self._written.append(self._opening(len(self._open) - 1))
        else:
            self._written.append(self._closing(len(self._open) - 1))
            self._open.pop()

    def _opening(self, number: int) -> str:
        return f"\\{'+' if number or self._note else ''}{self._open[number].name} "

    def _closing(self, number: int) -> str:
        element = self._open[number]
        return f"{element.attributes.get('|', '')}\\{'+' if number or self._note else ''}{element.name}*"

    def _part(self, tag: Tag) -> None:
        if tag.part is Part.OPEN:
            self._written.append(f"\\{tag.element.name} ")
            self._parts.append(tag.element.name)
            self._owed = False
        else:
            self._parts.pop()
            self._owed = True
