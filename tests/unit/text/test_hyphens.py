"""Words parted at line ends: made whole, with a hyphen or without, and nothing else moves."""

import re

import pytest

from weft.text.hyphens import with_whole_words


def _whole(text):
    joined = with_whole_words(text.replace("\n", " "), text)
    assert len(joined) == len(text)
    return joined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("la to-\nrre alta", "la torre   alta"),
        ("la to\u2010\n   rre alta", "la torre      alta"),
        ("la to\u00ad\nrre", "la torre  "),
        ("in Pa-\nris.", "in Paris.  "),
        # A hyphen stays where the text has it elsewhere, or where no word goes on so.
        ("a well-\nknown face, as Well-Known as any", "a well-known  face, as Well-Known as any"),
        ("the Anglo-\nSaxon kings", "the Anglo-Saxon  kings"),
        ("from 2019-\n2024 on", "from 2019-2024  on"),
        # Other words of the text tell more than capital letters and hyphens do.
        ("HEAD-\nLINES and headlines", "HEADLINES   and headlines"),
        ("an e-\nmail, email or e-mail", "an email,   email or e-mail"),
        # Parts of words stay apart.
        ("Vor-\nund Nachteile", "Vor- und Nachteile"),
        ("pre-\nand post-war", "pre- and post-war"),
        ("hier-\no", "hier- o"),
        # A word may be parted more than once.
        ("re-\nmem-\nber this", "remember     this"),
        # Other hyphens are not at the end of a line, or of no word.
        ("Vor- oder nach-\nher", "Vor- oder nachher  "),
        ("he said -\nno, he --\nno", "he said - no, he -- no"),
        ("a (so-\ncalled) word", "a (socalled)   word"),
        ("no hyphen\nat all", "no hyphen at all"),
    ],
)
def test_words_are_whole_again(text, expected):
    assert _whole(text) == expected


def test_only_line_ends_that_are_joined_count():
    text = "a to-\nrre and a ca-\nsa"
    assert with_whole_words("a to-\nrre and a ca- sa", text) == "a to-\nrre and a casa  "


@pytest.mark.timeout(30)
def test_long_text_takes_time_in_proportion():
    for text in ("x" * 1_000_000, "ab-\n" * 500_000, "-\n" * 500_000, "word wo-\nrd " * 50_000):
        assert re.sub(r"[\s-]", "", _whole(text)) == re.sub(r"[\s-]", "", text)
