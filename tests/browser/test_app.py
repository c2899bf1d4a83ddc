"""The web app of `weft serve` in a real browser: type, look, mend, save, score, share."""

from __future__ import annotations

import json

import pytest

from desk import SOURCE, TARGET, click_words, give_file, links, saved, shared, type_in, until, word
from weft import Aligner, GoldAlignment, read_links, read_pairs, score


@pytest.fixture
def app(visit, server):
    page = visit(server)
    page.wait_for_selector(".picture .link", state="attached")
    return page


def test_links_appear_while_typing(app, server):
    type_in(app)
    expected = Aligner.from_pretrained().align(SOURCE, TARGET)
    assert links(app) == sorted(f"{link.source}-{link.target}" for link in expected.links)
    app.get_by_role("textbox", name="Target").press_sequentially(" today")
    app.wait_for_selector('.target .word:has-text("today")')
    assert all(address.startswith((server, "data:")) for address in app.asked)


def test_edit_undo_redo_in_lines(app):
    type_in(app)
    before = links(app)
    assert "0-1" not in before
    click_words(app, 0, 1)
    assert links(app) == sorted([*before, "0-1"])
    click_words(app, 0, 0)
    assert "0-0" not in links(app)
    app.get_by_role("button", name="Undo").click()
    app.keyboard.press("Control+z")
    assert links(app) == before
    assert app.get_by_role("button", name="Undo").is_disabled()
    app.keyboard.press("Control+Shift+z")
    assert links(app) == sorted([*before, "0-1"])
    assert "edited" in app.locator("#facts").inner_text()


def test_a_click_goes_from_sure_to_possible_to_none(app):
    type_in(app)
    app.get_by_role("button", name="Matrix").click()
    box = app.locator('.mark[data-i="1"][data-j="1"]').bounding_box()
    seen = []
    for _ in range(3):
        app.mouse.click(box["x"] + 3, box["y"] + 3)
        seen.append([link for link in links(app) if link[0] == link[2] == "1"])
    assert seen == [["1p1"], [], ["1-1"]]
    app.get_by_role("button", name="Lines").click()
    app.locator('.reach[data-i="1"][data-j="1"]').dispatch_event("click")
    assert "1p1" in links(app)


def test_the_keyboard_alone_edits(app):
    type_in(app)
    word(app, "source", 0).focus()
    app.keyboard.press("Enter")
    app.keyboard.press("ArrowDown")
    app.keyboard.press("ArrowRight")
    assert app.evaluate("document.activeElement.textContent") == "Obama"
    app.keyboard.press("Enter")
    assert "0-1" in links(app)
    app.get_by_role("button", name="Matrix").click()
    app.locator(".cells").focus()
    app.keyboard.press("ArrowDown")
    app.keyboard.press("Enter")
    assert "1-0" in links(app)
    app.keyboard.press("Enter")
    assert "1p0" in links(app)
    assert app.evaluate("document.activeElement.classList.contains('cells')")


@pytest.mark.parametrize("view", ["Lines", "Matrix"])
def test_an_arrow_goes_to_the_words_if_nothing_has_the_focus(app, view):
    type_in(app)
    app.get_by_role("button", name=view).click()
    app.evaluate("document.activeElement.blur()")
    app.keyboard.press("ArrowDown")  # this scrolls
    assert app.evaluate("document.activeElement === document.body")
    app.keyboard.press("ArrowRight")
    assert app.evaluate("document.activeElement.matches('.word, .cells')")
    app.get_by_role("textbox", name="Source").focus()
    app.keyboard.press("ArrowLeft")
    assert app.evaluate("document.activeElement.id") == "source"


def test_saved_gold_is_read_by_weft_and_comes_back(app, tmp_path):
    type_in(app)
    click_words(app, 2, 3)
    app.locator('.reach[data-i="2"][data-j="3"]').dispatch_event("click")
    drawn = links(app)
    (tmp_path / "gold.jsonl").write_text(saved(app, "Save JSONL"), encoding="utf-8")
    (tmp_path / "gold.talp").write_text(saved(app, "Save talp"), encoding="utf-8")
    for name in ("gold.jsonl", "gold.talp"):
        [alignment] = read_links(tmp_path / name)
        assert sorted(f"{link.source}{'-' if link.sure else 'p'}{link.target}" for link in alignment.links) == drawn
    [pair] = read_pairs(tmp_path / "gold.jsonl")
    assert " ".join(pair.source) == SOURCE
    app.get_by_role("button", name="Start new").click()
    until(app, "!document.querySelector('#canvas .word')")
    give_file(app, "Open pairs", tmp_path / "gold.jsonl")
    app.wait_for_selector(".picture .link", state="attached")
    assert links(app) == drawn


