from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from nesting import links, targets, unspaced
from weft.applications.documents.paragraphs import Paragraph
from weft.applications.spans import split_at_blanks
from weft.applications.tagging import MarkupRecord, project_markup
from weft.text.segment import segmenter_for
from weft.types import Alignment, Link

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def paragraph(content: str) -> etree._Element:
    return etree.fromstring(f'<w:p xmlns:w="{WORD}"><w:pPr><w:jc w:val="left"/></w:pPr>{content}</w:p>')


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def field(result: str) -> str:
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    return f"{mark('begin')}<w:r><w:instrText>REF a</w:instrText></w:r>{mark('separate')}{result}{mark('end')}"


def translated(node: etree._Element, target: str, pairs: set[tuple[int, int]]) -> etree._Element:
    read = Paragraph(node)
    record = MarkupRecord.of(read.markup, target, (split_at_blanks, split_at_blanks))
    sizes = (len(record.tagged.words), len(record.plain.words))
    alignment = Alignment.of(Link(*pair) for pair in pairs if pair[0] < sizes[0] and pair[1] < sizes[1])
    read.fill(project_markup(record, alignment).pieces)
    read.set_direction(document=False)
    return node


def names(node: etree._Element) -> Counter[str]:
    """What a paragraph holds that is no plain run."""
    counted = Counter(etree.QName(item).localname for item in node.iter() if isinstance(item.tag, str))
    return Counter({name: number for name, number in counted.items() if name not in ("r", "rPr", "t", "p", "proofErr")})


@pytest.mark.parametrize(
    ("source", "target", "pairs", "expected"),
    [
        (run("a ") + run("c", "<w:b/>"), "x y", {(0, 1), (1, 0)}, [("x", ["b"]), (" y", [])]),
        # The formatting of the paragraph is the plainest one, not the most frequent.
        (run("a ") + run("cccccccc", "<w:b/>"), "x y", {(0, 0), (1, 1)}, [("x ", []), ("y", ["b"])]),
        # Languages and proof marks do not part runs.
        (
            run("a", '<w:b/><w:lang w:val="de"/>') + run("b", "<w:b/>") + run(" c"),
            "x y",
            {(0, 0), (1, 1)},
            [("x", ["b"]), (" y", [])],
        ),
        # A formatting without a counterpart is not put on a word that belongs to another.
        (run("a ") + run("c", "<w:b/>") + run(" d"), "x y", {(0, 0), (2, 1)}, [("x", []), (" y", [])]),
        # Two formattings on one word.
        (
            run("a", "<w:i/>") + run(" ") + run("c", "<w:b/>") + run(" d"),
            "x y",
            {(0, 0), (1, 0), (2, 1)},
            [("x", ["b", "i"]), (" y", [])],
        ),
    ],
)
def test_runs(source, target, pairs, expected):
    node = translated(paragraph(source), target, pairs)
    found = [
        ("".join(item.itertext()), [etree.QName(one).localname for one in item.findall(f"{{{WORD}}}rPr/*")])
        for item in node.iter(f"{{{WORD}}}r")
    ]
    assert found == expected


def test_a_picture_brings_no_blank_before_a_full_stop():
    node = paragraph(run("fresh bread") + "<w:r><w:drawing/></w:r>" + run(" daily."))
    read = Paragraph(node)
    record = MarkupRecord.of(read.markup, "täglich frisches Brot.", (segmenter_for("en"), segmenter_for("de")))
    pairs = [Link(0, 1), Link(1, 2), Link(2, 0), Link(3, 3)]
    read.fill(project_markup(record, Alignment.of(pairs)).pieces)
    assert "".join(node.itertext()) == "täglich frisches Brot."
    assert [etree.QName(item[-1]).localname for item in node.iter(f"{{{WORD}}}r")] == ["t", "drawing", "t"]


@pytest.mark.parametrize(
    ("before", "behind", "name"),
    [
        ("", '<w:r><w:footnoteReference w:id="2"/></w:r>', "footnoteReference"),
        (
            '<w:commentRangeStart w:id="0"/>',
            '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>',
            "commentReference",
        ),
    ],
)
def test_a_note_stays_behind_the_phrase_that_it_is_about(before, behind, name):
    node = paragraph(run("the ") + before + run("annual budget", "<w:b/>") + behind + run(" today"))
    translated(node, "le budget annuel aujourd’hui", {(0, 0), (1, 2), (2, 1), (3, 3)})
    inner = [item for item in node.iter() if etree.QName(item).localname in ("t", name)]
    assert [item.text or etree.QName(item).localname for item in inner] == [
        "le ",
        "budget annuel",
        name,
        " aujourd’hui",
    ]


