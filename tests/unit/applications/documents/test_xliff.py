"""XLIFF: codes that Phrase writes into the text, and codes that lack their partner."""

from __future__ import annotations

import re
from collections import Counter
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from nesting import filled, links
from weft.applications.documents import Languages, project_document, read_document
from weft.applications.documents.xliff import XliffDocument
from weft.applications.linked import LinkFile


def unit(source, target):
    inner = f"<source>{escape(source)}</source><target>{escape(target)}</target>"
    return f'<xliff version="1.2"><file><body><trans-unit id="1">{inner}</trans-unit></body></file></xliff>'


def target_of(written):
    return "".join(etree.fromstring(written).find(".//target").itertext())


def repaired(tmp_path, source, target, links):
    (tmp_path / "a.mxliff").write_text(unit(source, target))
    (tmp_path / "links").write_text(f"{links}\n" if links else "")
    document = read_document(tmp_path / "a.mxliff")
    return target_of(project_document(document, None, LinkFile(tmp_path / "links")))


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("click {1>save<1} now{2} then", "x y z w", "0-2 1-1 2-0 3-3", "x{2} {1>y<1} z w"),
        ("see {b>a<b} {_>c<_} {b>d<b}", "x y z w", "0-0 1-3 2-2 3-1", "x {b>y<b} {_>z<_} {b>w<b}"),
        # Pairs may cross, also without words between; some codes lack their partner, in the translation too.
        ("{1>a {2>c<1} d<2}", "x y z", "0-0 1-1 2-2", "{1>x {2>y<1} z<2}"),
        ("{1><1}a c", "x y", "0-0 1-1", "{1><1}x y"),
        ("a {1>c d", "x {1>y<1} z", "0-0 1-1 2-2", "x {1>y z"),
        ("a {1>c<1} d", "x {1>y z", "0-0 1-1 2-2", "x {1>y<1} z"),
        # Where segments were joined, one ends.
        ("a.{j}c d", "z x. y", "0-1 1-0 2-2", "z x.{j} y"),
        # A translation that has all codes stays as it is, wherever they are. Other braces are text.
        ("{1>a<1} c{2}", "{2}x {1>y<1}", "", "{2}x {1>y<1}"),
        ("{a} {2>b<2} {c", "{a} x {c", "0-0 1-1 2-2", "{a} {2>x<2} {c"),
    ],
)
def test_codes_in_the_text_of_phrase(tmp_path, source, target, links, expected):
    assert repaired(tmp_path, source, target, links) == expected


def test_segments_of_phrase_have_no_codes(tmp_path):
    (tmp_path / "a.mxliff").write_text(unit("Click {1>Save<1} now{2}.{j}Then {b>wait<b}.", ""))
    [segment] = read_document(tmp_path / "a.mxliff").segments
    assert segment.text == "Click Save now. Then wait."
    (tmp_path / "a.xlf").write_text(unit("Give {1} a {2}.", ""))
    [segment] = read_document(tmp_path / "a.xlf").segments
    assert segment.text == "Give {1} a {2}."


CODES = ["{1>", "<1}", "{2>", "<2}", "{3}", "{b>", "<b}", "{j}"]


@given(
    st.lists(st.sampled_from([*CODES, "a ", "b ", "c"]), max_size=12).filter(
        lambda parts: {"a ", "b ", "c"} & {*parts}
    ),
    st.sampled_from(["x", "x y", "x y z", "x, y."]),
    links,
)
def test_no_code_in_the_text_is_lost(parts, target, pairs):
    document = XliffDocument(unit("".join(parts), "").encode(), "a", Languages(), codes_in_text=True)
    filled(document, target, pairs)
    written = target_of(document.written())
    pattern = re.compile("|".join(map(re.escape, CODES)))
    assert Counter(pattern.findall(written)) == Counter(part for part in parts if part in CODES)
    assert pattern.sub("", written).split() == target.split()


def test_a_code_that_lacks_its_partner_in_the_translation_is_repaired(tmp_path):
    codes = '<bpt id="1">[</bpt>{}<ept id="1">]</ept>'.format
    source, target = f"a {codes('c')} d", 'x <bpt id="1">[</bpt>y z'
    inner = f"<source>{source}</source><target>{target}</target>"
    (tmp_path / "a.xlf").write_text(
        f'<xliff version="1.2"><file><body><trans-unit id="1">{inner}</trans-unit></body></file></xliff>'
    )
    (tmp_path / "links").write_text("0-0 1-1 2-2\n")
    written = project_document(read_document(tmp_path / "a.xlf"), None, LinkFile(tmp_path / "links"))
    assert f"<target>x {codes('y')} z</target>".encode() in written
