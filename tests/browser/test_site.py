"""The folder that `weft page` writes, served by a plain file server: aligned in the browser, offline, shared, read."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from desk import QuietFiles, give_file, shared
from weft import Aligner
from weft.encoding.native.encoder import NativeEncoder
from weft.viewing.site import write_site

LINK = "#canvas path"
ALIGN = """async (pairs) => {
    const answer = await fetch("api/align", { method: "POST", body: JSON.stringify({ pairs }) });
    return answer.json();
}"""
PATIENCE = 60_000  # whatever else the machine does


class _Host:
    """A static host that can be switched off."""

    def __init__(self, folder: Path) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(folder)))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *arguments: None  # a page that is closed hangs up
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/sub/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("host")
    write_site(root / "sub", ["weft-mini"])
    return root


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[str]:
    running = _Host(folder)
    yield running.address
    running.stop()


def test_links_are_those_of_the_library_and_nobody_else_is_asked(visit, host, examples):
    page = visit(host)
    page.locator(LINK).first.wait_for(state="attached", timeout=PATIENCE)
    pairs = [line.split(" ||| ") for line in (examples / "pairs.txt").read_text(encoding="utf-8").splitlines()]
    answer = page.evaluate(ALIGN, [{"source": source, "target": target} for source, target in pairs])
    aligner = Aligner.from_pretrained()
    expected = [{link.indices for link in one.links} for one in aligner.align_batch(pairs)]
    found = [{tuple(link[:2]) for link in one["links"]} for one in answer["alignments"]]
    if isinstance(aligner.encoder, NativeEncoder):
        assert found == expected
    else:  # onnxruntime rounds otherwise
        common = sum(len(own & theirs) for own, theirs in zip(found, expected, strict=True))
        assert common >= 0.98 * max(sum(map(len, found)), sum(map(len, expected)))
    assert all(address.startswith((host, "data:", "blob:")) for address in page.asked)


def test_works_without_a_network_after_the_first_visit(visit, folder):
    running = _Host(folder)
    page = visit(running.address)
    page.locator("html[data-aligner=ready]").wait_for(state="attached", timeout=PATIENCE)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.context.set_offline(True)
    running.stop()
    page.reload()
    page.locator("#source").fill("Der Hund schläft im Garten.")
    page.locator("#target").fill("The dog sleeps in the garden.")
    page.locator("#facts", has_text="7 links").or_(page.locator("#facts", has_text="6 links")).wait_for(
        timeout=PATIENCE
    )
    assert page.locator(LINK).count() >= 6


def test_a_shared_link_opens_with_its_pair(visit, host):
    page = visit(host)
    page.locator(LINK).first.wait_for(state="attached", timeout=PATIENCE)
    page.locator("#source").fill("Guten Morgen")
    page.locator("#target").fill("Good morning")
    page.locator("#facts", has_text="2 links").wait_for(timeout=PATIENCE)
    other = visit(shared(page))
    other.locator("#facts", has_text="2 links").wait_for(timeout=PATIENCE)
    assert other.locator("#source").input_value() == "Guten Morgen"


def test_reading_mode_shows_partner_phrase_and_probability(visit, host):
    page = visit(f"{host}read.html")
    page.locator("#source").fill("Das Haus ist alt. Ich wohne seit Jahren im Dorf.\nDanke!")
    page.locator("#target").fill("The house is old. I have lived in the village for years.\nThank you!")
    page.locator("#read").click()
    page.locator(".word", has_text="Dorf").click(timeout=PATIENCE)
    assert page.locator(".row").count() == 3
    assert page.locator(".partner").all_inner_texts() == ["village"]
    assert re.match(r"Dorf – village \((0\.\d\d|1\.00)\)", page.locator("#note").inner_text())
    page.locator(".word", has_text="Danke").click()
    assert page.locator(".row").last.locator(".phrase").count() >= 2
    page.locator(".word", has_text="Haus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert re.match(r"ist – is \((0\.\d\d|1\.00)\)", page.locator("#note").inner_text())


def test_files_are_written_and_read_in_the_page(visit, host):
    page = visit(f"{host}read.html")
    sent = "(name, body) => fetch(`api/files/${name}`, { method: 'POST', body: JSON.stringify(body) })"
    pairs = [{"source": ["ja"], "target": ["yes"], "links": [[0, 0, 0.5, True]]}]
    text = page.evaluate(f"async (body) => (await ({sent})('write', body)).text()", {"format": "jsonl", "pairs": pairs})
    assert [line for line in text.splitlines() if json.loads(line)["links"] == [[0, 0, 0.5]]]
    files = [{"name": "a.jsonl", "content": base64.b64encode(text.encode()).decode()}]
    again = page.evaluate(f"async (body) => (await ({sent})('read', body)).json()", {"files": files})
    assert again["pairs"] == [{"source": ["ja"], "target": ["yes"], "problem": ""}]
    assert again["links"] == [[[0, 0, 0.5, True]]]


def test_a_table_of_a_spreadsheet_is_opened_and_split(visit, host, tmp_path):
    page = visit(host)
    page.locator("html[data-aligner=ready]").wait_for(state="attached", timeout=PATIENCE)
    assert page.locator("footer").inner_text() == "Nothing leaves this browser."  # no limit to the length of sentences
    text = '"Der Zug hat Verspätung.";"The train is ""late""."\n"Gut; danke.";"Fine, thanks."\n'
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    give_file(page, "Open pairs", tmp_path / "table.csv")
    page.locator("#status", has_text="2 of 2 pairs are aligned").wait_for(timeout=PATIENCE)
    assert page.locator("#canvas .target .word").all_inner_texts() == ["The", "train", "is", '"', "late", '"', "."]
    (tmp_path / "words.docx").write_bytes(b"PK\x03\x04\0\0")
    give_file(page, "Open pairs", tmp_path / "words.docx")
    page.locator("#status", has_text="words.docx is not plain text. This page reads").wait_for()


def test_what_needs_a_server_is_refused_in_a_sentence(visit, host):
    page = visit(f"{host}read.html")
    refused = page.evaluate("fetch('api/projects/mine').then(async (answer) => [answer.status, await answer.json()])")
    assert refused[0] == 404
    assert "weft serve" in refused[1]["detail"]


def test_the_folder_lists_its_files_for_the_offline_program(folder):
    program = (folder / "sub" / "offline.js").read_text(encoding="utf-8")
    listed = json.loads(program.splitlines()[1].removeprefix("const FILES = ").removesuffix(";"))
    there = {path.relative_to(folder / "sub").as_posix() for path in (folder / "sub").rglob("*") if path.is_file()}
    assert set(listed) == {"./", *there} - {"offline.js"}


@pytest.mark.parametrize("name", ["index.html", "read.html"])
def test_opened_from_a_disk_it_says_how_to_serve_it(visit, folder, name):
    page = visit((folder / "sub" / name).as_uri())
    notice = page.get_by_role("alert")
    assert "Browsers do not run this page from a file." in notice.inner_text()
    assert "python -m http.server" in notice.inner_text()
    assert notice.get_by_role("link").get_attribute("href") == "http://localhost:8000"
    assert page.locator("textarea, select, button, .masthead a").count() == 0  # nothing that would not work
    assert visit.complaints, "modules load from a disk now: the notice is not needed any more"
    visit.complaints.clear()


@pytest.mark.parametrize("name", ["index.html", "read.html"])
def test_from_a_host_it_says_nothing_of_the_kind(visit, host, name):
    page = visit(host + name)
    page.locator("html[data-aligner=ready]").wait_for(state="attached", timeout=PATIENCE)
    assert page.get_by_text("Browsers do not run").count() == 0
