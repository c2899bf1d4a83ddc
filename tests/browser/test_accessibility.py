"""Every page under axe-core, light and dark, wide and narrow: no violation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Serving, type_in, until
from weft import Link
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
from weft.viewing.html import page as html_page
from weft.viewing.reading import read_comparison

axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
PROGRAM = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
WIDE, NARROW = {"width": 1280, "color_scheme": "light"}, {"width": 390, "color_scheme": "dark"}
LOOKS = [WIDE, NARROW]
# Pages that seldom change.
SELDOM = [NARROW, pytest.param(WIDE, marks=pytest.mark.exhaustive)]


def violations(page) -> list[str]:
    page.evaluate(PROGRAM)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("look", LOOKS)
def test_the_web_app(visit, server, look, tmp_path):
    page = visit(server, **look)
    page.wait_for_selector(".picture .link", state="attached")
    assert violations(page) == []
    type_in(page)
    if look is NARROW:
        page.get_by_role("button", name="Group").click()
        assert violations(page) == []
        page.keyboard.press("Escape")
    page.locator(".source .word").nth(1).click()
    page.get_by_role("button", name="Matrix").click()
    page.locator("#export summary").click()
    assert violations(page) == []
    page.keyboard.press("?")
    assert violations(page) == []
    page.keyboard.press("Escape")
    (tmp_path / "pairs.txt").write_text("das ist gut ||| that is good\n\nja ||| yes\n", encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open pairs").click()
    chooser.value.set_files(tmp_path / "pairs.txt")
    until(page, "document.getElementById('place').textContent === '1 of 3'")
    page.get_by_text("List of pairs").click()
    page.get_by_role("button", name="Done").click()
    assert violations(page) == []
    page.get_by_role("button", name="My work…").click()
    assert violations(page) == []


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Iterator[Serving]:
    """A project with guidelines, of which two people have done a pair each in their own way."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "pairs.txt").write_text("das ist gut ||| that is good\n\nja ||| yes\n", encoding="utf-8")
    create_from_files(folder / "news", [folder / "pairs.txt"])
    (folder / "news" / "guidelines.md").write_text("Link articles.\n", encoding="utf-8")
    project = Project.open(folder / "news")
    project.put("Ann", 0, Annotation((Link(0, 0), Link(1, 1)), State.DONE))
    project.put("Ben", 0, Annotation((Link(0, 0), Link(1, 1, None, False), Link(2, 2)), State.DONE))
    project.close()
    running = Serving(folder / "news")
    yield running
    running.kill()


@pytest.mark.parametrize("look", LOOKS)
def test_the_annotation_desk(visit, desk, look):
    page = visit(desk.address, **look)
    page.get_by_role("textbox", name="Your name").wait_for()
    assert violations(page) == []
    page.keyboard.type("Cleo")
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture .word")
    page.get_by_text("List of pairs").click()
    assert violations(page) == []
    page.get_by_label("Which pairs").select_option("low")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="Settle").click()
    page.get_by_role("button", name="Take Ben's links").wait_for()
    assert page.locator(".sureness").count() == 1
    assert violations(page) == []
    page.close()  # it would complain that the server is gone


@pytest.mark.parametrize("look", LOOKS)
def test_reading_mode(visit, server, look):
    page = visit(f"{server}/read.html", **look)
    assert violations(page) == []
    page.get_by_role("button", name="Read", exact=True).click()
    page.locator(".word", has_text="Mädchen").click()
    assert violations(page) == []


@pytest.mark.parametrize("look", SELDOM)
def test_the_page_about_the_rest_api(visit, server, look):
    page = visit(f"{server}/api", **look)
    page.locator('section[aria-label="POST /api/align"]').wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("look", SELDOM)
def test_the_page_of_weft_view(visit, examples, look, tmp_path):
    files = [examples / name for name in ("first.links", "second.links")]
    compared = read_comparison(
        examples / "pairs.txt", None, files, examples / "gold.talp", lines=range(100), on_error=print
    )
    (tmp_path / "page.html").write_text(html_page(compared), encoding="utf-8")
    page = visit((tmp_path / "page.html").as_uri(), **look)
    page.wait_for_selector("article .picture")
    assert violations(page) == []
    page.get_by_role("button", name="Matrix").click()
    page.get_by_role("button", name="Side by side").click()
    assert violations(page) == []
