"""Runs of Word: stretches of text with formatting, and the way in which a paragraph is written."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from copy import deepcopy
from typing import Any

from weft.applications.documents.direction import has_leftward, right_to_left, without_direction
from weft.applications.documents.trees import local_name, lxml_etree, printable

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
# Of no importance for the look of a run; the language and the direction are those of the old text.
_IGNORED = frozenset({"lang", "noProof", "webHidden", "rtl"})
_OFF = frozenset({"0", "false", "off", "none", "baseline"})
# The order in which the schema wants properties of runs.
_ORDER = {
    name: place
    for place, name in enumerate(
        "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof snapToGrid "  # noqa: SIM905
        "vanish webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em "
        "lang eastAsianLayout specVanish oMath".split()
    )
}
# What the schema wants before the direction in the properties of a paragraph.
_BEFORE_DIRECTION = frozenset(
    "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs "  # noqa: SIM905
    "suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN".split()
)
_BEFORE_RTL = frozenset(name for name, place in _ORDER.items() if place < _ORDER["rtl"])
_BEFORE_MIRRORED = frozenset({"tblStyle", "tblpPr", "tblOverlap"})
# Arabic, Hebrew, Thai, the scripts of India and others: their formatting has properties of its own.
_COMPLEX = re.compile("[\u0590-\u109f\u1780-\u17ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TWINS = {"b": "bCs", "i": "iCs", "sz": "szCs"}


def properties_of(run: Any) -> Any:
    """The properties of a run; empty ones if it has none."""
    found = next((child for child in run if local_name(child) == "rPr"), None)
    return lxml_etree().Element(f"{WORD}rPr") if found is None else found


def look(properties: Any) -> bytes:
    """What makes two runs look alike."""
    etree = lxml_etree()
    return b"".join(
        sorted(etree.tostring(item, method="c14n") for item in properties if local_name(item) not in _IGNORED)
    )


def name_of(properties: Any) -> str:
    """The properties by their names, as a report calls them."""
    names = [local_name(item) for item in properties if local_name(item) not in _IGNORED]
    return "+".join(names) or "plain"


def is_off(item: Any) -> bool:
    """Whether a property only says that a formatting does not hold."""
    return item.get(f"{WORD}val") in _OFF


def takes_away(properties: Any) -> bool:
    """Whether properties only say that formattings do not hold, so that nothing is lost without them."""
    return all(local_name(item) in _IGNORED or is_off(item) for item in properties)


def run_of(properties: Any, child: Any) -> Any:
    """A run with one thing in it."""
    run = lxml_etree().Element(f"{WORD}r", nsmap=child.nsmap)
    if len(properties):
        run.append(deepcopy(properties))
    run.append(child)
    return run


def text_run(text: str, formats: Sequence[Any]) -> Any:
    """A run of text; of several formattings around it the innermost counts, and the others where it says nothing."""
    etree = lxml_etree()
    run = etree.Element(f"{WORD}r")
    # The paragraph's own formatting is the first, and counts where there is no other.
    items: dict[str, Any] = {}
    for properties in reversed(formats[1:] or formats):
        for item in properties:
            if local_name(item) not in _IGNORED:
                items.setdefault(local_name(item), item)
    if _COMPLEX.search(text):
        for name, twin in _TWINS.items():
            if name in items:
                items.setdefault(twin, etree.Element(f"{WORD}{twin}", dict(items[name].attrib)))
    if items:
        new = etree.SubElement(run, f"{WORD}rPr")
        for item in sorted(items.values(), key=lambda item: _ORDER.get(local_name(item), len(_ORDER))):
            new.append(deepcopy(item))
    node = etree.SubElement(run, f"{WORD}t")
    node.text = printable(text)
    node.set(_SPACE, "preserve")
    return run


def set_direction(paragraph: Any, *, leftward: bool) -> None:
    """Let a paragraph and its runs run from right to left, or no longer do so."""
    etree = lxml_etree()
    properties: Any = paragraph.find(f"{WORD}pPr")
    if properties is not None:
        _remove(properties, "bidi")
    if leftward:
        if properties is None:
            properties = etree.Element(f"{WORD}pPr")
            paragraph.insert(0, properties)
        _insert(properties, "bidi", _BEFORE_DIRECTION)
    for run in paragraph.iter(f"{WORD}r"):
        text = "".join(node.text or "" for node in run.iterchildren(f"{WORD}t"))
        if text and next(run.iterancestors(f"{WORD}p")) is paragraph:
            _set_direction_of_run(run, right_to_left(text) or (leftward and _follows(text)))


def _follows(text: str) -> bool:
    """Whether a run goes with a paragraph from right to left; one of foreign words or numbers alone does not."""
    return has_leftward(text) or without_direction(text)


def _set_direction_of_run(run: Any, leftward: bool) -> None:
    properties = run.find(f"{WORD}rPr")
    if properties is not None:
        _remove(properties, "rtl")
    if leftward:
        if properties is None:
            properties = lxml_etree().Element(f"{WORD}rPr")
            run.insert(0, properties)
        _insert(properties, "rtl", _BEFORE_RTL)


def mirror_tables(root: Any, *, leftward: bool) -> None:
    """Let the columns of all tables begin at the right, or no longer do so."""
    for table in root.iter(f"{WORD}tbl"):
        properties: Any = table.find(f"{WORD}tblPr")
        if properties is not None:
            _remove(properties, "bidiVisual")
        elif leftward:
            properties = lxml_etree().Element(f"{WORD}tblPr")
            grid = table.find(f"{WORD}tblGrid")
            table.insert(0 if grid is None else table.index(grid), properties)
        if leftward:
            _insert(properties, "bidiVisual", _BEFORE_MIRRORED)


def _remove(properties: Any, name: str) -> None:
    for old in properties.findall(f"{WORD}{name}"):
        properties.remove(old)


def _insert(properties: Any, name: str, before: Container[str]) -> None:
    """Put in a property behind those that the schema wants before it."""
    place = sum(local_name(child) in before for child in properties)
    properties.insert(place, lxml_etree().Element(f"{WORD}{name}"))
