"""Documents that are broken, locked or dangerous: refused with a sentence, nothing unpacked or fetched."""

from __future__ import annotations

import gzip
import io
import re
import socket
import zipfile
from pathlib import Path

import pytest

from weft.applications.documents import read_document
from weft.errors import FormatError, WeftError

FOLDER = Path(__file__).parents[4] / "examples" / "documents"

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
        ("a.xlf", (OUTSIDE.replace("ENTITY a", "ENTITY % a") + XLIFF.format("a")).encode(), "declares entities"),
        ("a.xlf", (XLIFF.format("<g>" * 5000)).encode(), "not well-formed XML: Excessive depth"),
        ("a.xlf", b'<?xml version="1.0" encoding="klingon"?><xliff/>', "Unsupported encoding: klingon."),
        ("a.xlf", gzip.compress(bytes(201_000_000), 1), "more than 200,000,000 bytes"),
        ("a.md", b" " * 20_000_001, "more than 20,000,000 bytes"),
        ("a.tmx", b"<tmx><body><tu><tuv><seg>a</seg></tuv></tu></body></tmx>", "target_language"),
        ("a.xhtml", (OUTSIDE + "<html><p>&a;</p></html>").encode(), "declares entities"),
        ("a.html", b"<b>" * 5000 + b"x", "cannot be read"),
        ("a.md", b"gut\nM\xe4dchen", "a.md:2:2: expected UTF-8, found the byte e4. Convert the file"),
        ("a.md", "gut".encode("utf-16")[:-1], "this UTF-16 text is damaged or cut short"),
        ("a.usfm", "\\v 1".encode("utf-16")[:-1], "this UTF-16 text is damaged or cut short"),
        ("a.html", "<p>gut</p>".encode("utf-16")[:-1], "this UTF-16 text is damaged or cut short"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
        ("a.docx", b"PK nothing", "not a DOCX file"),
        ("a.docx", zipped({"a": b"x"}), "not a DOCX file"),
        ("a.docx", zipped({"[Content_Types].xml": b"<Types/>"}), "not a Word text document"),
        ("a.docx", zipped(dict.fromkeys(map(str, range(10_001)), b"")), "more than 10,000 parts"),
        ("a.docx", zipped({"a": b"x", "A": b"y"}), "two of its parts have the same name"),
        ("a.docx", zipped({"../a": b"x"}), "a part of it is called '../a'"),
        ("a.docx", zipped({"[Content_Types].xml": b"<Types/>", "zeros": bytes(201_000_000)}), "more than 200,000,000"),
    ],
)
def test_bad_documents_are_refused_with_a_sentence(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WeftError, match=re.escape(message)):
        read_document(tmp_path / name)


PLAIN, STRICT = (
    b"http://schemas.openxmlformats.org/wordprocessingml/2006/",
    b"http://purl.oclc.org/ooxml/wordprocessingml/",
)


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        ("word/document.xml", b"</w:document>", b"", "not well-formed XML"),
        ("word/document.xml", b"<w:document", b'<!DOCTYPE d [<!ENTITY a "x">]><w:document', "declares entities"),
        ("word/document.xml", PLAIN, STRICT, "a Strict Open XML document"),
        ("word/document.xml", b"w:document", b"document", "not a Word text document"),
        ("[Content_Types].xml", b"<Types", b'<!DOCTYPE d [<!ENTITY a "x">]><Types', "declares entities"),
        (
            "[Content_Types].xml",
            b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            b"vnd.ms-word.document.macroEnabled.main+xml",
            "a Word document with macros",
        ),
    ],
)
def test_a_docx_with_a_bad_part_is_refused(part, old, new, message, tmp_path):
    with zipfile.ZipFile(FOLDER / "letter.docx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    (tmp_path / "a.docx").write_bytes(zipped(parts))
    with pytest.raises(FormatError, match=message):
        read_document(tmp_path / "a.docx")


def test_an_archive_that_lies_about_its_size_is_not_unpacked_beyond_it(tmp_path):
    data = zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": bytes(201_000_000)})
    size, said = (number.to_bytes(4, "little") for number in (201_000_000, 1000))
    (tmp_path / "a.docx").write_bytes(data.replace(size, said))
    with pytest.raises(FormatError, match="damaged"):
        read_document(tmp_path / "a.docx")


@pytest.mark.parametrize(
    ("doctype", "refused"),
    [
        ('<!DOCTYPE tmx SYSTEM "{}">', False),
        ('<!DOCTYPE tmx [<!ENTITY a SYSTEM "{}">]>', True),
        ('<!DOCTYPE tmx [<!ENTITY % a SYSTEM "{}"> %a;]>', True),
    ],
)
def test_nothing_is_fetched(doctype, refused, tmp_path):
    file = tmp_path / "a.tmx"
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a"
        file.write_text(
            doctype.format(address) + '<tmx version="1.4"><header srclang="en"/><body><tu>'
            '<tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg>x</seg></tuv></tu></body></tmx>'
        )
        if refused:
            with pytest.raises(FormatError, match="declares entities"):
                read_document(file)
        else:
            assert read_document(file).segments[0].translation == "x"
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
