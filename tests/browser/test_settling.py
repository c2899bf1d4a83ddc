"""Two annotators over a hundred pairs: their agreement on the page, and the gold that settling their disputes gives."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from nltk.metrics.agreement import AnnotationTask
from nltk.translate.metrics import alignment_error_rate

from desk import Serving, is_saved, links, saved, until
from weft import Link, read_gold, read_links, score
from weft.annotation.importing import create_from_files
from weft.annotation.project import Project
from weft.annotation.record import Annotation, State
from weft.types import Alignment, GoldAlignment

PAIRS, SIDE = 100, 4
LAST = 'document.getElementById("status").textContent === "Every disagreement is settled."'
Said = dict[int, Annotation]


def simulate(folder: Path) -> None:
    """Two people who now and then link other words, or the same ones with another certainty."""
    project, draw = Project.open(folder), random.Random(3)
    for number in range(1, PAIRS + 1):
        first = [Link(k, k, None, draw.random() < 0.8) for k in range(SIDE)]
        kind = draw.choices(["same", "link", "sureness"], [5, 3, 2])[0]
        second = {
            "same": first,
            "link": [*first[:3], Link(0, 3)],
            "sureness": [*first[:3], Link(3, 3, None, not first[3].sure)],
        }[kind]
        project.put("Ann", number, Annotation(tuple(first), State.DONE))
        project.put("Ben", number, Annotation(tuple(sorted(second)), State.DONE))
    project.close()


@pytest.fixture
def running(tmp_path) -> Iterator[Serving]:
    lines = ["", *[f"wir sehen {k} Katzen ||| we see {k} cats" for k in range(PAIRS)]]  # the first line holds no pair
    (tmp_path / "pairs.txt").write_text("".join(f"{line}\n" for line in lines))
    create_from_files(tmp_path / "two", [tmp_path / "pairs.txt"])
    simulate(tmp_path / "two")
    serving = Serving(tmp_path / "two")
    yield serving
    serving.kill()


def cells(said: Said, *, sure: bool = False) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """All links of a text, with words that nltk can tell apart."""
    found = ((number, link) for number, each in said.items() for link in each.links)
    return {((number, link.source), (number, link.target)) for number, link in found if link.sure or not sure}


def agreement(first: Said, second: Said) -> tuple[float, float, float]:
    """AER, F1 and kappa by other means than weft's own."""
    one, other = cells(first), cells(second)
    one_sure, other_sure = cells(first, sure=True), cells(second, sure=True)
    weights = len(other) + len(one_sure), len(one) + len(other_sure)
    errors = (
        alignment_error_rate(one_sure, other, possible=one),
        alignment_error_rate(other_sure, one, possible=other),
    )
    aer = sum(weight * error for weight, error in zip(weights, errors, strict=True)) / sum(weights)
    places = [((n, i), (n, j)) for n in first for i in range(SIDE) for j in range(SIDE)]
    rows = [(name, place, place in linked) for name, linked in (("1", one), ("2", other)) for place in places]
    return 100 * aer, 200 * len(one & other) / (len(one) + len(other)), AnnotationTask(data=rows).kappa()


def test_agreement_is_the_same_on_the_page_over_http_and_on_the_command_line(running, visit):
    said = Project.read(running.folder).annotations
    aer, f1, kappa = agreement(said["Ann"], said["Ben"])
    with urlopen(f"{running.address}/api/projects/two/agreement?first=Ann&second=Ben", timeout=400) as answer:
        found = json.load(answer)
    assert (found["sentences"], found["rates"]) == (PAIRS, pytest.approx({"aer": aer, "f1": f1, "kappa": kappa}))
    for place in (0, -1):
        each = found["disagreements"][place]
        alone = agreement(*({0: said[name][each["number"]]} for name in ("Ann", "Ben")))
        assert each["rates"] == pytest.approx(dict(zip(("aer", "f1", "kappa"), alone, strict=True)))
    page = visit(f"{running.address}/?project=two&annotator=Cleo")
    page.get_by_role("button", name="Compare").click()
    page.locator(".agreement").wait_for()
    shown = page.locator(".agreement dd").all_inner_texts()
    assert [text.split()[0] for text in shown] == [f"{aer:.1f}", f"{f1:.1f}", f"{kappa:.3f}"]
    assert shown[2].endswith(f"[{found['low']['kappa']:.3f}, {found['high']['kappa']:.3f}]")
    page.get_by_label("Which pairs").select_option("disputed")
    assert f"{len(found['disagreements'])} shown" in page.locator(".desk .count").inner_text()
    page.close()
    files = [str(running.folder / "annotations" / f"{name}.jsonl") for name in ("Ann", "Ben")]
    command = [sys.executable, "-m", "weft", "score", "--agreement", *files, "--format", "json"]
    record = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert {name: record[name] for name in found["rates"]} == pytest.approx(found["rates"])


