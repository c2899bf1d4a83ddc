"""The page of `weft view`, opened from a disk in a real browser."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from weft.types import Alignment, Link, SentencePair
from weft.viewing.comparison import Comparison, ViewedPair
from weft.viewing.html import page as html_page
from weft.viewing.reading import read_comparison
from weft.viewing.tables import csv_table, tikz

WIDE, NARROW = 1280, 390


@pytest.fixture
def compared(examples):
    return read_comparison(
        examples / "pairs.txt", None, [examples / "first.links", examples / "second.links"], examples / "gold.talp",
        lines=range(100), on_error=lambda error: None,
    )  # fmt: skip


@pytest.fixture
def show(visit, tmp_path):
    def opened(comparison: Comparison, **options: object):
        path = tmp_path / "page.html"
        path.write_text(html_page(comparison), encoding="utf-8")
        page = visit(path.as_uri(), **options)
        page.wait_for_selector("article .picture")
        return page

    return opened


def one_system(*sentences: tuple[str, str], links=((0, 0),)) -> Comparison:
    alignment = Alignment.of([Link(i, j, 0.5) for i, j in links])
    pairs = [SentencePair(tuple(source.split(" ")), tuple(target.split(" "))) for source, target in sentences]
    return Comparison([ViewedPair(n, pair, (alignment,)) for n, pair in enumerate(pairs, start=1)], ("one",))


def kinds_in(page, article: int, what: str) -> Counter[str]:
    names = page.eval_on_selector_all(
        f"article:nth-child({article}) {what}", "nodes => nodes.map(node => node.getAttribute('class'))"
    )
    return Counter(name.split("k-")[1].split()[0] for name in names)


def test_nothing_is_asked_of_anybody(show, compared):
    page = show(compared)
    page.get_by_role("button", name="Matrix").click()
    page.wait_for_timeout(200)
    assert page.asked == [page.url]


def test_lines_and_matrix_show_what_the_library_says(show, compared):
    page = show(compared)
    for number, viewed in enumerate(compared.pairs[:3], start=1):
        expected = Counter(str(mark.kind) for mark in viewed.marks() if mark.kind)
        assert kinds_in(page, number, ".link") == expected
    page.get_by_role("button", name="Matrix").click()
    for number, viewed in enumerate(compared.pairs[:3], start=1):
        marks = viewed.marks()
        assert kinds_in(page, number, ".mark") == Counter(str(mark.kind) for mark in marks if mark.kind)
        for gold in ("sure", "possible"):
            count = page.locator(f"article:nth-child({number}) .gold.{gold}").count()
            assert count == sum(mark.gold == gold for mark in marks)


def test_the_totals_are_those_of_weft_score(show, compared):
    rows = show(compared).locator(".totals tbody tr")
    for row, score in zip(rows.all(), compared.scores(), strict=True):
        assert score.name in row.inner_text()
        shown = [float(cell.inner_text().split()[0]) for cell in row.locator("td").all()]
        rates = score.rates
        assert shown == [round(rate, 1) for rate in (rates.aer, rates.precision, rates.recall, rates.f1)]


def test_hovering_a_word_lights_its_partners(show, compared):
    page = show(compared)
    page.locator("article:nth-child(2) .word", has_text="trouvé").hover()
    lit = page.locator("article:nth-child(2) .word.lit")
    assert sorted(lit.all_inner_texts()) == ["found", "trouvé"]
    assert page.locator("article:nth-child(2) .status").inner_text() == "trouvé → found (found by both)"
    page.locator("h1").hover()
    assert lit.count() == 0
    page.get_by_role("button", name="Matrix").click()
    cells = page.locator("article:nth-child(1) .cells")
    box = page.locator("article:nth-child(1) .mark").nth(2).bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    assert page.locator("article:nth-child(1) .status").inner_text() == "ist – is: found by both · gold sure"
    assert sorted(cells.locator("text.lit").all_text_contents()) == ["is", "ist"]


def test_systems_stand_side_by_side(show, compared):
    page = show(compared)
    page.get_by_role("button", name="Side by side").click()
    first, second = page.locator("article:nth-child(2) figure").all()
    assert abs(first.bounding_box()["y"] - second.bounding_box()["y"]) < 2
    assert "first.links" in first.inner_text()
    assert first.locator(".link.k-a").count() == 3
    assert first.locator(".link.k-missed").count() == 2
    assert second.locator(".link.k-b").count() == 2
    assert second.locator(".link.k-a").count() == 0


def test_filters_and_order(show, compared):
    page = show(compared)

    def numbers() -> list[int]:
        page.wait_for_timeout(100)
        return [int(article.get_attribute("data-number")) for article in page.locator("article").all()]

    assert numbers() == [1, 2, 3, 4, 5, 6]
    page.get_by_label("Which pairs").select_option("agree")
    assert numbers() == [1]
    page.get_by_label("Which pairs").select_option("differ")
    assert numbers() == [2, 3, 4, 5, 6]
    page.get_by_label("Fewest words").fill("8")
    assert numbers() == [3, 4, 6]
    assert page.locator(".count").inner_text() == "3 of 6 pairs"
    page.get_by_label("Find words").fill("COFFEE")
    assert numbers() == [4]
    page.get_by_label("Find words").fill("nowhere")
    assert numbers() == []
    page.get_by_label("Find words").fill("")
    page.get_by_label("Order").select_option("length")
    assert numbers()[0] == 6


def test_filtering_by_score(show):
    pairs = one_system(("a", "b"), ("c", "d")).pairs
    weak = ViewedPair(2, pairs[1].pair, (Alignment.of([Link(0, 0, 0.1)], 0.1),))
    page = show(Comparison([pairs[0], weak], ("one",)))
    page.get_by_label("Highest score").fill("0.3")
    page.wait_for_timeout(100)
    assert page.locator("article").count() == 1
    assert page.locator("article").get_attribute("data-number") == "2"


def test_strength_follows_probability(show):
    pair = SentencePair(("a", "b"), ("x", "y"))
    page = show(Comparison([ViewedPair(1, pair, (Alignment.of([Link(0, 0, 0.95), Link(1, 1, 0.1)]),))], ("one",)))
    widths = page.eval_on_selector_all(
        ".link[data-i]", "nodes => nodes.map(n => parseFloat(getComputedStyle(n).strokeWidth))"
    )
    assert min(widths) < 1.3
    assert max(widths) > 2


EVIL = [
    "<script>window.broken=1</script>", "<img/src=x/onerror=window.broken=1>", "</script><svg/onload=window.broken=1>",
    "${window.broken=1}", "&lt;b&gt;",
]  # fmt: skip


def test_words_are_never_markup(show):
    page = show(one_system((" ".join(EVIL), " ".join(EVIL)), links=[(0, 0), (1, 1), (2, 2)]))
    page.locator("article .word").first.hover()
    assert page.locator("article .source .word").all_inner_texts() == EVIL
    page.get_by_role("button", name="Matrix").click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.broken") is None
    assert page.locator("article img, article script").count() == 0


def test_right_to_left_sentences_run_to_the_left(show):
    page = show(one_system(("אני אוהב ספרים ישנים", "I love old books"), links=[(0, 0), (1, 1)]))
    source = [word.bounding_box()["x"] for word in page.locator(".source .word").all()]
    target = [word.bounding_box()["x"] for word in page.locator(".target .word").all()]
    assert source == sorted(source, reverse=True)
    assert target == sorted(target)
    page.locator(".source .word").first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "אוהב"


def test_chinese_and_japanese_have_their_languages_and_stand_upright(show):
    page = show(one_system(("私 は 元気", "他 明天 去"), links=[(0, 0)]))
    assert page.locator(".source").get_attribute("lang") == "ja"
    assert page.locator(".target").get_attribute("lang") == "zh"
    page.get_by_role("button", name="Matrix").click()
    word = page.locator(".cells text.upright", has_text="明天")
    assert word.evaluate("word => getComputedStyle(word).writingMode") == "vertical-rl"
    box = word.bounding_box()
    assert box["height"] > box["width"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_long_sentences_wrap_and_nothing_sticks_out(show, width):
    words = " ".join(f"word{number}" for number in range(80)) + " " + "x" * 90
    comparison = one_system((words, words), links=[(k, k) for k in range(80)])
    page = show(comparison, width=width)
    if width == WIDE:
        assert page.locator(".band").count() > 1
    else:  # two columns, and no curve runs through a word
        assert page.locator(".columns .band").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in (word.bounding_box() for word in page.locator(".word").all()):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    # Words that belong together stay in one band.
    apart = page.evaluate(
        "[...document.querySelectorAll('.band')].flatMap(band => [...band.querySelectorAll('.source .word')]"
        ".filter(word => word.dataset.k < 80 && !band.querySelector(`.target [data-k='${word.dataset.k}']`))).length"
    )
    assert apart <= 2


THROUGH_WORDS = """() => {
  const words = [...document.querySelectorAll('span.word')].map((word) => word.getBoundingClientRect());
  const hits = (x, y) => words.some((box) => x > box.left && x < box.right && y > box.top + 3 && y < box.bottom - 3);
  return [...document.querySelectorAll('article .link')].filter((line) => {
    const [frame, length] = [line.ownerSVGElement.getBoundingClientRect(), line.getTotalLength()];
    return [...Array(100).keys()].some((k) => {
      const { x, y } = line.getPointAtLength((length * k) / 99);
      return hits(x + frame.left, y + frame.top);
    });
  }).length;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_links_between_bands_run_through_no_word(show, scheme):
    """The other way round, everything is far away: stubs name the word at the other end."""
    source, target = (" ".join(f"{name}{number}" for number in range(60)) for name in ("wort", "word"))
    page = show(one_system((source, target), links=[(k, 59 - k) for k in range(60)]), color_scheme=scheme)
    assert page.locator(".band").count() > 2
    assert page.locator("article .link").count() == 60
    assert page.evaluate(THROUGH_WORDS) == 0
    first = page.locator('.elsewhere[data-side="source"][data-k="0"]')
    assert first.text_content() == "↓ word59"
    first.hover()
    assert page.locator(".word.lit").all_inner_texts() == ["wort0", "word59"]
    assert page.locator(".elsewhere.lit").all_text_contents() == ["↓ word59", "↑ wort0"]
    boxes = [label.bounding_box() for label in page.locator(".elsewhere").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= WIDE for box in boxes)
    assert "↓ word59" in save(page, "SVG").decode()


def test_bands_are_filled(show):
    """Bands of a word or two would tear no link one by one, and all of them together."""
    source, target = (" ".join(f"{name}{number}" for number in range(60)) for name in ("wort", "word"))
    page = show(one_system((source, target), links=[(k, (k + 30) % 60) for k in range(60)]))
    counts = [band.locator(".source .word").count() for band in page.locator(".band").all()]
    assert len(counts) <= 7
    assert min(counts[:-1]) >= 7


def test_keyboard_alone_is_enough(show, compared):
    page = show(compared)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.number") == "2"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.dataset.number") == "1"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Das"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "house"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "house → Haus (found by both)"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("v")
    page.locator("article:nth-child(1) .cells").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("article:nth-child(1) .status").inner_text().startswith("Haus – The")


