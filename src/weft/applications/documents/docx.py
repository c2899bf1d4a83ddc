"""DOCX: the package of parts, opened without risk, and the paragraphs in it."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from weft.applications.arranging import Piece
from weft.applications.documents.direction import document_is_leftward, leftward_language
from weft.applications.documents.inline import LARGEST, DocumentSegment, Languages
from weft.applications.documents.paragraphs import Paragraph
from weft.applications.documents.runs import WORD, mirror_tables
from weft.applications.documents.trees import lxml_etree, parse_xml
from weft.errors import FormatError
from weft.text.languages import primary_code

_TYPES = "[Content_Types].xml"
_MAIN = "document.main+xml"
# The kinds of parts with text, in the order in which their segments come.
_KINDS = (_MAIN, ".footnotes+xml", ".endnotes+xml", ".header+xml", ".footer+xml")
_STYLES = ".styles+xml"
_MACROS = "macroEnabled.main+xml"
_STRICT = "{http://purl.oclc.org/ooxml/"
_MOST_PARTS = 10_000
_OLE = b"\xd0\xcf\x11\xe0"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


class DocxDocument:
    """A file of Word, or of any program that writes its format."""

    def __init__(self, data: bytes, name: str, languages: Languages) -> None:
        self._language = languages.target
        self._parts = _unpacked(data, name)
        contents = _contents(self._parts, name)
        self._trees = {part: parse_xml(self._parts[part][1], name) for part in _text_parts(contents, self._parts, name)}
        _check_roots(self._trees, name)
        styles = [part for part, content in contents if content.endswith(_STYLES) and part in self._parts]
        self._styles = {part: parse_xml(self._parts[part][1], name) for part in styles}
        stated = _stated_language(self._styles.values())
        self.language = None if self._language else stated
        if self._language and stated:
            for tree in (*self._styles.values(), *self._trees.values()):
                _state_language(tree, stated, self._language)
        self._paragraphs: list[Paragraph] = []
        self.segments: list[DocumentSegment] = []
        for node in _paragraphs(self._trees.values()):
            paragraph = Paragraph(node)
            segment = DocumentSegment(paragraph.markup)
            if segment.text:
                self._paragraphs.append(paragraph)
                self.segments.append(segment)

    def fill(self, number: int, pieces: Sequence[Piece]) -> list[str]:
        """Put a translated paragraph in its place, and name the formattings that got no words."""
        return self._paragraphs[number].fill(pieces)

    def written(self) -> bytes:
        """The file; parts without text are as they were."""
        self._set_direction()
        etree = lxml_etree()
        # Styles are written anew only where they have another language.
        trees = {**self._trees, **(self._styles if self._language else {})}
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (info, data) in self._parts.items():
                if name in trees:
                    data = etree.tostring(trees[name], xml_declaration=True, encoding="UTF-8", standalone=True)
                archive.writestr(info, data, compress_type=info.compress_type)
        return file.getvalue()

    def _set_direction(self) -> None:
        """Let paragraphs and tables run the way that the translation does."""
        filled = [paragraph for paragraph in self._paragraphs if paragraph.translated]
        if not filled:
            return
        leftward = document_is_leftward((paragraph.translated for paragraph in filled), self._language)
        for paragraph in filled:
            paragraph.set_direction(document=leftward)
        for tree in self._trees.values():
            mirror_tables(tree, leftward=leftward)


def _paragraphs(trees: Iterator[Any] | Any) -> Iterator[Any]:
    """All paragraphs, also those in tables and text boxes; what is there twice, for older programs, is passed over."""
    for tree in trees:
        for node in tree.iter(f"{WORD}p"):
            if next(node.iterancestors(_FALLBACK), None) is None:
                yield node


def _unpacked(data: bytes, name: str) -> dict[str, tuple[zipfile.ZipInfo, bytes]]:
    """The parts of a package. What they say of their sizes is looked at before anything is unpacked."""
    if data.startswith(_OLE):
        message = "the file is protected by a password, or in the old .doc format. Save it as .docx without a password."
        raise FormatError(name, None, message)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            if any(info.flag_bits & 1 for info in infos):
                raise FormatError(name, None, "the file is encrypted. Save it without a password.")
            if sum(info.file_size for info in infos) > LARGEST:
                raise FormatError(name, None, f"unpacked, the file would have more than {LARGEST:,} bytes.")
            _check_names([info.filename for info in infos], name)
            return {info.filename: (info, archive.read(info)) for info in infos}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError) as error:
        raise FormatError(name, None, f"this is not a DOCX file, or it is damaged ({error}).") from error


def _check_names(parts: Sequence[str], name: str) -> None:
    if len(parts) > _MOST_PARTS:
        raise FormatError(name, None, f"the file has more than {_MOST_PARTS:,} parts.")
    if len({part.lower() for part in parts}) < len(parts):
        raise FormatError(name, None, "the file is damaged: two of its parts have the same name.")
    outside = [part for part in parts if part.startswith("/") or ".." in part.split("/") or "\\" in part]
    if outside:
        raise FormatError(name, None, f"the file is damaged: a part of it is called {outside[0]!r}.")


def _check_roots(trees: Mapping[str, Any], name: str) -> None:
    """Parts with text are of the usual kind of Word's format, not of the strict one, which has other names."""
    roots = [tree.getroot().tag for tree in trees.values()]
    if any(root.startswith(_STRICT) for root in roots):
        message = "the file is a Strict Open XML document. Save it as a Word document (.docx), without “strict”."
        raise FormatError(name, None, message)
    if not all(root.startswith(WORD) for root in roots):
        raise FormatError(name, None, "this is not a Word text document.")