def settle(page, said: dict[str, Said]) -> dict[int, Alignment]:
    """By keys: the first one's links, the second one's, or new ones. Returns what each pair must be now."""
    settled: dict[int, Alignment] = {}
    while not page.evaluate(LAST):
        number = int(page.locator("#place").inner_text().split()[0]) - 1
        key, name = (("q", "Ann"), ("e", "Ben"), ("q", "Ann"))[len(settled) % 3]
        page.keyboard.press(key)
        chosen = {link.indices: link for link in said[name][number].links}
        if len(settled) % 3 == 2:  # neither: the first word with the first one, for certain
            for each in ("w", "0", "Space", "ArrowDown", "Enter"):
                page.keyboard.press(each)
            chosen = {place: link for place, link in chosen.items() if place[0] != 0} | {(0, 0): Link(0, 0)}
        page.keyboard.press("d")
        settled[number] = Alignment.of(chosen.values())
    is_saved(page)
    return settled


def test_what_is_settled_is_the_gold(running, visit, tmp_path):
    page = visit(f"{running.address}/?project=two&annotator=Cleo")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name=re.compile("Settle")).click()
    page.wait_for_selector("#beside .k-b, #beside .k-a", state="attached")
    assert "adjudicated" in page.locator("#title").inner_text()
    said = Project.read(running.folder).annotations
    settled = settle(page, said)
    disputed = {number for number in said["Ann"] if said["Ann"][number].alignment != said["Ben"][number].alignment}
    assert settled.keys() == disputed
    assert len(disputed) > 30
    (tmp_path / "gold.talp").write_text(saved(page, "Save the project's gold as talp"))
    page.get_by_role("button", name="Back to my pairs").click()
    until(page, "document.getElementById('title').textContent === 'two · Cleo'")
    page.close()  # it would complain that the server is gone
    truth = list(read_gold(tmp_path / "gold.talp", base=0))
    expected = {number: settled.get(number, each.alignment) for number, each in said["Ann"].items()}
    assert truth[1:] == [GoldAlignment.of(expected[number].links) for number in range(1, PAIRS + 1)]
    assert score(truth, list(read_links(tmp_path / "gold.talp"))).rates.aer == 0
    final = {number: Annotation(each.links, State.DONE) for number, each in expected.items()}
    error = alignment_error_rate(cells(final, sure=True), cells(said["Ben"]), possible=cells(final))
    ben = [Alignment(), *(said["Ben"][number].alignment for number in range(1, PAIRS + 1))]
    assert score(truth, ben).rates.aer == pytest.approx(100 * error)


def test_settling_with_the_mouse_goes_on_after_a_reload(running, visit):
    page = visit(f"{running.address}/?project=two&annotator=Cleo")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name=re.compile("Settle")).click()
    page.get_by_role("button", name="Take Ben's links").wait_for()
    page.wait_for_load_state("networkidle")  # pairs are aligned in the background, and nobody needs to hear of it
    hint = "Press q to take Ann's links, e for Ben's, or edit them. Press d to settle."
    assert page.locator("#status").inner_text() == hint
    page.get_by_role("button", name="Take Ben's links").click()
    first = page.locator("#place").inner_text()
    assert set(links(page)) >= {"0-3"}
    page.get_by_role("button", name="Done").click()
    is_saved(page)
    page.reload()
    page.get_by_role("button", name="Take Ann's links").wait_for()
    assert page.locator("#place").inner_text() != first
    assert " · settled" in page.locator(".agreement .pairlist").inner_text()
    # Where they differ only in how sure they are, the picture alone would not say it.
    page.locator(".agreement .pairlist button").last.click()
    note = page.locator("#beside .sureness")
    note.wait_for()
    assert re.fullmatch(r"Katzen – cats: sure for (Ann|Ben), possible for (Ann|Ben)", note.inner_text())
    page.close()


def test_a_disagreement_that_is_settled_is_not_offered_again(visit, tmp_path):
    (tmp_path / "pairs.txt").write_text("das Haus ||| the house\nja ||| yes\n")
    create_from_files(tmp_path / "two", [tmp_path / "pairs.txt"])
    project = Project.open(tmp_path / "two")
    for name, link in (("Ann", Link(0, 0)), ("Ben", Link(0, 1))):
        project.put(name, 0, Annotation((link,), State.DONE))
    project.close()
    serving = Serving(tmp_path / "two")
    try:
        page = visit(f"{serving.address}/?project=two&annotator=Ann")
        page.get_by_role("button", name="Compare").click()
        assert page.locator(".agreement h2").inner_text() == "Ann and Ben: 1 pair done by both"
        page.get_by_role("button", name="Settle 1 disagreement", exact=True).click()
        page.get_by_role("button", name="Take Ben's links").click()
        page.get_by_role("button", name="Done").click()
        page.locator(".agreement", has_text="Every disagreement is settled.").wait_for()
        is_saved(page)
        assert page.get_by_role("button", name=re.compile("^Settle")).count() == 0
        assert " · settled" in page.locator(".agreement .pairlist").inner_text()
        page.close()
    finally:
        serving.kill()
