"""Pictures of every page of the web app, to be looked at one by one.

    python benchmarks/serve/screenshots.py FOLDER [--widths 1440,1024,390] [--only app,matrix,read,desk,api,view]

Six scripts in lines and in the matrix, reading mode, an annotation project, the page about the REST API and a page of
`weft view`, each at three widths, light and dark.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from weft import read_links
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
from weft.viewing.png import find_browser

Take = Callable[[str], None]
EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = {
    "latin": (
        "Gestern habe ich im Garten hinter dem alten Haus ein wirklich gutes Buch gelesen.",
        "Yesterday I read a really good book in the garden behind the old house.",
    ),
    "cyrillic": ("Завтра мы поедем на поезде в Москву.", "Tomorrow we will go to Moscow by train."),
    "arabic": ("قرأت الطالبة كتابا جديدا في المكتبة .", "The student read a new book in the library ."),
    "devanagari": ("मैंने कल एक बहुत अच्छी किताब पढ़ी ।", "Yesterday I read a very good book ."),
    "han": ("他昨天在北京买了一辆红色的汽车。", "He bought a red car in Beijing yesterday."),
    "hangul": ("나는 어제 아주 좋은 책을 읽었다 .", "Yesterday I read a very good book ."),
}


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """The address of a server."""
    command = [sys.executable, "-m", "weft", "serve", "--port", "0", *options]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr
    try:
        yield next(found[0] for line in running.stderr if (found := re.search(r"http://[\w.]+:\d+", line)))
    finally:
        running.terminate()
        running.wait(timeout=30)


@contextmanager
def annotating() -> Iterator[str]:
    """The address of a server with a project that two people have annotated, not always alike."""
    with tempfile.TemporaryDirectory() as folder:
        news = Path(folder) / "news"
        create_from_files(news, [EXAMPLES / "pairs.txt"], EXAMPLES / "first.links")
        (news / "guidelines.md").write_text("Link articles with their noun.\n", encoding="utf-8")
        project = Project.open(news)
        for name in ("first", "second"):
            for number, said in enumerate(read_links(EXAMPLES / f"{name}.links")):
                project.put(f"the {name}", number, Annotation(said.links, State.DONE))
        project.close()
        with serving("--project", folder) as address:
            yield address


def settled(page: Page) -> None:
    """Wait until nothing moves any more."""
    page.wait_for_timeout(300)
    page.wait_for_load_state("networkidle")
    page.locator(".card.busy").wait_for(state="detached")
    page.wait_for_timeout(400)


def app(page: Page, address: str, take: Take) -> None:
    page.goto(address)
    settled(page)
    for view in ("Lines", "Matrix"):
        page.get_by_role("button", name=view).click()
        for name, (source, target) in SCRIPTS.items():
            page.get_by_role("textbox", name="Source").fill(source)
            page.get_by_role("textbox", name="Target").fill(target)
            settled(page)
            take(f"{view.lower()}-{name}")
    page.get_by_role("button", name="Lines").click()
    page.locator(".source .word").nth(1).hover()
    take("hover")


def read(page: Page, address: str, take: Take) -> None:
    page.goto(f"{address}/read.html")
    settled(page)
    take("read-begin")
    page.locator("#read").click()
    page.locator(".word", has_text="Mädchen").click()
    settled(page)
    take("read")


def desk(page: Page, address: str, take: Take) -> None:
    with annotating() as address:
        page.goto(f"{address}/?project=news&annotator=Ann")
        page.wait_for_selector(".picture .word")
        settled(page)
        page.get_by_text("List of pairs").click()
        take("desk")
        page.keyboard.press("?")
        take("keys")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Compare").click()
        page.locator(".agreement").wait_for()
        take("agreement")
        page.get_by_role("button", name="Settle").click()
        page.locator("#beside .picture").wait_for()
        settled(page)
        take("settling")


def reference(page: Page, address: str, take: Take) -> None:
    page.goto(f"{address}/api")
    page.locator('section[aria-label="POST /api/align"]').wait_for()
    take("api")


def view(page: Page, address: str, take: Take) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "page.html"
        files = [EXAMPLES / name for name in ("pairs.txt", "first.links", "second.links")]
        command = [sys.executable, "-m", "weft", "view", *map(str, files), "--gold", str(EXAMPLES / "gold.talp")]
        subprocess.run([*command, "-o", str(written)], check=True, capture_output=True)
        page.goto(written.as_uri())
        settled(page)
        take("view")


PAGES = {"app": app, "read": read, "desk": desk, "api": reference, "view": view}


def take_all(browser: Browser, address: str, folder: Path, widths: list[int], only: list[str]) -> None:
    for width in widths:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = context.new_page()

            def take(name: str, page: Page = page, place: str = f"{width}-{scheme}") -> None:
                page.screenshot(path=folder / f"{place}-{name}.png", full_page=True)

            for name in only:
                PAGES[name](page, address, take)
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--widths", default="1440,1024,390")
    parser.add_argument("--only", default=",".join(PAGES))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        take_all(browser, address, options.folder, list(map(int, options.widths.split(","))), options.only.split(","))
        browser.close()


if __name__ == "__main__":
    main()
