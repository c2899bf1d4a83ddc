"""HTML pages: a segment is what a block element holds between its tags and those of other blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Any

from weft.applications.arranging import Piece
from weft.applications.documents.charset import UTF8_MARK, encoding_of, name_encoding
from weft.applications.documents.direction import set_page_direction
from weft.applications.documents.inline import NOTE_MARK, DocumentSegment, Languages
from weft.applications.documents.trees import (
    InlineContent,
    Role,
    append_pieces,
    contents,
    has_crlf,
    local_name,
    lxml_etree,
    parse_xml,
    printable,
    with_line_ends,
    xml_bytes,
)
from weft.applications.markup import LINKS, Element, Markup
from weft.errors import FormatError
from weft.text.lines import decode_text, is_utf16

# Elements that stand among words; all others are blocks.
_AROUND = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "button",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "rb",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
    ]
)
_OPAQUE = frozenset(
    "area audio br canvas embed iframe img input link map math meta meter noscript object "  # noqa: SIM905
    "output picture progress script select style svg template textarea video wbr".split()
)
_NOT_TRANSLATED = frozenset({"pre", "listing", "xmp"})
# Attributes that people read, on every element and on some.
_READ = ("title", "alt", "placeholder", "aria-label")
_READ_ON = {"optgroup": ("label",), "option": ("label",)}
_BUTTONS = frozenset({"submit", "button", "reset"})
# Elements that hold text beside the sentences of the page.
_FIELDS = frozenset({"option", "textarea"})
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_WHOLE_PAGE = re.compile(rb"<(?:!doctype|html|head|body)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Place:
    """Inline content of a block: its text and nodes, and the block before which it ends."""

    parent: Any
    items: tuple[Any, ...]
    before: Any

    @property
    def nodes(self) -> list[Any]:
        """The nodes without the text."""
        return [item for item in self.items if not isinstance(item, str)]

    @property
    def blanks(self) -> tuple[str, str]:
        """The whitespace before and after it."""
        first, last = (item if isinstance(item, str) else "" for item in (self.items[0], self.items[-1]))
        return first[: len(first) - len(first.lstrip())], last[len(last.rstrip()) :]

    def fill(self, pieces: Sequence[Piece]) -> None:
        """Put a translated segment here."""
        for node in self.nodes:
            self.parent.remove(node)
        previous = self.before.getprevious() if self.before is not None else next(reversed(self.parent), None)
        if previous is None:
            self.parent.text = None
        else:
            previous.tail = None
        first, last = self.blanks
        append_pieces(self.parent, [first, *pieces, last], before=self.before)


@dataclass(frozen=True, slots=True)
class _Aside:
    """Text that people read beside the sentences of a page: an attribute, or what is in a field, named after it."""

    node: Any
    name: str

    @property
    def text(self) -> str:
        """The text in one line."""
        return " ".join((self.node.text if self._in_field else self.node.get(self.name)).split())

    @property
    def _in_field(self) -> bool:
        return self.name in _FIELDS

    def fill(self, text: str) -> None:
        """Put a translation in its place."""
        if not self._in_field:
            self.node.set(self.name, text)
            return
        if self.name == "option" and self.node.get("value") is None:
            self.node.set("value", self.text)  # so that the form sends what it did
        self.node.text = text


class HtmlDocument:
    """A page, or a part of one; what stands in attributes and fields comes behind all other segments."""

    def __init__(self, data: bytes, name: str, languages: Languages, *, xml: bool = False) -> None:
        if not xml and is_utf16(data):  # XML says itself what it is in, and is written in that
            data = decode_text(data, name).encode("utf-8")
        self._whole = xml or _WHOLE_PAGE.search(data[:100_000]) is not None
        self._xml = xml
        self._crlf = has_crlf(data)
        self._has_doctype = b"<!doctype" in data[:100_000].lower()
        self._tree = _with_characters(parse_xml(data, name)) if xml else _parse(data, name, whole=self._whole)
        self._target = languages.target
        root = self._tree.getroot()
        self.language = None if self._target else root.get("lang") or root.get(_XML_LANGUAGE)
        if self._target and self._whole:
            _state_language(root, self._target)
        inline = InlineContent(_element_of, _role_of)
        found = [(place, inline.markup(place.items)) for place in _places(self._tree.getroot())]
        self._places = [place for place, markup in found if markup.text.strip()]
        self._asides = list(_asides(self._tree.getroot()))
        self.segments = [DocumentSegment(markup) for _, markup in found if markup.text.strip()]
        self.segments += [DocumentSegment(Markup(aside.text, ()), attribute=aside.name) for aside in self._asides]
        self._filled: list[tuple[_Place, Sequence[Piece]]] = []

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Take in a translated segment."""
        if number < len(self._places):
            # Tags are copied when they are put among words, so attributes have to be there first.
            self._filled.append((self._places[number], pieces))
        else:
            text = "".join(piece for piece in pieces if isinstance(piece, str))
            self._asides[number - len(self._places)].fill(printable(text))
        return []

    def written(self) -> bytes:
        """The page."""
        texts = [
            (place.parent, "".join(piece for piece in pieces if isinstance(piece, str)))
            for place, pieces in self._filled
        ]
        set_page_direction(self._tree.getroot(), texts, self._target, whole=self._whole)
        for place, pieces in self._filled:
            place.fill(pieces)
        self._filled.clear()
        if self._xml:
            return xml_bytes(self._tree, crlf=self._crlf)
        return with_line_ends(self._html(), crlf=self._crlf)

    def _html(self) -> bytes:
        etree = lxml_etree()
        root, info = self._tree.getroot(), self._tree.docinfo
        encoding = info.encoding or "utf-8"
        name_encoding(root, encoding)
        if not self._whole:
            [body] = root.iter("body")
            parts = [(body.text or "").encode(encoding, "xmlcharrefreplace")]
            parts += [etree.tostring(child, method="html", encoding=encoding) for child in body]
            return b"".join(parts)
        doctype = info.doctype if self._has_doctype else None
        page: bytes = etree.tostring(root, method="html", encoding=encoding, doctype=doctype)
        return page + b"\n"


