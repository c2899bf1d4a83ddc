"""Documents whose translation runs from right to left."""

from __future__ import annotations

import io
import zipfile

import pytest
from docx import Document as WordDocument
from lxml import etree

from weft.applications.documents import Languages, project_document, read_document
from weft.applications.documents.direction import leftward_language, right_to_left
from weft.applications.linked import LinkFile

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ADDRESSES = ["للتواصل: office@example.org أو اتصل بنا", "انظر www.example.org/download للدليل"]


@pytest.fixture
def translated(tmp_path):
    def project(name, texts, language=None):
        (tmp_path / "links").write_text("\n" * len(texts))
        languages = Languages(None, language)
        document = read_document(tmp_path / name, languages)
        return project_document(document, texts, LinkFile(tmp_path / "links"), languages=languages)

    return project


@pytest.fixture
def word(tmp_path, translated):
    def project(paragraphs, texts, language=None, *, cells=(), before=None):
        document = WordDocument()
        for text in paragraphs:
            document.add_paragraph(text)
        table = document.add_table(rows=1, cols=2, style="Table Grid") if cells else None
        for cell, text in zip(() if table is None else table.rows[0].cells, cells, strict=True):
            cell.text = text
        document.save(tmp_path / "a.docx")
        if before is not None:
            (tmp_path / "a.docx").write_bytes(before)
        with zipfile.ZipFile(io.BytesIO(data := translated("a.docx", texts, language))) as archive:
            return data, etree.fromstring(archive.read("word/document.xml"))

    return project


def leftward(root):
    return [node.find(f"{WORD}pPr/{WORD}bidi") is not None for node in root.iter(f"{WORD}p")]


@pytest.mark.parametrize("language", ["ar", None])
def test_an_address_does_not_turn_a_paragraph(word, language):
    _, root = word(["Contact: office@example.org", "See www.example.org"], ADDRESSES, language)
    assert leftward(root) == [True, True]
    assert len(list(root.iter(f"{WORD}rtl"))) == 2


def test_in_a_document_from_right_to_left_one_word_is_enough_and_none_is_not(word):
    texts = ["Example Ltd. Example GmbH و", "Example GmbH", "+49 30 1", "מכתב"]
    _, root = word(["a", "b", "c", "d"], texts, "he")
    assert leftward(root) == [True, False, False, True]
    _, root = word(["a", "b", "c", "d"], texts, "en")
    assert leftward(root) == [False, False, False, True]


def test_tables_are_mirrored_and_back_again(word):
    data, root = word(["a"], ["عقد", "المستأجر", "أحمد"], "ar", cells=("Tenant", "Ahmad"))
    [properties] = root.iter(f"{WORD}tblPr")
    names = [etree.QName(node).localname for node in properties]
    assert names.index("tblStyle") + 1 == names.index("bidiVisual"), "in the order of the schema"
    _, root = word(["a"], ["contract", "tenant", "Ahmad"], "en", cells=("b", "c"), before=data)
    assert not list(root.iter(f"{WORD}bidiVisual", f"{WORD}bidi", f"{WORD}rtl"))


def test_cells_of_numbers_and_names_begin_where_the_others_of_their_table_do(word):
    cells = ("12 %", "Example GmbH")
    data, root = word(["a", "Example GmbH"], ["عقد", "Example GmbH", *cells], "ar", cells=cells)
    assert leftward(root) == [True, False, True, True]
    assert len(list(root.iter(f"{WORD}rtl"))) == 1, "numbers and Latin letters run as they did"
    _, root = word(["a"], ["contract", "Example GmbH", *cells], "en", cells=cells, before=data)
    assert leftward(root) == [False] * 4


@pytest.mark.parametrize("language", ["ar", None])
def test_a_part_of_a_page_says_it_on_its_blocks(tmp_path, translated, language):
    (tmp_path / "a.html").write_text("<p>a</p><div><p>b</p></div><p>c</p>")
    written = translated("a.html", [*ADDRESSES, "Example"], language).decode()
    first, second = ADDRESSES
    assert written == f'<p dir="rtl">{first}</p><div dir="rtl"><p>{second}</p></div><p>Example</p>'
    (tmp_path / "a.html").write_text(written, encoding="utf-8")
    assert translated("a.html", ["a", "b", "c"], "en") == b"<p>a</p><div><p>b</p></div><p>c</p>"


def test_blocks_that_say_they_run_to_the_right_say_so_no_longer(tmp_path, translated):
    page = '<html dir="ltr"><body><p dir="ltr">a <code dir="ltr">x</code></p><p dir="ltr">b</p></body></html>'
    (tmp_path / "a.html").write_text(page)
    written = translated("a.html", ["بيت x", "b"], "ar").decode()
    assert '<html dir="rtl" lang="ar">' in written
    assert '<p dir="rtl">' in written
    assert '<code dir="ltr">' in written
    assert '<p dir="ltr">b</p>' in written


@pytest.mark.parametrize(
    ("code", "expected"),
    [("ar", True), ("ar-EG", True), ("he_IL", True), ("ku-Arab", True), ("uz-Latn", False), ("ar-Latn", False),
     ("de", False), ("", False), (None, False)],
)  # fmt: skip
def test_languages_from_right_to_left(code, expected):
    assert leftward_language(code) is expected


def test_words_are_counted_and_not_letters():
    assert right_to_left("שלום www.a-very-long-address.example.org/with/a/path כאן")
    assert not right_to_left("a word of Hebrew: שלום")
    assert not right_to_left("12 %")
