"""The rows of a file of sentence pairs: its lines, the whole rows of a CSV file, or the units of a TMX or XLIFF file.

A cell of a spreadsheet may hold line ends, and a translation memory is XML. Both are turned into one row for each pair
here, so that everything else, which reads line by line, can work with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from os import fspath
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from weft.errors import FormatError
from weft.text.lines import FilePath, FromUtf16, NamedCopy, decode, display_name, read_lines
from weft.text.translations import TRANSLATION

_CSV_NAME = re.compile(r"\.csv(\.(gz|xz|zst))?$", re.IGNORECASE)
_TSV_NAME = re.compile(r"\.tsv(\.(gz|xz|zst))?$", re.IGNORECASE)
_PO_NAME = re.compile(r"\.pot?(\.(gz|xz|zst))?$", re.IGNORECASE)
_UNITS_NAME = re.compile(r"\.(tmx|xlf|xliff|sdlxliff|mqxliff|mxliff)(\.(gz|xz|zst))?$", re.IGNORECASE)
# A quotation mark that is never closed must not swallow the rest of a file.
_MOST_LINES = 1000
_UTF16 = re.compile(rb"""(<\?xml[^>]*?)encoding\s*=\s*["'][uU][tT][fF]-?16["']""")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Elements of XLIFF and TMX that hold code or nothing. All others stand around words, also those of no standard: <b>.
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "x", "bx", "ex", "sc", "ec", "cp"})
_ROOTS = ("tmx", "xliff")
_TERM_ROOTS = ("martif", "tbx")
# A quoted cell that ends, and one that does not; a quotation mark elsewhere (5" screen) is a plain character.
_CLOSED = re.compile(rb'(^|[,;\t])"(?:[^"]|"")*"(?=[,;\t]|$)')
_OPEN = re.compile(rb'(?:^|[,;\t])"(?:[^"]|"")*$')
# The same where only tabs separate cells.
_QUOTED = re.compile(rb'(^|\t)"((?:[^"]|"")*)"(?=\t|$)')
_OPEN_AFTER_TAB = re.compile(rb'(?:^|\t)"(?:[^"]|"")*$')

DECLARED = re.compile(rb"<\?xml[^>]*?>|<(?:tmx|xliff)\b")
"""How the first line of a TMX or XLIFF file begins."""

UNITS = ("tu", "trans-unit", "unit")
"""The elements of TMX and XLIFF that hold a text and its translation."""

GETTEXT = (
    "this is a gettext PO file, which weft does not read. Convert it with translate-toolkit, as in po2tmx -l de "
    "FILE.po FILE.tmx, and name the TMX file."
)
"""What to say of the translations of a program."""


class CsvFile(NamedCopy):
    """A file that is CSV whatever its name, because somebody said so."""


def as_csv(path: FilePath) -> FilePath:
    """The same file, known to be CSV, so that everybody who reads it finds the same rows."""
    return path if is_csv(path) else CsvFile(display_name(path), fspath(path))


def refuse_po(path: FilePath) -> None:
    """Refuse a file whose name says that it holds the translations of a program."""
    if _PO_NAME.search(display_name(path)):
        raise FormatError(display_name(path), None, GETTEXT)


def is_csv(path: FilePath) -> bool:
    """Whether a file's name says that it is CSV, or somebody said so."""
    return isinstance(path, CsvFile) or bool(_CSV_NAME.search(display_name(path)))


def is_tsv(path: FilePath) -> bool:
    """Whether a file's name says that tabs separate its columns."""
    return bool(_TSV_NAME.search(display_name(path)))


def is_named_for_pairs(path: FilePath) -> bool:
    """Whether a file's name says that it holds sentence pairs: a table, a translation memory or XLIFF."""
    return is_csv(path) or is_named_for_units(path)


def is_named_for_units(path: FilePath) -> bool:
    """Whether a file's name says that it holds units: a translation memory or XLIFF."""
    return unit_ending(path) is not None


def unit_ending(path: FilePath) -> str | None:
    """The ending of a file's name that says that it holds units, as tmx; None for other names."""
    found = _UNITS_NAME.search(display_name(path))
    return found[1].lower() if found else None


def read_rows(path: FilePath) -> Iterator[bytes]:
    """Stream the rows of a file of sentence pairs; a file that cannot be read is an error at once.

    Units of TMX and XLIFF become JSON records with their texts, without codes, and their ids. In a file that is CSV, by
    its name or by `as_csv`, a quoted cell may go on over several lines. So it may in a table with tabs in UTF-16, which
    only spreadsheets write, and there the quotes are taken off. All other files are read by `read_lines`.

    Raises:
        FormatError: the file is XML, but not TMX or XLIFF that can be read.
    """
    return _rows(path, read_lines(path))


