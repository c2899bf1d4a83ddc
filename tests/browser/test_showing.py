"""What people show around: the first screen, colours, movement, pictures, frames, and two models beside each other."""

from __future__ import annotations

import json
import re
import threading
from functools import partial
from http.server import ThreadingHTTPServer

import pytest

from desk import QuietFiles, click_words, give_file, links, saved, shared, type_in, until, word


@pytest.fixture
def app(visit, server):
    page = visit(server)
    page.wait_for_selector(".picture .link", state="attached")
    return page


def settled(page) -> None:
    page.wait_for_timeout(250)
    until(page, "!document.querySelector('.card.busy')")


def sent(page) -> list[dict]:
    """Bodies of the requests for links from now on."""
    bodies: list[dict] = []
    page.on("request", lambda asked: bodies.append(asked.post_data_json) if asked.url.endswith("/align") else None)
    return bodies


def test_sentences_of_six_scripts_can_be_tried(app):
    seen = set()
    chips = app.locator("#examples button")
    assert chips.count() == 6
    for chip in chips.all():
        chip.click()
        settled(app)
        assert len(links(app)) >= 4
        seen.add(app.locator("#source").input_value())
    assert len(seen) == 6
    arabic = app.locator("#examples button", has_text="العربية")
    arabic.click()
    settled(app)
    assert app.locator(".source").get_attribute("dir") == "rtl"


def test_every_word_has_a_colour_of_its_own_on_hover(app):
    type_in(app)
    colours = set()
    for number in range(3):
        word(app, "source", number).hover()
        lit = app.locator(".link.lit").first
        colours.add(lit.evaluate("line => getComputedStyle(line).stroke"))
        assert lit.evaluate("line => line.dataset.i") == str(number)
        assert app.locator(".target .word.lit").count() >= 1
    assert len(colours) == 3


def test_links_that_stay_move_to_their_new_place(app):
    type_in(app)
    moving = "document.getAnimations().filter((each) => each.effect.target.matches('.link')).length"
    app.evaluate(
        f"""() => {{
          window.moved = 0;
          const look = () => {{ window.moved = Math.max(window.moved, {moving}); requestAnimationFrame(look); }};
          look();
        }}"""
    )
    app.get_by_role("textbox", name="Source").fill("Gestern besuchte Barack Obama Berlin")
    until(app, "window.moved > 0")
    app.wait_for_timeout(1000)  # on a busy machine the server's answer moves them once more
    until(app, f"{moving} === 0")
    before = app.evaluate("window.moved = 0")
    app.set_viewport_size({"width": 900, "height": 900})
    app.wait_for_timeout(300)
    assert app.evaluate("window.moved") == before  # a window of another size is no movement


def test_the_slider_does_something_along_its_whole_way(app):
    type_in(app, "eins zwei drei vier fünf sechs", "one two three four five six")
    app.get_by_label("Method").select_option("softmax")
    settled(app)
    bodies, counts = sent(app), []
    for place in range(0, 101, 10):
        app.get_by_label("Threshold").fill(str(place))
        settled(app)
        counts.append(len(links(app)))
    thresholds = [body["threshold"] for body in bodies]
    assert thresholds == sorted(set(thresholds))
    assert len(thresholds) == 11
    assert (thresholds[0], thresholds[-1] > 0.99) == (0, True)
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1] < 6) == (36, True)
    assert len(set(counts[:6])) >= 4, counts  # the lower half
    assert len(set(counts[5:])) >= 2, counts  # the upper one


def test_the_language_of_han_can_be_chosen(app):
    bodies = sent(app)
    app.get_by_label("Language of the source").select_option("ja")
    app.get_by_role("textbox", name="Source").fill("東京都")
    app.get_by_role("textbox", name="Target").fill("Tokyo")
    settled(app)
    app.get_by_label("Language of the source").select_option("zh")
    settled(app)
    assert [body.get("source_language") for body in bodies][-1] == "zh"
    assert "ja" in {body.get("source_language") for body in bodies}
    assert all("target_language" not in body for body in bodies)
    app.reload()
    app.wait_for_selector(".picture .word")
    assert app.get_by_label("Language of the source").input_value() == "zh"


def test_on_a_phone_the_picture_comes_first(visit, server):
    page = visit(server, width=390)
    page.wait_for_selector(".picture .link", state="attached")
    picture, text = page.locator(".card").bounding_box(), page.locator("#source").bounding_box()
    assert picture["y"] + picture["height"] <= text["y"]
    assert picture["y"] < 250
    page.get_by_role("button", name="Matrix").click()
    assert page.locator("#canvas .matrix").evaluate("box => box.scrollWidth <= box.clientWidth")


CROSSED = """() => {
  const frame = document.querySelector("#canvas .curves").getBoundingClientRect();
  const boxes = [...document.querySelectorAll("#canvas .word")].map((word) => word.getBoundingClientRect());
  const inside = ({ x, y }) => boxes.some((box) =>
    x + frame.x > box.left && x + frame.x < box.right && y + frame.y > box.top && y + frame.y < box.bottom);
  return [...document.querySelectorAll("#canvas .link")].filter((line) => {
    const length = line.getTotalLength();
    return Array.from({ length: 60 }, (_, k) => line.getPointAtLength((length * k) / 59)).some(inside);
  }).length;
}"""


