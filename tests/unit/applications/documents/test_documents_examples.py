"""The documents in examples/documents with their translations: nothing is lost, formatting is in its place."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import docx
import pytest
from lxml import etree

from weft import Aligner
from weft.applications.documents import DocumentSegment, Languages, project_document, read_document, read_translation
from weft.applications.labels import Listing

FOLDER = Path(__file__).parents[4] / "examples" / "documents"
SOURCES = {
    "contract.docx": ("de", "en", "fr"),
    "letter.docx": ("fr", "en", "de"),
    "bakery.html": ("en", "es", "ar"),
    "manual.xlf": ("en", "fr", "de"),
    "slides.xlf": ("en", "ja", "es"),
    "README.md": ("en", "zh", "ja"),
    "shop.tmx": ("en", "de"),
    "jonah.usfm": ("en", "de"),
}
PAIRS = [(name, language) for name, (_, *languages) in SOURCES.items() for language in languages]
# Formatting as a reader of the pages sees it.
SEEN = {
    ("contract.docx", "en"): ["<u>listed in Annex A</u>", "payable <b>within 30 days</b> of", "English<note>."],
    ("contract.docx", "fr"): [
        "<b>dans un délai de 30 jours</b> à",
        "<u>mentionnés à l'annexe A</u><note>.",
        "sur <hyperlink><color+u>notre site web</color+u></hyperlink>.",
    ],
    ("letter.docx", "en"): ["the <b>two blue lamps</b> are", "<i>before June</i>.", "a <u>full refund</u>."],
    ("letter.docx", "de"): [
        "in <hyperlink><color+u>unserem Katalog</color+u></hyperlink> ein",
        "<b>bis zum 31. Mai</b>,",
    ],
    ("bakery.html", "es"): ["contener <strong>frutos secos</strong>.", "manzana<sup>, horneado", "los <u>sábados</u>"],
    ("bakery.html", "ar"): ["في <a>ساحة السوق القديمة</a>، بجوار <a>متحف المدينة</a>.", "<b>6 صباحًا</b>"],
    ("manual.xlf", "fr"): [
        "<pc>-n <pc>nombre</pc></pc>, il",
        "si <sc>aucune ligne</sc> n'a",
        "d'ouvrir <pc>{path}</pc> : %s",
    ],
    ("manual.xlf", "de"): ["%s: <pc>{path}</pc> lässt", "Standardeingabe <ph>.", "<pc>kein Unterschied</pc> gemacht"],
    ("slides.xlf", "ja"): ["<g>大阪</g>と<g>京都</g>の<g>新しい店舗</g>", "<bpt>12パーセント</bpt>増加"],
    ("slides.xlf", "es"): ["un <bpt>12 por ciento</bpt> en", "<g>Pregúntenos lo que quiera</g>"],
    ("README.md", "zh"): ["<strong>其他系统</strong>请参阅<link>指南</link>。", "<code>pip install seedling</code>。"],
    ("README.md", "ja"): [
        "<link>Python 3.11</link> 以降",
        "<strong>他のシステム</strong>については<link>",
    ],
    ("shop.tmx", "de"): ["<bpt><ph>{count}</ph> Bücher</bpt> für <hi>", "<bpt>Geschäftsbedingungen</bpt> zu."],
    ("jonah.usfm", "de"): [
        "auch <bk>Zweites Buch der Könige</bk>.",
        "zu <w>Jona</w>, dem",
        "<wj>„Geh in die große Stadt <pn>Ninive</pn> und warne ihre Bewohner,</wj> denn",
        "nach Tarsis.<f> Er",
        "Mast; <q1><qt>„Wach auf und bete!“</qt>, riefen",
        "<fk>Tarsis:",
    ],
}


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


def translated(name: str, aligner: Aligner, target: str | None = None) -> tuple[bytes, list[str]]:
    source, *targets = SOURCES[name]
    languages = Languages(source, target or targets[0])
    document = read_document(FOLDER / name, languages)
    report: list[bytes] = []
    text = FOLDER / f"{Path(name).stem}.{languages.target}.txt"
    translation = read_translation(text) if text.exists() else None
    written = project_document(
        document, translation, aligner, languages=languages, listing=Listing(report.append), name=name
    )
    return written, [line.decode() for line in report]


def marked(segment: DocumentSegment) -> str:
    """The text of a segment with its elements by their names."""
    tags: list[tuple[int, int, int, str]] = []
    for number, element in enumerate(segment.markup.elements):
        name = {"footnoteReference": "note"}.get(element.name, element.name)
        tags.append((element.start, 1, number, f"<{name}>"))
        if element.start < element.end:
            tags.append((element.end, 0, -number, f"</{name}>"))
    text, position = "", 0
    for place, _, _, tag in sorted(tags):
        text += segment.markup.text[position:place] + tag
        position = place
    return text + segment.markup.text[position:]


def results(name: str, language: str, data: bytes, folder: Path) -> list[DocumentSegment]:
    """The translated segments; of XLIFF and TMX those that stand beside the sources."""
    file = folder / name
    if name.endswith(".xlf"):
        root = etree.fromstring(data)
        for unit in root.iter("{*}trans-unit", "{*}segment"):
            source, target = unit.find("{*}source"), unit.find("{*}target")
            unit.remove(source)
            target.tag = source.tag
        data = etree.tostring(root)
    file.write_bytes(data)
    swapped = Languages(language, SOURCES[name][0]) if name.endswith(".tmx") else Languages()
    return list(read_document(file, swapped).segments)


@pytest.mark.parametrize(("name", "language"), PAIRS)
def test_every_tag_is_in_the_result_or_the_report_and_all_of_the_text_too(name, language, aligner, tmp_path):
    data, report = translated(name, aligner, language)
    segments = results(name, language, data, tmp_path)
    given = FOLDER / f"{Path(name).stem}.{language}.txt"
    if given.exists():
        unspaced = ["".join(segment.text.split()) for segment in segments]
        assert unspaced == ["".join(line.split()) for line in read_translation(given)]
    wanted, found = (
        Counter(element.name for segment in side for element in segment.markup.elements)
        for side in (read_document(FOLDER / name, Languages(SOURCES[name][0], language)).segments, segments)
    )
    listed = Counter(line.split("\t")[1] for line in report if "contiguous" not in line and "nearest" not in line)
    assert not wanted - found - listed
    assert not found - wanted
    lines = [marked(segment) for segment in segments]
    for phrase in SEEN[name, language]:
        assert any(phrase in line for line in lines), (phrase, lines)


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


def ids(nodes, name="id") -> list[str]:
    return [node.get(name) for node in nodes if node.get(name) is not None]


def test_xliff_2_keeps_to_the_rules_that_its_schema_cannot_say(aligner):
    """Ids are unique in a unit's targets, and references lead somewhere in the same unit."""
    root = etree.fromstring(translated("manual.xlf", aligner)[0])
    assert root.get("trgLang") == "fr"
    for unit in root.iter("{*}unit"):
        targets = list(unit.iter("{*}target"))
        assert len(targets) == len(list(unit.iter("{*}segment")))
        inside = [node for target in targets for node in target.iter("{*}pc", "{*}ph", "{*}sc", "{*}ec")]
        assert len(ids(inside)) == len(set(ids(inside)))
        assert set(ids(inside, "startRef")) <= set(ids(unit.iter("{*}sc")))
        assert set(ids(inside, "dataRef")) <= set(ids(unit.iter("{*}data")))
        for target in targets:
            begun: set[str] = set()
            for node in target.iter("{*}sc", "{*}ec"):
                begun.update(ids([node]))
                assert set(ids([node], "startRef")) <= begun, "a code begins before it ends"


def test_xliff_1_keeps_the_order_and_the_partners_of_its_schema(aligner):
    root = etree.fromstring(translated("slides.xlf", aligner)[0])
    for unit in root.iter("{*}trans-unit"):
        names = [etree.QName(child).localname for child in unit]
        assert names[:2] == ["source", "target"]
        source, target = unit[0], unit[1]
        assert Counter((node.tag, node.get("id")) for node in source.iter() if node is not source) == Counter(
            (node.tag, node.get("id")) for node in target.iter() if node is not target
        )
