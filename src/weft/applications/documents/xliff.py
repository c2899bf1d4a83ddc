"""XLIFF 1.2 and 2.x, the files of translation tools: sources with inline codes, and targets beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.applications.arranging import Piece
from weft.applications.documents.inline import DocumentSegment, Languages, TextBuilder
from weft.applications.documents.trees import (
    InlineContent,
    Role,
    append_pieces,
    contents,
    emptied,
    has_crlf,
    local_name,
    lxml_etree,
    parse_xml,
    xml_bytes,
)
from weft.applications.markup import Element, place_mark
from weft.applications.placeholders import PLACEHOLDER
from weft.errors import FormatError

# Elements around words; everything else among words stands for code.
_AROUND = frozenset({"g", "pc", "mrk", "hi"})
# Codes that have no partner, and attributes that say what they look like in the text.
_LONE_CODES = frozenset({"ph", "x", "it"})
_BREAKS = frozenset({"lb", "pb", "xlf:lb", "xlf:pb"})
_DESCRIPTIONS = ("equiv-text", "disp", "equiv")
_LINE_BREAK = re.compile(
    r"[<\[{]?\s*(?:br|lb|line[ _-]?break|page[ _-]?break|new[ _-]?line|tab)\s*/?[>\]}]?|\\[nrt]", re.IGNORECASE
)
_WITHIN_WORDS = re.compile(r"[<\[{&]?\s*(?:wbr|shy|soft[ _-]?hyphen)\s*/?[>\]};]?|[\u00ad\u200b-\u200d]", re.IGNORECASE)
# How Phrase writes codes into its texts: {1>bold<1}, {b>bold<b}, {2}, and {j} where segments were joined.
_CODE_IN_TEXT = re.compile(
    r"\{(?P<bpt>\d{1,4}|[A-Za-z_^]{1,3})>|<(?P<ept>\d{1,4}|[A-Za-z_^]{1,3})\}|\{(?P<ph>\d{1,4}|j)\}"
)
# What a target says of itself before it is translated.
_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})


class _CodesInText(TextBuilder):
    """Builds markup from text that has codes as Phrase writes them."""

    def add(self, text: str) -> None:
        """Take in text and the codes in it."""
        position = 0
        for found in _CODE_IN_TEXT.finditer(text):
            super().add(text[position : found.start()])
            self._add_code(str(found.lastgroup), found)
            position = found.end()
        super().add(text[position:])

    def _add_code(self, name: str, found: re.Match[str]) -> None:
        joins = found[name] == "j"
        if joins:
            self.part()
        element = Element(name, {"id": found[name]}, alone=True, code=(found[0], ""), breaks=joins)
        paired = place_mark(self, element)
        if paired is not element:
            paired.name = paired.opening()  # as people know it


def inline_codes(*, second: bool = False, in_text: bool = False) -> InlineContent:
    """How XLIFF and TMX write inline content; `second` is XLIFF 2, and `in_text` the XLIFF of Phrase."""
    role_of = _role_in_second if second else _role_of
    return InlineContent(_element_of, role_of, _CodesInText if in_text else TextBuilder)


def _element_of(node: Any) -> Element:
    name = local_name(node) or "!--"
    attributes = dict(node.attrib) if name != "!--" else {}
    is_lone = name in _LONE_CODES
    said = _said(node) if is_lone else ()
    is_break = any(attributes.get(key) in _BREAKS for key in ("ctype", "type", "subType"))
    return Element(
        name,
        attributes,
        cuttable=name == "hi",
        breaks=is_lone and (is_break or any(map(_LINE_BREAK.fullmatch, said))),
        stands_for=next((text for text in said if PLACEHOLDER.fullmatch(text)), ""),
    )


def _said(node: Any) -> tuple[str, ...]:
    """What a code holds, what it says it looks like, and the original that it refers to."""
    written = ("".join(node.itertext()), *(node.get(name, "") for name in _DESCRIPTIONS), _original(node))
    return tuple(text.strip() for text in written)


def _original(node: Any) -> str:
    """What a code of XLIFF 2 was in the original, which its unit keeps in one place for all of them."""
    key = node.get("dataRef")
    unit = None if key is None else next(node.iterancestors("{*}unit"), None)
    if unit is None:
        return ""
    return next(("".join(data.itertext()) for data in unit.iter("{*}data") if data.get("id") == key), "")


def _role_of(node: Any) -> Role:
    return Role.AROUND if local_name(node) in _AROUND else Role.CODE


def _role_in_second(node: Any) -> Role:
    """As in the first version, where `<ph>` may be formatting; here it is a thing that has no words in it."""
    if local_name(node) == "ph" and not any(map(_WITHIN_WORDS.fullmatch, _said(node))):
        return Role.THING
    return _role_of(node)


def segment_of(inline: InlineContent, source: Any, target: Any | None) -> DocumentSegment:
    """A segment with the translation that stands beside it, if one does."""
    markup = inline.markup(contents(source))
    given = None if target is None else inline.markup(contents(target))
    if given is None or not given.text.strip():
        return DocumentSegment(markup)
    wanted, found = (
        Counter((item.name, item.attributes.get("id"), item.free) for item in side.elements) for side in (markup, given)
    )
    return DocumentSegment(markup, given.text.strip(), done=wanted == found)


@dataclass(frozen=True, slots=True)
class _Unit:
    """Where a source stands, and where its target goes: into `holder`, after the last of `after`."""

    source: Any
    holder: Any
    after: tuple[str, ...]
    key: str | None = None


class XliffDocument:
    """An XLIFF file."""

    language: str | None = None  # it does not go on naming that of the original

    def __init__(self, data: bytes, name: str, languages: Languages, *, codes_in_text: bool = False) -> None:
        self._tree = parse_xml(data, name)
        self._crlf = has_crlf(data)
        root = self._tree.getroot()
        version = root.get("version", "")
        if local_name(root) != "xliff" or version[:2] not in ("1.", "2."):
            raise FormatError(name, None, "expected an <xliff> of version 1.2 or 2.x.")
        self._languages = languages
        self._second = version.startswith("2.")
        self._inline = inline_codes(second=self._second, in_text=codes_in_text)
        units = [
            unit for unit in (_segments(root) if self._second else _trans_units(root)) if _translatable(unit.holder)
        ]
        found = [(unit, segment_of(self._inline, unit.source, self._target(unit))) for unit in units]
        self._units = [unit for unit, segment in found if segment.text]
        self.segments = [segment for _, segment in found if segment.text]

    def _target(self, unit: _Unit) -> Any | None:
        target = _child(unit.holder, "target")
        if unit.key is None or target is None:
            return target
        return next((node for node in target.iter() if _is_segment(node) and node.get("mid") == unit.key), None)

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Write the target of a unit."""
        unit = self._units[number]
        target = self._target(unit)
        if target is None:
            target = _new_target(unit)
        emptied(target)
        # Codes that are text have no nodes.
        written = (
            piece if isinstance(piece, str) or piece.element.origin is not None else piece.literal for piece in pieces
        )
        append_pieces(target, list(written), move=False)
        for node in (target, unit.holder):
            if node.get("state") in _UNTRANSLATED:
                node.set("state", "translated")
        return []

    def written(self) -> bytes:
        """The file."""
        root = self._tree.getroot()
        if self._second and root.get("trgLang") is None:
            root.set("trgLang", self._languages.target or "und")
        elif not self._second and self._languages.target is not None:
            for file in root.iter("{*}file"):
                file.set("target-language", self._languages.target)
        return xml_bytes(self._tree, crlf=self._crlf)


