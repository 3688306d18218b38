"""Folders and tasks in a browser: by keyboard, on a phone, without a script; one verdict for a folder."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from phiscan.model import Verdict
from tests.browser.conftest import Server, Sit
from tests.browser.share import SURNAME
from tests.browser.test_day import PHONE

pytestmark = pytest.mark.slow


def decided(server: Server) -> set[str]:
    with server.store() as store:
        return {item.path for item in store.queue() if item.verdict is Verdict.NOT_PHI}


def test_a_folder_is_found_on_the_map_by_keyboard_and_decided_at_once(server: Server, sit: Sit) -> None:
    ann = sit("Ann")
    page = ann.go("/folders")
    box = page.locator(".treemap.wide > a").first
    assert re.search(r"\d+ people, \d+ PHI, \d+ open", box.get_attribute("aria-label") or "")
    box.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    folder = page.inner_text("h1")
    rows = page.locator("#table ~ .scroll tbody tr")
    assert rows.count() == page.locator(".treemap.wide > :not([aria-hidden])").count()
    ann.click("text=Decide them at once")
    expect(page.locator(".sample")).not_to_have_count(0)
    assert SURNAME not in page.inner_text("main")
    n = page.locator("input[name=file]:checked").count()
    page.locator("input[name=file]").first.uncheck()
    expect(page.locator("#ticked")).to_have_text(f"{n - 1} chosen")
    ann.press("n")
    assert f"{n - 1} file" in ann.said()
    assert len(decided(server)) == n - 1
    assert all(path.startswith(f"{folder}/") for path in decided(server))
    ann.press("z")
    assert decided(server) == set()
    assert ann.complaints == []


def test_the_map_of_a_phone_and_the_page_without_a_script(server: Server, sit: Sit) -> None:
    phone = sit("Ann", **PHONE)
    page = phone.go("/folders")
    assert page.locator(".treemap.tall").is_visible()
    assert not page.locator(".treemap.wide").is_visible()
    width = page.evaluate("() => document.documentElement.scrollWidth")
    assert width <= PHONE["viewport"]["width"]  # type: ignore[index]
    plain = sit("Lea", java_script_enabled=False)
    page = plain.go("/folders")
    plain.click(".list tbody a[data-row] >> nth=0")
    page.select_option("[name=assignee]", "Ann")
    assert plain.click("text=/^Assign \\d+$/").endswith("said=assigned")
    with server.store() as store:
        assert {item.assignee for item in store.desk.items(viewer="Ann", now=datetime.now(UTC)).items} == {
            "",
            "Ann",
        }
    assert "/items/" in plain.click("text=Review them one by one")
