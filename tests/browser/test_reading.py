"""Reading mode over a server, which pairs sentences by what they say."""

from __future__ import annotations

from desk import until

SOURCE = "Das Haus ist alt. Ich wohne seit Jahren im Dorf.\nDanke!"
TARGET = "The house is old, and I have lived in the village for years.\nThank you!"


def read(page, source: str, target: str) -> None:
    page.locator("#source").fill(source)
    page.locator("#target").fill(target)
    page.locator("#read").click()
    until(page, "document.getElementById('status').textContent.endsWith('Click a word.')")


def test_sentences_are_put_together_by_what_they_say(visit, server):
    page = visit(f"{server}/read.html")
    read(page, SOURCE, TARGET)
    assert page.locator("#status").inner_text() == ("2 sentence pairs, matched by meaning. Click a word.")
    assert page.locator(".row").first.locator("div").all_inner_texts() == [
        "Das Haus ist alt. Ich wohne seit Jahren im Dorf.",
        "The house is old, and I have lived in the village for years.",
    ]
    page.locator(".word", has_text="Dorf").click()
    assert page.locator(".partner").all_inner_texts() == ["village"]
    assert page.locator("#note").inner_text().startswith("Dorf – village (0.")
    page.get_by_role("button", name="Other texts").click()
    assert page.locator("#source").input_value() == SOURCE


# Where a text stands in an element: its left and right edge.
EDGES = """([selector, text]) => {
  const node = document.querySelector(selector).firstChild, range = document.createRange();
  const start = node.data.indexOf(text);
  range.setStart(node, start), range.setEnd(node, start + text.length);
  const { left, right } = range.getBoundingClientRect();
  return [left, right];
}"""


def test_a_number_stands_after_a_word_that_runs_to_the_left(visit, server):
    page = visit(f"{server}/read.html")
    read(page, "He drinks coffee.", "הוא שותה קפה.")
    assert page.locator("#status").inner_text() == "1 sentence pair, matched by meaning. Click a word."
    page.locator(".word", has_text="coffee").click()
    first, word, number = (page.evaluate(EDGES, [".said", part]) for part in ("coffee", "קפה", "("))
    assert first[1] < word[0] < word[1] < number[0]
    page.locator(".word", has_text="קפה").click()
    word, other, number = (page.evaluate(EDGES, [".said", part]) for part in ("קפה", "coffee", "("))
    assert word[1] < other[0] < other[1] < number[0]


def test_what_is_too_long_for_the_server_is_put_together_by_lengths(visit, server):
    page = visit(f"{server}/read.html")
    page.route("**/api/texts", lambda route: route.fulfill(status=422, json={"detail": "too long."}))
    read(page, SOURCE, TARGET)
    assert "matched by length" in page.locator("#status").inner_text()
    assert page.locator(".row .word").count() > 10
    visit.complaints.clear()  # Chromium notes every refused request


def test_a_shared_text_is_read_at_once(visit, server):
    page = visit(f"{server}/read.html")
    read(page, SOURCE, TARGET)
    page.get_by_role("button", name="Copy link").click()
    until(page, "location.hash.length > 10")
    other = visit(page.url)
    other.locator(".word", has_text="Dorf").wait_for()
    assert other.locator(".row").count() == 2