def test_on_a_phone_no_line_runs_through_a_word(visit, server):
    page = visit(server, width=390)
    page.wait_for_selector(".picture .link", state="attached")
    source = "Gestern habe ich im Garten hinter dem alten Haus ein wirklich gutes Buch gelesen"
    type_in(page, source, "Yesterday I read a really good book in the garden behind the old house")
    assert len(links(page)) > 10
    assert page.evaluate(CROSSED) == 0


def test_a_picture_can_be_copied(app):
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.locator("#export summary").click()
    app.get_by_role("button", name="Copy", exact=True).click()
    app.get_by_role("button", name="Copied").wait_for()
    size = app.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          const picture = await createImageBitmap(await item.getType("image/png"));
          return [picture.width, picture.height];
        }"""
    )
    assert min(size) > 100


def test_a_second_model_stands_beside_the_first(app):
    type_in(app)
    app.get_by_label("Compare with").select_option("weft-nano")
    app.wait_for_selector("#beside .link", state="attached")
    assert app.locator("#beside .legend").inner_text().split("\n")[-1] == "only weft-nano"
    bodies = sent(app)
    app.get_by_label("Method").select_option("itermax")
    until(app, "!document.querySelector('.card.busy')")
    app.wait_for_timeout(300)
    assert {(body["model"], body["method"]) for body in bodies} == {("weft-mini", "itermax"), ("weft-nano", "itermax")}
    app.get_by_label("Compare with").select_option("")
    assert not app.locator("#beside").is_visible()


def test_all_pairs_are_aligned_again_but_for_those_that_were_edited(app, tmp_path):
    lines = [f"wir sehen {number} Katzen ||| we see {number} cats\n" for number in range(9)]
    (tmp_path / "pairs.txt").write_text("".join(lines), encoding="utf-8")
    give_file(app, "Open pairs", tmp_path / "pairs.txt")
    until(app, "document.getElementById('status').textContent.startsWith('9 of 9')")
    click_words(app, 0, 3)
    edited = links(app)
    app.get_by_label("Method").select_option("softmax")
    app.get_by_label("Threshold").fill("0")
    app.get_by_role("button", name="Align all again").click()
    until(app, "document.getElementById('status').textContent.startsWith('9 of 9')")
    written = saved(app, "Save Pharaoh").splitlines()
    assert sorted(written[0].split()) == edited
    assert [len(line.split()) for line in written[1:]] == [16] * 8  # without a threshold every cell is a link


def test_sure_and_possible_look_different_beside_gold(app, tmp_path):
    type_in(app)
    (tmp_path / "gold.talp").write_text("0-0 1-1 2p2 3-3\n", encoding="utf-8")
    give_file(app, "Load gold", tmp_path / "gold.talp")
    app.wait_for_selector("table.totals")
    line = app.locator('.link[data-i="1"][data-j="1"]')
    assert line.count() == 1
    dashes = "line => getComputedStyle(line).strokeDasharray"
    before = line.evaluate(dashes)
    app.locator('.reach[data-i="1"][data-j="1"]').dispatch_event("click")
    assert line.evaluate(dashes) != before


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.de": "das ist gut\nja\n", "a.en": "that is good\nyes\n"}, None),
        ({"a.tsv": "das ist gut\tthat is good\nja\tyes\n"}, None),
        ({"a.jsonl": '{"source": "ja", "target": "yes", "links": [[0, 0, 0.25]]}\n' * 2}, "0-0"),
    ],
)
def test_files_of_every_kind_are_opened(app, tmp_path, files, expected):
    paths = []
    for name, text in files.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text, encoding="utf-8")
    with app.expect_file_chooser() as chooser:
        app.get_by_role("button", name="Open pairs").click()
    chooser.value.set_files(paths)
    until(app, "document.getElementById('place').textContent === '1 of 2'")
    if not expected:
        until(app, "document.getElementById('status').textContent.startsWith('2 of 2')")
    else:
        assert links(app) == [expected]
        assert json.loads(saved(app, "Save JSONL").splitlines()[0])["links"] == [[0, 0, 0.25]]
    naacl = saved(app, "Save NAACL")
    assert {line.split()[0] for line in naacl.splitlines()} == {"1", "2"}
    (tmp_path / "gold.naacl").write_text(naacl)
    give_file(app, "Load gold", tmp_path / "gold.naacl")
    app.wait_for_selector("table.totals")
    assert app.locator(".totals tr:last-child td").first.inner_text() == "0.0"  # its own links, counted from 1 there


def test_a_frame_of_a_site_that_was_named_shows_the_pair(app, visit, server, tmp_path):
    type_in(app)
    address = re.sub(r"^[^#]*", f"{server}/embed", shared(app))
    (tmp_path / "site.html").write_text(f'<link rel="icon" href="data:,"><iframe src="{address}"></iframe>')
    site = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(tmp_path)))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = site.server_address[1]
    page = visit(f"http://127.0.0.1:{port}/site.html")
    frame = page.frame_locator("iframe")
    frame.locator(".embedded .picture .word").first.wait_for()
    assert frame.locator(".source .word").all_inner_texts() == ["Barack", "Obama", "besuchte", "Berlin"]
    page.goto(f"http://localhost:{port}/site.html")  # the same page under a name that was not allowed
    until(page, "document.readyState === 'complete'")
    assert frame.locator(".embedded .picture").count() == 0
    site.shutdown()
    visit.complaints.clear()  # the browser says that it kept the frame out
