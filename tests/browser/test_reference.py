"""The page about the REST API, in a real browser."""

from __future__ import annotations

import json


def test_every_route_is_described_and_examples_can_be_tried(visit, server):
    page = visit(f"{server}/api")
    align = page.locator('section[aria-label="POST /api/align"]')
    align.wait_for()
    assert page.locator('section[aria-label="GET /health"]').count() == 1
    assert align.locator("th", has_text="symmetrize").count() == 1
    assert "Words separated by spaces, or a list of words" in align.inner_text()
    for example in align.get_by_role("button").all_inner_texts()[:-1]:
        align.get_by_role("button", name=example).click()
        align.get_by_role("button", name="Send").click()
        answer = align.get_by_label("Answer")
        answer.get_by_text("alignments").wait_for()
        assert answer.inner_text().startswith("200 after ")
        body = align.get_by_role("textbox").input_value()
        assert json.dumps(json.loads(body)["scores"] if "scores" in body else "", separators=(",", ":")).strip('"') in (
            align.get_by_label("The same with curl").inner_text()
        )
    assert all(address.startswith((server, "data:")) for address in page.asked)


def test_a_refusal_is_shown_as_it_comes(visit, server):
    page = visit(f"{server}/api")
    align = page.locator('section[aria-label="POST /api/align"]')
    align.get_by_role("textbox").fill('{"source": "a"}')
    align.get_by_role("button", name="Send").click()
    align.get_by_label("Answer").get_by_text("give `source` and `target`, or `pairs`.").wait_for()
    assert align.get_by_label("Answer").inner_text().startswith("422 after ")
    visit.complaints.clear()  # the browser notes every answer that is not 200


def test_pictures_of_nothing_are_pictures(visit, server):
    """An empty pair has no picture; its SVG is empty, not broken."""
    page = visit(f"{server}/api")
    written = page.evaluate("""async () => (await import("./static/export.js")).asSvg([])""")
    assert "Infinity" not in written
    assert 'width="32" height="32"' in written
