"""XML and HTML trees: read without risk, their inline content as markup and back again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from enum import Enum
from typing import Any

from weft.applications.arranging import Part, Piece, Tag
from weft.applications.documents.inline import TextBuilder, trimmed
from weft.applications.markup import MARKS, NOT_XML, Element, Markup, place_mark
from weft.errors import FormatError, MissingExtraError, first_line

_SEVERAL_BYTES = ("UTF-16", "UTF-32", "UCS")
# Where lxml says an error is; weft says it in its own way.
_POSITION = re.compile(r", line \d+(, column \d+)?.*$")


def lxml_etree() -> Any:
    """The library for XML, if it is there."""
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingExtraError("documents", "Reading documents") from error
    return etree


def parse_xml(data: bytes, name: str) -> Any:
    """The tree of an XML document. Nothing outside it is read, and entities that it declares are refused.

    Args:
        data: the document.
        name: how messages call it.

    Raises:
        FormatError: It is no well-formed XML, or declares entities.
    """
    etree = lxml_etree()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(data, parser).getroottree()
    except etree.XMLSyntaxError as error:
        why = _POSITION.sub("", first_line(error)).rstrip(".")
        raise FormatError(name, error.lineno, f"this is not well-formed XML: {why}.") from error
    declared = tree.docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise FormatError(name, None, "the document declares entities, which weft does not expand; write them out.")
    return tree


def has_crlf(data: bytes) -> bool:
    """Whether most lines of a document end as on Windows; a parser gives every line end as a newline."""
    return data.count(b"\r\n") > data.count(b"\n") / 2


def with_line_ends(data: bytes, *, crlf: bool) -> bytes:
    """What a parser's library wrote, with the line ends that the document had."""
    # HTML is written with the carriage returns that stood in it as `&#13;`.
    return re.sub(rb"\r?\n", b"\r\n", data) if crlf else data


def xml_bytes(tree: Any, *, crlf: bool = False) -> bytes:
    """A tree as a file, in the encoding it had; with `crlf`, lines end as on Windows."""
    encoding = tree.docinfo.encoding or "UTF-8"
    written: bytes = lxml_etree().tostring(
        tree, xml_declaration=True, encoding=encoding, standalone=tree.docinfo.standalone or None
    )
    # The last line has an end too, unless one byte of it would be half a character.
    if encoding.upper().startswith(_SEVERAL_BYTES):
        return written
    return with_line_ends(written + b"\n", crlf=crlf)


class Role(Enum):
    """What a node is among words."""

    AROUND = "around words"
    CODE = "code instead of words"
    THING = "code for something that stands between words"


def local_name(node: Any) -> str:
    """The name of a node without its namespace; nothing for comments and instructions."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


class InlineContent:
    """The mixed content of nodes as markup, and pieces as mixed content.

    Args:
        element_of: makes the element of a node, with flags and attributes as its format has them.
        role_of: what a node is.
        builder: makes the builder of the text.
    """

    def __init__(
        self,
        element_of: Callable[[Any], Element],
        role_of: Callable[[Any], Role],
        builder: Callable[[], TextBuilder] = TextBuilder,
    ) -> None:
        self._element_of = element_of
        self._role_of = role_of
        self._builder = builder

    def markup(self, content: Sequence[Any]) -> Markup:
        """The markup of some content: text and nodes, in order; the tails of the nodes are left out."""
        builder = self._builder()
        for item in content:
            self._read(builder, item)
        return trimmed(builder.built())

    def _read(self, builder: TextBuilder, item: Any) -> None:
        if isinstance(item, str):
            builder.add(item)
            return
        element = self._element_of(item)
        element.origin = item
        if element.breaking:
            builder.add(" ")
        if element.stands_for:
            builder.start(element)
            builder.add(element.stands_for)
            builder.end(element)
            return
        role = self._role_of(item)
        if role is not Role.AROUND:
            begun = place_mark(builder, element)
            if begun is not element:
                begun.origin = (begun.origin, item)
            if role is Role.THING:
                builder.part_words()
            return
        builder.start(element)
        for inner in contents(item):
            self._read(builder, inner)
        builder.end(element)


def contents(node: Any) -> list[Any]:
    """The text and the nodes within a node, in order."""
    found: list[Any] = [node.text] if node.text else []
    for child in node:
        found.append(child)
        if child.tail:
            found.append(child.tail)
    return found


def append_pieces(parent: Any, pieces: Sequence[Piece], *, before: Any = None, move: bool = True) -> None:
    """Write pieces into a node, at its end or before one of its children.

    Args:
        parent: the node.
        pieces: text and tags.
        before: the child before which they go; None is the end.
        move: nodes without words are moved here with everything in them; False copies them.
    """
    stack = [parent]

    def place_for_more() -> Any:
        """The child after which the next piece goes, None if it is the first."""
        if before is not None and len(stack) == 1:
            return before.getprevious()
        return stack[-1][-1] if len(stack[-1]) else None

    for piece in pieces:
        if isinstance(piece, str):
            last = place_for_more()
            if last is None:
                stack[-1].text = (stack[-1].text or "") + printable(piece)
            else:
                last.tail = (last.tail or "") + printable(piece)
        elif piece.part is Part.CLOSE and not piece.element.free:
            stack.pop()
        else:
            for node in _nodes(piece, move=move):
                if before is not None and len(stack) == 1:
                    before.addprevious(node)
                else:
                    stack[-1].append(node)
                if piece.part is Part.OPEN and not piece.element.free:
                    stack.append(node)


def _nodes(tag: Tag, *, move: bool) -> list[Any]:
    """The nodes that a tag stands for: those of the source, or a copy of a start tag."""
    origin = tag.element.origin
    marks = origin if isinstance(origin, tuple) else (origin,)
    if tag.part is Part.WHOLE:
        return [_own(node, move=move) if move else _copy(node, tag.element) for node in marks]
    if tag.element.free:
        return [_own(marks[0 if tag.part is Part.OPEN else -1], move=move)]
    node = deepcopy(origin)
    attributes = dict(node.attrib)
    node.clear()
    for name, value in attributes.items():
        if tag.first or name not in ("id", "{http://www.w3.org/XML/1998/namespace}id"):
            node.set(name, value)
    return [node]


def _copy(node: Any, element: Element) -> Any:
    """A copy of a node without words and what is within it, but for marks of pairs: those have places of their own."""
    copy = _own(node, move=False)
    inner = {id(item.origin) for item in element.walk()}
    for original, copied in list(zip(node.iter(), copy.iter(), strict=True)):
        if local_name(original) in MARKS and id(original) not in inner and original is not node:
            copied.getparent().remove(copied)
    return copy


def _own(node: Any, *, move: bool) -> Any:
    """A node, or a copy of it, without what follows it, and out of its tree."""
    if not move:
        node = deepcopy(node)
    elif (parent := node.getparent()) is not None:
        parent.remove(node)
    node.tail = None
    return node


def emptied(node: Any) -> None:
    """Take everything out of a node but its attributes."""
    node.text = None
    for child in list(node):
        node.remove(child)


def printable(text: str) -> str:
    """Text that XML can hold."""
    return NOT_XML.sub("\ufffd", text)
