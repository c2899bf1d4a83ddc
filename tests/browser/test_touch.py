"""The desk with fingers: no Ctrl or Shift key, and little room."""

from __future__ import annotations

import pytest

from desk import SOURCE, TARGET, links, type_in, until, word

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def phone(visit, server):
    page = visit(server, **PHONE)
    page.wait_for_selector(".picture .link", state="attached")
    type_in(page)
    return page


def status(page) -> str:
    return page.get_by_role("status").last.inner_text()


def test_fingers_link_a_group(phone):
    group = phone.get_by_role("button", name="Group")
    group.tap()
    assert group.get_attribute("aria-pressed") == "true"
    assert status(phone) == "Choose words in both sentences, then press Link."
    link = phone.locator(".linkbar button")
    assert link.is_disabled()
    for side, number in (("source", 0), ("source", 1), ("target", 2), ("target", 3), ("target", 3)):
        word(phone, side, number).tap()
    assert status(phone) == "Chosen: Barack Obama – visited. Press Link to link them."
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert link.inner_text() == "Link 2 + 1 words"
    link.tap()
    assert {"0-2", "1-2"} <= set(links(phone))
    assert status(phone).startswith("Barack → Barack")  # a screen reader hears what became of it
    assert not link.is_visible()
    # Afterwards two taps make one link again.
    word(phone, "source", 2).tap()
    word(phone, "target", 0).tap()
    assert "2-0" in links(phone)


def test_the_button_that_links_stays_in_view_in_a_long_pair(phone):
    words = " ".join(f"{SOURCE}" for _ in range(9))
    type_in(phone, words, words.replace("besuchte", "visited"))
    phone.get_by_role("button", name="Group").tap()
    word(phone, "source", 35).tap()
    word(phone, "target", 35).tap()
    box = phone.locator(".linkbar button").bounding_box()
    assert 0 <= box["y"] <= PHONE["height"] - box["height"]


def test_a_group_is_given_up_with_the_button_or_the_picture(phone):
    group = phone.get_by_role("button", name="Group")
    for give_up in (group.tap, phone.get_by_role("button", name="Matrix").tap):
        group.tap()
        word(phone, "source", 0).tap()
        give_up()
        assert not phone.locator(".linkbar").is_visible()
    assert not group.is_visible()  # cells are single
    phone.get_by_role("button", name="Lines").tap()
    assert group.get_attribute("aria-pressed") == "false"
    assert phone.locator(".word.chosen").count() == 0


def test_with_a_mouse_there_is_ctrl_instead(visit, server):
    page = visit(server)
    page.wait_for_selector(".picture .link", state="attached")
    assert not page.get_by_role("button", name="Group").is_visible()
    type_in(page, SOURCE, TARGET)
    for side, number in (("source", 0), ("source", 1), ("target", 2)):
        word(page, side, number).click(modifiers=["Control"])
    page.keyboard.press("Enter")
    until(page, 'document.querySelector(\'.link[data-i="1"][data-j="2"]\')')
    assert {"0-2", "1-2"} <= set(links(page))
