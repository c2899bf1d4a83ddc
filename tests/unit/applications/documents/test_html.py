from __future__ import annotations

import pytest
from lxml import html

from weft.applications.documents import Languages, project_document, read_document
from weft.applications.labels import Listing
from weft.applications.linked import LinkFile
from weft.errors import FormatError

PAGE = """<html><head><meta name="description" content="A bakery"></head><body title="page">
<p>see <a href="u" title="old  market">the square</a> <img src="a.png" alt="Bread"></p>
<input placeholder="name" aria-label="your name"><b translate="no" title="kept">x</b><p title=" ">end</p>
</body></html>"""
TEXTS = ["see the square", "x", "end"]
ATTRIBUTES = ["A bakery", "page", "old market", "Bread", "name", "your name"]


@pytest.fixture
def projected(tmp_path):
    def project(translation):
        (tmp_path / "page.html").write_text(PAGE)
        (tmp_path / "links").write_text("0-0 1-1 2-2\n" + "\n" * (len(translation) - 1))
        report: list[bytes] = []
        document = read_document(tmp_path / "page.html")
        assert [segment.text for segment in document.segments] == TEXTS + ATTRIBUTES
        written = project_document(
            document, translation, LinkFile(tmp_path / "links"), listing=Listing(report.append, what="tags")
        )
        return html.fromstring(written), [line.decode().split("\t") for line in report]

    return project


def attributes(page):
    names = ("content", "title", "alt", "placeholder", "aria-label")
    return [node.get(name) for node in page.iter() for name in names if (node.get(name) or "").strip()]


def test_attributes_that_people_read_are_segments(projected):
    page, report = projected(["siehe den Platz", "x", "Ende", "B", 'S "1" <&>', "M", "Brot", "Name", "Ihr Name"])
    assert attributes(page) == ["B", 'S "1" <&>', "M", "Brot", "Name", "Ihr Name", "kept"]
    [link] = page.iter("a")
    assert (link.text, link.get("title"), link.get("href")) == ("den Platz", "M", "u")
    assert not [row for row in report if "attribute" in row[-1]]


def test_a_translation_without_them_leaves_them_and_the_report_names_them(projected):
    page, report = projected(["siehe den Platz", "x", "Ende"])
    assert attributes(page) == ["A bakery", "page", "old  market", "Bread", "name", "your name", "kept"]
    assert [link.text for link in page.iter("a")] == ["den Platz"]
    rows = [row for row in report if "leaves out" in row[-1]]
    assert [(row[1], row[4]) for row in rows] == list(
        zip(["content", "title", "title", "alt", "placeholder", "aria-label"], ATTRIBUTES, strict=True)
    )


def test_a_translation_with_some_of_them_is_refused(projected):
    with pytest.raises(FormatError, match="the document has 9 segments, but the translation has 4"):
        projected(["siehe den Platz", "x", "Ende", "B"])


FORM = """<noscript><style>b {}</style><img src="pixel"></noscript><p>choose <select><optgroup label="warm">
<option>red</option><option value="y">yellow</option><option> </option></optgroup></select> now
<noscript><!-- c --></noscript></p>
<noscript>turn <b>scripts</b> on</noscript><textarea>your message</textarea><textarea>two
lines</textarea><input type="submit" value="send"><input type="text" value="no"><input type="hidden" value="no">
<select translate="no"><option>no</option></select>"""


def test_forms_and_what_is_said_without_scripts(tmp_path):
    (tmp_path / "form.html").write_text(FORM)
    document = read_document(tmp_path / "form.html")
    texts = ["choose now", "turn scripts on", "warm", "red", "yellow", "your message", "send"]
    assert [segment.text for segment in document.segments] == texts
    assert [segment.attribute for segment in document.segments][2:] == [
        "label",
        "option",
        "option",
        "textarea",
        "value",
    ]
    (tmp_path / "links").write_text("0-0 1-1\n0-0 1-1 2-2\n" + "\n" * 5)
    translation = ["wähle jetzt", "schalte Skripte ein", "W", "rot", "gelb", "Nachricht", "senden"]
    written = project_document(document, translation, LinkFile(tmp_path / "links")).decode()
    for text in (
        '<optgroup label="W">',
        '<option value="red">rot</option><option value="y">gelb</option>',
        "<noscript>schalte <b>Skripte</b> ein</noscript>",
        "<textarea>Nachricht</textarea><textarea>two\nlines</textarea>",
        '<input type="submit" value="senden"><input type="text" value="no"><input type="hidden" value="no">',
        '<noscript><style>b {}</style><img src="pixel"></noscript>',
    ):
        assert text in written


def test_an_attribute_named_as_its_element(tmp_path):
    (tmp_path / "page.html").write_text('<html><head><title title="tip">name</title></head><p>a</p></html>')
    assert [segment.text for segment in read_document(tmp_path / "page.html").segments] == ["name", "a", "tip"]


def test_a_page_says_which_way_its_text_runs(tmp_path):
    (tmp_path / "page.html").write_text("<html><body><p>a</p></body></html>")
    (tmp_path / "links").write_text("0-0\n")
    document = read_document(tmp_path / "page.html")
    (tmp_path / "page.html").write_bytes(project_document(document, ["بيت"], LinkFile(tmp_path / "links")))
    assert '<html dir="rtl">' in (tmp_path / "page.html").read_text("utf-8")
    document = read_document(tmp_path / "page.html")
    assert b"<html>" in project_document(document, ["house"], LinkFile(tmp_path / "links"))


