from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from drawings import viewed
from weft.types import Alignment, GoldAlignment, Link, SentencePair
from weft.viewing.comparison import ViewedPair
from weft.viewing.svg import lines_svg, similarity_svg

SVG = "{http://www.w3.org/2000/svg}"


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


def test_a_legend_says_what_the_lines_of_two_systems_mean():
    both = ViewedPair(
        1, SentencePair(("das", "ist"), ("that", "is")), (Alignment((Link(0, 0),)), Alignment((Link(1, 1),)))
    )
    svg = lines_svg(both, ("mine", "theirs"))
    assert [word for word, _ in texts(svg)][4:] == ["found by both", "only mine", "only theirs"]
    root = ElementTree.fromstring(svg)
    samples = {node.get("stroke") for node in root.iter(f"{SVG}path") if node.get("class") == "sample"}
    curves = {node.get("stroke") for node in root.iter(f"{SVG}path") if node.get("class") is None}
    assert curves <= samples
    width = float(root.get("width"))
    assert all(0 < x < width for _, x in texts(svg))


def test_one_system_needs_a_legend_only_with_gold():
    gold = GoldAlignment(frozenset({(0, 0)}), frozenset({(0, 0)}))
    assert len(texts(lines_svg(viewed("a", "b", (0, 0))))) == 2
    assert [word for word, _ in texts(lines_svg(viewed("a", "b", (0, 0), gold=gold)))][2:] == [
        "right",
        "not in the gold",
        "gold, missed",
    ]
