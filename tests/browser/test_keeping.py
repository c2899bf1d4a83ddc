"""Nothing that somebody did in the web app is lost: every way in which it once was."""

from __future__ import annotations

import json

import pytest

from desk import click_words, give_file, links, saved, shared, type_in, until, word


@pytest.fixture
def app(visit, server):
    page = visit(server)
    page.wait_for_selector(".picture .link", state="attached")
    return page


def file_of(tmp_path, lines: list[str], name: str = "pairs.txt"):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def thirty(app, tmp_path):
    """Thirty pairs, aligned, the second one edited."""
    give_file(app, "Open pairs", file_of(tmp_path, [f"das ist Satz {k} ||| this is sentence {k}" for k in range(30)]))
    until(app, "document.getElementById('status').textContent.startsWith('30 of 30')")
    app.get_by_role("button", name="Next pair").click()
    click_words(app, 0, 3)
    return app


def place(page) -> str:
    return page.locator("#place").inner_text()


def again(page) -> None:
    page.reload()
    page.wait_for_selector(".picture .link", state="attached")


def test_copying_a_link_leaves_the_file_alone(thirty):
    drawn = links(thirty)
    shared(thirty)
    again(thirty)
    assert (place(thirty), links(thirty)) == ("2 of 30", drawn)


def test_a_link_of_somebody_else_is_a_visit(thirty, visit, server):
    other = visit(server)
    other.wait_for_selector(".picture .link", state="attached")
    type_in(other, "nur ein Gast", "just a guest")
    address, drawn = shared(other), links(thirty)
    thirty.goto(address)
    thirty.reload()
    thirty.wait_for_selector('.source .word:has-text("Gast")')
    assert "Your own work is unchanged" in thirty.locator("#banner").inner_text()
    click_words(thirty, 0, 2)
    thirty.get_by_role("button", name="Back to my work").click()
    until(thirty, "document.getElementById('place').textContent === '2 of 30'")
    assert links(thirty) == drawn
    thirty.goto(address)
    thirty.reload()
    thirty.get_by_role("button", name="Add to my work").click()
    until(thirty, "document.getElementById('title').textContent === 'From a link'")
    thirty.get_by_role("button", name="My work…").click()
    thirty.get_by_role("button", name="pairs.txt", exact=True).click()
    until(thirty, "document.getElementById('place').textContent === '2 of 30'")


def test_a_chosen_word_that_is_gone_links_nothing(app):
    type_in(app, "eins zwei drei vier fünf", "one two three four five")
    word(app, "source", 4).click()
    app.get_by_role("textbox", name="Source").fill("eins zwei")
    until(app, "document.querySelectorAll('.source .word').length === 2")
    word(app, "target", 0).click()
    assert all(int(link[0]) < 2 for link in links(app))
    before = links(app)
    again(app)
    assert links(app) == before


def test_one_invalid_pair_costs_one_link(thirty):
    drawn = links(thirty)
    thirty.evaluate(
        """async () => {
          const { database, write } = await import('/static/store.js');
          const db = await database();
          const id = localStorage.getItem('weft-last');
          const pair = { texts: ['a', 'b'], source: ['a'], target: ['b'], links: [[4, 0, null, true]], ready: true };
          await write(db, ['pairs'], (pairs) => pairs.put({ work: id, number: 5, pair }));
        }"""
    )
    again(thirty)
    assert (place(thirty), links(thirty)) == ("2 of 30", drawn)