def test_work_outlives_a_reload(app):
    type_in(app)
    click_words(app, 0, 1)
    drawn = links(app)
    app.wait_for_timeout(500)
    app.reload()
    app.wait_for_selector(".picture .link", state="attached")
    assert links(app) == drawn
    assert app.get_by_role("textbox", name="Source").input_value() == SOURCE


def test_files_gold_and_scores(app, examples, tmp_path):
    give_file(app, "Open pairs", examples / "pairs.txt")
    until(app, "document.getElementById('status').textContent.startsWith('6 of 6')")
    give_file(app, "Load gold", examples / "gold.talp")
    app.wait_for_selector("table.totals")
    gold = [GoldAlignment.of(alignment.links) for alignment in read_links(examples / "gold.talp")]

    def shown() -> list[float]:
        return [float(cell) for cell in app.locator(".totals tr:last-child td").all_inner_texts()]

    def expected() -> list[float]:
        (tmp_path / "now.jsonl").write_text(saved(app, "Save JSONL"), encoding="utf-8")
        rates = score(gold, list(read_links(tmp_path / "now.jsonl"))).rates
        return [round(rate, 1) for rate in (rates.aer, rates.precision, rates.recall, rates.f1)]

    first = shown()
    assert first == expected()
    app.get_by_role("button", name="Next pair").click()
    assert app.locator("#place").inner_text() == "2 of 6"
    app.wait_for_selector(".link", state="attached")
    wrong = app.locator(".reach").first
    wrong.dispatch_event("click")
    wrong.dispatch_event("click")
    assert shown() != first
    assert shown() == expected()


UNSPLIT = "Der Zug hat Verspätung.\tThe train is late today.\nGut, danke.\tFine, thanks.\n"


def test_text_of_a_file_is_split_as_long_as_the_box_is_ticked(app, tmp_path):
    def words() -> list[str]:
        return app.locator("#canvas .source .word").all_inner_texts()

    (tmp_path / "pairs.tsv").write_text(UNSPLIT, encoding="utf-8")
    give_file(app, "Open pairs", tmp_path / "pairs.tsv")
    until(app, "document.getElementById('status').textContent.startsWith('2 of 2')")
    assert words() == ["Der", "Zug", "hat", "Verspätung", "."]
    box = app.get_by_role("checkbox", name="Split into words")
    box.uncheck()
    app.wait_for_selector('.source .word:has-text("Verspätung.")')
    app.get_by_role("button", name="Next pair").click()
    app.wait_for_selector('.source .word:has-text("Gut,")')
    box.check()
    until(app, "document.querySelectorAll('#canvas .source .word').length === 4")
    until(app, "document.getElementById('status').textContent.startsWith('2 of 2')")
    records = [json.loads(line) for line in saved(app, "Save JSONL").splitlines()]
    assert [record["source"] for record in records] == [
        ["Der", "Zug", "hat", "Verspätung", "."],
        ["Gut", ",", "danke", "."],
    ]


def test_a_file_of_split_words_keeps_them(app, tmp_path):
    (tmp_path / "pairs.txt").write_text("l'on don't ||| one doesn't .\nja ||| yes\n", encoding="utf-8")
    give_file(app, "Open pairs", tmp_path / "pairs.txt")
    until(app, "document.getElementById('status').textContent.startsWith('2 of 2')")
    box = app.get_by_role("checkbox", name="Split into words")
    assert not box.is_checked()
    assert app.locator("#canvas .source .word").all_inner_texts() == ["l'on", "don't"]
    app.get_by_role("button", name="Start new").click()
    until(app, "document.getElementById('raw').checked")


def test_a_table_with_ids_is_opened_only_if_somebody_wants_that(app, tmp_path):
    (tmp_path / "ids.csv").write_text("1;ja;yes\n2;gut;good\n3;nein;no\n", encoding="utf-8")
    give_file(app, "Open pairs", tmp_path / "ids.csv")
    banner = app.locator("#banner")
    banner.wait_for()
    assert "the first column looks like ids (1, 2, 3, ...)" in banner.inner_text()
    assert app.locator("#title").inner_text() != "ids.csv"
    app.get_by_role("button", name="Open anyway").click()
    app.locator("#title", has_text="ids.csv").wait_for()
    assert banner.is_hidden()


