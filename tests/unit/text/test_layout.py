"""Wrapped paragraphs and subtitles made plain, every character in its place."""

import re
import textwrap
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weft.text.layout import are_subtitles, found_wrapped, in_one_line, unwrapped, without_times

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


def test_what_stood_between_two_subtitles_is_one_blank():
    assert in_one_line(without_times(SRT)) == "Guten Abend, meine Damen. - Wo warst du? - Krank. 1989"
    assert in_one_line(" 10\xa0000\t\r\nEuro\u3000 ") == "10\xa0000 Euro\u3000"


def test_subtitles_are_known_by_name():
    assert are_subtitles("Film.DE.SRT")
    assert are_subtitles("a.vtt")
    assert not are_subtitles("srt.txt")


def _wrap(text, width):
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(each, width, break_on_hyphens=False, break_long_words=False) for each in paragraphs
    )


@pytest.mark.parametrize("width", [24, 50, 72, 100])
def test_wrapped_paragraphs_are_noticed_and_unwrapped(width):
    text = "\n\n".join([SENTENCES.strip()] * 3)
    joined, found = found_wrapped(_wrap(text, width))
    assert joined == unwrapped(_wrap(text, width)) == text
    assert width - 8 < found <= width


WORDS = st.text("abcdefghijklmnopqrstuvwxyzäéñßø", min_size=1, max_size=14)
NOUNS = WORDS.map(str.capitalize)
SENTENCE = st.builds(
    lambda first, words, mark: " ".join([first, *words]) + mark,
    NOUNS,
    st.lists(st.one_of(WORDS, WORDS, NOUNS, WORDS.map("{},".format)), min_size=2, max_size=40),
    st.sampled_from([".", ".", "!", "?", "…", ".”", " ?\u00a0»"]),
)
PARAGRAPHS = st.lists(st.lists(SENTENCE, min_size=1, max_size=8).map(" ".join), min_size=1, max_size=6)


def _shows(wrapped):
    """Whether enough sentences go on in lower case on the next line; otherwise nobody could tell."""
    inner = [after for line, after in pairwise(wrapped.split("\n")) if after and re.search(r"\w$", line)]
    # A word of few letters with a full stop might as well number an item of a list.
    lower = [after for after in inner if after[0].islower() and not re.match(r"\w{1,4}\.\s", after)]
    return 0 < len(inner) <= 2 * len(lower)


@given(PARAGRAPHS, st.integers(40, 100))
def test_text_that_is_wrapped_at_any_width_is_read_as_if_it_were_not(paragraphs, width):
    text = "\n\n".join(paragraphs)
    wrapped = _wrap(text, width)
    assert unwrapped(wrapped) == text
    assume(_shows(wrapped))
    assert found_wrapped(wrapped)[0] == text


@given(st.lists(SENTENCE, max_size=20), st.sampled_from(["\n", "\n\n"]), st.booleans())
def test_sentences_on_lines_of_their_own_are_never_joined(sentences, between, with_marks):
    text = between.join(each if with_marks else each.strip(".!?…”» \u00a0") for each in sentences)
    assert found_wrapped(text) == (text, None)


@given(st.text(alphabet=st.sampled_from("ab A.\t\r\n ،ب"), max_size=80))
def test_no_character_moves_when_lines_are_joined(text):
    for joined in (unwrapped(text), found_wrapped(text)[0]):
        assert len(joined) == len(text)
        assert joined.split() == text.split()
        assert [part.split() for part in joined.split("\n\n")] == [part.split() for part in text.split("\n\n")]


@given(st.text(alphabet=st.sampled_from("abB2 .-\u00ad\t\n"), max_size=80))
def test_words_that_are_parted_lose_hyphens_and_blanks_and_nothing_else(text):
    joined = unwrapped(text)
    assert len(joined) == len(text)
    letters, kept = (re.sub(r"[\s\u00ad-]", "", each) for each in (text, joined))
    assert kept == letters


