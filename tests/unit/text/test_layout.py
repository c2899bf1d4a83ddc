"""Wrapped paragraphs and subtitles made plain, every character in its place."""

import textwrap

import pytest

from weft.text.layout import are_subtitles, unwrapped, without_times, wrapped_at

SRT = """\ufeff1
00:00:01,000 --> 00:00:03,200
<i>Guten Abend,
meine Damen.</i>

2
00:00:03,400 --> 00:00:06,000
- Wo warst du?
- Krank.

3
00:00:07,000 --> 00:00:08,000
{\\an8}1989
"""
VTT = """WEBVTT Kind: captions

NOTE by hand

intro
00:01.000 --> 00:03.200 align:start
<v Anna>Hello <00:02.000>there.</v>
"""
SENTENCES = "The committee met on Monday and talked about the price of bread. Nobody was surprised. " * 4


def _lines(text):
    return [line.strip() for line in text.split("\n") if line.strip()]


def test_numbers_times_and_tags_of_subtitles_become_blanks():
    assert _lines(without_times(SRT)) == ["Guten Abend, meine Damen.", "- Wo warst du?", "- Krank.", "1989"]
    assert [" ".join(line.split()) for line in _lines(without_times(VTT))] == ["Hello there."]


@pytest.mark.parametrize("text", [SRT, VTT, "", "\n\n", "plain\ntext"])
def test_nothing_moves(text):
    plain = without_times(text)
    assert len(plain) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, plain, strict=True))


def test_subtitles_are_known_by_name():
    assert are_subtitles("Film.DE.SRT")
    assert are_subtitles("a.vtt")
    assert not are_subtitles("srt.txt")


@pytest.mark.parametrize("width", [50, 72, 100])
def test_wrapped_paragraphs_are_noticed_and_unwrapped(width):
    text = "\n\n".join([textwrap.fill(SENTENCES.strip(), width)] * 3)
    found = wrapped_at(text)
    assert found is not None
    assert found <= width
    assert unwrapped(text) == "\n\n".join([SENTENCES.strip()] * 3)
    assert len(unwrapped(text)) == len(text)


@pytest.mark.parametrize(
    "lines",
    [
        [
            "The house is old.",
            "I like it.",
            "Dogs are not allowed inside.",
            "It is late.",
            "We go.",
            "Good night, all.",
        ],
        ["red apples", "a pound of flour", "two eggs", "milk", "some butter from the shop", "old cheese", "a fish"],
        ["他明天去北京。", "我们下星期三开会。", "今天下雨。", "他昨天借了书。", "你好。", "再见。", "好的。"],
        ["One long paragraph without any end that anybody has seen so far"] * 2,
        [SENTENCES.strip()] * 6,
    ],
)
def test_lines_that_are_lines_stay_lines(lines):
    assert wrapped_at("\n".join(lines)) is None
