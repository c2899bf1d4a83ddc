"""What tests of the web app do on its page: type, click, open and save files."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

SOURCE, TARGET = "Barack Obama besuchte Berlin", "Barack Obama visited Berlin"


def until(page, condition: str) -> None:
    """Wait until an expression is true; the page's policy forbids Playwright's own way of asking again and again."""
    for _ in range(150):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never true: {condition}")


def type_in(page, source: str = SOURCE, target: str = TARGET) -> None:
    page.get_by_role("textbox", name="Source").fill(source)
    page.get_by_role("textbox", name="Target").fill(target)
    first, last = source.split()[0], target.rstrip(".").split()[-1]
    page.wait_for_selector(f'.source .word:has-text("{first}")')
    page.wait_for_selector(f'.target .word:has-text("{last}")')
    until(page, "!document.querySelector('.card.busy')")


def links(page) -> list[str]:
    """Links as they are drawn, `i-j` sure and `ipj` possible."""
    return page.eval_on_selector_all(
        "#canvas [data-i]:is(.link, .mark)",
        "nodes => nodes.filter(n => !n.matches('.k-missed')).map(n => n.dataset.i"
        " + (n.matches('.k-possible') ? 'p' : '-') + n.dataset.j).sort()",
    )


def word(page, side: str, number: int):
    return page.locator(f".{side} .word").nth(number)


def click_words(page, i: int, j: int) -> None:
    word(page, "source", i).click()
    word(page, "target", j).click()


def saved(page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def shared(page) -> str:
    """The address that 'Copy link' puts on the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    until(page, "document.getElementById('status').textContent === 'The link is copied.'")
    return page.evaluate("navigator.clipboard.readText()")


def give_file(page, button: str, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).click()
    chooser.value.set_files(path)


def is_saved(page) -> None:
    until(page, "document.getElementById('saved').textContent.startsWith('saved')")


class Serving:
    """`weft annotate` that can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "weft", "annotate", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = ""
        while "listening" not in said:
            line = self.process.stderr.readline()
            assert line, said
            said += line

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()


class QuietFiles(SimpleHTTPRequestHandler):
    """A plain file server that says nothing."""

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""
