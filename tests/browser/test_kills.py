"""Somebody annotates by keyboard while the server is killed and tabs are closed: nothing that was said is lost."""

from __future__ import annotations

import logging
import random
import threading
from collections import Counter
from pathlib import Path

import pytest

from desk import Serving, is_saved, links, until
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.annotation.record import State

logger = logging.getLogger(__name__)
LINKS = "0-0 1-1 2-2 3-3"
OUTBOX = """async () => {
  const { database, done } = await import("/static/store.js");
  const rows = await done((await database()).transaction("outbox").objectStore("outbox").getAll());
  return rows.map((row) => row.number);
}"""


class Annotator:
    """Works through the pairs of a project by keyboard, and remembers what was drawn when a pair was confirmed."""

    def __init__(self, page, serving: Serving, draw: random.Random) -> None:
        self.page, self.serving, self.draw = page, serving, draw
        self.said: dict[int, set[str]] = {}
        self.counts: Counter[str] = Counter()

    def sit_down(self) -> None:
        self.page.goto(f"{self.serving.address}/?project={self.serving.folder.name}&annotator=Ann")
        self.page.wait_for_selector(".picture .word")

    def change_tabs(self) -> None:
        context = self.page.context
        self.page.close()
        self.counts["tabs closed"] += 1
        if not self.serving.alive:
            self.counts["tabs closed while the server was down"] += 1
            self.serving.start()
        self.page = context.new_page()
        self.sit_down()

    def annotate(self) -> None:
        """Toggle a link or a group in one pair, and confirm it."""
        number = self.place()
        self.link()
        drawn = set(links(self.page))
        if self.draw.random() < 0.05:  # between the edit and the confirmation
            self.change_tabs()
            assert (self.place(), set(links(self.page))) == (number, drawn)
        self.said[number] = drawn
        self.page.keyboard.press("d")

    def place(self) -> int:
        return int(self.page.locator("#place").inner_text().split()[0]) - 1

    def link(self) -> None:
        group = self.draw.random() < 0.4
        keys = ["w", *["ArrowRight"] * self.draw.randrange(3), *(["Space", "ArrowRight"] if group else []), "Space"]
        keys += ["ArrowDown", *["ArrowRight"] * self.draw.randrange(3), "Enter"]
        keys += ["2"] if self.draw.random() < 0.3 else []
        for key in keys:
            self.page.keyboard.press(key)

    def look_at_files(self) -> None:
        """Right after a kill: the files are valid, and what is not in them yet waits in the browser."""
        waiting = set(self.page.evaluate(OUTBOX))
        kept = confirmed(self.serving.folder)
        assert {number: said for number, said in self.said.items() if kept.get(number) != said}.keys() <= waiting
        self.counts["kills"] += 1
        self.counts["kills with a change that only the browser had"] += bool(waiting)


def confirmed(folder: Path) -> dict[int, set[str]]:
    return {
        number: {f"{link.source}{'-' if link.sure else 'p'}{link.target}" for link in said.links}
        for number, said in Project.read(folder).annotations.get("Ann", {}).items()
        if said.state is State.DONE
    }


@pytest.fixture
def project(tmp_path, request) -> Path:
    lines = [f"eins zwei drei vier fünf {k} ||| one two three four five {k}\n" for k in range(request.param)]
    (tmp_path / "pairs.txt").write_text("".join(lines))
    (tmp_path / "links").write_text(f"{LINKS}\n" * request.param)
    create_from_files(tmp_path / "long", [tmp_path / "pairs.txt"], tmp_path / "links")
    return tmp_path / "long"


@pytest.mark.parametrize(
    ("project", "kills"), [(12, 2), pytest.param(500, 20, marks=pytest.mark.exhaustive)], indirect=["project"]
)
def test_a_server_that_is_killed_again_and_again_loses_nothing(visit, project, kills):
    """`pytest -m exhaustive --log-cli-level=INFO tests/browser/test_kills.py` says how many tabs were closed."""
    pairs = len(Project.read(project).pairs)
    serving, draw = Serving(project), random.Random(pairs)
    at = set(draw.sample(range(1, pairs - 3), kills))
    somebody = Annotator(visit("about:blank"), serving, draw)
    somebody.sit_down()
    down_for = 0
    try:
        while len(somebody.said) < pairs:
            number = len(somebody.said)
            killer = threading.Timer(draw.uniform(0, 0.3), serving.process.kill)
            if number in at and serving.alive:
                killer.start()  # somewhere between two keys, or in the middle of a request
            somebody.annotate()
            assert len(somebody.said) > number
            if killer.ident:
                killer.join()
                serving.process.wait()
                somebody.look_at_files()
                down_for = draw.randrange(1, 4)
            elif not serving.alive:
                down_for -= 1
                if draw.random() < 0.2:
                    somebody.change_tabs()
                elif not down_for:
                    serving.start()
            elif draw.random() < 0.08:
                somebody.change_tabs()
        if not serving.alive:
            serving.start()
        until(somebody.page, f"document.querySelector('.desk progress').value === {pairs}")
        is_saved(somebody.page)
    finally:
        serving.kill()
    assert confirmed(project) == somebody.said
    assert somebody.counts["kills"] == kills
    logger.info("%d pairs, none lost; %s", pairs, dict(somebody.counts))
    visit.complaints.clear()  # Chromium notes every request to a server that is not there
