"""Files that people take for UTF-8 text, known by their first line: other kinds of files, UTF-16 without its mark."""

from __future__ import annotations

_KINDS = {
    b"%PDF-": "a PDF, not text. Save it as plain text first, as with pdftotext.",
    b"PK\x03\x04": "a ZIP archive, as DOCX and XLSX are, not text. For DOCX: weft project FILE --segments > text.txt. "
    "Save others as text.",
    b"PAR1\x15": "a Parquet file, not text. Only `engine` ray reads Parquet.",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office file, as XLS and DOC are, not text. Save a table as CSV, and "
    "a document as DOCX or text.",
    b"{\\rtf": "a Rich Text file (RTF), not plain text. Save it as plain text or DOCX.",
    **dict.fromkeys(
        (b"BZh%d1AY&SY" % level for level in range(1, 10)),
        "compressed with bzip2, which weft does not read. Decompress it first: bunzip2 FILE.",
    ),
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive, not text. Unpack it first.",
    b"SQLite format 3\0": "an SQLite database, not text. Export its sentences as CSV.",
    b"\x89PNG": "a picture, not text.",
    b"\xff\xd8\xff": "a picture, not text.",
    **dict.fromkeys((b"GIF87a", b"GIF89a"), "a picture, not text."),
}
_FEWEST_BYTES = 6
# In UTF-16 every second byte says which script a character is from: 0 for Latin, 3 for Greek, 4 for Cyrillic, ...
_SCRIPTS = bytes([*range(9), *range(14, 32)])


def why_not_text(line: bytes) -> str | None:
    """What to say of a file whose first line this is; None if it may well be text."""
    kind = next((kind for magic, kind in _KINDS.items() if line.startswith(magic)), None)
    if kind:
        return f"this is {kind}"
    order = _utf16_order(line)
    if order:
        return (
            f"this looks like UTF-16 without a byte order mark. Convert the file: iconv -f {order} -t UTF-8 FILE > "
            "NEW. Or save it with the mark."
        )
    return None


def _utf16_order(line: bytes) -> str | None:
    """UTF-16LE or UTF-16BE if every second byte of a line, and no other, mostly says which script a character is from.

    One zero byte, or several in a row, are not enough.
    """
    if len(line) < _FEWEST_BYTES:
        return None
    for order, scripts, rest in (("UTF-16LE", line[1::2], line[::2]), ("UTF-16BE", line[::2], line[1::2])):
        of_scripts = sum(map(scripts.count, _SCRIPTS))
        if (
            4 * of_scripts >= 3 * len(scripts)
            and 0 in scripts
            and 0 not in rest
            and 4 * sum(map(rest.count, _SCRIPTS)) <= len(rest)
        ):
            return order
    return None


def advice_for(line: bytes) -> str:
    """What to do with a line that is no UTF-8."""
    if 0 in line:
        return "There are zero bytes too, so this is no text, or UTF-16: convert that with iconv -f UTF-16LE -t UTF-8."
    return "Convert the file, as with iconv -f WINDOWS-1252 -t UTF-8."
