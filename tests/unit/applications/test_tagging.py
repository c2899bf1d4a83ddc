from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.applications.arranging import Part
from weft.applications.markup import parse_markup, plain_text
from weft.applications.projection import Gaps, Reason
from weft.applications.spans import split_at_blanks
from weft.applications.tagging import MarkupRecord, project_markup, read_markup
from weft.text.segment import segmenter_for
from weft.types import Alignment, Link


class Balance(HTMLParser):
    """Every end tag closes the element that was opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def check(line: str, text: str) -> ET.Element:
    """Parse a line as HTML and as XML; it holds the text and, but for blanks, nothing else."""
    page = Balance()
    page.feed(line)
    page.close()
    assert page.open == []
    root = ET.fromstring(f'<line xmlns:x="urn:x">{line}</line>')
    for code in root.iter("bpt"):
        code.text = ""
    assert unspaced("".join(root.itertext())) == unspaced(text)
    return root


def unspaced(text: str) -> str:
    return "".join(text.split())


def project(tmp_path, source, target, links, **options):
    rules = {key: options.pop(key) for key in ("gaps", "max_gap") if key in options}
    (tmp_path / "source").write_text(source + "\n")
    (tmp_path / "target").write_text(target + "\n")
    (record,) = read_markup(tmp_path / "source", tmp_path / "target", **options)
    alignment = Alignment.of(Link(*map(int, item.split("-"))) for item in links.split())
    return project_markup(record, alignment, **rules)


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("<b>a</b> c", "x y", "0-1 1-0", "x <b>y</b>"),
        ("<i>a <b>c</b></i> d", "x y z", "0-1 1-0 2-2", "<i><b>x</b> y</i> z"),
        ("<p>a c</p>", "x y z", "0-1", "<p>x y z</p>"),
        ("a<br>c d", "x y z", "0-1 1-0 2-2", "x y<br/> z"),
        ("a<br>c d", "x y z", "0-0 1-2 2-1", "x<br/> y z"),
        ("<img src='q'/> a", "x", "0-0", '<img src="q"/> x'),
        ("<img src='q'/> a", "他明天", "0-0", '<img src="q"/>他明天'),
        ("a <i1/> <i2/> b", "x y", "0-0 1-1", "x <i1/> <i2/> y"),
        ("a <i1/> <i2/>", "x", "0-0", "x <i1/> <i2/>"),
        ("a <img/> c", "x y", "0-0 1-1", "x <img/> y"),
        ("a <img/>c d", "x y z", "0-0 1-1 2-2", "x <img/>y z"),
        ("a<img/> c", "x y", "0-0 1-1", "x<img/> y"),
        ("<p>a<br></p>", "x y", "0-0", "<p>x y<br/></p>"),
        ("<li><img/> a</li>", "x", "0-0", "<li><img/> x</li>"),
        ("<a><img alt=x></a> a c", "x y", "0-0 1-1", '<a><img alt="x"/></a> x y'),
        ("un<b>real</b>", "x", "0-0", "<b>x</b>"),
        ("<b>a c", "x y", "0-0 1-1", "<b>x y</b>"),
        ("<b><i>a</b></i> c", "x y", "0-0 1-1", "<b><i>x</i></b> y"),
        ("<A HREF=u disabled Id='1'>a</A> c", "x y", "0-0", '<A HREF="u" disabled="disabled" Id="1">x</A> y'),
        ("<x:g id='1'>a</x:g> c", "x y", "0-0", '<x:g id="1">x</x:g> y'),
        ("a &lt; <b>c</b>", "x < y & &amp; &nbsp;z", "2-2", "x &lt; <b>y</b> &amp; &amp; \u00a0z"),
        ("1 < 2 <b>a</b>", "x", "3-0", "<b>x</b>"),
        ("<b>a</b> c", "x\x07 y", "0-0", "<b>x\ufffd</b> y"),
        ("<b title='\"&amp;'>a</b> c", "x", "0-0", '<b title="&quot;&amp;">x</b>'),
        # A wrong link far away does not stretch an element.
        ("<b>a</b> c d e", "v w x y z", "0-0 0-4 1-1 2-2 3-3", "<b>v</b> w x y z"),
        # Words without links between two of an element's own belong to it.
        ("<b>a c</b> d", "x y z w", "0-0 1-2 2-3", "<b>x y z</b> w"),
        # Nothing is lost: neighbours, unlinked words and other elements say where to go.
        ("a <b>c</b> d", "x y z", "0-0 2-2", "x <b>y</b> z"),
        ("a <b>c</b> d", "x z", "0-0 2-1", "x<b></b> z"),
        ("a <a>c</a> d", "x z", "0-0 2-1", "x <a>z</a>"),
        ("<b>a</b> <i>c</i> d", "x y", "0-0 1-0 2-1", "<b><i>x</i></b> y"),
        ("a <!-- c --> d", "x y", "0-0 1-1", "x <!-- c --> y"),
        # Code of other formats is no text, and its marks may cross elements.
        (
            "a <bpt id='1'>&lt;b></bpt>c<ept id='1'>&lt;/b></ept>",
            "x y",
            "0-1 1-0",
            '<bpt id="1">&lt;b&gt;</bpt>x<ept id="1">&lt;/b&gt;</ept> y',
        ),
        ("<ph id='1'>code</ph> c", "x", "0-0", '<ph id="1">code</ph> x'),
        (
            "<bx id='1'/>a <g id='2'>c<ex id='1'/> d</g>",
            "x y z",
            "0-0 1-1 2-2",
            '<bx id="1"/>x <g id="2">y<ex id="1"/> z</g>',
        ),
        # A part of a word stays one where the translation has the same word.
        ("H<sub>2</sub>O is c", "x H2O y", "0-1 1-2", "x H<sub>2</sub>O y"),
        ("un<b>real</b> c", "x y", "0-0 1-1", "<b>x</b> y"),
        # A note mark that the translation has too stays a note mark.
        ("to 5.<sup>1</sup>", "bis 17 Uhr.1", "0-0 1-1 1-2", "bis 17 Uhr.<sup>1</sup>"),
        ("to 5.<sup>1</sup>", "bis 17.1", "0-0 1-1", "bis 17.<sup>1</sup>"),
        ("bread<sup>2</sup> is", "ist Brot2", "0-1 1-0", "ist Brot<sup>2</sup>"),
        ("<b>bread</b><sup>[2]</sup> is", "ist Brot[2].", "0-1 1-0", "ist <b>Brot</b><sup>[2]</sup>."),
        ("bread<sup>1</sup> cake<sup>†</sup>", "Kuchen†, Brot1", "0-1 1-0", "Kuchen<sup>†</sup>, Brot<sup>1</sup>"),
        ("a m<sup>2</sup> c CO<sub>2</sub>", "CO2 x m2 y", "0-1 1-2 2-3 3-0", "CO<sub>2</sub> x m<sup>2</sup> y"),
        ("bread<sup>1</sup> a", "x Brot v2.1 #1", "0-1 1-0", "x <sup>Brot</sup> v2.1 #1"),
        ("bread<sup>1</sup> a", "Brot11 x", "0-0 1-1", "<sup>Brot11</sup> x"),
        # All words but the punctuation at the ends stay all words.
        ("<a>a c d</a> .", "x y z .", "0-0 2-1 3-3", "<a>x y z</a> ."),
        ("“ <b>a c</b> ”", "x y", "1-0", "<b>x y</b>"),
        # What has no links and no other place belongs to the element that ends there too.
        ("a <b>c</b> .", "x y z .", "0-0 1-1 2-3", "x <b>y z</b> ."),
        ("<b>a</b> c , d", "w x y , z", "0-1 1-2 2-3 3-4", "w <b>x</b> y , z"),
        ("a ( <b>c</b> )", "x ( w y )", "0-0 1-1 2-3 3-4", "x ( <b>w y</b> )"),
        ("a d <b>c</b> .", "x y z .", "0-0 2-1 3-3", "x <b>y</b> z ."),
        ("a <b>c</b> d", "x y z w", "0-0 1-1 2-3", "x <b>y</b> z w"),
        # A mark after a comma stays with the word before it, if the comma is gone.
        ("a ,<sup/> c", "x y z", "0-0 1-1 2-2", "x<sup/> y z"),
        ("a ,<sup/> c", "x , z", "0-0 1-1 2-2", "x ,<sup/> z"),
        ("a <sup/>. c", "x y . z", "0-0 1-2 2-3", "x y <sup/>. z"),
        # A mark behind an element stays behind it, wherever its last word goes; one at its end stays there.
        ("a <b>c d</b><sup/> e", "x z y w", "0-0 1-2 2-1 3-3", "x <b>z y</b><sup/> w"),
        ("a <i><b>c d</b></i><sup/> e", "x z y w", "0-0 1-2 2-1 3-3", "x <i><b>z y</b></i><sup/> w"),
        ("<i>a <b>c d</b><sup/></i> e", "z y x w", "0-2 1-1 2-0 3-3", "<i><b>z y</b><sup/> x</i> w"),
        ("a <b>c d<sup/></b> e", "x z y w", "0-0 1-2 2-1 3-3", "x <b>z y<sup/></b> w"),
        ("<b>c d</b><sup/>", "z y x", "0-1 1-0", "<b>z y x</b><sup/>"),
        ("a <b>c d</b><sup/>", "z y x", "0-2 1-1 2-0", "<b>z y</b><sup/> x"),
        ("<bx id='1'/>c d<ex id='1'/><sup/> e", "z y w", "0-1 1-0 2-2", '<bx id="1"/>z y<ex id="1"/><sup/> w'),
        ("a <b>c</b><sup/> d e f g", "x y z v w u", "0-0 1-1 1-5 2-2 3-3 4-4", "x <b>y</b><sup/> z v w u"),
        ("a <b>c d</b> <sup/> e", "x z y w", "0-0 1-2 2-1 3-3", "x <b>z y</b> <sup/> w"),
        ("a <b>c d</b> <sup/>e", "x z y w", "0-0 1-2 2-1 3-3", "x <b>z y</b> <sup/>w"),
        ("a <b>c d</b><br/>e", "e c d a", "0-3 1-1 2-2 3-0", "e <b>c d</b> a<br/>"),
        # One that touches only the word behind it goes with that.
        ("a c <img/>d", "c' a' d'", "0-1 1-0 2-2", "c' a' <img/>d'"),
        ("a c <img/>d", "d' a' c'", "0-1 1-2 2-0", "<img/>d' a' c'"),
        ("a c <img/>d", "a' c'", "0-0 1-1", "a' c'<img/>"),
        ("a <b>c d</b> <img/>e f", "x e' z y f'", "0-0 1-3 2-2 3-1 4-4", "x <img/>e' <b>z y</b> f'"),
        ("a <b>c <img/>d</b> e", "d' c' a' e'", "0-2 1-1 2-0 3-3", "<b><img/>d' c'</b> a' e'"),
        ("a c <img/><b>d</b>", "c' d' a'", "0-2 1-0 2-1", "c' <img/><b>d'</b> a'"),
        # A break parts what it parted.
        ("a c<br>d", "y x z", "0-1 1-0 2-2", "y x<br/> z"),
        ("a<br>c", "x . y", "0-0 1-2", "x .<br/> y"),
        # Placeholders stay whole, and with their own.
        ("<b>{name}</b> , a", "x , {name}", "0-0 1-1 2-2", "x , <b>{name}</b>"),
    ],
)
def test_tags_go_with_their_words(tmp_path, source, target, links, expected):
    assert project(tmp_path, source, target, links).line == expected
    ET.fromstring(f'<line xmlns:x="urn:x">{expected}</line>')


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("fresh bread<img/> daily.", "täglich frisches Brot.", "0-1 1-2 2-0 3-3", "täglich frisches Brot<img/>."),
        ("fresh bread <img/> daily.", "täglich frisches Brot.", "0-1 1-2 2-0 3-3", "täglich frisches Brot <img/>."),
        ("the<img/> school daily", "l'école du jour", "0-0 1-1 2-3", "l'<img/>école du jour"),
        ("<img/> “fresh” bread", "« frais » pain", "0-0 1-1 2-2 3-3", "<img/> « frais » pain"),
        ("see <img/> the “bread”", "sieh (das Brot)", "0-0 1-2 3-3", "sieh <img/> (das Brot)"),
        ("a <b><img/> bread</b> daily", "x y z", "0-0 1-1 2-2", "x <b><img/> y</b> z"),
        ("see <img/>bread .<img/>", "sieh Brot.", "0-0 1-1 2-2", "sieh <img/>Brot.<img/>"),
        ("the<b><img/> bread</b> daily", "x y z", "0-0 1-1 2-2", "x <b><img/>y</b> z"),
        ("<img/>bread<img/> daily", "täglich Brot", "0-1 1-0", "<img/>täglich Brot<img/>"),
        ("bread.<br>call", "Brot. rufe", "0-0 1-1 2-2", "Brot.<br/> rufe"),
    ],
)
def test_a_point_brings_no_blank_between_a_word_and_its_full_stop(tmp_path, source, target, links, expected):
    cut = segmenter_for(None)
    assert project(tmp_path, source, target, links, segmenters=(cut, cut)).line == expected


def test_parts(tmp_path):
    tagged = project(tmp_path, "<b id='1'>a</b> c", "x y z w", "0-0 0-3 1-1 1-2", gaps="split")
    assert tagged.line == '<b id="1">x</b> y z <b>w</b>'


def test_elements_that_were_not_placed_by_links_are_listed(tmp_path):
    tagged = project(tmp_path, "<b>a</b> <i>c</i> d </u> <!-- e -->", "x", "0-0")
    assert tagged.line == "<b>x</b><i></i> <!-- e -->"
    listed = {span.label: place.reason for span, place in zip(tagged.spans, tagged.projected, strict=True)}
    assert listed == {"b": None, "i": Reason.NEARBY, "</u>": Reason.NO_WORD}


def test_an_id_that_has_to_be_unique_stands_once(tmp_path):
    tagged = project(tmp_path, "<g id='1'>a c</g> <g id='2'>d e</g> f", "x y z w", "0-0 1-1 1-2 2-1 3-2 4-3")
    assert sorted(re.findall("<g [^>]*>", tagged.line)) == ['<g id="1">', '<g id="2">']


def test_the_other_direction(tmp_path):
    tagged = project(tmp_path, "x y", "<b>a</b> c", "0-0", labelled="target")
    assert tagged.line == "<b>x</b> y"


def test_one_line_stays_one_line(tmp_path):
    (tmp_path / "pairs").write_text('{"source": "<b>a</b>", "target": "x\\ny"}\n')
    (record,) = read_markup(tmp_path / "pairs")
    assert project_markup(record, Alignment((Link(0, 0),))).line == "<b>x&#10;y</b>"


pieces = st.sampled_from(
    ["<b>", "</b>", "<i k='v\"'>", "</i>", "<a href=x id=1>", "</a>", "<br>", "<img/>", "<p>", "</p>", "<x:g>",
     "</x:g>", "<g id='1'>", "</g>", "<bpt id='1'>c</bpt>", "<ept id='1'/>", "<bpt id='2'/>",
     "{0}", "a", "b c", "1", "d1", "1.", " ", "  d ", "<", ">", "&", "&amp;", "&lt;b&gt;", "<!-- x -->", "<?p?>",
     "\u00a0", "\x00", "é\u0301"]
)  # fmt: skip


def links_within(pairs, record):
    sizes = (len(record.tagged.words), len(record.plain.words))
    return Alignment.of(Link(*pair) for pair in pairs if pair[0] < sizes[0] and pair[1] < sizes[1])


@settings(deadline=None)
@given(
    st.lists(pieces, max_size=14).map("".join),
    st.lists(pieces, max_size=8).map("".join) | st.text(max_size=12),
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    st.sampled_from(Gaps),
)
@example("<b>a</b><i>b c</i>", "x y z", {(0, 0), (0, 2), (1, 1)}, Gaps.FILL)
def test_whatever_comes_in_what_goes_out_parses_and_no_element_is_lost(source, target, pairs, gaps):
    markup, text = parse_markup(source), plain_text(target)
    record = MarkupRecord.of(markup, text, (split_at_blanks, split_at_blanks))
    tagged = project_markup(record, links_within(pairs, record), gaps=gaps)
    assert "\n" not in tagged.line
    readable = "".join(c if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") else "\ufffd" for c in text)
    check(tagged.line, readable)
    tags = [piece for piece in tagged.pieces if not isinstance(piece, str)]
    opened = Counter(id(tag.element) for tag in tags if tag.part is Part.OPEN)
    assert opened == Counter(id(tag.element) for tag in tags if tag.part is Part.CLOSE)
    whole = Counter(id(child) for tag in tags if tag.part is Part.WHOLE for child in tag.element.walk())
    first = Counter(id(tag.element) for tag in tags if tag.part is Part.OPEN and tag.first)
    assert first + whole == Counter(id(element) for element in markup.elements)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a<x/>", "<x/>c", "d<x/><x/>e", "<b>f<x/></b>", ",<br/>g", "h"]), max_size=8).map(
        " ".join
    ),
    st.lists(st.sampled_from(["x", "y", "z.", " ", "  "]), max_size=8).map(" ".join),
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
)
def test_tags_that_touch_words_leave_the_text_as_it_is(source, target, pairs):
    record = MarkupRecord.of(parse_markup(source), target, (split_at_blanks, split_at_blanks))
    tagged = project_markup(record, links_within(pairs, record))
    assert "".join(piece for piece in tagged.pieces if isinstance(piece, str)) == target


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", "w", " "]), max_size=30).map("".join))
def test_identity_links_keep_every_element(source):
    markup = parse_markup(source)
    record = MarkupRecord.of(markup, markup.text, (split_at_blanks, split_at_blanks))
    identity = Alignment.of(Link(k, k) for k in range(len(record.tagged.words)))
    tagged = project_markup(record, identity)
    again = parse_markup(tagged.line)
    assert again.text.split() == markup.text.split()
    for span, place in zip(tagged.spans, tagged.projected, strict=True):
        assert not span.end or place.runs == ((span.start, span.end),)


@pytest.mark.parametrize(
    "line", ["<b>" * 20_000, "<!--" * 20_000, "<a " * 20_000, "<b>x " * 300, "<a>x</a> " * 1_000, "&" * 50_000]
)
def test_strange_lines_take_no_time(tmp_path, line):
    start = time.process_time()
    links = " ".join(f"{k}-{k}" for k in range(300)) if "x" in line else ""
    project(tmp_path, line, "y " * 1_000, links)
    assert time.process_time() - start < 20
