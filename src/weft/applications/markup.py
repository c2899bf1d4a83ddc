"""Inline markup (HTML or XML tags): from the text of one side to the text of the other, well-formed whatever comes in.

Tags are found here and not by a parser of HTML or XML: lines of either kind come in, whole or broken, names must keep
their case, and whatever goes out has to parse as both.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_NAME = r"[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?"
_VALUE = r"\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`]+"
_ATTRIBUTE = rf"({_NAME})(?:\s*=\s*({_VALUE}))?"
_TAG = re.compile(
    rf"<(?:(?P<close>/)(?P<closed>{_NAME})\s*"
    rf"|(?P<name>{_NAME})(?P<attributes>(?:\s+{_ATTRIBUTE})*)\s*(?P<empty>/?)"
    r"|(?P<other>!--(?:[^<]|<(?!!--)){0,4000}?--|[!?][^<>]*))>",
    re.ASCII | re.DOTALL,
)
_ATTRIBUTES = re.compile(_ATTRIBUTE, re.ASCII)
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = re.compile(r"<!--(?!-?>)(?:(?!--)[^\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff])*(?<!-)-->")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# HTML elements that never have an end tag.
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
# Elements that part words even where no blank does.
_LISTS = {"ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "td", "th"}
_BREAKING = frozenset({"br", "hr", "p", "div", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"} | _LISTS)


# Links do not stand within links, and one without words cannot be clicked.
LINKS = frozenset({"a"})
# Their ids are required, and unique in a file: such an element is never written in two parts.
_UNIQUE = frozenset({"g", "pc"})
# Elements of XLIFF and TMX that hold code of another format, or stand for it, and never words. Those that begin
# something have a partner that ends it, and such pairs may cross: they are no elements around words, but marks.
_CODES = frozenset({"ph", "it", "ut", "bpt", "ept", "bx", "ex", "sc", "ec"})
BEGINNINGS = {"bpt": "ept", "bx": "ex", "sc": "ec", "sm": "em"}
_ENDINGS = frozenset(BEGINNINGS.values())
MARKS = _ENDINGS.union(BEGINNINGS)
_KEYS = ("startRef", "rid", "i", "id")


@dataclass(slots=True)
class Element:
    """An element: its tag, the characters of the plain text it covers, and the elements within it.

    Attributes:
        name: The name of its tag.
        attributes: What stands in its start tag.
        start: The first character of the text that it covers.
        end: The character after the last one.
        children: The elements within it.
        alone: It is written as `<name/>`.
        code: How it begins and ends, literally, if that is not by tags.
        free: It may cross other elements: its beginning and its end are marks of their own.
        cuttable: It may be written in two parts, where it would cross another element.
        nests: It may stand within another element of its name.
        may_be_empty: It may stand around no words.
        breaks: It parts words, whatever its name is.
        blank_behind: A blank follows it that the text has only once, before it.
        stands_for: The placeholder that it holds as code; it takes the place of such a word in a translation.
        minor: It only takes formatting away, so nothing is lost where it has no place.
        origin: What a document's format knows about it.
    """

    name: str
    attributes: dict[str, str]
    start: int = -1
    end: int = -1
    children: list[Element] = field(default_factory=list)
    alone: bool = False
    code: tuple[str, str] | None = None
    free: bool = False
    cuttable: bool = True
    nests: bool = True
    may_be_empty: bool = True
    breaks: bool = False
    blank_behind: bool = False
    stands_for: str = ""
    minor: bool = False
    origin: Any = None

    def opening(self, *, first: bool = True) -> str:
        """The start tag; if the element is cut in parts, only the first part keeps the id."""
        if self.code is not None:
            return self.code[0]
        kept = ((name, value) for name, value in self.attributes.items() if first or name not in ("id", "xml:id"))
        written = "".join(f' {name}="{escape(value)}"' for name, value in kept)
        return f"<{self.name}{written}>"

    def closing(self) -> str:
        """The end tag."""
        return f"</{self.name}>" if self.code is None else self.code[1]

    def whole(self) -> str:
        """The element with what is within it, for one that holds no words."""
        written = []
        waiting: list[Element | str] = [self]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                written.append(item)
            elif item.alone and item.code is None:
                written.append(f"{item.opening()[:-1]}/>")
            else:
                written.append(item.opening())
                waiting += [item.closing(), *reversed(item.children)]
        return "".join(written)

    def walk(self) -> Iterator[Element]:
        """The element and all within it, in the order of their start tags."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    @property
    def breaking(self) -> bool:
        """Whether it parts words even where no blank does."""
        return self.breaks or self.name.lower() in _BREAKING


@dataclass(frozen=True, slots=True)
class Markup:
    """A text without its tags, the elements that were in it, and tags that could not be understood."""

    text: str
    elements: tuple[Element, ...]
    strays: tuple[str, ...] = ()