def read_named_rows(path: FilePath, *, is_table: bool) -> Iterator[bytes]:
    """The rows of a file in which fields are chosen by name. In a table, the first row has the names.

    Without a name that can be read there is nothing to choose, and the next row would be taken for the one with names.

    Args:
        path: the file.
        is_table: whether it is known to be one; otherwise its first line decides.

    Raises:
        FormatError: the names are not UTF-8.
    """
    rows = read_rows(path)
    first = next(rows, None)
    if first is not None:
        if is_table or (b"\t" in first and not first.startswith(b"{") and b"|||" not in first):
            decode(first, path, 1)
        yield from chain([first], rows)


def _rows(path: FilePath, lines: Iterator[bytes]) -> Iterator[bytes]:
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    if DECLARED.match(first.lstrip()):
        yield from _units(path, lines)
    elif is_csv(path):
        yield from _whole_rows(lines, _is_open)
    elif isinstance(first, FromUtf16) and _begins_table(first):
        yield from _spreadsheet_rows(lines)
    else:
        yield from lines


def _whole_rows(lines: Iterator[bytes], is_open: Callable[[list[bytes]], bool]) -> Iterator[bytes]:
    """Rows of CSV: a line in which a quoted cell is left open goes on in the next."""
    for line in lines:
        parts = [line]
        while is_open(parts) and len(parts) < _MOST_LINES and (more := next(lines, None)) is not None:
            parts.append(more)
        if len(parts) > 1 and is_open(parts):
            yield from parts  # nothing closes it: the lines are what they seem, and one of them is bad
        else:
            yield b"\n".join(parts)


def _is_open(parts: list[bytes]) -> bool:
    if b'"' not in parts[-1]:
        return len(parts) > 1  # an open cell stays open
    return bool(_OPEN.search(_CLOSED.sub(rb"\1", b" ".join(parts))))


def _begins_table(line: bytes) -> bool:
    """Whether the first line of a file is one with tabs, or the beginning of a cell with line ends."""
    return b"\t" in line or (line.startswith(b'"') and b" ||| " not in line)


def _is_open_after_tab(parts: list[bytes]) -> bool:
    if b'"' not in parts[-1]:
        return len(parts) > 1
    return bool(_OPEN_AFTER_TAB.search(_QUOTED.sub(rb"\1", b" ".join(parts))))