def test_only_real_pairs_are_counted(app, tmp_path):
    (tmp_path / "pairs.txt").write_text("ja ||| yes\n\nnothing\nnein ||| no\n", encoding="utf-8")
    give_file(app, "Open pairs", tmp_path / "pairs.txt")
    until(app, "document.getElementById('status').textContent === '2 of 2 pairs are aligned.'")


def test_words_that_the_model_cannot_read_are_told_of(app):
    type_in(app, "ᎣᏏᏲ ᎦᏙ ᏕᏣᏙᎥ", "Hello what is your name")
    note = app.locator("#unread")
    assert note.inner_text() == "The model cannot read 3 of the 8 words, so these links are little better than guesses."
    type_in(app, "Berlin", "Berlin")
    assert note.is_hidden()
    assert app.locator("#facts").inner_text().startswith("1 link · score")


def test_a_wait_for_links_is_explained(app):
    held = []
    app.route("**/api/align", lambda route: held.append(route))
    app.get_by_role("textbox", name="Target").fill("Nobody knows")
    until(app, "document.getElementById('status').textContent === 'Aligning…'")
    app.wait_for_timeout(300)
    assert float(app.evaluate("getComputedStyle(document.getElementById('canvas')).opacity")) < 0.5
    app.get_by_role("textbox", name="Target").fill("Nobody knows why")
    until(app, "document.querySelector('.card.slow')")
    app.wait_for_timeout(300)
    assert len(held) == 2
    held[1].continue_()
    app.wait_for_selector('.target .word:has-text("why")')
    until(app, "!document.querySelector('.card.busy') && !document.getElementById('status').textContent")
    app.unroute("**/api/align")


def test_the_same_text_again_does_not_stop_aligning(app):
    app.get_by_role("textbox", name="Target").fill("Nobody")
    app.evaluate("document.getElementById('target').dispatchEvent(new Event('input'))")
    app.wait_for_selector('.target .word:has-text("Nobody")')


