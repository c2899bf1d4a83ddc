from __future__ import annotations

from weft.viewing.widths import columns, em, right_to_left


def test_widths_of_scripts():
    assert [columns(text) for text in ("abc", "日本", "e\u0301", "\u200f")] == [3, 4, 1, 0]
    assert em("日本") == 2
    assert em("iii") < em("mmm")
    assert [right_to_left(words) for words in (("1", "שלום"), ("a", "שלום"), (".",))] == [True, False, False]
