"""Which encoding an HTML page is in, and what it says about that."""

from __future__ import annotations

import codecs
import re
from typing import Any

from weft.applications.documents.trees import lxml_etree

UTF8_MARK = b"\xef\xbb\xbf"
_NAMED = re.compile(r"\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.ASCII | re.IGNORECASE)
_NAMED_BY_PAGE = re.compile(rb"<meta\b[^>]*\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)


def encoding_of(data: bytes) -> str | None:
    """What a page is in, where its bytes tell; None if the page says so itself, or the parser has to guess."""
    found = _NAMED_BY_PAGE.search(data)
    is_usable = found is None or _is_usable(found[1].decode())
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None if is_usable else "windows-1252"
    # ASCII is the same in most encodings, but a translation is not: it is written in the one that the page names.
    return None if is_usable and data.isascii() else "utf-8"


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
    return named is not None and _codec(named) != _codec(encoding)


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding.strip()).name
    except LookupError:
        return encoding.lower()
