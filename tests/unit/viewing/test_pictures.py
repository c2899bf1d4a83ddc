from __future__ import annotations

import csv
import io
import shutil
import struct
from xml.etree import ElementTree

import numpy as np
import pytest

from weft.errors import WeftError
from weft.types import Alignment, GoldAlignment, Link, SentencePair
from weft.viewing import png
from weft.viewing.comparison import Comparison, ViewedPair
from weft.viewing.svg import lines_svg, similarity_svg
from weft.viewing.tables import csv_table, tikz
from weft.viewing.widths import columns, em, right_to_left

SVG = "{http://www.w3.org/2000/svg}"


def viewed(source: str, target: str, *links: tuple, gold: GoldAlignment | None = None) -> ViewedPair:
    pair = SentencePair(tuple(source.split()), tuple(target.split()))
    return ViewedPair(1, pair, (Alignment.of([Link(*link) for link in links]),), gold)


def texts(svg: str) -> list[tuple[str, float]]:
    return [(node.text, float(node.get("x"))) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_svg_holds_every_word_and_a_curve_for_each_link():
    svg = lines_svg(viewed("das ist gut", "that is good", (0, 0, 0.9), (2, 2, 0.1)))
    assert [word for word, _ in texts(svg)] == ["das", "ist", "gut", "that", "is", "good"]
    strong, weak = ElementTree.fromstring(svg).iter(f"{SVG}path")
    assert float(strong.get("stroke-width")) > float(weak.get("stroke-width"))
    assert float(strong.get("stroke-opacity")) > float(weak.get("stroke-opacity"))


def test_svg_escapes_words_and_survives_control_characters():
    svg = lines_svg(viewed("<script> &amp; \x01", "a b \ud800", (0, 0)))
    assert [word for word, _ in texts(svg)] == ["<script>", "&amp;", "�", "a", "b", "�"]


def test_svg_runs_right_to_left_for_hebrew():
    words = dict(texts(lines_svg(viewed("אני אוהב ספרים", "I love books"))))
    assert words["אני"] > words["אוהב"] > words["ספרים"]
    assert words["I"] < words["love"] < words["books"]


def test_similarities_are_shaded_side_by_side():
    pair = ViewedPair(
        1, SentencePair(("a",), ("x", "y")), similarities=(np.array([[0.0, 1.0]]), np.array([[0.5, 2.0]]))
    )
    root = ElementTree.fromstring(similarity_svg(pair, ["before", "after"]))
    cells = [node for node in root.iter(f"{SVG}rect") if node.get("x")]
    assert [node.get("fill") for node in cells] == ["#fdf6e3", "#08305c", "#4797c4", "#08305c"]
    assert {"before", "after"} <= {node.text for node in root.iter(f"{SVG}text")}


def test_csv_has_a_row_for_each_cell_and_no_formulas():
    gold = GoldAlignment(frozenset({(0, 0)}), frozenset({(1, 0)}))
    pair = viewed('=1+1 "b,', "x -", (0, 0, 0.5), (1, 1), gold=gold)
    rows = list(csv.reader(io.StringIO(csv_table(Comparison([pair], ("mine",), "gold")))))
    assert rows == [
        ["pair", "i", "j", "source", "target", "mine", "gold"],
        ["1", "0", "0", "'=1+1", "x", "0.5", "sure"],
        ["1", "1", "0", '"b,', "x", "", "possible"],
        ["1", "1", "1", '"b,', "-", "1", ""],
    ]


def test_tikz_escapes_words_and_draws_links():
    drawn = tikz(viewed("50% a_b \\x{}", "c", (0, 0, 0.5)))
    assert r"\node[anchor=base west] (s0) at (0, 0) {50\%};" in drawn
    assert r"(s1) at (s0.base east) {a\_b};" in drawn
    assert r"{\textbackslash{}x\{\}}" in drawn
    assert r"\draw[opacity=0.65] (s0.south) to[out=-90, in=90] (t0.north);" in drawn


def test_widths_of_scripts():
    assert [columns(text) for text in ("abc", "日本", "e\u0301", "\u200f")] == [3, 4, 1, 0]
    assert em("日本") == 2
    assert em("iii") < em("mmm")
    assert [right_to_left(words) for words in (("1", "שלום"), ("a", "שלום"), (".",))] == [True, False, False]


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
