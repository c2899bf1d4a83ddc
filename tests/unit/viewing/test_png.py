from __future__ import annotations

import re
import shutil
import struct
import zlib
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from drawings import viewed
from weft.errors import WeftError
from weft.viewing import png
from weft.viewing.svg import lines_svg


@pytest.mark.skipif(png.find_browser() is None, reason="no Chromium on this machine")
def test_png_is_the_svg_at_twice_its_size():
    svg = lines_svg(viewed("das ist gut", "that is good", (0, 0)))
    picture = png.png(svg)
    root = ElementTree.fromstring(svg)
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (2 * int(root.get("width")), 2 * int(root.get("height")))


@pytest.mark.skipif(png.find_browser() is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("words", [1, 3])
def test_both_sentences_are_drawn_however_small_the_picture(words):
    """A window cannot be as low as a short pair, and what lies below its edge would be missing."""
    svg = lines_svg(viewed("a " * words, "b " * words))
    assert int(ElementTree.fromstring(svg).get("height")) < 144
    rows = dark_rows(png.png(svg))
    half = max(rows) / 2
    assert any(row < half for row in rows)
    assert max(rows) > 160  # the target sentence, at twice the size


@pytest.mark.skipif(png.find_browser() is None, reason="no Chromium on this machine")
def test_words_do_not_touch_whatever_font_is_there():
    """The two words are dark from their first letter to their last, but for the gaps between letters."""
    svg = lines_svg(viewed("Vorstandsvorsitzende Unternehmensgründungen", "b"))
    dark = dark_columns(png.png(svg))
    assert max(b - a for a, b in pairwise(dark)) >= 12


@pytest.mark.skipif(png.find_browser() is None, reason="no Chromium on this machine")
def test_a_picture_larger_than_a_browser_can_draw_is_drawn_smaller():
    svg = lines_svg(viewed("Donaudampfschifffahrtsgesellschaft " * 60, "b " * 60))
    assert int(ElementTree.fromstring(svg).get("width")) > 16_384
    picture = png.png(svg)
    assert struct.unpack(">II", picture[16:24])[0] == 16_384


@pytest.mark.skipif(png.find_browser() is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("words", [1, 7, 60])
def test_pdf_is_one_page_of_the_size_of_the_picture_with_letters_as_letters(words):
    svg = lines_svg(viewed("Donaudampfschiff " * words, "בית " * words, (0, 0)))
    printed = png.pdf(svg)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    size = [float(side) for side in re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed).groups()]
    root = ElementTree.fromstring(svg)
    assert size == pytest.approx([0.75 * int(root.get("width")), 0.75 * int(root.get("height"))], abs=1)
    assert b"/Font" in printed
    assert not re.search(rb"/Subtype\s*/Image", printed)


def dark_rows(picture: bytes) -> list[int]:
    """The rows of a picture that hold something dark."""
    return np.flatnonzero(darkness(picture).any(axis=1)).tolist()


def dark_columns(picture: bytes) -> list[int]:
    """The columns of a picture that hold something dark."""
    return np.flatnonzero(darkness(picture).any(axis=0)).tolist()


def darkness(picture: bytes) -> np.ndarray:
    """Which pixels of a PNG (eight bits, RGBA, not interlaced) are dark; (rows, columns)."""
    width, height, depth, kind = struct.unpack(">IIBB", picture[16:26])
    assert (depth, kind) == (8, 6)
    parts, place = b"", 8
    while place < len(picture):
        size, name = struct.unpack(">I4s", picture[place : place + 8])
        parts += picture[place + 8 : place + 8 + size] if name == b"IDAT" else b""
        place += size + 12
    lines = np.frombuffer(zlib.decompress(parts), dtype=np.uint8).reshape(height, 1 + 4 * width)
    above = np.zeros((width, 4), dtype=np.int64)
    dark = []
    for line in lines:
        above = _unfiltered(int(line[0]), line[1:].astype(np.int64).reshape(width, 4), above)
        dark.append(above[:, :3].sum(axis=1) < 384)
    return np.array(dark)


def _unfiltered(filter: int, line: np.ndarray, above: np.ndarray) -> np.ndarray:
    """A row of pixels as the PNG specification restores it."""
    if filter == 0:
        return line
    if filter == 1:
        return np.cumsum(line, axis=0) % 256
    if filter == 2:
        return (line + above) % 256
    out, left, corner = np.empty_like(line), np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for x in range(len(line)):
        guess = (left + above[x]) // 2 if filter == 3 else _paeth(left, above[x], corner)
        left, corner = (line[x] + guess) % 256, above[x]
        out[x] = left
    return out


def _paeth(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    estimate = left + above - corner
    distances = [abs(estimate - neighbour) for neighbour in (left, above, corner)]
    return np.choose(np.argmin(distances, axis=0), [left, above, corner])


@pytest.mark.parametrize(("draw", "name"), [(png.png, "PNG"), (png.pdf, "PDF")])
def test_without_a_browser_there_is_a_sentence(monkeypatch, draw, name):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(WeftError, match=rf"{name} is .* none was found; install it, or write \.svg instead"):
        draw('<svg width="9" height="9"/>')
