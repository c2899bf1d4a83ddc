from __future__ import annotations

import pytest

from weft.viewing.widths import columns, em, right_to_left


def test_widths_of_scripts():
    assert [columns(text) for text in ("abc", "日本", "e\u0301", "\u200f")] == [3, 4, 1, 0]
    assert em("日本") == 2
    assert em("한국") == 2
    assert em("zurück") == em("zuru\u0308ck") == em("zuruck")
    assert em("iii") < em("mmm")
    assert [right_to_left(words) for words in (("1", "שלום"), ("a", "שלום"), (".",))] == [True, False, False]


# Their widths in DejaVu Serif, the broadest of the fonts that pictures ask for.
@pytest.mark.parametrize(
    ("word", "width"),
    [
        ("Vorstandsvorsitzende", 10.99),
        ("zurück", 3.46),
        ("chief", 2.49),
        ("illegitimacy", 5.9),
        ("WWW", 3.08),
        ("MÜNCHEN", 5.78),
        ("0.14", 2.23),
        ("Москва", 3.97),
        ("ελληνικά", 4.69),
    ],
)
def test_a_word_has_room_in_the_broadest_font(word, width):
    assert width <= em(word) < 1.15 * width