def _text_parts(contents: Sequence[tuple[str, str]], parts: Container[str], name: str) -> list[str]:
    """The names of the parts that hold text."""
    kinds: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    with_macros = False
    for part, content in contents:
        with_macros = with_macros or content.endswith(_MACROS)
        for kind in _KINDS:
            if content.endswith(kind) and part in parts:
                kinds[kind].append(part)
    if with_macros:
        raise FormatError(name, None, "the file is a Word document with macros. Save it as .docx, which has none.")
    if not kinds[_MAIN]:
        raise FormatError(name, None, "this is not a Word text document.")
    return [part for kind in _KINDS for part in sorted(kinds[kind])]


def _contents(parts: dict[str, tuple[zipfile.ZipInfo, bytes]], name: str) -> list[tuple[str, str]]:
    """The parts that a package lists one by one, with what is in them."""
    if _TYPES not in parts:
        raise FormatError(name, None, "this is not a DOCX file: it does not list its parts.")
    listed = parse_xml(parts[_TYPES][1], name).getroot().iter("{*}Override")
    return [(override.get("PartName", "").lstrip("/"), override.get("ContentType", "")) for override in listed]


def _stated_language(styles: Iterable[Any]) -> str | None:
    """The language in which the text of a document is, as its styles say."""
    paths = (f".//{WORD}docDefaults//{WORD}lang", f"{WORD}style[@{WORD}default='1']/{WORD}rPr/{WORD}lang")
    found = [tree.getroot().find(path) for tree in styles for path in paths]
    return next((code for node in found if node is not None and (code := node.get(f"{WORD}val"))), None)


def _state_language(tree: Any, old: str, new: str) -> None:
    """Name another language wherever one is named; Word keeps those of some scripts in attributes of their own."""
    names = ["bidi"] if leftward_language(new) else ["val"]
    names += ["eastAsia"] if primary_code(new) in ("zh", "ja", "ko") else []
    for node in tree.iter(f"{WORD}lang"):
        if node.get(f"{WORD}val", "").lower() == old.lower():
            for name in names:
                node.set(f"{WORD}{name}", new)
