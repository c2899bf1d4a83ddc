"""Inline markup (HTML or XML tags): from the text of one side to the text of the other, well-formed whatever comes in.

Tags are found here and not by a parser of HTML or XML: lines of either kind come in, whole or broken, names must keep
their case, and whatever goes out has to parse as both.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

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
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# HTML elements that never have an end tag.
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
# Elements that part words even where no blank does.
_LISTS = {"ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "td", "th"}
_BREAKING = frozenset({"br", "hr", "p", "div", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"} | _LISTS)


@dataclass(slots=True)
class Element:
    """An element of a line: its tag, the characters of the plain text it covers, and the elements within it."""

    name: str
    attributes: dict[str, str]
    start: int
    end: int = -1
    children: list[Element] = field(default_factory=list)
    alone: bool = False

    def opening(self, *, first: bool = True) -> str:
        """The start tag; if the element is cut in parts, only the first part keeps the id."""
        kept = ((name, value) for name, value in self.attributes.items() if first or name not in ("id", "xml:id"))
        written = "".join(f' {name}="{escape(value)}"' for name, value in kept)
        return f"<{self.name}{written}>"

    def closing(self) -> str:
        """The end tag."""
        return f"</{self.name}>"

    def whole(self) -> str:
        """The element with what is within it, for one that holds no words."""
        written = []
        waiting: list[Element | str] = [self]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                written.append(item)
            elif item.alone:
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


@dataclass(frozen=True, slots=True)
class Markup:
    """A line without its tags, the elements that were in it, and tags that could not be understood."""

    text: str
    elements: tuple[Element, ...]
    strays: tuple[str, ...]


def parse_markup(line: str) -> Markup:
    """Take the tags out of a line.

    Elements that nobody closes end with the element around them or with the line. End tags that nothing opened,
    comments and declarations are strays. A `<` that begins no tag is a character like others.
    """
    text, length = [], 0
    root = Element("", {}, 0)
    open_elements = [root]
    strays = []

    def add(piece: str) -> None:
        nonlocal length
        text.append(piece)
        length += len(piece)

    position = 0
    for tag in _TAG.finditer(line):
        add(plain_text(line[position : tag.start()]))
        position = tag.end()
        name = tag["name"] or tag["closed"]
        if name and name.lower() in _BREAKING:
            add(" ")
        if tag["name"]:
            element = Element(tag["name"], _attributes(tag["attributes"]), length)
            open_elements[-1].children.append(element)
            if tag["empty"] or name.lower() in _VOID:
                element.end, element.alone = length, True
            else:
                open_elements.append(element)
        elif not (tag["closed"] and _close(open_elements, tag["closed"], length)):
            strays.append(tag.group())
    add(plain_text(line[position:]))
    for element in open_elements[1:]:
        element.end = length
    elements = chain.from_iterable(child.walk() for child in root.children)
    return Markup("".join(text), tuple(elements), tuple(strays))


def _close(open_elements: list[Element], name: str, position: int) -> bool:
    """Close the innermost element of that name and all within it; False if none is open."""
    for depth in range(len(open_elements) - 1, 0, -1):
        if open_elements[depth].name == name:
            for element in open_elements[depth:]:
                element.end = position
            del open_elements[depth:]
            return True
    return False


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
    written = html.escape(_NOT_XML.sub("\ufffd", text), quote=quote)
    return written.replace("\n", "&#10;").replace("\r", "&#13;")
