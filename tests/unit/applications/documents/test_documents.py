"""What is the same for all kinds of documents: translations, links, placeholders, files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from weft import Aligner
from weft.applications.documents import FORMATS, Languages, project_document, read_document, read_translation
from weft.applications.labels import Listing
from weft.applications.linked import LinkFile
from weft.errors import FormatError

FOLDER = Path(__file__).parents[4] / "examples" / "documents"


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


def test_tmx_keeps_the_partners_of_its_codes(aligner, tmp_path):
    (tmp_path / "a.tmx").write_text(
        '<tmx version="1.4"><header srclang="en" creationtool="t" creationtoolversion="1" segtype="sentence" o-tmf="t" '
        'adminlang="en" datatype="xml"/><body><tu><tuv xml:lang="en"><seg>The <bpt i="1" x="1">&lt;b&gt;</bpt>house'
        '<ept i="1">&lt;/b&gt;</ept> is <ph x="2">{0}</ph> old.</seg></tuv></tu></body></tmx>'
    )
    languages = Languages("en", "de")
    document = read_document(tmp_path / "a.tmx", languages)
    root = etree.fromstring(project_document(document, ["Das Haus ist alt."], aligner, languages=languages))
    [unit] = root.iter("tu")
    assert [variant.get("{http://www.w3.org/XML/1998/namespace}lang") for variant in unit] == ["en", "de"]
    assert [[child.tag for child in variant] for variant in unit] == [["seg"], ["seg"]]
    codes = [(node.tag, node.get("i"), node.get("x")) for node in unit[1][0]]
    assert sorted(codes, key=str) == sorted([("bpt", "1", "1"), ("ept", "1", None), ("ph", None, "2")], key=str)
    assert codes.index(("bpt", "1", "1")) < codes.index(("ept", "1", None))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tmx", '<tmx version="1.4">\n<header srclang="de"/>\n<body>\n<tu>\n<tuv xml:lang="de"><seg>a</seg></tuv>\n'
         '<tuv xml:lang="en"><seg>x</seg></tuv>\n</tu>\n</body>\n</tmx>\n'),
        ("a.xlf", '<xliff version="1.2">\n<file><body>\n<trans-unit id="1"><source>a</source>\n<target>x</target>\n'
         "</trans-unit></body></file>\n</xliff>\n"),
    ],
)  # fmt: skip
def test_lines_of_xml_end_as_they_did(tmp_path, name, text, end):
    data = f"<?xml version='1.0' encoding='UTF-8'?>\n{text}".replace("\n", end).encode()
    (tmp_path / name).write_bytes(data)
    (tmp_path / "links").write_text("")  # nothing has tags
    assert project_document(read_document(tmp_path / name), None, LinkFile(tmp_path / "links")) == data


def test_links_of_segments_may_come_from_a_file(tmp_path):
    (tmp_path / "page.html").write_text("<p>a <b>c</b></p><p>d</p>")
    (tmp_path / "links").write_text("0-1 1-0\n0-0\n")
    document = read_document(tmp_path / "page.html")
    written = project_document(document, ["x y", "z"], LinkFile(tmp_path / "links"))
    assert written == b"<p><b>x</b> y</p><p>z</p>"


def second_xliff(unit: str) -> str:
    xmlns = "urn:oasis:names:tc:xliff:document:2.0"
    file = f'<file id="f"><unit id="u">{unit}</unit></file>'
    return f'<xliff version="2.0" srcLang="en" trgLang="fr" xmlns="{xmlns}">{file}</xliff>'


def test_a_code_of_xliff_2_takes_the_place_of_the_original_that_its_unit_keeps(aligner, tmp_path):
    (tmp_path / "a.xlf").write_text(
        second_xliff(
            '<originalData><data id="d1">{count}</data><data id="d2">{name}</data></originalData><segment>'
            '<source>You have <ph id="1" dataRef="d1"/> files, <ph id="2" dataRef="d2"/>.</source>'
            "<target>Vous avez {count} fichiers, {name}.</target></segment>"
        )
    )
    document = read_document(tmp_path / "a.xlf")
    assert [segment.text for segment in document.segments] == ["You have {count} files, {name}."]
    [target] = etree.fromstring(project_document(document, None, aligner)).iter("{*}target")
    assert [(node.get("dataRef"), node.tail) for node in target] == [("d1", " fichiers, "), ("d2", ".")]
    assert target.text == "Vous avez "


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ('<ph id="9" equiv="BR"/>', "files on"),
        ('<ph id="9" disp="[br/]"/>', "files on"),
        ('<ph id="9" dataRef="d"/>', "files on"),
        ('<ph id="9"/>', "files on"),
        (' <ph id="9"/> ', "files on"),
        ('<ph id="9"/>, ', "files, on"),
        ('<ph id="9" equiv="&#xad;"/>', "fileson"),
        ('<ph id="9" disp="&lt;wbr>"/>', "fileson"),
        ('<sc id="9"/>', "fileson"),
    ],
)
def test_single_codes_of_xliff_2_part_words(tmp_path, code, text):
    data = '<originalData><data id="d">&lt;br /></data></originalData>'
    (tmp_path / "a.xlf").write_text(second_xliff(f"{data}<segment><source>files{code}on</source></segment>"))
    [segment] = read_document(tmp_path / "a.xlf").segments
    assert segment.text.replace("  ", " ") == text


def test_a_line_break_parts_words_however_it_is_written(tmp_path):
    unit = '<trans-unit id="1"><source>files<ph id="1">&lt;br/></ph>on</source></trans-unit>'
    (tmp_path / "a.xlf").write_text(f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>')
    assert [segment.text for segment in read_document(tmp_path / "a.xlf").segments] == ["files on"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "# Mädchen\r\n\r\n*gut*\r\n"),
        ("a.usfm", "\\id GEN\r\n\\v 1 Mädchen \\nd gut\\nd*\r\n"),
        ("a.html", "<p>Mädchen</p><p><b>gut</b></p>"),
        ("a.xhtml", '<?xml version="1.0" encoding="UTF-16"?>\n<html><body><p>Mädchen</p></body></html>'),
        ("a.xlf", '<?xml version="1.0" encoding="UTF-16"?>\n<xliff version="1.2"><file><body><trans-unit id="1">'
         "<source>Mädchen</source></trans-unit></body></file></xliff>"),
    ],
)  # fmt: skip
def test_utf16_is_read_as_utf8_would_be(tmp_path, name, text, encoding):
    (tmp_path / name).write_bytes(text.replace("UTF-16", "UTF-8").encode())
    expected = read_document(tmp_path / name)
    (tmp_path / name).write_bytes(("\ufeff" + text).encode(encoding))
    document = read_document(tmp_path / name)
    assert [segment.text for segment in document.segments] == [segment.text for segment in expected.segments]
    assert "Mädchen" in document.segments[0].text
    if "UTF-16" in text:  # XML stays in the encoding that it names
        assert "Mädchen" in document.written().decode("utf-16")
    else:
        assert document.written() == expected.written()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.md", "Fresh bread[^1] daily.\n\n[^1]: b\n", "Täglich frisches Brot[^1]."),
        ("a.html", '<p>Fresh bread<sup><a>1</a></sup> daily.</p><p>b</p>', "Brot<sup><a>1</a></sup>.</p>"),
        ("a.html", '<p>Fresh bread <img src="b"> daily.</p><p>b</p>', 'Täglich frisches Brot <img src="b">.</p>'),
        ("a.usfm", "\\id GEN\n\\v 1 Fresh bread\\f + \\ft b\\f* daily.\n", "Täglich frisches Brot\\f + \\ft x\\f*.\n"),
    ],
)  # fmt: skip
def test_a_mark_that_moves_to_the_end_stands_right_before_the_full_stop(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    (tmp_path / "links").write_text("0-1 1-2 2-0 3-3\n0-0\n")
    document = read_document(tmp_path / name)
    written = project_document(document, ["Täglich frisches Brot.", "x"], LinkFile(tmp_path / "links")).decode()
    assert expected in written


@pytest.mark.parametrize(
    ("name", "text", "expected", "label"),
    [
        ("a.md", "An ~~old~~ new terminal\n", "Ein neues Terminal\n", "s"),
        ("a.md", "An **old** new terminal\n", "Ein neues Terminal\n", "strong"),
        ("a.md", "An `old` new terminal\n", "Ein neues Terminal\n", "code"),
        ("a.usfm", "\\id GEN\n\\v 1 An \\add old\\add* new terminal\n", "\\v 1 Ein neues Terminal\n", "add"),
    ],
)
def test_formatting_without_a_counterpart_is_listed_and_on_no_other_word(tmp_path, name, text, expected, label):
    (tmp_path / name).write_text(text)
    (tmp_path / "links").write_text("0-0 2-1 3-2\n")
    report: list[bytes] = []
    listing = Listing(report.append, what="tags")
    document = read_document(tmp_path / name)
    written = project_document(document, ["Ein neues Terminal"], LinkFile(tmp_path / "links"), listing=listing)
    assert written.decode().endswith(expected)
    why = "its words have no links, and the format cannot write it without words"
    assert [line.decode() for line in report] == [f"1\t{label}\t1\t2\told\t{why}\n"]
    assert list(listing.summary()) == [f"1 of 1 tags could not be placed (1: {why})."]


def test_a_link_without_a_counterpart_goes_around_the_next_word(tmp_path):
    (tmp_path / "a.md").write_text("An [old](u) new terminal\n")
    (tmp_path / "links").write_text("0-0 2-1 3-2\n")
    document = read_document(tmp_path / "a.md")
    written = project_document(document, ["Ein neues Terminal"], LinkFile(tmp_path / "links"))
    assert written == b"Ein [neues](u) Terminal\n"


def test_a_translation_of_another_length_is_named(tmp_path):
    (tmp_path / "page.html").write_text("<p>a</p><p>c</p>")
    with pytest.raises(FormatError, match=r"p\.html: the document has 2 segments, but the translation has 1\."):
        project_document(read_document(tmp_path / "page.html"), ["x"], LinkFile("none"), name="p.html")


def test_a_translation_may_be_a_document_that_lost_its_formatting(tmp_path):
    (tmp_path / "page.html").write_text("<p>a <b>c</b></p>")
    (tmp_path / "other.html").write_text("<div><p>x\n y</p></div>")
    assert read_translation(tmp_path / "other.html") == ["x y"]


def test_each_format_says_which_part_of_weft_it_needs():
    assert all(callable(opener()) for opener in FORMATS.values())


def test_xliff_gets_targets_where_the_schema_wants_them(tmp_path):
    (tmp_path / "a.xlf").write_text(
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"><body>'
        '<trans-unit id="1"><source>a c</source><seg-source><mrk mtype="seg" mid="1">a</mrk> <mrk mtype="seg" mid="2">'
        'c</mrk></seg-source><note>n</note></trans-unit><trans-unit id="2" translate="no"><source>no</source>'
        "</trans-unit></body></file></xliff>"
    )
    (tmp_path / "links").write_text("0-0\n0-0\n")
    languages = Languages(target="de")
    document = read_document(tmp_path / "a.xlf", languages)
    written = project_document(document, ["x", "y"], LinkFile(tmp_path / "links"), languages=languages)
    root = etree.fromstring(written)
    assert root[0].get("target-language") == "de"
    unit = root[0][0][0]
    assert [etree.QName(node).localname for node in unit] == ["source", "seg-source", "target", "note"]
    assert [(node.get("mid"), node.text) for node in unit[2]] == [("1", "x"), ("2", "y")]
    assert len(root[0][0][1]) == 1


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ('<ph id="1">%s</ph>', '<ph id="2">{n}</ph>'),
        ('<x id="1" equiv-text="%s"/>', '<x id="2" equiv-text="{n}"/>'),
        ('<ph id="1">%s</ph>', '<ph id="2">&lt;br/&gt;</ph>'),
    ],
)
def test_a_code_takes_the_place_of_its_placeholder(name, count, aligner, tmp_path):
    path = tmp_path / "a.xlf"
    path.write_text(
        '<xliff version="1.2"><file><body><trans-unit id="1">'
        f"<source>Hello {name}, you have {count} messages.</source>"
        "<target>Hallo %s, Sie haben {n} Nachrichten.</target>"
        "</trans-unit></body></file></xliff>"
    )
    written = project_document(read_document(path), None, aligner).decode()
    target = written[written.index("<target>") + 8 : written.index("</target>")]
    if "br" in count:  # a code that the translation does not have as text stands beside it
        assert target.count(count) == 1
        assert target.replace(count, "").split() == f"Hallo {name}, Sie haben {{n}} Nachrichten.".split()
    else:
        assert target == f"Hallo {name}, Sie haben {count} Nachrichten."


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("Hello {}, you have {} messages.", "Bonjour, vous avez messages.", "Bonjour {}, vous avez {} messages."),
        ("{}, you have {}.", "Vous avez.", "{} Vous avez {}."),
        ("Hello {}, {}", "Bonjour", "Bonjour {} {}"),
        ("Hello {} {}", "你好", "你好{}{}"),
        ("({}) items {}", "Artikel", "{} Artikel {}"),
    ],
)
@pytest.mark.parametrize("kind", ["first", "second", "tmx"])
def test_a_placeholder_that_the_translation_lacks_is_a_word_and_is_reported(
    kind, source, translation, expected, aligner, tmp_path
):
    codes = {
        "first": ['<x id="1" equiv-text="{{name}}"/>', '<ph id="2">%s</ph>'],
        "second": ['<ph id="1" equiv="{{name}}"/>', '<ph id="2" disp="%s"/>'],
        "tmx": ['<ph x="1">{{name}}</ph>', '<ph x="2">%s</ph>'],
    }[kind]
    sides = source.format(*codes), translation
    unit = "<source>{}</source><target>{}</target>".format(*sides)
    path = tmp_path / ("a.tmx" if kind == "tmx" else "a.xlf")
    path.write_text(
        {
            "first": f'<xliff version="1.2"><file><body><trans-unit id="1">{unit}</trans-unit></body></file></xliff>',
            "second": second_xliff(f"<segment>{unit}</segment>").replace(' xmlns="', ' xmlns:x="'),
            "tmx": '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>{}</seg></tuv>'
            '<tuv xml:lang="fr"><seg>{}</seg></tuv></tu></body></tmx>'.format(*sides),
        }[kind],
        encoding="utf-8",
    )
    report: list[bytes] = []
    listing = Listing(report.append, what="tags")
    written = project_document(read_document(path), None, aligner, listing=listing).decode()
    assert expected.format(*codes) in written
    rows = [line.decode().rstrip("\n").split("\t") for line in report]
    assert [row[4] for row in rows] == ["{{name}}", "%s"]
    assert {row[5] for row in rows} == {"the translation lacks this placeholder; its code is in the nearest place"}
    assert list(listing.summary()) == [
        "placeholders missing from the translation: 2. Their codes were put in the nearest place; "
        "check these sentences."
    ]


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ('Hello <x id="1" equiv-text="{{ name }}"/>!', "Hallo {{name}}!", 'Hallo <x id="1" equiv-text="{{ name }}"/>!'),
        ('Hello <x id="1" equiv-text="{{name}}"/>!', "Hallo {{ name }}!", 'Hallo <x id="1" equiv-text="{{name}}"/>!'),
        (
            '<x id="1" equiv-text="{{who}}"/> likes <x id="2" equiv-text="%s"/>',
            "%s gefällt",
            '<x id="1" equiv-text="{{who}}"/> <x id="2" equiv-text="%s"/> gefällt',
        ),
        (
            '<x id="1" ctype="image"/> <x id="2" equiv-text="%s"/> items here',
            "Artikel hier",
            '<x id="1" ctype="image"/> <x id="2" equiv-text="%s"/> Artikel hier',
        ),
    ],
)
def test_placeholders_of_both_sides_meet_and_are_written_as_words(source, translation, expected, aligner, tmp_path):
    path = tmp_path / "a.xlf"
    path.write_text(
        f'<xliff version="1.2"><file><body><trans-unit id="1"><source>{source}</source>'
        f"<target>{translation}</target></trans-unit></body></file></xliff>",
        encoding="utf-8",
    )
    written = project_document(read_document(path), None, aligner).decode()
    assert f"<target>{expected}</target>" in written
