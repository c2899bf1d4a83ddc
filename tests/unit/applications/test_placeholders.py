from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.applications.placeholders import PLACEHOLDER, keep_placeholders, placeholders_whole
from weft.applications.spans import split_at_blanks
from weft.text.segment import segmenter_for
from weft.types import Alignment, Link


@pytest.mark.parametrize(
    "placeholder",
    ["{name}", "{0}", "{}", "{0:N2}", "{{ user.name }}", "${total}", "%{count}", "%s", "%d", "%1$s", "%(name)s", "%.2f",
     "%5d", "%lld", "%@", "{count, number}"],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "Hallo, {}!", "«{}».", "a {} b"])
def test_placeholders_are_one_word(placeholder, around):
    text = around.replace("{}", placeholder)
    words = placeholders_whole(text, segmenter_for("de")(text)).words
    assert placeholder in words


@pytest.mark.parametrize("text", ["100% der Leute", "5 % d'eau", "50%ige Lösung", "{ }", "%%s", "a % b"])
def test_what_is_no_placeholder(text):
    assert not PLACEHOLDER.search(text)


@given(st.lists(st.sampled_from(["{a}", "{", "}", "%s", "%", "s", " ", "x", "{{b c}}", "é"]), max_size=20).map("".join))
def test_words_still_tile_the_text(text):
    segmented = split_at_blanks(text)
    whole = placeholders_whole(text, segmented)
    assert all(text[start:end] == word for word, (start, end) in zip(whole.words, whole.offsets, strict=True))
    flat = [place for offsets in whole.offsets for place in offsets]
    assert flat == sorted(flat)
    covered = {place for start, end in segmented.offsets for place in range(start, end)}
    assert covered <= {place for start, end in whole.offsets for place in range(start, end)}
    assert {match.span() for match in PLACEHOLDER.finditer(text)} <= set(whole.offsets)


def test_placeholders_are_linked_with_themselves():
    alignment = Alignment.of([Link(0, 0), Link(1, 1), Link(2, 1)])
    kept = keep_placeholders(["%s", "a", "%d"], ["%d", "x", "%s"], alignment)
    assert kept.pairs == {(0, 2), (1, 1), (2, 0)}