CONTRAST = """() => {
  const pixel = (colour) => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => pixel(colour).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, k) => sum + value * [0.2126, 0.7152, 0.0722][k], 0);
  const probe = document.body.appendChild(document.createElement("i"));
  const shown = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const ratio = (one, other) => {
    const [a, b] = [light(shown(one)), light(shown(other))].sort();
    return (b + 0.05) / (a + 0.05);
  };
  const ratios = {};
  for (const name of ["ink", "soft", "thread", "blue", "orange", "violet", "gold"])
    ratios[name] = Math.min(ratio(name, "paper"), ratio(name, "card"));
  return ratios;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read_in_light_and_dark(show, compared, scheme):
    page = show(compared, color_scheme=scheme)
    ratios = page.evaluate(CONTRAST)
    assert min(ratios.values()) >= 4.5, ratios


def test_files_of_one_pair_are_those_of_the_command(show, compared):
    page = show(compared)
    article = page.locator("article:nth-child(2)")
    article.get_by_text("Save").click()
    saved = {}
    for kind in ("SVG", "PNG", "TikZ", "CSV"):
        with page.expect_download() as download:
            article.get_by_role("button", name=kind).click()
        with open(download.value.path(), "rb") as file:
            saved[kind] = file.read()
    viewed = compared.pairs[1]
    assert saved["TikZ"].decode() == tikz(viewed, compared.systems)
    assert saved["CSV"].decode() == csv_table(Comparison([viewed], compared.systems, compared.gold))
    assert saved["PNG"].startswith(b"\x89PNG")
    assert saved["SVG"].count(b"<text") == len(viewed.pair.source) + len(viewed.pair.target)
    assert b"class=" not in saved["SVG"]


def save(page, kind: str, article: str = "article") -> bytes:
    page.locator(f"{article} details").evaluate("menu => { menu.open = true; }")
    with page.expect_download() as download:
        page.locator(article).get_by_role("button", name=kind).click()
    with open(download.value.path(), "rb") as file:
        return file.read()


def test_control_characters_break_no_picture(show):
    page = show(one_system(("a\x01b c\x0c\ufffe", "d\x1f e"), links=((0, 0), (1, 1))))
    for view in ("Lines", "Matrix"):
        page.get_by_role("button", name=view).click()
        texts = [node.text for node in ElementTree.fromstring(save(page, "SVG")).iter() if node.tag.endswith("}text")]
        assert sorted(texts) == sorted(["a\ufffdb", "c\ufffd\ufffd", "d\ufffd", "e"])
        assert save(page, "PNG").startswith(b"\x89PNG")


def test_a_large_matrix_is_a_picture_too(show):
    sentence = " ".join(f"w{number}" for number in range(700))
    page = show(one_system((sentence, sentence)))
    page.get_by_role("button", name="Matrix").click()
    picture = save(page, "PNG")
    assert picture.startswith(b"\x89PNG")
    assert 8_000 < struct.unpack(">I", picture[16:20])[0] <= 16_384


def test_tikz_of_arabic_is_that_of_the_command(show):
    comparison = one_system(("كتاب جديد هنا", "a new book"), links=((0, 2),))
    page = show(comparison)
    assert save(page, "TikZ").decode() == tikz(comparison.pairs[0], comparison.systems)


def test_side_by_side_both_systems_are_cut_into_the_same_bands(show):
    words = [f"Wort{number}" for number in range(60)]
    pair = SentencePair(tuple(words), tuple(words))
    straight = Alignment(tuple(Link(k, k) for k in range(60)))
    shifted = Alignment(tuple(Link(k, max(0, k - 7)) for k in range(60)))
    page = show(Comparison([ViewedPair(1, pair, (straight, shifted))], ("straight", "shifted")))
    page.get_by_role("button", name="Side by side").click()
    bands = [
        [(band.locator(".source").inner_text(), band.locator(".target").inner_text()) for band in figure.all()]
        for figure in (page.locator(f"figure:nth-child({number}) .band") for number in (1, 2))
    ]
    assert len(bands[0]) > 2
    assert bands[0] == bands[1]


@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.exhaustive)])
def test_print_holds_every_pair_and_the_legend(show, tmp_path, count):
    """On paper: all pairs, of which the screen shows about ten."""
    pairs = [(f"erster{number} Satz {number} ist da", f"first{number} sentence is here") for number in range(count)]
    page = show(one_system(*pairs, (" ".join(["wort"] * 60), " ".join(["word"] * 60))))
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    text = subprocess.run(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True).stdout
    sheets = text.split("\f")[:-1]
    assert all(f"first{number} " in text for number in range(count))
    assert "linked" in sheets[0]
    assert all("first" in sheet or "word" in sheet for sheet in sheets)
    assert len(sheets) < count / 4
    assert text.count("word") >= 60  # a long pair wraps instead of running off the paper
    assert page.locator("article:has(.picture)").count() < 60  # and afterwards the page is as it was


def test_a_shared_pair_is_read_from_the_address(show, visit, server):
    """The address that the web app copies works on a page without a server."""
    app = visit(server)
    app.wait_for_selector(".picture .link", state="attached")
    address = app.evaluate(
        """async () => (await import("./static/share.js")).addressOf(
          { pair: { texts: ["a b", "c d"], source: ["eins", "zwei"], target: ["one", "two"],
                    links: [[0, 0, 0.5, true], [1, 1, null, false]], edited: true, gold: null }, view: "lines" })"""
    )
    page = show(one_system(("a b", "c d")))
    page.goto(page.url + address[address.index("#") :])
    page.reload()
    page.wait_for_selector(".visitor .picture")
    assert page.locator(".visitor .word").all_inner_texts() == ["eins", "zwei", "one", "two"]
    assert page.locator(".visitor .link.k-possible").count() == 1
    assert page.locator("main article .word").all_inner_texts() == ["a", "b", "c", "d"]
    page.get_by_role("button", name="Close").click()
    assert page.locator(".visitor .picture").count() == 0
    assert "#" not in page.url
    page.goto(page.url + "#pair=broken")
    page.wait_for_timeout(100)
    assert page.locator(".visitor .picture").count() == 0
    framed = visit(server + "/embed" + address[address.index("#") :])
    framed.wait_for_selector(".embedded .picture")
    assert framed.locator(".word").all_inner_texts() == ["eins", "zwei", "one", "two"]


def test_of_five_thousand_pairs_few_are_drawn_at_a_time(show):
    sentence = " ".join(f"Wort{number}" for number in range(25))
    links = [(k, 24 - k if k % 5 == 0 else k) for k in range(25)]
    page = show(one_system(*[(sentence, sentence)] * 5000, links=links))
    assert page.locator("article").count() == 5000
    assert page.locator("article:has(.picture)").count() < 40
    # No clock, which would measure the machine: what a frame costs is what is drawn in it.
    drawn = page.evaluate(
        """async () => {
          const counts = [];
          for (let step = 0; step < 60; step++) {
            scrollBy(0, 400);
            await new Promise(requestAnimationFrame);
            counts.push(document.querySelectorAll("article .picture").length);
          }
          return counts;
        }"""
    )
    assert max(drawn) < 60
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_selector("article:last-child .picture")
    assert page.locator("article:has(.picture)").count() < 60


def test_similarities_stand_side_by_side(show):
    rng = np.random.default_rng(1)
    pair = SentencePair(("das", "ist", "gut"), ("that", "is", "so", "good"))
    matrices = tuple(rng.uniform(-0.2, 1, (3, 4)).astype(np.float32) for _ in range(2))
    page = show(Comparison([ViewedPair(1, pair, similarities=matrices)], models=("before", "after")))
    first, second = page.locator("figure").all()
    assert first.locator(".heat").count() == second.locator(".heat").count() == 12
    shades = page.eval_on_selector_all(".heat", "nodes => nodes.map(node => getComputedStyle(node).fill)")
    assert len(set(shades)) > 15
    page.locator('figure:nth-child(2) .heat[data-i="1"][data-j="2"]').hover()
    assert page.locator(".status").inner_text() == f"ist – so: cosine {matrices[1][1, 2]:.2f}"


def test_published_links_have_their_published_score(show, data):
    folder = data / "gold" / "ro-en"
    links = [data / "peers" / "awesome-align" / "ro-en.links"]
    compared = read_comparison(
        folder / "test.src", folder / "test.tgt", links, folder / "test.talp", lines=range(5000), on_error=print
    )
    page = show(compared)
    assert page.locator(".totals tbody td").first.inner_text().startswith("20.7")
    assert page.locator("article").count() == 248


def test_a_sentence_of_thousands_of_words_is_drawn(show):
    words = " ".join(f"w{number}" for number in range(4000))
    page = show(one_system((words, words), links=[(k, k) for k in range(4000)]))
    assert page.locator(".link[data-i]").count() == 4000


def test_the_data_is_plain_json_for_others_to_read(show, compared):
    data = json.loads(show(compared).locator("#data").text_content())
    assert [system["name"] for system in data["systems"]] == ["first.links", "second.links"]
    assert len(data["pairs"]) == 6
