from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nesting import filled, links, targets, trees, unspaced
from weft.applications.documents import project_document, read_document
from weft.applications.documents.inline import Languages
from weft.applications.documents.usfm import UsfmDocument
from weft.applications.labels import Listing
from weft.applications.linked import LinkFile
from weft.errors import FormatError

JONAH = Path(__file__).parents[4] / "examples" / "documents" / "jonah.usfm"
POINTS = {
    "x": "\\x - \\xo 1.1: \\xt Gn 1.1\\x*",
    "fig": '\\fig a map|src="m.jpg"\\fig*',
    "q2": "\n\\q2",
    "b": "\n\\b",
    "zms": "\\zms\\*",
    "//": "//",
}


def document(text: str) -> UsfmDocument:
    return UsfmDocument(text.encode(), "book", Languages())


def usfm(items, depth: int = 0) -> str:
    parts = []
    for item in items:
        if isinstance(item, str):
            parts.append(item)
        elif item[1] is None:
            parts.append(POINTS[item[0]])
        else:
            attributes = '|lemma="l"' if item[0] == "w" else ""
            name = f"{'+' if depth else ''}{item[0]}"
            parts.append(f"\\{name} q {usfm(item[1], depth + 1)}{attributes}\\{name}*")
    return " ".join(parts)


def elements(book: UsfmDocument) -> Counter[str]:
    return Counter(element.name for segment in book.segments for element in segment.markup.elements)


@settings(deadline=None)
@given(trees(st.sampled_from(["add", "nd", "w"]), st.sampled_from(sorted(POINTS))), targets, links)
@example(["w", ("nd", [("zms", None)]), "a"], "x", set())
def test_every_marker_is_in_the_result_or_named(items, target, pairs):
    source = f"\\c 1\n\\p\n\\v 1 {usfm(items)} end\n"
    book = document(source)
    assert book.written().decode() == source, "reading changes nothing"
    wanted = elements(book)
    _, lost = filled(book, target or "x", pairs)
    written = book.written().decode()
    again = document(written)
    # Lines that came to stand before the first word or behind the last one are no longer in the segment.
    found = elements(again) | Counter(re.findall(r"\n\\(q2|b)(?=\s)", written))
    assert not wanted - found - Counter(lost), written
    assert unspaced(again.segments[0].text) == unspaced(target or "x")
    opened = re.findall(r"\\\+?(add|nd|w)\s", written)
    assert Counter(opened) == Counter(re.findall(r"\\\+?(add|nd|w)\*", written))
    for line in written.split("\n"):
        assert len(re.findall(r"\\\+?(add|nd|w)(?:\s|$)", line)) == len(re.findall(r"\\\+?(add|nd|w)\*", line))
    assert written.count('|lemma="l"') >= source.count('|lemma="l"') - lost.count("w")
    assert written.startswith("\\c 1\n\\p\n\\v 1 ")


@pytest.mark.parametrize(
    ("source", "target", "pairs", "expected"),
    [
        ("\\v 1 a \\nd c\\nd* d", "x y z", {(0, 1), (1, 2), (2, 0)}, "\\v 1 x y \\nd z\\nd*"),
        ("\\v 1 a \\w c|strong=\"1\"\\w* d", "x y z", {(0, 0), (1, 2), (2, 1)}, "\\v 1 x y \\w z|strong=\"1\"\\w*"),
        # A marker ends with its line.
        ("\\v 1 a \\add c\n\\q2 d\\add*", "x y z", {(0, 0), (1, 1), (2, 2)},
         "\\v 1 x \\add y\\add*\n\\q2 \\add z\\add*"),
        # Newer texts nest markers without a plus sign; the result can be read by all programs.
        ("\\v 1 a \\add c \\nd d\\nd*\\add* e", "x y z w", {(0, 0), (1, 1), (2, 2), (3, 3)},
         "\\v 1 x \\add y \\+nd z\\+nd*\\add* w"),
        ("\\q1\n\\v 2-3 a c\n\\q2 d e\n\\p\n\\v 4", "y x w z", {(0, 1), (1, 0), (2, 3), (3, 2)},
         "\\q1\n\\v 2-3 y x\n\\q2 w z\n\\p\n\\v 4"),
        ("\\v 1 a \\qt-s |who=\"P\"\\*c\\qt-e\\* d", "y x z", {(0, 1), (1, 0), (2, 2)},
         "\\v 1 \\qt-s |who=\"P\"\\*y\\qt-e\\* x z"),
        ("\\s1 a | c", "x \\v y", {(0, 0)}, "\\s1 x \uff3cv y"),
    ],
)  # fmt: skip
def test_markers_go_with_their_words(source, target, pairs, expected):
    book = document(source)
    filled(book, target, pairs)
    assert book.written().decode() == expected


