from __future__ import annotations

import shutil
import struct
from xml.etree import ElementTree

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


def test_png_without_a_browser_is_a_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(WeftError, match=r"none was found; install it, or write \.svg instead"):
        png.png("<svg/>")
