"""The six documents in examples/documents, and what is the same for all kinds of documents."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from pathlib import Path

import docx
import pytest
from lxml import etree

from weft import Aligner
from weft.applications.documents import FORMATS, Languages, project_document, read_document, read_translation
from weft.applications.labels import Listing
from weft.applications.linked import LinkFile
from weft.errors import FormatError, WeftError

FOLDER = Path(__file__).parents[4] / "examples" / "documents"
PAIRS = {
    "contract.docx": ("contract.en.txt", "de", "en"),
    "letter.docx": ("letter.en.txt", "fr", "en"),
    "bakery.html": ("bakery.es.txt", "en", "es"),
    "manual.xlf": ("manual.fr.txt", "en", "fr"),
    "slides.xlf": (None, "en", "ja"),
    "README.md": ("README.zh.txt", "en", "zh"),
}


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


def translated(name: str, aligner: Aligner) -> tuple[bytes, list[str]]:
    other, source, target = PAIRS[name]
    languages = Languages(source, target)
    document = read_document(FOLDER / name, languages)
    report: list[bytes] = []
    translation = None if other is None else read_translation(FOLDER / other)
    written = project_document(
        document, translation, aligner, languages=languages, listing=Listing(report.append), name=name
    )
    return written, [line.decode() for line in report]


@pytest.mark.parametrize("name", PAIRS)
def test_the_result_has_every_tag_and_all_of_the_text(name, aligner, tmp_path):
    written, _ = translated(name, aligner)
    (tmp_path / name).write_bytes(written)
    again = read_document(tmp_path / name)
    source = read_document(FOLDER / name)
    if PAIRS[name][0]:
        text = [" ".join(segment.translation or segment.text for segment in [item]) for item in again.segments]
        unspaced = ["".join(line.split()) for line in text]
        assert unspaced == ["".join(line.split()) for line in read_translation(FOLDER / PAIRS[name][0])]
    if name.endswith(".xlf"):
        assert all(segment.done for segment in again.segments if segment.markup.elements)
    else:
        found, wanted = (
            Counter(element.name for segment in side.segments for element in segment.markup.elements)
            for side in (again, source)
        )
        assert found == wanted


def test_the_contract_is_formatted_where_it_should_be(aligner):
    written, report = translated("contract.docx", aligner)
    document = docx.Document(io.BytesIO(written))
    runs = {run.text for paragraph in document.paragraphs for run in paragraph.runs if run.bold}
    assert {"Nordlicht GmbH", "Clara Voss", "0.14 euros", "within 30 days", "25 percent"} <= runs
    [link] = [link for paragraph in document.paragraphs for link in paragraph.hyperlinks]
    assert (link.text, link.address) == ("our website", "https://nordlicht.example/preise")
    assert [run.text for run in document.tables[0].cell(1, 1).paragraphs[0].runs if run.italic] == ["Client"]
    [paragraph] = [item for item in document.paragraphs if item.text.startswith("The Contractor shall")]
    order = [node.tag.rpartition("}")[2] for run in paragraph.runs for node in run._r if not node.tag.endswith("rPr")]
    assert order[-2:] == ["footnoteReference", "t"], "the mark of the note stands before the full stop"
    assert paragraph.runs[-1].text == "."
    assert report == []


def test_the_page_keeps_what_is_no_text(aligner):
    written, _ = translated("bakery.html", aligner)
    page = written.decode()
    assert page.startswith('<!DOCTYPE html>\n<html lang="es">')
    for kept in ('if (1 < 2) { document.title += "!"; }', "<pre>open 6-18</pre>", "<!-- except in December -->"):
        assert kept in page
    assert '<a href="map.html">la antigua plaza del mercado</a>' in page
    assert 'manzana<sup><a href="#nuts">1</a></sup>,' in page


def test_the_readme_differs_in_its_text_only(aligner):
    written, _ = translated("README.md", aligner)
    text = written.decode()
    assert "```python\nimport seedling  # *not* translated\n```" in text
    assert "`pip install seedling`" in text
    assert "[指南][guide]" in text
    assert text.count("\n") == (FOLDER / "README.md").read_text("utf-8").count("\n")


def test_a_target_that_has_its_tags_stays_as_it_is(aligner):
    written, _ = translated("slides.xlf", aligner)
    assert '<target>ありがとうございます！<g id="1" ctype="link">何でも聞いてください</g></target>' in written.decode()


def test_links_of_segments_may_come_from_a_file(tmp_path):
    (tmp_path / "page.html").write_text("<p>a <b>c</b></p><p>d</p>")
    (tmp_path / "links").write_text("0-1 1-0\n0-0\n")
    document = read_document(tmp_path / "page.html")
    written = project_document(document, ["x y", "z"], LinkFile(tmp_path / "links"))
    assert written == b"<p><b>x</b> y</p><p>z</p>"


def test_a_translation_of_another_length_is_named(tmp_path):
    (tmp_path / "page.html").write_text("<p>a</p><p>c</p>")
    with pytest.raises(FormatError, match=r"p\.html: this has 2 segments, but the translation has 1\."):
        project_document(read_document(tmp_path / "page.html"), ["x"], LinkFile("none"), name="p.html")


def test_a_translation_may_be_a_document_that_lost_its_formatting(tmp_path):
    (tmp_path / "page.html").write_text("<p>a <b>c</b></p>")
    (tmp_path / "other.html").write_text("<div><p>x\n y</p></div>")
    assert read_translation(tmp_path / "other.html") == ["x y"]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
XLIFF = '<xliff version="1.2"><file><body><trans-unit><source>{}</source></trans-unit></body></file></xliff>'


def zipped(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xlf", b"<xliff", "not well-formed XML"),
        ("a.xlf", b"", "not well-formed XML"),
        ("a.xlf", b"<x/>", "expected an <xliff>"),
        ("a.xlf", (BOMB + XLIFF.format("&b;")).encode(), "declares entities"),
        ("a.xlf", (OUTSIDE + XLIFF.format("&a;")).encode(), "declares entities"),
        ("a.xlf", (XLIFF.format("<g>" * 5000)).encode(), "not well-formed XML"),
        ("a.tmx", b"<tmx><body><tu><tuv><seg>a</seg></tuv></tu></body></tmx>", "target_language"),
        ("a.xhtml", (OUTSIDE + "<html><p>&a;</p></html>").encode(), "declares entities"),
        ("a.html", b"<b>" * 5000 + b"x", "cannot be read"),
        ("a.md", b"\xff\xfe", "expected UTF-8"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
        ("a.docx", b"PK nothing", "not a DOCX file"),
        ("a.docx", zipped({"a": b"x"}), "not a DOCX file"),
        ("a.docx", zipped({"[Content_Types].xml": b"<Types/>"}), "not a Word text document"),
        ("a.docx", zipped({"[Content_Types].xml": b"<Types/>", "zeros": bytes(201_000_000)}), "more than 200,000,000"),
    ],
)
def test_bad_documents_are_refused_with_a_sentence(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WeftError, match=re.escape(message)):
        read_document(tmp_path / name)


def test_a_document_type_definition_is_never_fetched(tmp_path):
    file = tmp_path / "a.tmx"
    file.write_text(
        '<!DOCTYPE tmx SYSTEM "http://192.0.2.1/tmx14.dtd"><tmx version="1.4"><header srclang="en"/><body><tu>'
        '<tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg>x</seg></tuv></tu></body></tmx>'
    )
    assert read_document(file).segments[0].translation == "x"


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
