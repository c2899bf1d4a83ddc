"""TMX and XLIFF files as files: of which kind they are, and a copy that lacks some units and is otherwise the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast
from xml.parsers.expat import ExpatError, ParserCreate

from weft.text.lines import FilePath, read_lines, read_whole_lines
from weft.text.rows import DECLARED, UNITS, UnitRow, read_rows, unit_ending, without_utf16

_KINDS = {"tmx": "TMX", "xliff": "XLIFF"}


def kind_by_name(path: FilePath) -> str | None:
    """TMX or XLIFF if a file's name ends like one of these, also compressed; None for other files."""
    ending = unit_ending(path)
    return ending and _KINDS.get(ending, "XLIFF")


def kind_by_content(path: FilePath) -> str | None:
    """TMX or XLIFF if a file is one; None for other files."""
    roots: list[str] = []
    parser = ParserCreate()
    parser.StartElementHandler = lambda name, _: roots.append(_local(name))
    try:
        for number, line in enumerate(read_lines(path)):
            if not number and not DECLARED.match(line.lstrip()):
                return None
            parser.Parse(without_utf16(line) + b"\n", False)
            if roots:
                return _KINDS.get(roots[0])
    except ExpatError:
        pass
    return None


def without_units(path: FilePath, verdicts: Iterable[bool]) -> Iterator[bytes]:
    """A TMX or XLIFF file in pieces, without the units that are not kept; all else stays as it came, in UTF-8.

    A unit of several segments stays if one of them is kept. So does a unit without rows: it is not to be translated.

    Args:
        path: the file.
        verdicts: whether to keep each row that `read_rows` finds in it.
    """
    rows = cast("Iterator[UnitRow]", read_rows(path))
    copy = _Copy(_Verdicts((row.unit, keep) for row, keep in zip(rows, verdicts, strict=True)))
    for line in read_whole_lines(path):
        yield from copy.feed(line if copy.has_begun else without_utf16(line))
    yield from copy.rest()


class _Verdicts:
    """Whether units are kept, as far as the file has been read."""

    def __init__(self, rows: Iterator[tuple[int, bool]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def __call__(self, unit: int) -> bool:
        """Whether to keep the unit with this number, the first that was not asked about."""
        found: list[bool] = []
        while self._next is not None and self._next[0] <= unit:
            found.append(self._next[1])
            self._next = next(self._rows, None)
        return any(found) or not found


class _Copy:
    """Passes the bytes of an XML file on, except those of units that are not kept."""

    def __init__(self, keeps: Callable[[int], bool]) -> None:
        self.has_begun = False
        self._keeps = keeps
        self._held = bytearray()  # not passed on yet
        self._held_from = 0  # where in the file it begins
        self._no_unit_before = 0
        self._units = self._open_units = self._begin = 0
        self._ready: list[bytes] = []
        self._parser = ParserCreate()
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = self._on_end

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Read on; gives what may be passed on."""
        self._held += data
        self._parser.Parse(data, False)
        if not self._open_units:
            self._ready.append(self._take(self._no_unit_before))
        yield from self._ready
        self._ready.clear()

    def rest(self) -> Iterator[bytes]:
        """What is left at the end of the file."""
        self._parser.Parse(b"", True)
        yield from self._ready
        yield bytes(self._held)

    def _on_start(self, name: str, _: dict[str, str]) -> None:
        self.has_begun = True
        place = self._parser.CurrentByteIndex
        if not self._open_units:
            self._no_unit_before = place
        if _local(name) in UNITS:
            self._begin = self._begin if self._open_units else place
            self._units += 1
            self._open_units += 1

    def _on_end(self, name: str) -> None:
        place = self._parser.CurrentByteIndex
        if _local(name) in UNITS:
            self._open_units -= 1
            if not self._open_units:
                self._finish_unit(self._after_tag(place, f"</{name}".encode()))
        elif not self._open_units:
            self._no_unit_before = place

    def _after_tag(self, place: int, tag: bytes) -> int:
        """Where an element ends: after its end tag, which begins here, or here if it has none (`<unit/>`)."""
        at = place - self._held_from
        return self._held_from + self._held.index(b">", at) + 1 if self._held.startswith(tag, at) else place

    def _finish_unit(self, end: int) -> None:
        """Pass a unit on with what comes before it, or leave it out with the white space before it."""
        before, unit = self._take(self._begin), self._take(end)
        self._ready += (before, unit) if self._keeps(self._units) else (before.rstrip(),)
        self._no_unit_before = end

    def _take(self, end: int) -> bytes:
        """What is held up to this place in the file."""
        size = max(0, end - self._held_from)
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._held_from += size
        return taken


def _local(name: str) -> str:
    return name.rpartition(":")[2]