def _trans_units(root: Any) -> Iterator[_Unit]:
    """The units of XLIFF 1.2; one that is segmented gives its segments."""
    for holder in root.iter("{*}trans-unit"):
        source, segmented = _child(holder, "source"), _child(holder, "seg-source")
        if source is None:
            continue
        parts = [] if segmented is None else [node for node in segmented.iter() if _is_segment(node)]
        for part in parts:
            yield _Unit(part, holder, ("source", "seg-source"), part.get("mid", ""))
        if not parts:
            yield _Unit(source, holder, ("source", "seg-source"))


def _segments(root: Any) -> Iterator[_Unit]:
    """The segments of XLIFF 2."""
    for holder in root.iter("{*}segment"):
        source = _child(holder, "source")
        if source is not None:
            yield _Unit(source, holder, ("source",))


def _is_segment(node: Any) -> bool:
    return local_name(node) == "mrk" and node.get("mtype") == "seg"


def _child(node: Any, name: str) -> Any | None:
    return next((child for child in node if local_name(child) == name), None)


def _translatable(node: Any) -> bool:
    """Whether nothing around it says that it is not to be translated; the innermost word counts."""
    while node is not None:
        if node.get("translate") is not None:
            return bool(node.get("translate") != "no")
        node = node.getparent()
    return True


def _new_target(unit: _Unit) -> Any:
    """A target where the schema wants it; a unit in segments gets all of them, the others as they are in the source."""
    etree = lxml_etree()
    target = _child(unit.holder, "target")
    if target is None:
        last = next(node for name in reversed(unit.after) if (node := _child(unit.holder, name)) is not None)
        target = etree.Element(f"{{{etree.QName(last).namespace}}}target" if etree.QName(last).namespace else "target")
        target.tail = last.tail
        last.addnext(target)
        # Whitespace between nodes stays where it was: before the target as after it.
        last.tail = target.tail
    if unit.key is None:
        return target
    node = etree.SubElement(target, unit.source.tag, dict(unit.source.attrib))
    return node