def test_what_was_there_before_is_in_the_list(thirty, tmp_path):
    drawn = links(thirty)
    thirty.get_by_role("button", name="Start new").click()
    until(thirty, "!document.querySelector('#canvas .word')")
    thirty.get_by_role("button", name="Start new").click()  # what is new already is not made a second time
    until(thirty, "document.getElementById('status').textContent === 'This is already empty.'")
    give_file(thirty, "Open pairs", file_of(tmp_path, ["a ||| b", "c ||| d"], "other.txt"))
    until(thirty, "document.getElementById('place').textContent === '1 of 2'")
    thirty.get_by_role("button", name="My work…").click()
    until(thirty, "document.querySelectorAll('.works li').length === 4")
    listed = thirty.locator(".works li span").all_inner_texts()
    assert [about.split(" · ")[0] for about in listed[1:]] == [
        "empty",
        "30 pairs",
        "“Ieri am citit o carte foarte bună.”",
    ]
    thirty.get_by_role("button", name="pairs.txt", exact=True).click()
    until(thirty, "document.getElementById('place').textContent === '2 of 30'")
    assert links(thirty) == drawn


def test_deleting_a_work_asks_first(thirty):
    thirty.get_by_role("button", name="My work…").click()
    thirty.get_by_role("button", name="Delete pairs.txt").click()
    thirty.get_by_role("button", name="Cancel").click()
    thirty.get_by_role("button", name="Delete pairs.txt").click()
    thirty.get_by_role("button", name="Delete permanently").click()
    until(thirty, "document.querySelectorAll('.works li').length === 1")


def test_two_tabs_see_each_other(thirty, server):
    other = thirty.context.new_page()
    other.goto(server)
    until(other, "document.getElementById('place').textContent === '2 of 30'")
    other.wait_for_selector(".picture .link", state="attached")
    click_words(other, 1, 3)
    until(thirty, 'document.querySelector(\'.link[data-i="1"][data-j="3"]\')')
    click_words(thirty, 2, 0)
    until(other, 'document.querySelector(\'.link[data-i="2"][data-j="0"]\')')
    assert links(other) == links(thirty)
    assert {"0-3", "1-3", "2-0"} <= set(links(other))


def test_an_edit_just_before_the_tab_is_closed_is_kept(thirty, server):
    for cell in ((2, 0), (3, 0), (0, 2)):
        page = thirty.context.new_page()
        page.goto(server)
        page.wait_for_selector(".picture .link", state="attached")
        click_words(page, *cell)
        page.close()
    again(thirty)
    assert {"0-3", "2-0", "3-0", "0-2"} <= set(links(thirty))


def test_what_was_typed_just_before_closing_is_kept(app, server):
    page = app.context.new_page()
    page.goto(server)
    page.wait_for_selector(".picture .link", state="attached")
    page.get_by_role("textbox", name="Source").fill("Ieri am citit.")
    page.close()
    again(app)
    assert app.get_by_role("textbox", name="Source").input_value() == "Ieri am citit."


def test_an_edit_while_a_request_is_under_way_stays(thirty):
    drawn = links(thirty)

    def slow(route):
        thirty.wait_for_timeout(700)
        route.continue_()

    thirty.get_by_role("button", name="Next pair").click()
    before = links(thirty)
    thirty.route("**/api/align", slow)
    thirty.get_by_label("Method").select_option("itermax")
    click_words(thirty, 0, 3)
    thirty.wait_for_timeout(1500)
    assert links(thirty) == sorted({*before, "0-3"})
    thirty.get_by_role("button", name="Previous pair").click()
    assert links(thirty) == drawn


def test_large_files_are_kept(app, tmp_path):
    """Once everything beyond 4,000,000 characters was not."""
    side = " ".join(f"{k:03}" + "x" * 117 for k in range(40))
    record = json.dumps({"source": side, "target": side, "links": [[k, k] for k in range(40)]})
    give_file(app, "Open pairs", file_of(tmp_path, [record] * 450, "large.jsonl"))
    until(app, "document.getElementById('place').textContent === '1 of 450'")
    app.get_by_label("Go to pair").fill("450")
    app.keyboard.press("Enter")
    until(app, "document.getElementById('place').textContent === '450 of 450'")
    app.get_by_role("button", name="Matrix").click()
    app.locator(".cells").focus()
    app.keyboard.press("2")
    assert "0p0" in links(app)
    app.reload()
    until(app, "document.getElementById('place').textContent === '450 of 450'")
    app.get_by_role("button", name="Matrix").click()
    assert "0p0" in links(app)