def test_references_of_xhtml_are_characters(tmp_path):
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "xhtml1-strict.dtd">'
    page = f"{doctype}<html><body><p>caf&eacute;&nbsp;<b>a</b>&hellip; &unknown; &amp;</p></body></html>"
    (tmp_path / "page.xhtml").write_text(page)
    [segment] = read_document(tmp_path / "page.xhtml").segments
    assert segment.text == "café\u00a0a… &"
    assert [element.name for element in segment.markup.elements] == ["b", "!--"]


def test_lines_of_xhtml_end_as_they_did(tmp_path):
    page = b"<?xml version='1.0' encoding='UTF-8'?>\r\n<html>\r\n<body><p>a</p></body>\r\n</html>\r\n"
    (tmp_path / "page.xhtml").write_bytes(page)
    assert read_document(tmp_path / "page.xhtml").written() == page


SAYS = {
    "charset": '<meta charset="{}">',
    "http-equiv": '<meta http-equiv="Content-Type" content="text/html; charset={}">',
}


def translated(tmp_path, data):
    (tmp_path / "page.html").write_bytes(data)
    (tmp_path / "links").write_text("0-0\n")
    return project_document(read_document(tmp_path / "page.html"), ["Grüße → “x”"], LinkFile(tmp_path / "links"))


@pytest.mark.parametrize("form", SAYS)
@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "UTF-8", "us-ascii", "shift_jis"])
def test_a_page_in_ascii_is_written_in_the_encoding_that_it_names(tmp_path, form, encoding):
    meta = SAYS[form].format(encoding)
    written = translated(tmp_path, f"<html><head>{meta}</head><body><p>greetings</p></body></html>".encode())
    assert meta in written.decode(encoding)
    [paragraph] = html.document_fromstring(written).iter("p")
    assert paragraph.text == "Grüße → “x”"


@pytest.mark.parametrize("form", SAYS)
@pytest.mark.parametrize(
    ("named", "data"),
    [
        ("iso-8859-1", "é".encode()),
        ("utf-16", b"e"),
        ("utf-16", "é".encode()),
        ("latin-1", b"\xef\xbb\xbfe"),
        ("nonsense", b"e"),
    ],
)
def test_a_page_that_names_an_encoding_it_is_not_in_names_the_one_it_is_written_in(tmp_path, form, named, data):
    mark, letter = (data[:3], data[3:]) if data.startswith(b"\xef\xbb\xbf") else (b"", data)
    meta = SAYS[form].format(named).encode()
    page = mark + b"<html><head>" + meta + b"</head><body><p>" + letter + b"</p></body></html>"
    written = translated(tmp_path, page)
    assert SAYS[form].format("utf-8").lower() in written.decode().lower()
    assert "Grüße → “x”" in written.decode()


@pytest.mark.parametrize(
    ("named", "data", "text"),
    [
        ("iso-8859-1", b"\x93It\x92s\x94 \x80 5", "“It’s” € 5"),
        ("Latin1", b"caf\xe9 \x85", "café …"),
        ("us-ascii", b"\x93caf\xe9\x94", "“café”"),
        (None, b"\x93caf\xe9\x94", "“café”"),
        ("iso-8859-9", b"\x93\xfe\x94", "“ş”"),
        ("tis-620", b"\x93\xa1\x94", "“ก”"),
        ("shift_jis", b"\x87\x40 \x93\xfa", "① 日"),
        ("gb2312", b"\x8a\x40", "夽"),
        ("big5", b"\xa4\xa4 \x88\x62", "中 Ê̄"),
        ("euc-kr", b"\x8c\x63", "똠"),
        ("iso-8859-5", b"\xd0", "а"),
        ("iso-8859-1", b"\xe9 \x81", "é \x81"),  # a byte that windows-1252 has not
    ],
)
def test_names_of_encodings_mean_what_the_html_standard_says(tmp_path, named, data, text):
    meta = "" if named is None else f'<meta charset="{named}">'
    page = f"<html><head>{meta}</head><body><p>".encode() + data + b"</p><pre>" + data + b"</pre></body></html>"
    (tmp_path / "page.html").write_bytes(page)
    document = read_document(tmp_path / "page.html")
    assert [segment.text for segment in document.segments] == [text]
    (tmp_path / "links").write_text("0-0\n")
    written = project_document(document, [text], LinkFile(tmp_path / "links"))
    assert meta.encode() in written
    assert b"<p>" + data + b"</p><pre>" + data in written or b"\x81" in data


def test_a_page_that_cannot_be_in_utf_16_is_not_read_as_such(tmp_path):
    (tmp_path / "page.html").write_bytes(b'<html><meta charset="utf-16"><body><p>caf\xe9</p></body></html>')
    assert [segment.text for segment in read_document(tmp_path / "page.html").segments] == ["café"]


def test_whatever_names_the_old_language_within_a_page_names_the_new_one(tmp_path):
    (tmp_path / "page.html").write_text(
        '<html lang="en"><body><div lang="EN">Hi <b lang="en">there</b> <i lang="fr">oui</i></div>'
        '<pre lang="en">x</pre><div translate="no" lang="en"><p lang="en">y</p></div></body></html>'
    )
    (tmp_path / "links").write_text("0-0 1-1 2-2\n")
    languages = Languages(target="es")
    document = read_document(tmp_path / "page.html", languages)
    written = project_document(document, ["Hola ahí oui"], LinkFile(tmp_path / "links"), languages=languages)
    named = [(node.tag, node.get("lang")) for node in html.fromstring(written).iter() if node.get("lang")]
    assert named == [
        ("html", "es"), ("div", "es"), ("b", "es"), ("i", "fr"), ("pre", "en"), ("div", "en"), ("p", "en")
    ]  # fmt: skip
