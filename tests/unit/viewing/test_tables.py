from __future__ import annotations

import csv
import io
import re

from drawings import viewed
from weft.types import Alignment, GoldAlignment
from weft.viewing.comparison import Comparison, ViewedPair
from weft.viewing.tables import csv_table, tikz


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


def test_csv_has_no_gold_where_none_was_given():
    rows = list(csv.reader(io.StringIO(csv_table(Comparison([viewed("a", "b", (0, 0))], ("mine",), None)))))
    assert rows == [["pair", "i", "j", "source", "target", "mine"], ["1", "0", "0", "a", "b", "1"]]


def test_tikz_escapes_words_and_draws_links():
    drawn = tikz(viewed("50% a_b \\x{}", "c", (0, 0, 0.5)))
    assert r"\node[anchor=base west] (s0) at (0, 0) {50\%};" in drawn
    assert r"(s1) at (s0.base east) {a\_b};" in drawn
    assert r"{\textbackslash{}x\{\}}" in drawn
    assert r"\draw[opacity=0.65] (s0.south) to[out=-90, in=90] (t0.north);" in drawn


def test_tikz_sets_arabic_from_right_to_left():
    drawn = tikz(viewed("كتاب جديد هنا", "new book here", (0, 1)))
    nodes = re.findall(r"\((\w\d)\) at \(([^)]*)\)", drawn)
    assert nodes == [
        *(("s2", "0, 0"), ("s1", "s2.base east"), ("s0", "s1.base east")),
        *(("t0", "0, -2"), ("t1", "t0.base east"), ("t2", "t1.base east")),
    ]
    assert "(s0.south) to[out=-90, in=90] (t1.north)" in drawn
    assert drawn.startswith("% Words stand from right to left.")


def test_tikz_has_a_legend_for_two_systems():
    pair = viewed("a", "b", (0, 0))
    both = ViewedPair(1, pair.pair, (pair.systems[0], Alignment()))
    drawn = tikz(both, ("mine_1", "theirs"))
    assert re.findall(r"footnotesize ([^}]*)}", drawn) == ["found by both", r"only mine\_1", "only theirs"]
    assert "footnotesize" not in tikz(pair, ("mine",))