def _spreadsheet_rows(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Rows with tabs as Excel writes "Unicode Text": cells with quotes, tabs or line ends are quoted as in CSV."""
    begins = 1
    for whole in _whole_rows(lines, _is_open_after_tab):
        row = TableRow(_QUOTED.sub(_without_quotes, whole).replace(b"\n", b" "))
        row.begins, row.lines = begins, 1 + whole.count(b"\n")
        begins += row.lines
        yield row


def _without_quotes(cell: re.Match[bytes]) -> bytes:
    return cell[1] + cell[2].replace(b'""', b'"').replace(b"\t", b" ")


class PlacedRow(bytes):
    """A row which knows at which line of its file it begins."""

    begins: int


class TableRow(PlacedRow):
    """A row of a table without its quotes, which knows how many lines it takes in its file."""

    lines: int


class UnitRow(PlacedRow):
    """A unit of XML as a row, which knows which unit of its file it is, from 1."""

    unit: int


def without_utf16(line: bytes) -> bytes:
    """A line of UTF-8 that does not say it is UTF-16: who converts a file seldom changes what it says of itself."""
    return _UTF16.sub(rb"\1", line)


def with_lines(rows: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Each row of `read_rows` with the number of the line at which it begins in the file, from 1."""
    line = 1
    for row in rows:
        yield (row.begins if isinstance(row, PlacedRow) else line), row
        line += 1 + row.count(b"\n")


def _units(path: FilePath, lines: Iterator[bytes]) -> Iterator[bytes]:
    """The units of an XML file, each as a JSON record, while the file is being read."""
    parser: XMLPullParser[Element] = XMLPullParser(events=("start", "end"))
    # Newer versions of expat put off what they have not read to its end; then units would seem to begin too late.
    flush = getattr(parser, "flush", None) or (lambda: None)
    reading = _Reading(display_name(path))
    try:
        for reading.line, line in enumerate(lines, start=1):
            if not reading.open_elements:
                line = without_utf16(line)
                if b"<!ENTITY" in line:
                    raise FormatError(reading.name, None, "this XML declares entities, which weft does not read.")
            parser.feed(line + b"\n")
            flush()
            yield from _records(parser, reading)
        parser.close()
        yield from _records(parser, reading)
    except ParseError as error:
        raise FormatError(reading.name, error.position[0], f"this is not well-formed XML ({error}).") from error


class _Reading:
    """Where a reader of XML is: the line, the elements around, and the source language that a header has named."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = self.unit_begins = self.units = 0
        self.open_elements: list[Element] = []
        self.source_language = ""

    def begin(self, node: Element) -> None:
        """An element begins."""
        name = _name(node)
        if not self.open_elements and name not in _ROOTS:
            raise FormatError(self.name, None, _other_xml(name))
        if name == "header":
            self.source_language = node.get("srclang", "").lower()
        if name in UNITS:
            self.unit_begins = self.line
            self.units += 1
        self.open_elements.append(node)

    def row(self, record: dict[str, object]) -> bytes:
        """A record of the unit that ends here."""
        row = UnitRow(json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace"))
        row.begins, row.unit = self.unit_begins, self.units
        return row


def _records(parser: XMLPullParser[Element], reading: _Reading) -> Iterator[bytes]:
    for event, node in cast("Iterator[tuple[str, Element]]", parser.read_events()):
        if event == "start":
            reading.begin(node)
            continue
        reading.open_elements.pop()
        name = _name(node)
        if name == "tu":
            yield reading.row(_memory_unit(node, reading.source_language))
        elif name in UNITS and _translatable([*reading.open_elements, node]):
            yield from map(reading.row, _xliff_pairs(node))
        if name in UNITS:
            reading.open_elements[-1].remove(node)  # what is done needs no memory


def _other_xml(root: str) -> str:
    hint = " Export the terms as a table, such as CSV." if root in _TERM_ROOTS else ""
    return f"this is XML with the root <{root}>; weft can only read TMX and XLIFF.{hint}"


def _name(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def _child(node: Element, name: str) -> Element | None:
    return next((child for child in node if _name(child) == name), None)


def _memory_unit(unit: Element, source: str) -> dict[str, object]:
    """A unit of TMX: its texts by language, that of the source language first."""
    texts: dict[str, str] = {}
    for variant in unit:
        language = variant.get(_LANGUAGE) or variant.get("lang") or ""
        seg = _child(variant, "seg")
        if _name(variant) == "tuv" and language and seg is not None:
            texts.setdefault(language, _text(seg))
    source = unit.get("srclang", source).lower()
    ordered = sorted(texts, key=lambda code: code.lower() != source and code.lower().split("-")[0] != source)
    named = {"id": unit.get("tuid")} if unit.get("tuid") else {}
    if not texts:
        return {**named, "source": "", "target": ""}
    return {**named, TRANSLATION: {language: texts[language] for language in ordered}}


def _translatable(nodes: list[Element]) -> bool:
    """Whether nothing around a unit says that it is not to be translated; the innermost word counts."""
    said = [node.get("translate") for node in nodes if node.get("translate") is not None]
    return not said or said[-1] != "no"


def _xliff_pairs(unit: Element) -> Iterator[dict[str, object]]:
    """The pairs of a unit: of each of its segments, if it is divided into segments."""
    named = {"id": unit.get("id")} if unit.get("id") else {}
    if _name(unit) == "unit":  # XLIFF 2
        for segment in (node for node in unit.iter() if _name(node) == "segment"):
            yield {**named, "source": _text(_child(segment, "source")), "target": _text(_child(segment, "target"))}
        return
    source, target = _child(unit, "source"), _child(unit, "target")
    segments = _segments(_child(unit, "seg-source"))
    if not segments:
        yield {**named, "source": _text(source), "target": _text(target)}
    targets = _segments(target)
    for key, segment in segments.items():
        yield {**named, "source": _text(segment), "target": _text(targets.get(key))}


def _segments(node: Element | None) -> dict[str, Element]:
    """The segments inside a source or a target of XLIFF 1.2, by their numbers."""
    if node is None:
        return {}
    return {part.get("mid", ""): part for part in node.iter() if _name(part) == "mrk" and part.get("mtype") == "seg"}


def _text(node: Element | None) -> str:
    """The words of an element in one line, without the codes among them."""
    return "" if node is None else " ".join("".join(_pieces(node)).split())


def _pieces(node: Element) -> Iterator[str]:
    yield node.text or ""
    for child in node:
        if _name(child) not in _CODES:
            yield from _pieces(child)
        yield child.tail or ""