def test_what_is_a_segment():
    text = (
        "\\id GEN no text\n\\rem nor this\n\\h Head\n\\c 1\n\\cl Chapter\n\\s1 Heading \\f + \\fr 1.1 \\ft note\\f*\n"
        "\\p\n\\v 1 One~two\n\\ts\\*\n\\p\n\\v 2 \\va 3\\va* three\n\\s2 Between\n\\p rest of it\n"
        "\\tr \\th1 Day \\th2 Tribe\n"
    )
    segments = document(text).segments
    assert [segment.text for segment in segments] == [
        "Head", "Chapter", "Heading", "One\u00a0two", "three", "Between", "rest of it", "Day", "Tribe", "note",
    ]  # fmt: skip
    assert [segment.attribute for segment in segments].index("footnote") == len(segments) - 1


@pytest.mark.parametrize(
    ("note", "target", "links", "expected"),
    [
        ("\\f + \\fr 1.1: \\ft a \\fq c d\\ft e.\\f*", "y z x w.", "0-2 1-0 2-1 3-3", "\\fq y z \\ft x w."),
        ("\\f + \\fr 1.1: \\fk a:\\fk* c\\f*", "x: y", "0-0 1-1", "\\fk x: \\ft y"),
        ("\\f + \\ft a \\+nd c\\+nd* d\\f*", "x y z", "0-0 1-1 2-2", "\\ft x \\+nd y\\+nd* z"),
        ("\\f + \\ft a \\+nd c\\+nd*\\f*", "y x", "0-1 1-0", "\\ft \\+nd y\\+nd* x"),
    ],
)
def test_footnotes_are_segments_that_a_translation_may_leave_out(note, target, links, expected, tmp_path):
    (tmp_path / "a.usfm").write_text(f"\\v 1 w{note}.\n")
    (tmp_path / "links").write_text(f"0-0 1-1\n{links}\n")
    listed: list[bytes] = []
    for translation, content in ((["v."], note), (["v.", target], None)):
        book = read_document(tmp_path / "a.usfm")
        links_file = LinkFile(tmp_path / "links") if content is None else LinkFile(tmp_path / "first")
        (tmp_path / "first").write_text("0-0 1-1\n")
        written = project_document(book, translation, links_file, listing=Listing(listed.append)).decode()
        if content is not None:
            assert written == f"\\v 1 v{note}.\n"
            assert b"the translation leaves out this text" in listed[0]
        else:
            assert f"{expected}\\f*.\n" in written


def test_the_story_of_jonah_is_read_as_it_is_written():
    book = read_document(JONAH)
    assert book.written().decode() == JONAH.read_text("utf-8")
    windows = UsfmDocument(JONAH.read_text("utf-8").replace("\n", "\r\n").encode(), "book", Languages())
    assert [segment.text for segment in windows.segments] == [segment.text for segment in book.segments]
    assert windows.written().decode().replace("\r\n", "\n") == JONAH.read_text("utf-8")


@pytest.mark.parametrize(("data", "message"), [(b"\xff\\v", "expected UTF-8"), (b"plain", "no USFM markers")])
def test_what_is_no_usfm_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        UsfmDocument(data, "book", Languages())


@given(st.text("\\*+|vfpqw1 \n~/-", max_size=40))
def test_whatever_comes_in_is_there_after_reading(text):
    source = f"\\id x\n\\v 1 {text}"
    assert document(source).written().decode() == source
