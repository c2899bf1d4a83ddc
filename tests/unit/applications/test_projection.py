from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.applications.projection import Gaps, Reason, Span, project_spans
from weft.types import Alignment, Link


def links(text: str) -> Alignment:
    pairs = (item.partition(":") for item in text.split())
    return Alignment.of(Link(*map(int, pair.split("-")), float(score) if score else None) for pair, _, score in pairs)


def runs(spans, text, **rules):
    return [place.runs for place in project_spans(spans, links(text), **rules)]


@st.composite
def flat_spans(draw, length: int):
    """Spans that do not overlap, in order."""
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    bounds = [(start, end) for start, end in pairwise(cuts) if draw(st.booleans())]
    return [Span(start, end, draw(st.sampled_from("AB"))) for start, end in bounds]


@settings(deadline=None)
@given(st.data(), st.integers(1, 15), st.sampled_from(Gaps))
def test_identity_links_give_the_labels_back(data, length, gaps):
    spans = data.draw(flat_spans(length))
    identity = Alignment.of(Link(word, word) for word in range(length))
    assert [place.runs for place in project_spans(spans, identity, gaps=gaps)] == [
        ((span.start, span.end),) for span in spans
    ]


@st.composite
def translations(draw):
    """Phrases in another order and of another length, with all first and last words and some others linked."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=6))
    order = draw(st.permutations(range(len(sizes))))
    starts, position = {}, 0
    for number in order:
        starts[number] = position
        position += sizes[number][1]
    found, places, source = set(), [], 0
    for number, (rows, columns) in enumerate(sizes):
        target = starts[number]
        places.append(((source, source + rows), (target, target + columns)))
        inner = st.tuples(st.integers(source, source + rows - 1), st.integers(target, target + columns - 1))
        found |= draw(st.sets(inner, max_size=4)) | {(source, target), (source + rows - 1, target + columns - 1)}
        source += rows
    return places, Alignment.of(Link(*pair) for pair in found)


@settings(deadline=None)
@given(translations(), st.data())
def test_labels_of_phrases_land_on_their_translations(translation, data):
    places, alignment = translation
    chosen = [place for place in places if data.draw(st.booleans())]
    spans = [Span(*source, "X") for source, _ in chosen]
    # Words between the first and the last may have no links; a gap of two fits into phrases of four words.
    for gaps in Gaps:
        found = project_spans(spans, alignment, gaps=gaps, max_gap=2)
        assert [place.runs for place in found] == [(target,) for _, target in chosen]
        assert all(place.reason is None for place in found)


@settings(deadline=None)
@given(st.data(), st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40), st.sampled_from(Gaps))
def test_labels_that_lie_apart_stay_apart(data, pairs, gaps):
    spans = data.draw(flat_spans(10))
    alignment = Alignment.of(Link(*pair) for pair in pairs)
    found = project_spans(spans, alignment, gaps=gaps, max_gap=data.draw(st.integers(0, 3)))
    covered = [word for place in found for start, end in place.runs for word in range(start, end)]
    assert len(covered) == len(set(covered))
    for span, place in zip(spans, found, strict=True):
        claimed = {target for source, target in pairs if span.start <= source < span.end}
        assert bool(place.runs) <= bool(claimed)
        assert all({start, end - 1} <= claimed for start, end in place.runs)
        assert (place.reason is None) or place.left_out or not place.runs


@pytest.mark.parametrize(
    ("gaps", "max_gap", "expected"),
    [
        ("fill", 0, ((0, 8),)),
        ("longest", 0, ((4, 6),)),
        ("longest", 1, ((0, 3),)),
        ("split", 0, ((0, 1), (2, 3), (4, 6), (7, 8))),
        ("split", 1, ((0, 8),)),
    ],
)
def test_gaps(gaps, max_gap, expected):
    text = "0-0 1-2 2-4 2-5 2-7"
    if (gaps, max_gap) == ("longest", 1):
        text, expected = "0-0 1-2 2-5", ((0, 3),)
    assert runs([Span(0, 3)], text, gaps=gaps, max_gap=max_gap) == [expected]


def test_more_links_win_a_word_then_scores_then_the_earlier_label():
    spans = [Span(0, 2, "A"), Span(2, 3, "B")]
    assert runs(spans, "0-0 1-0 2-0 2-1") == [((0, 1),), ((1, 2),)]
    assert runs(spans, "0-0:0.3 2-0:0.6") == [(), ((0, 1),)]
    assert runs(spans, "0-0 2-0") == [((0, 1),), ()]


def test_no_label_reaches_across_another():
    spans = [Span(0, 1, "A"), Span(1, 2, "B")]
    assert runs(spans, "0-0 0-1 0-4 1-2") == [((0, 2),), ((2, 3),)]


def test_nested_labels_may_share_words():
    assert runs([Span(0, 3, "NP"), Span(1, 2, "N")], "0-1 1-0 2-2") == [((0, 3),), ((0, 1),)]


def test_reasons():
    spans = [Span(0, 1), Span(1, 2), Span(2, 2), Span(3, 4)]
    found = project_spans(spans, links("0-0 1-0 3-1 3-3"), gaps="longest", max_gap=0)
    assert [place.reason for place in found] == [None, Reason.TAKEN, Reason.NO_WORD, Reason.APART]
    assert found[3].left_out == ((3, 4),)
    assert project_spans([Span(0, 2)], Alignment())[0].reason is Reason.NO_LINKS
