"""The desk in French in a browser: by its own wish and by the switch, with and without a script."""

import pytest

from tests.browser.conftest import Sit
from tests.browser.test_every_page import barriers

pytestmark = pytest.mark.slow


def test_a_french_browser_decides_an_item_by_keyboard_and_its_script_speaks_french(sit: Sit) -> None:
    seat = sit("Ann", locale="fr-CA")
    page = seat.go("/queue")
    assert page.get_attribute("html", "lang") == "fr"
    assert page.inner_text("h1") == "File d\u2019attente"
    assert page.inner_text("header nav").startswith("Réviser")
    seat.press("o")
    assert "S\u2019agit-il de RPS?" in page.inner_text("#decide")
    page.wait_for_selector(".passage, .passages, .empty")
    before = page.url
    page.keyboard.press("n")
    page.wait_for_function("url => location.href !== url", arg=before)
    assert "est consigné comme sans RPS" in seat.said()
    assert seat.complaints == []


def test_the_lists_own_script_counts_in_french(sit: Sit) -> None:
    seat = sit("Lea", locale="fr-CA")
    page = seat.go("/queue")
    page.locator("input[name=file]").first.check()
    assert page.inner_text("#ticked").replace("\N{NO-BREAK SPACE}", " ") == "Sélection : 1"


def test_the_switch_changes_the_page_and_leads_back_to_it_without_a_script(sit: Sit) -> None:
    seat = sit("Ann", locale="en-CA", java_script_enabled=False)
    page = seat.go("/queue?state=any&text=a")
    assert page.get_attribute("html", "lang") == "en"
    assert seat.click("button[name=language][value=fr]") == "/queue?state=any&text=a"
    assert page.get_attribute("html", "lang") == "fr"
    assert page.get_attribute("button[name=language][value=fr]", "aria-pressed") == "true"
    seat.click("button[name=language][value=en]")
    assert page.get_attribute("html", "lang") == "en"


def test_french_pages_have_no_barrier(sit: Sit) -> None:
    seat = sit("Lea", locale="fr-CA")
    for path in ("/queue", "/items/1", "/left", "/scans", "/folders", "/keys", "/reports"):
        page = seat.go(path)
        assert barriers(seat) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
