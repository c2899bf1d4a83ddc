"""Paragraphs of Word: runs with formatting, links and fields as elements, and back again.

A run is formatted as a whole. The plainest formatting in a paragraph is the paragraph's own, and stretches with another
one are elements. Whatever else stands among the runs (pictures, notes, bookmarks, breaks) is carried as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from weft.applications.arranging import Part, Piece, Tag
from weft.applications.documents.direction import paragraph_is_leftward
from weft.applications.documents.inline import NOTE_MARK, TextBuilder, trimmed, without_hollow
from weft.applications.documents.runs import (
    WORD,
    is_off,
    look,
    name_of,
    properties_of,
    run_of,
    set_direction,
    takes_away,
    text_run,
)
from weft.applications.documents.trees import local_name, lxml_etree
from weft.applications.markup import Element

# What may stand around runs, and holds text to translate.
_AROUND = frozenset({"hyperlink", "ins", "moveTo", "smartTag", "customXml", "fldSimple", "bdo", "dir", "sdt"})
# Marks that begin something, and those that end it; both have the same w:id.
_PAIRS = {
    "bookmarkStart": "bookmarkEnd",
    "commentRangeStart": "commentRangeEnd",
    "permStart": "permEnd",
    "moveToRangeStart": "moveToRangeEnd",
}
_ENDS = frozenset(_PAIRS.values())
# Left by spelling checkers and page breaks of the last printout: true of the old text only.
_DROPPED = frozenset({"proofErr", "lastRenderedPageBreak"})
_CHARACTERS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_PARTING = frozenset({"tab", "br", "cr", "ptab"})
# What readers take for emphasis, and not for the look of the whole text.
_EMPHASIS = frozenset(
    {"rStyle", "b", "i", "caps", "smallCaps", "strike", "color", "highlight", "u", "bdr", "shd", "vertAlign"}
)


class Paragraph:
    """A paragraph: its markup, and its node, into which a translation can be put; `translated` is then its text."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._base = _plainest(node)
        self._builder = TextBuilder()
        self._format: Element | None = None
        self._fields: list[Element] = []
        self._begun: dict[tuple[str, str], Element] = {}
        for child in node:
            self._read(child)
        self._change_format(None)
        self.markup = trimmed(self._builder.built())
        self.translated = ""

    def _read(self, node: Any) -> None:
        name = local_name(node)
        if name == "r":
            self._read_run(node)
        elif name in _AROUND:
            self._change_format(None)
            element = Element(name, {}, nests=name != "hyperlink", may_be_empty=False, origin=node)
            self._builder.start(element)
            for child in _content(node):
                self._read(child)
            self._change_format(None)
            self._builder.end(element)
        elif name in _PAIRS:
            element = self._begun[_PAIRS[name], node.get(f"{WORD}id")] = Element(
                name, {}, alone=True, origin=([node], [])
            )
            self._builder.begin(element)
        elif name in _ENDS and (begun := self._begun.pop((name, node.get(f"{WORD}id")), None)):
            begun.origin[1].append(node)
            self._builder.finish(begun)
        elif name not in _DROPPED and name != "pPr":
            self._point(name or "comment", node)

    def _point(self, name: str, node: Any) -> None:
        if name in _PARTING:
            self._builder.part()
        self._builder.point(Element(name, {}, alone=True, breaks=name in _PARTING, origin=([node], [])))

    def _read_run(self, run: Any) -> None:
        properties = properties_of(run)
        for child in run:
            name = local_name(child)
            if name in ("t", *_CHARACTERS):
                text = child.text or "" if name == "t" else _CHARACTERS[name]
                if self._inside_code():
                    self._fields[-1].origin[0].append((properties, child))
                elif _is_note_mark(run, properties, text):
                    self._point("note mark", (properties, child))
                else:
                    if text.strip():
                        self._change_format(properties)
                    self._builder.add(text)
            elif name == "fldChar":
                self._read_field(child.get(f"{WORD}fldCharType"), (properties, child))
            elif name not in _DROPPED and name != "rPr":
                if self._inside_code():
                    self._fields[-1].origin[0].append((properties, child))
                else:
                    self._point(name, (properties, child))

    def _inside_code(self) -> bool:
        """Whether what is read is the code of a field, not its result."""
        return bool(self._fields) and self._fields[-1].name == "code of a field"

    def _read_field(self, kind: str | None, node: Any) -> None:
        """A field: code from its begin to its separator, then the result that readers see, then its end."""
        if kind == "begin":
            if self._inside_code():
                self._fields[-1].attributes["depth"] += "+"
                self._fields[-1].origin[0].append(node)
                return
            element = Element("code of a field", {"depth": ""}, alone=True, origin=([node], []))
            self._builder.begin(element)
            self._fields.append(element)
        elif not self._fields:
            self._point("fldChar", node)
        elif self._inside_code():
            field = self._fields[-1]
            field.origin[0].append(node)
            if field.attributes["depth"] and kind == "end":
                field.attributes["depth"] = field.attributes["depth"][1:]
            elif not field.attributes["depth"]:
                field.name = "field"
                if kind == "end":
                    self._fields.pop()
        elif kind == "end":
            field = self._fields.pop()
            field.origin[1].append(node)
            self._builder.finish(field)
        else:
            self._point("fldChar", node)

    def _change_format(self, properties: Any | None) -> None:
        """End the stretch of text with a formatting of its own, if another one begins; None is the paragraph's own."""
        if properties is None or look(properties) == look(self._base):
            properties = None
        elif self._format is not None and look(self._format.origin) == look(properties):
            return
        if self._format is not None:
            self._builder.end(self._format)
            self._format = None
        if properties is not None:
            self._format = Element(name_of(properties), {}, minor=takes_away(properties), origin=properties)
            self._builder.start(self._format)

    def fill(self, pieces: Sequence[Piece]) -> list[str]:
        """Put a translation in the place of the text, and name the formattings of no words, which no run can have."""
        pieces, lost = without_hollow(pieces, _is_formatting)
        for child in list(self._node):
            if local_name(child) != "pPr":
                self._node.remove(child)
        self.translated = "".join(piece for piece in pieces if isinstance(piece, str))
        stack, formats = [self._node], [self._base]
        for piece in _without_blanks_at_breaks(pieces):
            if isinstance(piece, str):
                stack[-1].append(text_run(piece, formats))
            elif isinstance(piece.element.origin, tuple):
                stack[-1].extend(_marks(piece))
            elif _is_formatting(piece.element):
                formats = _changed(formats, piece)
            else:
                _enter_or_leave(stack, piece)
        return lost

    def set_direction(self, *, document: bool) -> None:
        """Let the translation run the way it is written; `document` says whether most of the text runs leftward.

        Numbers and names in a table begin on the same side as the other cells of their columns.
        """
        in_table = next(self._node.iterancestors(f"{WORD}tc"), None) is not None
        leftward = paragraph_is_leftward(self.translated, document) or (document and in_table)
        set_direction(self._node, leftward=leftward)