def test_a_hyphen_at_the_end_of_a_line_shows_that_a_text_is_wrapped():
    text = """\
The keeper climbed the hundred and twenty steps of the old light-
house every single night, and nobody in the village could remem-
ber when he had come to the island, or from which country he ca-
me.
"""
    joined, width = found_wrapped(text)
    assert width == 65
    assert joined.split() == re.sub("-\n", "", text).split()
    moved = [before == after for before, after in zip(text, joined, strict=True)].count(False)
    assert moved < len("-\nhouse-\nber-\nme.\n")


def test_two_lines_are_enough_where_a_sentence_goes_on():
    page = """Chapter 1

The old man opened the door. It was pouring with rain. He had
forgotten his umbrella, as usual.

"Are you coming?" asked his wife.
He did not answer.
"""
    joined, width = found_wrapped(page)
    assert width == 61
    assert joined == page.replace("had\n", "had ")


POEM = """I wandered lonely as a cloud
That floats on high o'er vales and hills,
When all at once I saw a crowd,
A host, of golden daffodils;
Beside the lake, beneath the trees,
Fluttering and dancing in the breeze."""
IN_LOWER_CASE = """she wakes before the light has touched the roofs
and listens.
somewhere a door that nobody has closed for years is knocking
against its frame, not loud,
the way a guest might knock who hopes to find nobody at home.
then it is
quiet again."""
RECIPE = """Apple cake. You need:
three large red apples from your own garden
flour
a pound of butter, or a little less than that if you like
two eggs
some sugar.
cinnamon"""


LETTER = """Sehr geehrte Frau Müller,
vielen Dank für Ihre Anfrage vom 3. Mai. Wir haben Ihren Vorschlag
geprüft und freuen uns, Ihnen mitteilen zu können, dass der
Vertrag zum 1. Juni beginnen kann.
Mit freundlichen Grüßen
Anna Schmidt"""


def test_a_letter_keeps_the_lines_above_and_below_its_text():
    expected = LETTER.replace("Vorschlag\n", "Vorschlag ").replace("der\n", "der ")
    assert found_wrapped(LETTER) == (expected, 66)


def test_lines_between_wrapped_paragraphs_stay_lines():
    prose = _wrap(SENTENCES, 72)
    letter = "Anna Schmidt\nHauptstraße 5\nBerlin"
    text = "\n\n".join([letter, f"The Meeting\n{prose}", POEM, prose])
    expected = "\n\n".join([letter, f"The Meeting\n{SENTENCES.strip()}", POEM, SENTENCES.strip()])
    assert found_wrapped(text)[0] == expected


def test_a_wrapped_paragraph_is_found_among_many_lists():
    headings = "\n".join(f"The History of the Long Road to the Town of {name}" for name in "ABCDEFGHIJKLMNOP")
    lists = "\n\n".join([headings, RECIPE, RECIPE])
    text = f"{lists}\n\n{_wrap(SENTENCES, 50)}\n\n{IN_LOWER_CASE}"
    assert found_wrapped(text)[0] == f"{lists}\n\n{SENTENCES.strip()}\n\n{IN_LOWER_CASE}"


def test_lines_of_scripts_without_case_are_judged_by_their_lengths():
    sentence = "समिति की बैठक सोमवार को हुई और रोटी की कीमत पर बात हुई। किसी को आश्चर्य नहीं हुआ। "
    paragraph = (sentence * 4).strip()
    assert found_wrapped(_wrap(paragraph, 50))[0] == paragraph
    # Unicode calls Georgian letters small, but sentences begin with them, too.
    georgian = "სახლი ძველია და ლამაზი, ჩვენ კი ის ძალიან მოგვწონს\nჩვენ გუშინ წავედით. დღეს წვიმს"
    assert found_wrapped(georgian) == (georgian, None)


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
        ["Six titles of which every one is exactly as long as all others"] * 6,
        ["the same sentence of the same length without any mark at its end"] * 6,
        ["We need the following things for the journey:", "a) bread and butter, and some cheese;", "b) water."],
        ["I never thought", "that you would come.", "", "But I told you", "where I would be."],
        [SENTENCES.strip()] * 6,
        *(poem.split("\n") for poem in (POEM, IN_LOWER_CASE, RECIPE)),
    ],
)
def test_lines_that_are_lines_stay_lines(lines):
    text = "\n".join(lines)
    assert found_wrapped(text) == (text, None)
