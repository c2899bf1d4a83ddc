from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from weft.types import Alignment, Link, SentencePair
from weft.viewing.comparison import Comparison, ViewedPair
from weft.viewing.html import bundle, page, static_text

EVIL = ("</script><script>alert(1)</script>", "<!--", "<img src=x onerror=alert(1)>", "&lt;", "\u2028", '"', "]]>")


class Elements(HTMLParser):
    """The names of all elements, and the text of the data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.data = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self._inside = ("id", "data") in attributes

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.data += data


def comparison(words: tuple[str, ...]) -> Comparison:
    pair = SentencePair(words, words)
    return Comparison([ViewedPair(1, pair, (Alignment.of([Link(0, 0, 0.5)], 0.25),))], ("one",))


def test_words_cannot_leave_the_data_and_come_back_whole():
    elements = Elements(page(comparison(EVIL), title="<b>&"))
    expected = ["html", "head", "meta", "meta", "meta", "title", "style", "body", "script", "script"]
    assert elements.names == expected
    [pair] = json.loads(elements.data)["pairs"]
    assert tuple(pair["source"]) == EVIL
    assert pair["systems"] == [{"links": [[0, 0, 0.5, True]], "score": 0.25}]


def test_the_page_may_run_only_its_own_program():
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page(comparison(("a",))))[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("entry", ["view.js", "app.js"])
def test_a_bundle_holds_each_module_once_and_imports_nothing(entry):
    program = bundle(entry)
    assert not re.search(r"^(import|export) ", program, flags=re.MULTILINE)
    rooms = re.findall(r"^const (\$\w+) = \(\(\) => \{$", program, flags=re.MULTILINE)
    assert len(rooms) == len(set(rooms))
    for used in re.findall(r"= (\$\w+);$", program, flags=re.MULTILINE):
        assert program.index(f"const {used} =") < program.index(f"= {used};")


STATIC = sorted(file.name for file in (files("weft.viewing") / "static").iterdir())


@pytest.mark.parametrize("name", STATIC)
def test_the_front_end_is_small_and_asks_nobody_else(name):
    text = static_text(name)
    assert len(text.splitlines()) <= 350
    addresses = set(re.findall(r"https?://[\w./]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address that is fetched
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