def _is_formatting(element: Element) -> bool:
    return not isinstance(element.origin, tuple) and local_name(element.origin) == "rPr"


def _without_blanks_at_breaks(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces without blanks before and after line breaks and tabs, where a program would show them."""
    kept = list(pieces)
    for number, piece in enumerate(kept):
        if isinstance(piece, Tag) and piece.element.name in _PARTING:
            for neighbours, strip in (
                (range(number - 1, -1, -1), str.rstrip),
                (range(number + 1, len(kept)), str.lstrip),
            ):
                nearest = next((place for place in neighbours if isinstance(kept[place], str)), None)
                if nearest is not None:
                    kept[nearest] = strip(str(kept[nearest]), " ")
    return [piece for piece in kept if piece]


def _changed(formats: list[Any], tag: Tag) -> list[Any]:
    """The formattings that hold after a tag."""
    properties = tag.element.origin
    return [item for item in formats if item is not properties] if tag.part is Part.CLOSE else [*formats, properties]


def _enter_or_leave(stack: list[Any], tag: Tag) -> None:
    """Open a node around runs, close it, or put in one without words."""
    if tag.part is Part.CLOSE:
        stack.pop()
        if local_name(stack[-1]) == "sdt":
            stack.pop()
    elif tag.part is Part.WHOLE:
        stack[-1].append(_freed(tag.element.origin))
    else:
        stack += _opened(stack[-1], tag.element.origin)


def _content(node: Any) -> list[Any]:
    """What stands within a node around runs, without its properties."""
    inner = next((child for child in node if local_name(child) == "sdtContent"), None)
    return [child for child in (node if inner is None else inner) if not local_name(child).endswith("Pr")]


def _opened(parent: Any, origin: Any) -> list[Any]:
    """A copy of a node around runs, without the runs, put into its new parent; the last one takes what follows."""
    node = lxml_etree().SubElement(parent, origin.tag, dict(origin.attrib))
    for child in origin:
        if local_name(child).endswith("Pr"):
            node.append(deepcopy(child))
    if local_name(origin) == "sdt":
        return [node, lxml_etree().SubElement(node, f"{WORD}sdtContent")]
    return [node]


def _marks(tag: Tag) -> list[Any]:
    """The nodes of a mark: all of it, or its beginning or end."""
    opening, closing = tag.element.origin
    nodes = {Part.OPEN: opening, Part.CLOSE: closing, Part.WHOLE: [*opening, *closing]}[tag.part]
    return [_freed(node) for node in nodes]


def _freed(node: Any) -> Any:
    """A node out of its tree; what was in a run gets a run of its own."""
    if isinstance(node, tuple):
        return run_of(*node)
    if node.getparent() is not None:
        node.getparent().remove(node)
    return node


def _is_note_mark(run: Any, properties: Any, text: str) -> bool:
    """Whether a run is a raised number with a link, as programs without notes write them."""
    values = {local_name(item): item.get(f"{WORD}val", "") for item in properties}
    position = values.get("position", "")
    raised = values.get("vertAlign") == "superscript" or (position.isdecimal() and int(position) > 0)
    return raised and local_name(run.getparent()) == "hyperlink" and NOTE_MARK.fullmatch(text) is not None


def _plainest(paragraph: Any) -> Any:
    """The properties that most characters have, among those that emphasise least."""
    counts: Counter[bytes] = Counter()
    known: dict[bytes, Any] = {}
    for run in paragraph.iter(f"{WORD}r"):
        if next(run.iterancestors(f"{WORD}p")) is not paragraph:
            continue  # of a text box within the paragraph
        properties = properties_of(run)
        length = sum(len((text.text or "").strip()) for text in run.iterchildren(f"{WORD}t"))
        if length:
            counts[look(properties)] += length
            known.setdefault(look(properties), properties)

    def rank(key: bytes) -> tuple[int, int]:
        return sum(local_name(item) in _EMPHASIS and not is_off(item) for item in known[key]), -counts[key]

    return known[min(counts, key=rank)] if counts else lxml_etree().Element(f"{WORD}rPr")
