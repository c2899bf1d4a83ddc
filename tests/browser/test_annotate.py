"""Making gold in a real browser: a project on disk, keys, states, filters, tabs, and a server that is killed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Serving, give_file, is_saved, links, until, word
from weft import Link
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.text.links import format_links
from weft.types import Alignment

PAIRS = ["das ist ein Haus ||| this is a house", "", *[f"wir sehen {k} Katzen ||| we see {k} cats" for k in range(8)]]


@pytest.fixture(scope="module")
def serving(tmp_path_factory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("projects")
    (folder / "pairs.txt").write_text("".join(f"{line}\n" for line in PAIRS))
    running = Serving(folder)
    yield running
    running.kill()


@pytest.fixture
def project(serving, request) -> Path:
    name = re.sub(r"\W+", " ", request.node.name.removeprefix("test_"))[:36].strip()
    create_from_files(serving.folder / name, [serving.folder / "pairs.txt"])
    (serving.folder / name / "guidelines.md").write_text("Link articles.")
    return serving.folder / name


@pytest.fixture
def sit_down(visit, serving, project):
    """Open the project as somebody."""

    def opened(annotator: str = "Ann", page=None):
        address = f"{serving.address}/?project={project.name}&annotator={annotator}"
        if page is None:
            page = visit(address)
        else:
            page.goto(address)
        page.wait_for_selector(".picture .word")
        until(page, "!document.querySelector('.card.busy')")
        return page

    return opened


def test_a_file_becomes_a_project_and_a_name_is_asked_for(visit, serving):
    page = visit(serving.address)
    page.wait_for_selector("#examples", state="attached")
    if page.locator("dialog").count():
        page.keyboard.press("Escape")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open pairs").click()
    chooser.value.set_files(serving.folder / "pairs.txt")
    page.get_by_role("textbox", name="Your name").fill("Zoë")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('title').textContent === 'pairs · Zoë'")
    assert "1 line holds no pair" in page.locator(".desk .count").inner_text()
    assert (serving.folder / "pairs" / "project.json").exists()


def leave_unsent(page, serving, visit) -> None:
    """A link that only the browser has: the server is gone, and the tab is closed."""
    serving.kill()
    word(page, "source", 1).click()
    word(page, "target", 3).click()
    until(page, "document.getElementById('saved').textContent.includes('does not answer')")
    page.close()
    visit.complaints.clear()


def test_what_waits_for_one_project_never_goes_to_another_of_its_name(visit, tmp_path):
    for place, line in (("here", PAIRS[0]), ("there", "das war ein Garten ||| this was a garden")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "pairs.txt").write_text(f"{line}\n{line}\n")
        create_from_files(tmp_path / place / "gold", [tmp_path / place / "pairs.txt"])
    running = Serving(tmp_path / "here" / "gold")
    page = visit(f"{running.address}/?project=gold&annotator=Ann")
    page.wait_for_selector(".picture .word")
    context = page.context
    leave_unsent(page, running, visit)
    for place, expected in (("there", {}), ("here", {(1, 3)})):
        running.folder = tmp_path / place / "gold"
        running.start()
        page = context.new_page()
        page.goto(f"{running.address}/?project=gold&annotator=Ann")
        page.wait_for_selector(".picture .word")
        is_saved(page)
        said = Project.read(running.folder).annotations.get("Ann", {})
        assert {cell for each in said.values() for cell in each.alignment.pairs} >= set(expected)
        assert bool(said) == bool(expected)
        page.close()
        running.kill()


def test_what_was_said_under_another_name_is_sent_too(sit_down, serving, project, visit):
    page = sit_down("adjudicated")
    context = page.context
    leave_unsent(page, serving, visit)
    serving.start()
    sit_down("Cleo", page=context.new_page())
    deadline = time.monotonic() + 300
    while "adjudicated" not in Project.read(project).annotations:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert (1, 3) in Project.read(project).annotations["adjudicated"][0].alignment.pairs


def test_keys_alone_make_gold(sit_down, project):
    page = sit_down()
    until(page, "document.getElementById('status').textContent.startsWith('9 of 9')")
    page.keyboard.press("w")
    # A group: two source words with two target words, in seven keys.
    for key in ("Space", "ArrowRight", "Space", "ArrowDown", "ArrowRight", "Space", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert "Chosen: das ist – " in page.locator("#status").inner_text()
    assert page.locator('.word[aria-pressed="true"]').count() == 4
    page.keyboard.press("Enter")
    assert {"0-2", "0-3", "1-2", "1-3"} <= set(links(page))
    page.keyboard.press("Control+z")
    assert not {"0-2", "0-3"} & set(links(page))
    word(page, "source", 3).focus()
    page.keyboard.press("2")
    assert [link for link in links(page) if link.startswith("3")] == ["3p3"]
    page.keyboard.press("c")
    page.keyboard.type("ein Haus?")
    page.keyboard.press("Enter")
    page.keyboard.press("d")
    until(page, "document.getElementById('place').textContent === '3 of 10'")  # the second line holds no pair
    page.keyboard.press("o")
    page.keyboard.press("s")
    is_saved(page)
    said = Project.read(project).annotations["Ann"]
    assert {number: str(each.state) for number, each in said.items()} == {0: "done", 2: "doubtful", 3: "skipped"}
    assert said[0].comment == "ein Haus?"
    assert Link(3, 3, said[0].links[-1].score, False) in said[0].links
    assert page.locator(".desk .count").inner_text().startswith("1 of 9 done · 1 doubtful · 1 skipped")
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("#place").inner_text() == "3 of 10"
    page.keyboard.press("u")
    assert page.locator("#place").inner_text() == "5 of 10"
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()


def test_filters_order_list_and_guidelines(sit_down):
    page = sit_down()
    until(page, "document.getElementById('status').textContent.startsWith('9 of 9')")
    page.get_by_role("button", name="Doubtful").click()
    page.get_by_label("Which pairs").select_option("doubtful")
    page.get_by_text("List of pairs").click()
    page.wait_for_selector(".pairlist li")  # browsers tell of what was opened a little later
    assert page.locator(".pairlist li").count() == 1
    page.get_by_role("button", name="Next pair").click()
    assert page.locator("#place").inner_text() == "1 of 10"
    page.get_by_label("Which pairs").select_option("all")
    page.get_by_label("Order").click()  # with the mouse: the letters belong to the pairs again afterwards
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.get_by_label("Order").select_option("score")
    assert page.evaluate("document.activeElement.tagName") != "SELECT"
    scores = page.evaluate("[...document.querySelectorAll('.pairlist li')].map((item) => Number(item.value))")
    assert sorted(scores) == list(range(1, 11))
    guidelines, card = page.locator("#guidelines pre"), page.locator(".card")
    assert guidelines.inner_text() == "Link articles."
    assert guidelines.bounding_box()["x"] > card.bounding_box()["x"] + card.bounding_box()["width"]
    page.locator("#guidelines summary").click()
    page.reload()
    page.wait_for_selector(".picture .word")
    assert not guidelines.is_visible()


def test_filters_by_score_and_by_disagreement(sit_down, project):
    links = [0.9, 0.9, 0.2, 0.9, 0.4, *[0.9] * 5]
    suggested = [Alignment((Link(0, 0, each),), each) for each in links]
    (project / "suggestions.jsonl").write_text("".join(format_links(suggested, "jsonl")))
    page = sit_down()
    page.get_by_text("List of pairs").click()
    page.wait_for_selector(".pairlist li")

    def listed(filter: str) -> list[int]:
        page.get_by_label("Which pairs").select_option(filter)
        return [int(item.get_attribute("value")) for item in page.locator(".desk details .pairlist li").all()]

    assert listed("low") == [3, 5]
    assert "2 shown" in page.locator(".desk .count").inner_text()
    page.get_by_label("Highest score").fill("0.3")
    assert listed("low") == [3]
    assert listed("gold") == []
    (project.parent / "gold.talp").write_text("0-0\n\n0-1\n0p0\n" + "0-0\n" * 6)
    give_file(page, "Load gold", project.parent / "gold.talp")
    page.wait_for_selector("table.totals")
    assert listed("gold") == [3, 4]
    assert not page.get_by_label("Highest score").is_visible()


def test_the_page_says_how_many_pairs_are_confirmed(sit_down):
    page = sit_down()
    confirmed = page.locator(".confirmed")
    assert confirmed.inner_text() == "0 of 9 pairs are confirmed. weft train and weft score use them as gold."
    until(page, "document.getElementById('status').textContent.startsWith('9 of 9')")
    page.keyboard.press("d")
    page.keyboard.press("d")
    until(page, "document.querySelector('.confirmed').textContent.startsWith('2 of 9 pairs are confirmed')")
    page.keyboard.press("k")
    page.keyboard.press("o")
    until(
        page,
        "document.querySelector('.confirmed').textContent.startsWith('1 of 9 pairs is confirmed. weft train and weft')",
    )


def test_a_pair_that_is_marked_without_a_change_is_not_called_edited(sit_down):
    page = sit_down()
    page.keyboard.press("d")  # the second line holds no pair
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("#facts").inner_text().endswith("links · confirmed")
    page.keyboard.press("o")
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("#facts").inner_text().endswith("links")


def test_a_page_that_is_loaded_again_shows_the_same_pair(sit_down):
    page = sit_down()
    for _ in range(4):
        page.keyboard.press("j")
    assert page.locator("#place").inner_text() == "5 of 10"
    page.reload()
    page.wait_for_selector(".picture .word")
    assert page.locator("#place").inner_text() == "5 of 10"


def test_a_line_without_a_pair_says_why_and_cannot_be_done(sit_down, serving):
    page = sit_down()
    page.keyboard.press("j")
    said = page.locator("#canvas .problem").inner_text()
    assert said.startswith("pairs.txt:2: ")  # and not where the file lay
    assert page.get_by_role("button", name="Done").is_disabled()
    assert page.get_by_role("button", name="Align again").is_disabled()
    page.keyboard.press("j")
    assert page.get_by_role("button", name="Done").is_enabled()


def test_both_sides_are_listed_in_their_order_whichever_way_they_run(visit, serving):
    arabic, english = "قرأت الطالبة كتابا جديدا", "The student read a new book " * 4
    (serving.folder / "arabic.txt").write_text(f"{arabic} ||| {english}\n" * 2, encoding="utf-8")
    create_from_files(serving.folder / "arabic", [serving.folder / "arabic.txt"])
    page = visit(f"{serving.address}/?project=arabic&annotator=Ann")
    page.wait_for_selector(".picture .word")
    page.get_by_text("List of pairs").click()
    first, second = (page.locator(".pairlist li").first.locator("bdi").nth(side) for side in (0, 1))
    assert first.bounding_box()["x"] < second.bounding_box()["x"]
    assert second.inner_text().endswith("…")


def test_nobody_is_lost_who_gives_no_name(visit, serving, project):
    page = visit(f"{serving.address}/?project={project.name}")
    page.get_by_role("textbox", name="Your name").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Enter name").click()
    page.get_by_role("textbox", name="Your name").fill("Ann")
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture .word")
    assert not page.locator("#banner").is_visible()
    assert not page.get_by_role("button", name="Start new").is_visible()


def test_tabs_see_each_other_and_conflicts_are_asked_about(sit_down, project, visit):
    one = sit_down()
    other = one.context.new_page()
    sit_down(page=other)
    word(one, "source", 0).click()
    word(one, "target", 3).click()
    until(other, 'document.querySelector(\'.link[data-i="0"][data-j="3"]\')')
    # Both change the pair before they hear of each other.
    other.route("**/changes?*", lambda route: route.abort())
    one.route("**/changes?*", lambda route: route.abort())
    word(one, "source", 1).click()
    word(one, "target", 3).click()
    until(one, 'document.querySelector(\'.link[data-i="1"][data-j="3"]\')')
    one.unroute("**/changes?*")
    is_saved(one)
    word(other, "source", 2).click()
    word(other, "target", 3).click()
    other.get_by_role("button", name="Keep mine").click()
    other.unroute("**/changes?*")
    is_saved(other)
    assert (2, 3) in Project.read(project).annotations["Ann"][0].alignment.pairs
    visit.complaints.clear()  # Chromium notes requests that were refused or stopped


def test_a_server_that_is_killed_loses_nothing(sit_down, serving, project, visit):
    page = sit_down()
    word(page, "source", 0).click()
    word(page, "target", 3).click()
    is_saved(page)
    serving.kill()
    word(page, "source", 1).click()
    word(page, "target", 3).click()
    until(page, "document.getElementById('saved').textContent.includes('does not answer')")
    context = page.context
    page.close()  # the change waits in the browser
    serving.start()
    page = sit_down(page=context.new_page())
    is_saved(page)
    assert {(0, 3), (1, 3)} <= Project.read(project).annotations["Ann"][0].alignment.pairs
    assert {"0-3", "1-3"} <= set(links(page))
    visit.complaints.clear()
