"""HTML, XLIFF and TMX: whatever is nested in a source, and however words are reordered, all of it is in the result."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from nesting import filled, links, targets, trees, unspaced
from weft.applications.documents.html import HtmlDocument
from weft.applications.documents.inline import Languages
from weft.applications.documents.tmx import TmxDocument
from weft.applications.documents.xliff import XliffDocument

HTML = trees(st.sampled_from(["b", "i", "a", "span"]), st.sampled_from(["br", "img"]))
CODES = trees(st.sampled_from(["g", "mrk", "pair"]), st.sampled_from(["x", "ph"]))


def written(items, numbers) -> str:
    parts = []
    for item in items:
        if isinstance(item, str):
            parts.append(f" {item} ")
            continue
        name, inner = item
        number = next(numbers)
        if name == "pair":
            parts += [f'<bpt id="{number}">c</bpt>', written(inner, numbers), f'<ept id="{number}">c</ept>']
        elif inner is None:
            parts.append(f'<{name} id="{number}"/>')
        else:
            parts.append(f'<{name} id="{number}">{written(inner, numbers)}</{name}>')
    return "".join(parts)


def tags(node: etree._Element) -> Counter[tuple[str, str]]:
    """All tags within a node by name and id; parts of an element that was cut have none."""
    inner = [item for item in node.iter() if item is not node and item.get("id")]
    return Counter((etree.QName(item).localname, item.get("id")) for item in inner)


@settings(deadline=None)
@given(HTML, targets, links)
def test_html(items, target, pairs):
    source = f"<p>{written(items, count())}</p>"
    document = HtmlDocument(source.encode(), "page", Languages())
    filled(document, target, pairs)
    before, after = (
        etree.fromstring(f"<body>{text}</body>", etree.HTMLParser()).find(".//p")
        for text in (source, document.written().decode())
    )
    assert tags(after) == tags(before)
    assert unspaced("".join(after.itertext())) == unspaced(target)
    assert not after.xpath(".//a//a") or before.xpath(".//a//a")


@settings(deadline=None)
@given(CODES, targets, links)
def test_xliff(items, target, pairs):
    source = written(items, count())
    unit = f'<trans-unit id="u"><source>{source}</source></trans-unit>'
    data = f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>'
    document = XliffDocument(data.encode(), "file", Languages())
    filled(document, target, pairs)
    root = etree.fromstring(document.written())
    before, after = root.find(".//source"), root.find(".//target")
    assert etree.tostring(before) == etree.tostring(etree.fromstring(f"<source>{source}</source>")), "it is untouched"
    assert tags(after) == tags(before)
    for code in (*after.iter("bpt"), *after.iter("ept")):
        code.text = ""
    assert unspaced("".join(after.itertext())) == unspaced(target)
    starts = [(node.tag, node.get("id")) for node in after.iter("bpt", "ept")]
    assert all(starts.index(("bpt", number)) < starts.index(("ept", number)) for name, number in starts)


@settings(deadline=None, max_examples=30)
@given(trees(st.sampled_from(["hi"]), st.sampled_from(["ph"])), targets, links)
def test_tmx(items, target, pairs):
    seg = f"<seg>{written(items, count())}</seg>".replace(" id=", " x=")
    data = f'<tmx><header srclang="en"/><body><tu><tuv xml:lang="en">{seg}</tuv></tu></body></tmx>'
    document = TmxDocument(data.encode(), "file", Languages(target="de"))
    filled(document, target, pairs)
    before, after = etree.fromstring(document.written()).iter("seg")
    assert {item.get("x") for item in after.iter()} == {item.get("x") for item in before.iter()}
    assert unspaced("".join(after.itertext())) == unspaced(target)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"<p>a</p>", b"<p>X</p>"),
        (b"<html><body><p>a</p></body></html>", b"<html><body><p>X</p></body></html>\n"),
        (b"\xef\xbb\xbf<p>a</p>", b"<p>X</p>"),
        ("<p>ä</p>".encode("utf-16"), b"<p>X</p>"),
        (b'<meta charset="iso-8859-1"><p>\xe4</p>', b'<meta charset="iso-8859-1"><p>X</p>'),
        (b"<p>a</p><pre>b</pre><p translate=no>c</p>", b'<p>X</p><pre>b</pre><p translate="no">c</p>'),
        (b"a<p>", b"X<p></p>"),
        (b"<p>a</p>\r\n<pre>b\r\nc</pre>\r\n", b"<p>X</p>\r\n<pre>b\r\nc</pre>\r\n"),
        (b"<body>\r\n<p>a</p></body>", b"<html><body>\r\n<p>X</p></body></html>\r\n"),
        (b"<p>a</p>&#13;\r\n", b"<p>X</p>\r\n"),
        (b"<p>a</p>\r\n<hr>\n<hr>\n", b"<p>X</p>\n<hr>\n<hr>\n"),
        (b"<a href=u><div>a</div></a>", b'<a href="u"><div>X</div></a>'),
    ],
)
def test_pages_as_people_write_them(source, expected):
    document = HtmlDocument(source, "page", Languages())
    [segment] = document.segments
    assert segment.text in ("a", "ä")
    document.fill(0, ["X"])
    assert document.written() == expected
