"""Rows of files of pairs: whole rows of CSV, and the units of TMX and XLIFF."""

import json

import pytest

from weft.errors import FormatError
from weft.text.lines import display_name
from weft.text.rows import as_csv, is_csv, read_rows, with_lines

TMX = """<?xml version="1.0" encoding="UTF-16"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu tuid="7"><tuv xml:lang="de-DE"><seg>Drücken Sie
 <bpt i="1">&lt;b&gt;</bpt>Start<ept i="1">&lt;/b&gt;</ept>.</seg></tuv>
<tuv xml:lang="EN-US"><seg>Press <hi>Start</hi>.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Alone</seg></tuv></tu>
</body></tmx>
"""
XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>
<trans-unit id="a"><source>Press <g id="1">Start</g><x id="2"/>.</source>
<target>Drücken Sie Start.</target></trans-unit>
<trans-unit id="b" translate="no"><source>AB-1</source><target>AB-1</target></trans-unit>
<trans-unit id="c"><source>One. Two.</source>
<seg-source><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two.</mrk></seg-source>
<target><mrk mtype="seg" mid="1">Eins.</mrk></target></trans-unit>
</body></file></xliff>
"""
XLIFF_2 = """<?xml version="1.0"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f"><unit id="u">
<segment><source>Yes <ph id="1"/></source><target>Ja</target></segment><segment><source>No</source></segment>
</unit></file></xliff>
"""


def _rows(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode())
    return list(read_rows(path))


def _records(tmp_path, content):
    return [json.loads(row) for row in _rows(tmp_path, "file.xml", content)]


def test_lines_of_other_files_stay_lines(tmp_path):
    assert _rows(tmp_path, "a.tsv", 'a "b\nc" d\n') == [b'a "b', b'c" d']
    assert _rows(tmp_path, "empty.csv", "") == []


def test_a_quoted_cell_goes_on_in_the_next_line(tmp_path):
    text = 'ID,de,en\r\n1,"Erste Zeile.\r\nZweite ""Zeile"".","First line.\r\nSecond line."\r\n2,ja,yes\r\n'
    rows = _rows(tmp_path, "a.csv", text)
    assert rows == [b"ID,de,en", b'1,"Erste Zeile.\nZweite ""Zeile"".","First line.\nSecond line."', b"2,ja,yes"]


UNICODE_TEXT = (
    '"de\n(neu)"\ten\r\n"Er sagte ""Ja"".\nDann ging er."\t"He said ""yes"",\tthen left."\r\n'
    '5" Rohr;"x\t5"" pipe\r\n""\t"Ja\r\n'
)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_quotes_of_unicode_text_as_excel_writes_it_are_taken_off(tmp_path, encoding):
    path = tmp_path / "table.txt"
    path.write_bytes(UNICODE_TEXT.encode(encoding))
    if encoding == "utf-8":  # a table with tabs has no quotes, only quotation marks
        assert list(read_rows(path)) == UNICODE_TEXT.replace("\r", "").encode().split(b"\n")[:-1]
        return
    assert list(with_lines(read_rows(path))) == [
        (1, b"de (neu)\ten"),
        (3, b'Er sagte "Ja". Dann ging er.\tHe said "yes", then left.'),
        (5, b'5" Rohr;"x\t5"" pipe'),
        (6, b'\t"Ja'),
    ]


def test_other_text_in_utf16_keeps_its_quotation_marks(tmp_path):
    text = '"Ja ||| "Yes"\n"Nein ||| "No\nja ||| yes"\n'
    (tmp_path / "pairs").write_bytes(text.encode("utf-16"))
    assert list(read_rows(tmp_path / "pairs")) == text.encode().splitlines()


def test_what_is_said_to_be_csv_is_csv_whatever_its_name(tmp_path):
    path = tmp_path / "table"
    path.write_text('1,"a\nb"\n')
    table = as_csv(path)
    assert (is_csv(path), is_csv(table), display_name(table)) == (False, True, str(path))
    assert list(read_rows(table)) == [b'1,"a\nb"']
    assert display_name(as_csv("-")) == "stdin"
    assert as_csv("a.csv") == "a.csv"


def test_a_quotation_mark_inside_a_cell_opens_nothing(tmp_path):
    assert _rows(tmp_path, "a.csv", '5" Rohr,5" pipe\n7" Rohr,7 inch pipe\nja,yes\n') == [
        b'5" Rohr,5" pipe',
        b'7" Rohr,7 inch pipe',
        b"ja,yes",
    ]


def test_a_cell_that_never_ends_does_not_swallow_the_file(tmp_path):
    assert _rows(tmp_path, "a.csv", '"ja,yes\nnein,no\n') == [b'"ja,yes', b"nein,no"]


def test_units_of_tmx_hold_texts_by_language_without_codes_the_source_language_first(tmp_path):
    first, second = _records(tmp_path, TMX)
    assert first == {"id": "7", "translation": {"EN-US": "Press Start.", "de-DE": "Drücken Sie Start."}}
    assert list(first["translation"]) == ["EN-US", "de-DE"]
    assert second == {"translation": {"en": "Alone"}}


def test_tmx_may_be_in_the_utf16_that_it_declares(tmp_path):
    (tmp_path / "memory.tmx").write_bytes(TMX.encode("utf-16"))
    assert list(read_rows(tmp_path / "memory.tmx")) == _rows(tmp_path, "utf8.tmx", TMX)


def test_words_in_elements_of_no_standard_are_kept(tmp_path):
    unit = '<tu><tuv xml:lang="de"><seg>Das ist <b>gut</b>.</seg></tuv><tuv xml:lang="en"><seg>Good.</seg></tuv></tu>'
    [record] = _records(tmp_path, f'<tmx version="1.4"><header srclang="de"/><body>{unit}</body></tmx>')
    assert "Das ist gut." in json.dumps(record)


def test_units_of_xliff_are_pairs_and_so_are_their_segments(tmp_path):
    assert _records(tmp_path, XLIFF) == [
        {"id": "a", "source": "Press Start.", "target": "Drücken Sie Start."},
        {"id": "c", "source": "One.", "target": "Eins."},
        {"id": "c", "source": "Two.", "target": ""},
    ]
    assert _records(tmp_path, XLIFF_2) == [
        {"id": "u", "source": "Yes", "target": "Ja"},
        {"id": "u", "source": "No", "target": ""},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<?xml version='1.0'?>\n<html/>", "root <html>"),
        ("<tmx>\n<body>", "not well-formed"),
        ('<?xml version="1.0"?>\n<!DOCTYPE tmx [<!ENTITY a "b">]>\n<tmx/>', "declares entities"),
    ],
)
def test_other_xml_is_refused_with_a_reason(tmp_path, content, message):
    with pytest.raises(FormatError, match=message):
        _rows(tmp_path, "file.tmx", content)


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.tsv", "a\tb\n\nc\td\n", [1, 2, 3]),
        ("a.csv", 'a,b\r\n"c\r\nd",e\r\nf,g\r\n', [1, 2, 4]),
        ("a.csv", '"a,b\nc,d\n', [1, 2]),
        ("a.tmx", TMX, [4, 7]),
        ("a.xlf", XLIFF, [2, 5, 5]),
        ("a.xlf", XLIFF_2, [2, 2]),
        ("a.xlf", XLIFF.replace('<trans-unit id="a">', '<trans-unit\n  id="a"\n>'), [4, 7, 7]),
    ],
)
def test_rows_know_at_which_line_they_begin(tmp_path, name, content, lines):
    (tmp_path / name).write_bytes(content.encode())
    assert [line for line, _ in with_lines(read_rows(tmp_path / name))] == lines