def drop(app, text: str) -> None:
    app.evaluate(
        """text => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "file"));
          document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        text,
    )


@pytest.mark.parametrize(
    ("pairs", "gold"), [("a b ||| c d\n", "0-0 1-1\n"), ("a b ||| c d\ne ||| f\n", "0-0 1-1\n0-0\n")]
)
def test_gold_that_comes_while_a_pair_is_aligned_takes_nothing_from_it(app, pairs, gold):
    held, let_go = [], []
    app.route("**/api/align", lambda route: route.continue_() if let_go else held.append(route))
    drop(app, pairs)
    until(app, "document.querySelector('.source')?.textContent === 'ab' && document.querySelector('.target .word')")
    drop(app, gold)
    app.get_by_role("button", name="Matrix").click()
    app.wait_for_selector(".picture .gold", state="attached")
    app.get_by_role("button", name="Lines").click()
    let_go.append(True)
    for route in held:
        route.continue_()
    app.wait_for_selector("table.totals")
    until(app, "!document.querySelector('.card.busy')")
    assert links(app) == ["0-0", "1-1"]


def test_dropped_files_are_told_apart_by_content(app, visit):
    drop(app, "a b ||| c d\n")
    until(app, "document.querySelector('.source')?.textContent === 'ab' && document.querySelector('.target .word')")
    drop(app, "1-1 2p2\n")
    app.wait_for_selector("table.totals")  # counted from 1: 2 is the length of both sides
    drop(app, "0-0\n0-0\n")
    app.wait_for_selector(".status.trouble")
    said = "file has 2 lines but the list of pairs has 1 line; line n of one must correspond to line n of the other."
    assert app.locator("#status").inner_text() == said
    assert visit.complaints == [text for text in visit.complaints if "422" in text]
    visit.complaints.clear()  # Chromium notes every refused request


def test_a_shared_address_shows_the_same_pair(app, visit, server):
    app.get_by_role("checkbox", name="Split into words").uncheck()
    type_in(app, "<b>Grüße</b> aus Köln", "greetings from Cologne")
    click_words(app, 0, 2)
    app.get_by_label("Method").select_option("itermax")
    address = shared(app)
    assert "#" not in app.url
    other = visit(address)
    other.wait_for_selector(".picture .link", state="attached")
    assert links(other) == links(app)
    assert other.get_by_role("textbox", name="Source").input_value() == "<b>Grüße</b> aus Köln"
    assert other.get_by_label("Method").input_value() == "itermax"


@pytest.mark.parametrize(
    "state",
    [
        "x",
        {},
        {"pair": 1},
        {"pair": {"texts": ["a", "b"], "source": ["a"], "target": ["b"], "links": [[5, 5]], "gold": None}},
    ],
)
def test_a_bad_address_is_passed_over(visit, server, app, state):
    address = app.evaluate("async state => (await import('/static/share.js')).addressOf(state)", state)
    page = visit(address)
    page.wait_for_selector(".picture .link", state="attached")
    page = visit(f"{server}/#pair=%%%")
    page.wait_for_selector(".picture .link", state="attached")


def test_the_threshold_makes_links_come_and_go(app):
    type_in(app, "eins zwei drei vier", "one two three four")
    app.get_by_label("Method").select_option("softmax")
    until(app, "!document.querySelector('.card.busy')")
    counts = []
    for place in (30, 100):
        app.get_by_label("Threshold").fill(str(place))
        until(app, "!document.querySelector('.card.busy')")
        counts.append(len(links(app)))
    assert counts[0] > counts[1]
    app.get_by_label("Method").select_option("argmax")
    assert app.get_by_label("Threshold").is_disabled()


def test_edits_survive_a_moved_setting_until_asked(app):
    type_in(app)
    before = links(app)
    click_words(app, 0, 1)
    app.get_by_label("Method").select_option("itermax")
    assert "0-1" in links(app)
    assert "Press Align again to replace them" in app.locator("#status").inner_text()
    app.get_by_label("Method").select_option("softmax")  # the model's own
    app.get_by_role("button", name="Align again").click()
    until(app, "!document.getElementById('facts').textContent.includes('edited')")
    assert links(app) == before
    app.get_by_role("button", name="Undo").click()
    assert "0-1" in links(app)


def test_markup_is_text(app):
    evil = '<script>window.broken=1</script> <img/src=x/onerror="window.broken=1"> "><svg/onload=window.broken=1>'
    app.get_by_role("checkbox", name="Split into words").uncheck()
    app.get_by_role("textbox", name="Source").fill(evil)
    app.get_by_role("textbox", name="Target").fill(evil)
    until(app, "document.querySelectorAll('.target .word').length === 3")
    assert app.locator(".source .word").all_inner_texts() == evil.split(" ")
    word(app, "source", 0).hover()
    app.get_by_role("button", name="Matrix").click()
    app.wait_for_timeout(200)
    assert app.evaluate("window.broken") is None


def test_limits_are_said_on_the_page(app, visit):
    app.get_by_role("checkbox", name="Split into words").uncheck()
    app.get_by_role("textbox", name="Source").fill("a " * 41)
    app.wait_for_selector(".status.trouble")
    assert app.locator("#status").inner_text().endswith(" has 41 words, but at most 40 are allowed.")
    assert visit.complaints == [text for text in visit.complaints if "422" in text]
    visit.complaints.clear()  # Chromium notes every refused request


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out(visit, server, width):
    page = visit(server, width=width)
    page.wait_for_selector(".picture .link", state="attached")
    long = " ".join(f"Donaudampfschiff{k}" for k in range(30))
    page.get_by_role("textbox", name="Source").fill(long)
    page.get_by_role("textbox", name="Target").fill(long)
    page.wait_for_selector(".band:nth-child(2)" if width > 480 else ".columns .band")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(app):
    unnamed = app.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, summary')].filter(n => !(n.textContent.trim()"
        " || n.getAttribute('aria-label') || n.labels?.length)).map(n => n.outerHTML)"
    )
    assert unnamed == []


def test_the_api_is_described(app, server):
    described = app.request.get(f"{server}/openapi.json")
    assert "/api/align" in json.loads(described.text())["paths"]


def test_pictures_of_the_dark_theme_are_light(visit, server):
    page = visit(server, color_scheme="dark")
    page.wait_for_selector(".picture .link", state="attached")
    page.locator("#export summary").click()
    drawing = saved(page, "SVG")
    assert 'fill="rgb(251, 250, 247)"' in drawing
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
