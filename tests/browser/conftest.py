"""A real Chromium, the pages it opens, and a server of weft's own for them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.viewing.png import find_browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, tmp_path) -> Iterator[object]:
    """Open an address in a fresh context; every complaint of the page fails the test, every request is noted."""
    contexts, complaints = [], []

    def open_page(address: str, *, width: int = 1280, height: int = 900, **options: object):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(address)
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a running `weft serve`."""
    options = ["--model", "weft-mini", "--model", "weft-nano", "--max-words", "40", "--max-pairs", "7"]
    command = [
        sys.executable,
        "-m",
        "weft",
        "serve",
        "--port",
        "0",
        *options,
        "--allow-embedding",
        "http://127.0.0.1:*",
    ]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = running.stderr.readline()
    address = re.search(r"http://[\w.]+:\d+", line)
    assert address, line
    yield address[0]
    running.terminate()
    running.wait(timeout=400)


@pytest.fixture
def examples() -> Path:
    return Path(__file__).parents[2] / "examples"


def pytest_terminal_summary(terminalreporter):
    """Nobody should believe that pages were tested where no browser was."""
    if find_browser() is None:
        terminalreporter.write_line("tests/browser was skipped: no Chromium on this machine.")
