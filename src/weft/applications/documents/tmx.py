"""TMX, translation memories: units with one variant for each language, their codes inline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.applications.arranging import Piece
from weft.applications.documents.inline import Languages
from weft.applications.documents.trees import (
    append_pieces,
    emptied,
    has_crlf,
    local_name,
    lxml_etree,
    parse_xml,
    xml_bytes,
)
from weft.applications.documents.xliff import inline_codes, segment_of
from weft.errors import FormatError

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class TmxDocument:
    """A translation memory, of which two languages are looked at."""

    language: str | None = None  # it does not go on naming that of the original

    def __init__(self, data: bytes, name: str, languages: Languages) -> None:
        self._tree = parse_xml(data, name)
        self._crlf = has_crlf(data)
        root = self._tree.getroot()
        if local_name(root) != "tmx":
            raise FormatError(name, None, "expected a <tmx> file.")
        header = root.find("header")
        self._target = languages.target
        source = languages.source or (None if header is None else header.get("srclang"))
        self._units: list[tuple[Any, Any | None]] = []
        self.segments = []
        inline = inline_codes()
        for unit in root.iter("tu"):
            variants = [variant for variant in unit.findall("tuv") if variant.find("seg") is not None]
            if not variants:
                continue
            left = _of_language(variants, unit.get("srclang") or source)
            left = variants[0] if left is None else left
            others = [variant for variant in variants if variant is not left]
            right = _of_language(others, self._target) if self._target else _only(others, name, unit)
            segs = left.find("seg"), None if right is None else right.find("seg")
            segment = segment_of(inline, *segs)
            if segment.text:
                self._units.append((unit, segs[1]))
                self.segments.append(segment)
        if self._target is None and any(seg is None for _, seg in self._units):
            raise FormatError(
                name, None, "some units have no translation yet; name its language with `target_language`."
            )

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Write the variant of the other language."""
        unit, seg = self._units[number]
        if seg is None:
            etree = lxml_etree()
            variant = etree.SubElement(unit, "tuv", {_LANGUAGE: self._target})
            seg = etree.SubElement(variant, "seg")
            variant.tail = variant.getprevious().tail
        emptied(seg)
        append_pieces(seg, pieces, move=False)
        return []

    def written(self) -> bytes:
        """The file."""
        return xml_bytes(self._tree, crlf=self._crlf)


def _of_language(variants: Sequence[Any], language: str | None) -> Any | None:
    """The variant of a language; `de` is `de-AT` too."""
    wanted = (language or "").lower().replace("_", "-")
    for variant in variants:
        code = (variant.get(_LANGUAGE) or variant.get("lang") or "").lower().replace("_", "-")
        if wanted and (code == wanted or code.split("-")[0] == wanted or wanted.split("-")[0] == code):
            return variant
    return None


def _only(variants: Sequence[Any], name: str, unit: Any) -> Any | None:
    if len(variants) > 1:
        message = "a unit has several translations; choose a language with `target_language`."
        raise FormatError(name, unit.sourceline, message)
    return variants[0] if variants else None
