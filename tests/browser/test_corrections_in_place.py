"""Corrections in place: a pressed finding or word, a digit for its type, keys and handles for its extent."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from phiscan.model import EntityType
from phiscan.review.decisions.learning import Correction, Mark
from phiscan.review.decisions.writing import PURPOSES
from tests.browser.conftest import Seat, Server, Sit

pytestmark = pytest.mark.slow
LETTER = "Clinics/Cardiology/2024/referral-0312.docx"


def said(server: Server, number: int) -> list[Correction]:
    with server.store() as store:
        return list(store.desk.corrections(number, viewer="Ann").spans)


def recorded(seat: Seat, words: str) -> None:
    expect(seat.page.locator("#corrector [data-said]")).to_have_text(words)


def revealed(sit: Sit, number: int) -> Seat:
    seat = sit("Ann")
    page = seat.go(f"/items/{number}")
    page.select_option("#purpose", PURPOSES[1])
    seat.click("text=Reveal for")
    return seat


def the_letter(server: Server) -> int:
    with server.store() as store:
        return store.find(LETTER)


def test_a_masked_finding_is_corrected_with_two_keys(server: Server, sit: Sit) -> None:
    number = the_letter(server)
    seat = sit("Ann")
    page = seat.go(f"/items/{number}?prose=1")
    pill = page.locator(".passage a.pill[data-type=PERSON]").first
    position = int(pill.get_attribute("data-position") or "")
    address = page.url
    pill.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#corrector")).to_be_visible()
    page.keyboard.press("8")
    recorded(seat, "Recorded.")
    (one,) = said(server, number)
    assert (one.position, one.mark, one.entity_type) == (
        position,
        Mark.WRONG_TYPE,
        EntityType.HEALTH_PROFESSIONAL,
    )
    again = page.locator(f".passage a.pill[data-position='{position}']").first
    expect(again).to_have_text("professional")
    expect(again).to_have_class(re.compile(r"\bjudged\b"))
    page.keyboard.press("0")
    recorded(seat, "Recorded: false positive.")
    assert [one.mark for one in said(server, number)] == [Mark.SPURIOUS]
    page.keyboard.press("Escape")
    expect(page.locator("#corrector")).to_be_hidden()
    assert page.url == address
    assert seat.complaints == []


def test_the_extent_of_a_finding_is_moved_by_arrows_and_by_a_handle(server: Server, sit: Sit) -> None:
    number = the_letter(server)
    seat = revealed(sit, number)
    page = seat.page
    mark = page.locator(".reading mark[data-position]").first
    position = int(mark.get_attribute("data-position") or "")
    with server.store() as store:
        found = store.item(number).findings[position].span
    mark.click()
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Alt+Shift+ArrowRight")
    assert page.evaluate("() => document.getSelection().toString()") == mark.inner_text()[1:-2]
    page.keyboard.press("Enter")
    recorded(seat, "Recorded.")
    (one,) = said(server, number)
    assert (one.mark, one.span.start, one.span.end) == (Mark.WRONG_EXTENT, found.start + 1, found.end - 2)
    # A handle is dragged to the left; a digit then records extent and type together.
    handle = page.locator(".handle[data-end=end]")
    box = handle.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 30, box["y"] + 4, steps=5)
    page.mouse.up()
    page.keyboard.press("1")
    expect(page.locator("#corrector [data-said]")).to_have_text("Recorded.")
    dragged = until(lambda: said(server, number)[0], lambda one: one.entity_type is EntityType.PERSON)
    assert dragged.mark is Mark.WRONG_EXTENT
    assert dragged.span.start == found.start + 1
    assert dragged.span.end < found.end - 2
    assert seat.complaints == []


def until(read: Callable[[], Correction], is_reason_of: Callable[[Correction], bool]) -> Correction:
    """Return what is recorded once it fits: the words of the page may be those of the act before."""
    for _ in range(10_000):
        one = read()
        if is_reason_of(one):
            return one
    return read()


def test_a_missed_word_is_marked_by_a_press_and_a_digit(server: Server, sit: Sit) -> None:
    number = the_letter(server)
    seat = revealed(sit, number)
    page = seat.page
    place = page.evaluate(
        """() => {
            const home = document.querySelector(".reading");
            const walker = document.createTreeWalker(home, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf("Thank you");
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + 5);
                const box = range.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
            }
            return null;
        }"""
    )
    page.mouse.click(*place)
    assert page.evaluate("() => document.getSelection().toString()") == "Thank"
    page.keyboard.press("Enter")
    recorded(seat, "Press a digit for its type.")
    page.keyboard.press("5")
    recorded(seat, "Recorded: missed.")
    (one,) = said(server, number)
    assert (one.position, one.mark, one.entity_type) == (None, Mark.MISSED, EntityType.MRN)
    assert one.span.end - one.span.start == len("Thank")
    # What reviewers added is marked when the text is revealed again.
    seat.click("text=minutes more")
    expect(page.locator(".reading mark.judged:not([data-position])")).to_have_text("Thank")
    # From finding to finding by keys, and nothing while keys are switched off.
    page.keyboard.press("]")
    first = page.evaluate("() => document.getSelection().toString()")
    assert first == page.locator(".reading mark[data-position]").first.inner_text()
    assert seat.complaints == []