def _parse(data: bytes, name: str, *, whole: bool) -> Any:
    etree = lxml_etree()
    parser = etree.HTMLParser(encoding=encoding_of(data), no_network=True, huge_tree=False)
    data = data.removeprefix(UTF8_MARK)
    tree = etree.fromstring(data if whole else b"<html><body>" + data + b"</body></html>", parser)
    if tree is None:
        raise FormatError(name, None, "the page is empty.")
    for problem in parser.error_log:
        if "depth" in problem.message or problem.level_name == "FATAL":
            raise FormatError(name, problem.line, f"this page cannot be read: {problem.message}.")
    return tree.getroottree()


def _state_language(root: Any, language: str) -> None:
    """Name another language on a page, and within it wherever the old one is named again around what is translated."""
    old = (root.get("lang") or root.get(_XML_LANGUAGE) or "").lower()
    root.set("lang", language)
    if root.get(_XML_LANGUAGE):
        root.set(_XML_LANGUAGE, language)
    waiting = list(root) if old else []
    while waiting:
        node = waiting.pop()
        if not local_name(node) or local_name(node) in _NOT_TRANSLATED or node.get("translate") == "no":
            continue
        for name in ("lang", _XML_LANGUAGE):
            if node.get(name, "").lower() == old:
                node.set(name, language)
        waiting += node


def _with_characters(tree: Any) -> Any:
    """A tree of XHTML with the characters that its references, such as `&nbsp;`, stand for."""
    for node in list(tree.iter(lxml_etree().Entity)):
        character = html5.get(f"{node.name};")
        if character is None:
            continue
        parent, previous = node.getparent(), node.getprevious()
        text = character + (node.tail or "")
        if previous is None:
            parent.text = (parent.text or "") + text
        else:
            previous.tail = (previous.tail or "") + text
        node.tail = None
        parent.remove(node)
    return tree


def _element_of(node: Any) -> Element:
    name = local_name(node) or "!--"
    is_link = name in LINKS
    return Element(name, {}, nests=not is_link, may_be_empty=not is_link)


def _role_of(node: Any) -> Role:
    is_note = local_name(node) == "sup" and NOTE_MARK.fullmatch("".join(node.itertext())) and len(node)
    return Role.AROUND if (local_name(node) in _AROUND or "-" in local_name(node)) and not is_note else Role.CODE


def _asides(root: Any) -> Iterator[_Aside]:
    """Attributes that people read and the texts of fields, in the order of the page."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not local_name(node) or node.get("translate") == "no":
            continue
        yield from (_Aside(node, name) for name in _read_attributes(node) if node.get(name, "").strip())
        text = (node.text or "").strip()
        # Lines of a text area cannot be one segment, nor can what holds tags.
        if local_name(node) in _FIELDS and text and "\n" not in text and not len(node):
            yield _Aside(node, local_name(node))
        waiting += reversed(node)


def _read_attributes(node: Any) -> tuple[str, ...]:
    """The names of the attributes of a node that people read."""
    name = local_name(node)
    if name == "meta" and node.get("name", "").lower() == "description":
        return ("content",)
    if name == "input" and node.get("type", "").lower() in _BUTTONS:
        return (*_READ, "value")
    return (*_READ, *_READ_ON.get(name, ()))


def _is_inline(node: Any) -> bool:
    """Whether a node stands among words; one that holds blocks is a block itself."""
    name = local_name(node)
    if name == "noscript":
        return not _has_words(node)
    if not name or name in _OPAQUE:
        return True
    return (name in _AROUND or "-" in name) and all(map(_is_inline, node))


def _has_words(node: Any) -> bool:
    """Whether a node holds text, and not only a picture that counts visitors, or a style."""
    if not local_name(node) or local_name(node) in ("script", "style"):
        return False
    return bool((node.text or "").strip()) or any(_has_words(child) or (child.tail or "").strip() for child in node)


def _places(block: Any) -> Iterator[_Place]:
    """The inline content of a block and of all blocks within it, in the order of the page."""
    waiting = [block]
    while waiting:
        block = waiting.pop()
        if not isinstance(block, _Place):
            waiting += reversed(list(_parts(block)))
        else:
            yield block


def _parts(block: Any) -> Iterator[Any]:
    """The blocks within a block, and what stands between them."""
    if local_name(block) in _NOT_TRANSLATED or block.get("translate") == "no":
        return
    items: list[Any] = []
    for item in contents(block):
        if isinstance(item, str) or _is_inline(item):
            items.append(item)
            continue
        if items:
            yield _Place(block, tuple(items), item)
            items = []
        yield item
    if items:
        yield _Place(block, tuple(items), None)