class MarkupBuilder:
    """Puts together a text and its elements, told in the order in which they stand in a line or a document."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._length = 0
        self._elements: list[Element] = []
        self._open: list[Element] = []
        self._begun: list[Element] = []

    @property
    def ends_in_blank(self) -> bool:
        """Whether the text so far ends in a blank, or there is nothing yet."""
        return self._text[-1][-1:].isspace() if self._text else not self._elements

    @property
    def ends_in_letter(self) -> bool:
        """Whether the text so far ends in a letter or a digit."""
        return bool(self._text) and self._text[-1][-1:].isalnum()

    @property
    def just_ended(self) -> Iterator[Element]:
        """The elements without words that stand where the text ends so far."""
        for element in reversed(self._elements):
            if element.start != self._length:
                break
            if element.end == self._length:
                yield element

    def add(self, text: str) -> None:
        """Take in text."""
        if text:
            self._text.append(text)
            self._length += len(text)

    def start(self, element: Element) -> None:
        """Take in the start of an element; what follows is within it."""
        element.start = self._length
        self._append(element)
        self._open.append(element)

    def end(self, element: Element) -> None:
        """End an element, and all within it that nobody ended."""
        while self._open:
            ended = self._open.pop()
            ended.end = self._length
            if ended is element:
                break

    def end_named(self, name: str) -> bool:
        """End the innermost element of that name; False if none is open."""
        element = self.innermost(name)
        if element is not None:
            self.end(element)
        return element is not None

    def innermost(self, name: str) -> Element | None:
        """The innermost element of that name that is open."""
        return next((element for element in reversed(self._open) if element.name == name), None)

    def point(self, element: Element) -> None:
        """Take in an element without words."""
        element.start = element.end = self._length
        self._append(element)

    def begin(self, element: Element) -> None:
        """Take in the beginning of a pair of marks; without an ending the mark stands alone."""
        element.start = element.end = self._length
        self._elements.append(element)
        self._begun.append(element)

    def begun(self, name: str, key: str) -> Element | None:
        """The beginning of that name and key that still waits for its ending."""
        for number in range(len(self._begun) - 1, -1, -1):
            if self._begun[number].name == name and _key(self._begun[number].attributes) == key:
                return self._begun.pop(number)
        return None

    def finish(self, element: Element) -> None:
        """Take in the ending of a pair of marks."""
        element.end, element.free = self._length, True

    def built(self, strays: tuple[str, ...] = ()) -> Markup:
        """The text and its elements; those that nobody ended end here."""
        if self._open:
            self.end(self._open[0])
        return Markup("".join(self._text), tuple(self._elements), strays)

    def _append(self, element: Element) -> None:
        self._elements.append(element)
        if self._open:
            self._open[-1].children.append(element)


def _key(attributes: dict[str, str]) -> str:
    """What the two ends of a pair of marks have in common."""
    return next((attributes[name] for name in _KEYS if name in attributes), "")


def parse_markup(line: str) -> Markup:
    """Take the tags out of a line.

    Elements that nobody closes end with the element around them or with the line. Code in the elements of XLIFF and
    TMX is part of its element, not of the text. End tags that nothing opened and declarations are strays. A `<` that
    begins no tag is a character like others.
    """
    builder = MarkupBuilder()
    strays = []
    position = 0
    while tag := _TAG.search(line, position):
        builder.add(plain_text(line[position : tag.start()]))
        position = tag.end()
        name = tag["name"] or tag["closed"] or ""
        if name.lower() in _BREAKING:
            builder.add(" ")
        if name in _CODES and tag["name"]:
            position = _add_code(builder, line, tag)
        elif tag["name"]:
            _add_element(builder, tag)
        elif not (tag["closed"] and builder.end_named(tag["closed"])):
            if _COMMENT.fullmatch(tag.group()):
                builder.point(Element("!--", {}, alone=True, code=(tag.group(), "")))
            else:
                strays.append(tag.group())
    builder.add(plain_text(line[position:]))
    return builder.built(tuple(strays))


def _add_element(builder: MarkupBuilder, tag: re.Match[str]) -> None:
    name = tag["name"]
    is_link = name.lower() in LINKS
    element = Element(
        name,
        _attributes(tag["attributes"]),
        cuttable=name not in _UNIQUE,
        nests=not is_link,
        may_be_empty=not is_link,
    )
    if tag["empty"] or name.lower() in _VOID:
        element.alone = True
        builder.point(element)
    else:
        builder.start(element)


def _add_code(builder: MarkupBuilder, line: str, tag: re.Match[str]) -> int:
    """Take in an element that holds code, and say where it ends; one that nobody closes is its start tag alone."""
    closing = None if tag["empty"] else re.compile(rf"</{tag['name']}\s*>").search(line, tag.end())
    element = Element(tag["name"], _attributes(tag["attributes"]), alone=True)
    held = line[tag.end() : closing.start()] if closing else ""
    written = f"{element.opening()}{escape(plain_text(held), quote=False)}{element.closing()}"
    element.code = (written if held else element.whole(), "")
    place_mark(builder, element)
    return closing.end() if closing else tag.end()


def place_mark(builder: MarkupBuilder, element: Element) -> Element:
    """Take in an element that holds code, by its name: a beginning, an ending that joins its beginning, or a point."""
    if element.name in BEGINNINGS:
        builder.begin(element)
        return element
    if element.name in _ENDINGS:
        [beginning] = [name for name, ending in BEGINNINGS.items() if ending == element.name]
        partner = builder.begun(beginning, _key(element.attributes))
        if partner is not None:
            if partner.code is not None and element.code is not None:
                partner.code = (partner.code[0], element.code[0])
            builder.finish(partner)
            return partner
    builder.point(element)
    return element


def _attributes(text: str) -> dict[str, str]:
    """Names and values; a name without a value stands for itself, and of two with one name the first counts."""
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTES.findall(text):
        bare = value[1:-1] if value[:1] in ("'", '"') else value
        attributes.setdefault(name, plain_text(bare) if value else name)
    return attributes


def plain_text(text: str) -> str:
    """Resolve references that are written in full; `AT&T` and `&copy` without a semicolon are left alone."""
    return _REFERENCE.sub(lambda match: html.unescape(match.group()), text)


def escape(text: str, *, quote: bool = True) -> str:
    """Text as it may stand in a line of XML and of HTML; characters that XML cannot hold become U+FFFD."""
    written = html.escape(NOT_XML.sub("\ufffd", text), quote=quote)
    return written.replace("\n", "&#10;").replace("\r", "&#13;")
