from __future__ import annotations

from weft.types import Alignment, GoldAlignment, Link, SentencePair
from weft.viewing.comparison import Comparison, ViewedPair
from weft.viewing.terminal import text_view


def comparison(source: str, target: str, *systems: str, gold: GoldAlignment | None = None) -> Comparison:
    pair = SentencePair(tuple(source.split(" ")), tuple(target.split(" ")))
    found = tuple(Alignment.of([Link(*map(int, token.split("-"))) for token in system.split()]) for system in systems)
    names = tuple(f"system {number}" for number in range(1, len(systems) + 1))
    return Comparison([ViewedPair(1, pair, found, gold)], names, "gold" if gold else None)


def test_partners_stand_below_their_words():
    lines = list(text_view(comparison("das ist gut", "that is so good", "0-0 2-3")))
    assert lines == [
        "1\n",
        "          das   ist  gut\n",
        "system 1  that  \u2013    good\n",
        "          not linked: is so\n",
        "\n",
    ]


def test_wrong_missed_and_possible_links_have_marks():
    gold = GoldAlignment(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    lines = list(text_view(comparison("a b", "x y", "0-1", "0-0", gold=gold)))
    assert lines[2] == "system 1  y×+○x  –\n"
    assert lines[3] == "system 2  x      –\n"
    assert lines[4] == "gold      x      y?\n"


def test_wide_characters_take_two_columns_and_long_lines_wrap():
    lines = list(text_view(comparison("日本 語 x", "a b c", "0-0 1-1 2-2"), width=20))
    assert lines[1] == "          日本  語\n"
    assert lines[2] == "system 1  a     b\n"
    assert lines[4] == "          x\n"


def test_joiners_and_spaces_stay_and_marks_of_direction_go():
    pair = comparison(
        "او می\u200cرود 👩\u200d👧 10\u00a0km so\u00adft\u202e \u200b", "a b c d e f", "0-0 1-1 2-2 3-3 4-4 5-5"
    )
    assert "".join(text_view(pair)).splitlines()[1].split("  ", 1)[1].strip() == (
        "او  می\u200cرود  👩\u200d👧  10\u00a0km  soft  �"
    )


def test_control_characters_do_not_reach_the_terminal():
    text = "".join(text_view(comparison("\x1b[31mred", "\x07", "0-0")))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\x1b[2m" in "".join(text_view(comparison("a", "b", "0-0"), colour=True))
