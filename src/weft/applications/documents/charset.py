"""Which encoding an HTML page is in, and what it says about that."""

from __future__ import annotations

import codecs
import re
from typing import Any

from weft.applications.documents.trees import lxml_etree

UTF8_MARK = b"\xef\xbb\xbf"
_NAMED = re.compile(r"\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.ASCII | re.IGNORECASE)
_NAMED_BY_PAGE = re.compile(rb"<meta\b[^>]*\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Encodings by Python's names that mean a larger one on the web: https://encoding.spec.whatwg.org/#names-and-labels.
_ON_THE_WEB = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gbk",
    "big5": "big5-hkscs",
}


def encoding_of(data: bytes) -> str | None:
    """What a page is in, where its bytes or the HTML standard tell; None if it is in what it declares."""
    found = _NAMED_BY_PAGE.search(data)
    named = found[1].decode() if found else "iso-8859-1"
    is_usable = _is_usable(named)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _on_the_web(named, data) if is_usable else "windows-1252"
    # ASCII is the same in most encodings, but a translation is not: it is written in the one that the page names.
    return None if is_usable and data.isascii() else "utf-8"


def _on_the_web(named: str, data: bytes) -> str | None:
    """The encoding that a name means on the web, if it is another one and has all bytes of a page."""
    meant = _ON_THE_WEB.get(_codec(named))
    try:
        data.decode(meant or named)
    except (UnicodeDecodeError, LookupError):
        return None
    return meant


def _is_usable(encoding: str) -> bool:
    """Whether a page may be in an encoding that its own first bytes name: not UTF-16, in which they would be others."""
    try:
        lxml_etree().HTMLParser(encoding=encoding)
    except LookupError:
        return False
    return not _codec(encoding).startswith("utf-") or _codec(encoding) == "utf-8"


def name_encoding(root: Any, encoding: str) -> None:
    """Where a page names another encoding than the one it is written in, let it name that one."""
    for meta in root.iter("{*}meta"):
        if _differ(meta.get("charset"), encoding):
            meta.set("charset", encoding)
        if meta.get("http-equiv", "").lower() == "content-type":
            content = meta.get("content", "")
            named = _NAMED.search(content)
            if named and _differ(named[1], encoding):
                meta.set("content", content[: named.start(1)] + encoding + content[named.end(1) :])


def _differ(named: str | None, encoding: str) -> bool:
    if named is None:
        return False
    named, encoding = (_ON_THE_WEB.get(_codec(name), name) for name in (named, encoding))
    return _codec(named) != _codec(encoding)


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding.strip()).name
    except LookupError:
        return encoding.lower()