@pytest.mark.parametrize("raised", ['<w:vertAlign w:val="superscript"/>', '<w:position w:val="8"/>'])
def test_a_raised_number_with_a_link_is_no_word(raised):
    node = paragraph(run("cake") + f'<w:hyperlink w:anchor="n">{run("1", raised)}</w:hyperlink>' + run(", good"))
    assert Paragraph(node).markup.text == "cake, good"
    translated(node, "Kuchen, gut", {(0, 0), (1, 1)})
    assert "".join(node.itertext()) == "Kuchen,1 gut"  # here words are split at blanks alone


def test_text_from_right_to_left_says_so_and_back_again():
    node = translated(paragraph(run("a ") + run("c", '<w:b/><w:sz w:val="30"/>')), "بيت كبير", {(0, 0), (1, 1)})
    assert [etree.QName(item).localname for item in node[0]] == ["bidi", "jc"], "in the order of the schema"
    [_, *runs] = node
    found = [[etree.QName(item).localname for item in one.findall(f"{{{WORD}}}rPr/*")] for one in runs]
    assert found == [["rtl"], ["b", "bCs", "sz", "szCs", "rtl"]]
    translated(node, "a house", {(0, 0), (1, 1)})
    assert etree.tostring(node).count(b"bidi") == etree.tostring(node).count(b"rtl") == 0


@pytest.mark.parametrize("off", ['<w:b w:val="0"/>', '<w:i w:val="false"/><w:u w:val="none"/>'])
def test_formatting_that_is_off_is_nothing_to_lose(off):
    read = Paragraph(paragraph(run("the ", off) + run("house")))
    record = MarkupRecord.of(read.markup, "بيت", (split_at_blanks, split_at_blanks))
    tagged = project_markup(record, Alignment.of([Link(1, 0)]))
    assert (tagged.spans, read.fill(tagged.pieces)) == ((), [])
    node = translated(paragraph(run("the ", off) + run("house")), "le bâtiment", {(0, 0), (1, 1)})
    assert len(node.findall(f".//{{{WORD}}}rPr/*")) == off.count("<"), "but it stays where it has a place"


pieces = st.sampled_from(
    [
        run("a "),
        run("b ", "<w:b/>"),
        run("c ", "<w:i/>"),
        run(" "),
        '<w:bookmarkStart w:id="1" w:name="n"/>',
        '<w:bookmarkEnd w:id="1"/>',
        "<w:proofErr/>",
        "<w:r><w:tab/></w:r>",
        '<w:r><w:footnoteReference w:id="2"/></w:r>',
        f'<w:hyperlink w:anchor="x">{run("d ")}</w:hyperlink>',
        f'<w:hyperlink w:anchor="y">{run("e ", "<w:b/>")}</w:hyperlink>',
        "<w:hyperlink><w:r><w:drawing/></w:r></w:hyperlink>",
        field(run("f ")),
        field(field(run("g "))),
        f"<w:sdt><w:sdtPr/><w:sdtContent>{run('h ')}</w:sdtContent></w:sdt>",
        f"<w:ins>{run('k ', '<w:b/>')}</w:ins>",
        f"<w:del>{run('l ')}</w:del>",
        "<w:r><w:t>m</w:t><w:br/><w:t>n </w:t></w:r>",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
    ]
)


@settings(deadline=None)
@given(st.lists(pieces, max_size=8).map("".join), targets, links)
def test_whatever_a_paragraph_holds_it_is_still_there(content, target, pairs):
    before = names(paragraph(run("w ") + content))
    node = translated(paragraph(run("w ") + content), target or "x", pairs)
    after = names(node)
    formats = ("b", "i")  # these follow the words; as many as there are runs
    for name, number in before.items():
        assert after[name] >= number or name in formats, name
    kept = [item for item in node.iter(f"{{{WORD}}}t") if next(item.iterancestors(f"{{{WORD}}}del"), None) is None]
    assert unspaced("".join(item.text for item in kept)) == unspaced(target or "x") or "fldChar" in before
    assert not node.findall(f".//{{{WORD}}}hyperlink//{{{WORD}}}hyperlink")
    again = etree.tostring(node)
    assert etree.tostring(etree.fromstring(again)) == again


@settings(deadline=None)
@given(st.lists(pieces, max_size=6).map("".join))
def test_reading_changes_nothing(content):
    node = paragraph(content)
    before = etree.tostring(node)
    Paragraph(node)
    assert etree.tostring(node) == before
