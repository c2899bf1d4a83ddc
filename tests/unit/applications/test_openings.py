from __future__ import annotations

import pytest

from weft.applications.markup import parse_markup
from weft.applications.tagging import MarkupRecord, project_markup
from weft.text.segment import segmenter_for
from weft.types import Alignment, Link


def project(source: str, target: str, links: str) -> str:
    """The target with the tags of the source, through links between words; marks go with the words they touch."""
    cut = segmenter_for(None)
    record = MarkupRecord.of(parse_markup(source), target, (cut, cut))
    sides = (record.tagged.words, record.plain.words)
    words = [[number for number, word in enumerate(side) if is_word(word)] for side in sides]
    found = set()
    for item in links.split():
        one, other = (side[int(number)] for side, number in zip(words, item.split("-"), strict=True))
        found.add((one, other))
        for step in (-1, 1):
            marks = [side[place : place + 1] for side, place in zip(sides, (one + step, other + step), strict=True)]
            if all(mark and not is_word(mark[0]) for mark in marks):
                found.add((one + step, other + step))
    return project_markup(record, Alignment.of(Link(*link) for link in found)).line


def is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("Thanks. <b>What a day!</b>", "Gracias. ¡Qué día!", "0-0 1-1 3-2", "Gracias. <b>¡Qué día!</b>"),
        ("One <b>(two)</b>", "Un (deux)", "0-0 1-1", "Un <b>(deux)</b>"),
        ("One <b>two</b>", "Un (deux)", "0-0 1-1", "Un (<b>deux</b>)"),
        ("One <b>two</b>!", "¡Uno dos!", "0-0 1-1", "¡Uno <b>dos</b>!"),
        ("<i>One</i> <b>What? Yes!</b>", "Uno ¿¡Qué?! Sí", "0-0 1-1 2-2", "<i>Uno</i> <b>¿¡Qué?! Sí</b>"),
        ("A (<b>b (c)</b> d)", "A (b (c) d)", "0-0 1-1 2-2 3-3", "A (<b>b (c)</b> d)"),
        ("A <b>b) c</b>", "A (b) c", "0-0 1-1 2-2", "A <b>(b) c</b>"),
        ("A (<b>b) c</b>", "A (b) c", "0-0 1-1 2-2", "A (<b>b) c</b>"),
        ("A “<b>b” c</b>", "A «b» c", "0-0 1-1 2-2", "A «<b>b» c</b>"),
        ("A <b>“b”</b>", "A „b“", "0-0 1-1", "A <b>„b“</b>"),
        ("A <b>“b”</b>", "A »b«", "0-0 1-1", "A <b>»b«</b>"),
        ("A <b>“b”</b>", "A « b »", "0-0 1-1", "A <b>« b »</b>"),
        ('A <b>"b"</b>', 'A "b"', "0-0 1-1", 'A <b>"b"</b>'),
        ("“A” <b>b “c”</b>", "»A« b »c«", "0-0 1-1 2-2", "»A« <b>b »c«</b>"),
        ("A <b>“b”</b>", "A「b」", "0-0 1-1", "A<b>「b」</b>"),
        ("<i><b>A</b> b!</i> c", "¡A b! c", "0-0 1-1 2-2", "<i>¡<b>A</b> b!</i> c"),
    ],
)
def test_an_opening_mark_is_with_its_closing_mark(source, target, links, expected):
    assert project(source, target, links) == expected


def test_another_element_ends_before_an_opening_mark_that_is_not_its_own():
    cut = segmenter_for(None)
    record = MarkupRecord.of(parse_markup("<a>One.</a> <a>Two!</a>"), "Uno. ¡Dos!", (cut, cut))
    links = Alignment.of([Link(0, 0), Link(1, 2), Link(2, 3), Link(3, 4)])
    assert project_markup(record, links).line == "<a>Uno.</a> <a>¡Dos!</a>"


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("We open soon.<br/>See you!", "Abrimos pronto. ¡Nos vemos!", "1-0 2-1 3-2 4-3", "pronto.<br/> ¡Nos"),
        ("We open soon.<br/>See you!", "Abrimos pronto. ¿¡Nos vemos!?", "1-0 2-1 3-2 4-3", "pronto.<br/> ¿¡Nos"),
        ("One<br/>(two)", "Un (deux)", "0-0 1-1", "Un<br/> (deux)"),
        ("“One”<br/>two", "„Eins“ zwei", "0-0 1-1", "„Eins“<br/> zwei"),
        ("One (<br/>two)", "Un (deux)", "0-0 1-1", "Un (<br/>deux)"),
        ("One <b><br/>two!</b>", "Uno ¡dos!", "0-0 1-1", "Uno <b><br/>¡dos!</b>"),
        ("One <x/>two!", "Uno ¡dos!", "1-1", "Uno <x/>¡dos!"),
    ],
)
def test_a_tag_without_words_is_not_between_an_opening_mark_and_its_word(source, target, links, expected):
    assert expected in project(source, target, links)
