"""Copies of TMX and XLIFF files without some of their units."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.rows import read_rows
from weft.text.unit_files import kind_by_content, kind_by_name, without_units

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header srclang="de"><prop type="x">a &lt; b</prop></header>
  <body>
    <!-- first --><tu tuid="1"
        changeid="a>b">
      <prop type="y">ü</prop>
      <tuv xml:lang="de"><seg>a <bpt i="1">&lt;b></bpt>b<ept i="1"/></seg></tuv>
      <tuv xml:lang="en"><seg>x</seg></tuv>
    </tu  >
    <tu tuid="2"><tuv xml:lang="de"><seg>c</seg></tuv><tuv xml:lang="en"><seg>y</seg></tuv></tu>

    <tu tuid="3"/>
    <tu tuid="4"><tuv xml:lang="de"><seg>d</seg></tuv><tuv xml:lang="en"><seg><![CDATA[</tu>]]></seg></tuv></tu>
  </body>
</tmx>
"""
XLIFF = """<?xml version="1.0"?><x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><x:file><x:body>
<x:trans-unit id="1"><x:source>a</x:source><x:target>b</x:target></x:trans-unit>
<x:trans-unit id="2" translate="no"><x:source>c</x:source></x:trans-unit>
<x:trans-unit id="3"><x:source>d e</x:source>
  <x:seg-source><x:mrk mtype="seg" mid="1">d</x:mrk> <x:mrk mtype="seg" mid="2">e</x:mrk></x:seg-source>
  <x:target><x:mrk mtype="seg" mid="1">f</x:mrk> <x:mrk mtype="seg" mid="2">g</x:mrk></x:target></x:trans-unit>
</x:body></x:file></x:xliff>
"""


def _copy(path, verdicts):
    return b"".join(without_units(path, verdicts))


@pytest.mark.parametrize("content", [TMX, XLIFF, TMX.replace("\n", "\r\n"), TMX.replace("\n", " "), "\ufeff" + TMX])
def test_a_file_of_which_all_is_kept_is_the_same(tmp_path, content):
    (tmp_path / "f").write_bytes(content.encode())
    assert _copy(tmp_path / "f", [True] * len(list(read_rows(tmp_path / "f")))) == content.encode()


@given(verdicts=st.lists(st.booleans(), min_size=4, max_size=4))
def test_units_that_are_not_kept_are_missing_and_nothing_else_is(tmp_path_factory, verdicts):
    path = tmp_path_factory.mktemp("tmx") / "f"
    path.write_text(TMX, encoding="utf-8")
    expected = TMX
    units = re.findall(r'\s*<tu tuid="3"/>|\s*<tu [^/]+?>(?:.|\n)*?</tu *>(?=\n)', TMX)
    assert len(units) == 4
    for unit, keep in zip(units, verdicts, strict=True):
        expected = expected if keep else expected.replace(unit, "")
    assert _copy(path, verdicts).decode() == expected


def test_a_unit_of_several_segments_stays_if_one_is_kept_and_one_that_is_not_translated_stays(tmp_path):
    path = tmp_path / "f.xlf"
    path.write_text(XLIFF)
    lines = XLIFF.splitlines(keepends=True)
    assert _copy(path, [True, False, True]).decode() == XLIFF
    assert _copy(path, [False, True, False]).decode() == "".join([lines[0].rstrip(), "\n", *lines[2:]])
    assert _copy(path, [True, False, False]).decode() == "".join([*lines[:3], *lines[6:]])


def test_utf16_becomes_utf8_and_says_so(tmp_path):
    path = tmp_path / "f.tmx"
    path.write_text(TMX.replace('"UTF-8"', '"UTF-16"'), encoding="utf-16")
    assert _copy(path, [True] * 4).decode("utf-8-sig") == TMX.replace(' encoding="UTF-8"', " ")


def test_other_encodings_stay(tmp_path):
    path = tmp_path / "f.tmx"
    content = TMX.replace('"UTF-8"', '"ISO-8859-1"').encode("iso-8859-1")
    path.write_bytes(content)
    assert _copy(path, [True] * 4) == content
    assert "ü".encode("iso-8859-1") in _copy(path, [True, False, True, True])


def test_a_large_file_is_passed_on_piece_by_piece(tmp_path):
    unit = '<tu><tuv xml:lang="de"><seg>a</seg></tuv><tuv xml:lang="en"><seg>x</seg></tuv></tu>\n'
    (tmp_path / "f").write_text(f"<tmx><header/><body>\n{unit * 1000}</body></tmx>\n")
    assert max(map(len, without_units(tmp_path / "f", [True] * 1000))) <= 2 * len(unit)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.tmx", "TMX"), ("a.TMX.gz", "TMX"), ("a.tmx.xlf", "XLIFF"), ("a.sdlxliff", "XLIFF"), ("a.tsv", None)],
)
def test_kinds_by_name(name, kind):
    assert kind_by_name(name) == kind


@pytest.mark.parametrize(
    ("content", "kind"),
    [(TMX, "TMX"), (XLIFF, "XLIFF"), ("<?xml version='1.0'?><html/>", None), ("a\tb\n", None), ("", None)],
)
def test_kinds_by_content(tmp_path, content, kind):
    (tmp_path / "f").write_text(content, encoding="utf-8")
    assert kind_by_content(tmp_path / "f") == kind