def test_localhost_is_the_same_address(visit, server):
    page = visit(server.replace("127.0.0.1", "localhost"))
    page.wait_for_selector(".picture .link", state="attached")
    assert page.url.startswith(server)


def test_words_that_came_split_are_never_cut_anew(app, tmp_path):
    give_file(app, "Open pairs", file_of(tmp_path, ["l'homme dort ||| the man sleeps", "a ||| b"]))
    app.wait_for_selector('.source .word:has-text("l\'homme")')
    again(app)
    app.get_by_role("button", name="Align again").click()
    app.wait_for_timeout(300)
    until(app, "!document.querySelector('.card.busy')")
    assert app.locator(".source .word").all_inner_texts() == ["l'homme", "dort"]


def test_splitting_stays_off_after_a_reload(app):
    app.get_by_role("checkbox", name="Split into words").uncheck()
    type_in(app, "l'homme dort", "the man sleeps")
    again(app)
    assert not app.get_by_role("checkbox", name="Split into words").is_checked()
    assert app.locator(".source .word").all_inner_texts() == ["l'homme", "dort"]


def test_ten_lines_are_saved_as_ten_lines(app, tmp_path):
    lines = ["a b ||| c d", "", "no separator", *["e ||| f"] * 6, "a b ||| c"]
    give_file(app, "Open pairs", file_of(tmp_path, lines))
    until(app, "document.getElementById('place').textContent === '1 of 10'")
    until(app, "document.querySelector('.desk .count').textContent.includes('2 lines hold no pair')")
    until(app, "document.getElementById('status').textContent.startsWith('8 of 8')")
    written = [line.split() for line in saved(app, "Save talp").split("\n")]
    assert (len(written), written[1], written[2], written[10]) == (11, [], [], [])
    assert written[3] != []
    app.get_by_label("Go to pair").fill("3")
    app.keyboard.press("Enter")
    assert "pairs.txt:3" in app.locator("#canvas .problem").inner_text()


def test_one_pair_that_is_too_long_stops_nothing(app, visit, tmp_path):
    lines = ["das ist gut ||| that is good"] * 30
    lines[20] = f"{'wort ' * 41}||| word"
    give_file(app, "Open pairs", file_of(tmp_path, lines))
    until(app, "document.getElementById('status').textContent.startsWith('30 of 30')")
    assert [bool(line) for line in saved(app, "Save talp").splitlines()] == [k != 20 for k in range(30)]
    app.get_by_role("spinbutton", name="Go to pair").fill("21")
    app.keyboard.press("Enter")
    said = "0 links · not aligned: source has 41 words, but at most 40 are allowed."
    assert app.locator("#facts").inner_text() == said
    app.get_by_role("button", name="Align all again").click()
    until(app, f"document.getElementById('facts').textContent === '{said}'")
    app.get_by_role("button", name="Skipped").click()  # also where the pair in view is the one that was refused
    until(app, "document.getElementById('place').textContent === '22 of 30'")
    visit.complaints[:] = [text for text in visit.complaints if "422" not in text]


def test_the_time_of_saving_is_said(app):
    type_in(app)
    until(app, r"/^saved \d\d:\d\d$/.test(document.getElementById('saved').textContent)")


def test_work_of_earlier_versions_is_brought_over(visit, server):
    page = visit(server)
    page.wait_for_selector(".picture .link", state="attached")
    pair = {"texts": ["alt", "old"], "source": ["alt"], "target": ["old"], "links": [[0, 0, None, True]]}
    old = json.dumps({"pairs": [{**pair, "score": None, "edited": True, "gold": None, "ready": True}], "current": 0})
    page.evaluate("old => localStorage.setItem('weft-work', old)", old)
    page.reload()
    page.wait_for_selector('.source .word:has-text("alt")')
    assert links(page) == ["0-0"]
