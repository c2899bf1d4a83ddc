from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nesting import filled, links, targets, trees, unspaced
from weft.applications.documents.inline import Languages
from weft.applications.documents.markdown import MarkdownDocument, escaped

SIGNS = {
    "strong": ("**", "**"),
    "em": ("*", "*"),
    "link": ("[", "](u)"),
    "s": ("~~", "~~"),
    "kbd": ("<kbd>", "</kbd>"),
    "code": ("`", "`"),
}


def written(items, inside=frozenset()) -> str:
    """Markdown in which signs do not touch each other, and nothing stands within its own kind or around nothing."""
    parts = []
    for item in items:
        if isinstance(item, str):
            parts.append(item)
        elif "code" in inside:
            continue
        elif item[1] is None:
            parts.append("![i](u)")
        elif (inner := written(item[1], inside | {item[0]}).strip()) and item[0] not in inside:
            parts.append(f"{SIGNS[item[0]][0]}q {inner} q{SIGNS[item[0]][1]}")
        else:
            parts.append(inner)
    return " ".join(part for part in parts if part)


def elements(document: MarkdownDocument) -> Counter[str]:
    return Counter(element.name for segment in document.segments for element in segment.markup.elements)


@settings(deadline=None)
@given(trees(st.sampled_from(sorted(SIGNS)), st.just("image")), targets, links)
@example(["w", ("strong", ["a"])], "x", set())
@example(["w", ("s", ["a"]), ("s", ["a"])], "x", set())
def test_every_element_is_in_the_result_or_named(items, target, pairs):
    source = written(items)
    document = MarkdownDocument(source.encode(), "text", Languages())
    wanted = elements(document)
    _, lost = filled(document, target := target or "x", pairs)
    again = MarkdownDocument(document.written(), "text", Languages())
    # An element that was cut is there twice, and one that HTML had to write has another name.
    html = {"<strong>": "strong", "<em>": "em", "<del>": "s"}
    found = Counter()
    for name, number in elements(again).items():
        found[html.get(name, name)] += number
    assert wanted - found - Counter(lost) == Counter(), document.written()
    text = again.segments[0].markup.text if again.segments else ""
    assert unspaced(text) == unspaced(target)


@given(st.text("ab *_`[]()<>&#-+1.~!|\\", max_size=20))
def test_escaped_text_is_text(text):
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    line = escaped(" ".join(text.split()), at_start=True)
    tokens = parser.parse(line)
    shown = "".join(child.content for token in tokens for child in token.children or ())
    assert shown == " ".join(text.split())
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("# A *b* #\n", ["A b"]),
        ("A\n===\n", ["A"]),
        ("> a\n> b\n", ["a b"]),
        ("- [x] done\n- [ ] open\n", ["done", "open"]),
        ("a[^1]\n\n[^1]: note\n", ["a", "note"]),
        ("| a | b |\n|---|---|\n| a | a |\n", ["a", "b", "a", "a"]),
        ("| a\\|b | `c` |\n|---|---|\n", ["a|b", "c"]),
        ("a<br>b\n", ["a b"]),
        ("---\ntitle: t\n---\n\ntext\n", ["text"]),
        ("```\ncode\n```\n\n    code\n\ntext\n", ["text"]),
        ("<div>\nhtml\n</div>\n\ntext\n", ["text"]),
    ],
)
def test_what_is_text_and_what_stays(text, segments):
    document = MarkdownDocument(text.encode(), "text", Languages())
    assert [segment.text for segment in document.segments] == segments
    assert document.written().decode() == text
    for number in range(len(segments)):
        document.fill(number, [f"NEW{number}"])
    new = MarkdownDocument(document.written(), "text", Languages())
    assert [segment.text for segment in new.segments] == [f"NEW{number}" for number in range(len(segments))]


def test_signs_that_would_not_be_understood_become_tags():
    document = MarkdownDocument(b"w **a.** b\n", "text", Languages())
    tagged, _ = filled(document, "重。文", set())
    assert tagged.line == "重。文" or "<strong>" in tagged.line
    document.fill(0, ["重要", *[piece for piece in tagged.pieces if not isinstance(piece, str)][:1], "x。",
                      *[piece for piece in tagged.pieces if not isinstance(piece, str)][1:], "文"])  # fmt: skip
    assert document.written().decode() == "重要<strong>x。</strong>文\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("w _a_ b", "重*要*文"),
        ("w __a__ b", "重**要**文"),
        ("w *a* b", "重*要*文"),
        ("w __*a*__ b", "重***要***文"),
    ],
)
def test_underscores_become_stars_within_words(source, expected):
    document = MarkdownDocument(source.encode(), "text", Languages())
    tags = [piece for piece in filled(document, "x", {(1, 0)})[0].pieces if not isinstance(piece, str)]
    document.fill(0, ["重", *tags[: len(tags) // 2], "要", *tags[len(tags) // 2 :], "文"])
    assert document.written().decode() == expected


def test_underscores_stay_where_they_are_understood():
    document = MarkdownDocument(b"w _a_ b", "text", Languages())
    filled(document, "x y z", {(0, 0), (1, 1), (2, 2)})
    assert document.written() == b"x _y_ z"


@pytest.mark.parametrize(
    ("source", "target", "pairs", "expected"),
    [
        ("a  \nb\n", "x y", {(0, 0), (1, 1)}, "x  \ny\n"),
        ("a\\\r\nb\r\n", "x y", {(0, 0), (1, 1)}, "x\\\r\ny\r\n"),
        ("> a   \n> b\n", "x y", {(0, 0), (1, 1)}, "> x  \n> y\n"),
        ("- a\n  b  \n  c\n", "x y z", {(0, 0), (1, 1), (2, 2)}, "- x y  \n  z\n"),
        ("a  \n**b** c\n", "x y z", {(0, 0), (1, 1), (2, 2)}, "x  \n**y** z\n"),
        ("**a  \nb** c\n", "x y z", {(0, 0), (1, 1), (2, 2)}, "**x  \ny** z\n"),
        # What begins a line may mean something else there.
        ("a  \nb c\n", "x - z", {(0, 0), (1, 1), (2, 2)}, "x  \n\\- z\n"),
        # No line begins or ends with a break.
        ("a  \n**b**\n", "x", {(0, 0)}, "x<br>\n"),
    ],
)
def test_lines_are_broken_as_they_were(source, target, pairs, expected):
    document = MarkdownDocument(source.encode(), "text", Languages())
    filled(document, target, pairs)
    assert document.written().decode() == expected


def test_a_line_that_would_make_a_table_of_the_one_before_is_none():
    document = MarkdownDocument(b"a  \nb\n", "text", Languages())
    [_, point] = filled(document, "x y", {(0, 0), (1, 1)})[0].pieces[:2]
    document.fill(0, ["x | y", point, "| :- | :- |"])
    assert document.written() == b"x | y<br>| :- | :- |\n"
