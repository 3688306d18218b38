"""Every page: no barrier that axe-core finds, in light and dark; nothing of a share runs as code."""

import re
from base64 import b32decode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from phiscan.model import Verdict
from phiscan.review.accounts.second_factor import code_at, step_of
from phiscan.review.decisions.incidents import TaskState
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.decisions.writing import PURPOSES
from phiscan.review.store import Store
from phiscan.web.app import ROUTES
from tests.browser.conftest import PASSWORD, Seat, Server, Sit
from tests.browser.share import HOSTILE_NAME, SURNAME
from tests.web.test_language import NO_PAGE as NOT_HTML

pytestmark = pytest.mark.slow

STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NO_PAGE = NOT_HTML | {
    "/items/{file_id}/passages",  # part of the item's page
    "/sign-in/code",  # asked for after a password; looked at in a test of its own
}


def prepare(server: Server) -> dict[str, int]:
    """Leave something on every page: decisions, a disagreement, a suppression, corrections, a blind item."""
    now = datetime.now(UTC)
    with server.store() as store:
        desk = store.desk
        desk.set_policy(second_review=1.0, hide_limit=0, by="Lea", now=now)
        items = desk.items(viewer="Ann", now=now, limit=60).items
        group = next(item.group_id for item in items if item.group_id is not None)
        hostile = next(item for item in items if item.path == HOSTILE_NAME)
        for number, item in enumerate(items[:6]):
            verdict = (Verdict.PHI, Verdict.NOT_PHI, Verdict.UNSURE)[number % 3]
            desk.decide(item.file_id, verdict, reviewer="Ann", now=now, note="<b>a note</b>")
        for item, verdict in zip(items[:3], (Verdict.NOT_PHI, Verdict.NOT_PHI, Verdict.PHI), strict=True):
            desk.decide(item.file_id, verdict, reviewer="Bob", now=now)
        found = desk.detail(items[7].file_id, viewer="Ann", now=now).findings[0]
        scope = SuppressionScope(kind=SuppressionKind.VALUE, target=found.identity, preview=found.preview)
        for reason in ("<script>alert(3)</script>", "a clinic's own number"):
            desk.suppress([scope], reason=reason, until=now + timedelta(days=9), by="Ann", now=now)
        desk.draw_sample(n_queued=3, n_unreferred=3, by="Lea", now=now)
        blind = next(one for one in desk.items(viewer="Ann", now=now, limit=90).items if one.blind)
        plain = next(one for one in desk.items(viewer="Ann", now=now, limit=90).items if not one.blind)
        desk.comment(plain.file_id, "<script>alert(4)</script>", to="Ann", by="Lea", now=now)
        desk.tag([plain.file_id, hostile.file_id], "legal <i>x</i>", by="Ann", now=now)
        user = next(one for one in store.users.everybody() if one.name == "Ann")
        store.users.save_view(user.id, name="<i>mine</i>", query="state=phi", now=now)
        return {
            "group": group,
            "hostile": hostile.file_id,
            "blind": blind.file_id,
            "plain": plain.file_id,
            "decided": items[3].file_id,
            "incident": desk.write_incident(
                None, {"title": "<i>open</i>"}, add=[confirmed(store)], by="Ann", now=now
            ),
        }


def confirmed(store: Store) -> int:
    """Return a file with an open task."""
    tasks = store.desk.tasks(now=datetime.now(UTC))
    return next(one.file_id for one in tasks if one.state is TaskState.OPEN)


def pages(ids: dict[str, int]) -> dict[str, tuple[str, ...]]:
    """Return the addresses to look at, by who looks."""
    plain, hostile = ids["plain"], ids["hostile"]
    return {
        "Ann": (
            "/queue",
            "/queue?state=any&order=informative&text=a",
            "/queue?text=no+such+path",
            f"/items/{plain}?finding=0",
            f"/items/{plain}?vetoed=1",
            f"/items/{hostile}?done={ids['decided']}",
            f"/items/{ids['blind']}",
            f"/items/{ids['decided']}?said=conflict",
            f"/items/{plain}/suppress?position=0",
            f"/groups/{ids['group']}",
            "/folders",
            "/folders?root=1&folder=Clinics&size=files",
            "/folders/decide?root=1&folder=Clinics",
            "/second-review",
            "/suppressions",
            "/left",
            "/mentions",
            "/queue?tag=legal&said=tagged&act=2026-11-29T10:00:00%2B00:00",
            "/second-list",
            "/incidents",
            f"/incidents/{ids['incident']}",
            "/tasks?order=folder&state=open",
            "/owners",
            "/trend",
            "/person",
            "/scans",
            "/scans/1",
            "/search",
            "/keys",
            "/account",
            "/account/second-factor",
            "/items/999999",
        ),
        "Lea": (
            "/queue",
            "/folders",
            "/adjudication",
            "/suppressions",
            "/left",
            "/reports",
            "/tasks",
            "/owners",
            "/trend",
            "/reports/scan/1",
            "/locked",
            f"/items/{plain}",
        ),
        "Rea": ("/queue", f"/items/{hostile}"),
        "Aud": ("/log", "/log/verification", "/scans", "/reports", "/reports/scan/1"),
        "Adm": ("/users",),
        "Owe": ("/mine",),
    }


def barriers(seat: Seat) -> list[str]:
    """Return what axe-core finds, in the dark only what colours can change; and text escaped twice."""
    # Where a page happens to be scrolled, its bar stands on a button, which axe takes for one too small.
    seat.page.evaluate("window.scrollTo(0, 0)")
    found: list[str] = re.findall(r".{0,40}&(?:#\d+|lt|gt|quot|amp);", seat.page.inner_text("body"))
    runs: dict[Any, Any] = {"light": {"type": "tag", "values": STANDARD}, "dark": ["color-contrast"]}
    for scheme, chosen in runs.items():
        seat.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for one in Axe().run(seat.page, options={"runOnly": chosen}).response["violations"]:
            found += [f"{scheme}: {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
    return found


def patterns(addresses: set[str]) -> set[str]:
    """Return the declared pages that one of these addresses belongs to."""
    bare = {address.partition("?")[0] for address in addresses}
    return {
        route.path
        for module in ROUTES
        for route in module.declared
        if any(re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", route.path), address) for address in bare)
    }


def runs_no_code(page: Page) -> None:
    """Fail where a name or a text of the share became a picture or a script."""
    assert page.evaluate("() => document.querySelectorAll('main img, main script').length") == 0
    assert "owned" not in page.title()


def test_no_page_has_a_barrier_and_none_runs_code_of_a_share(server: Server, sit: Sit) -> None:
    ids = prepare(server)
    found: dict[str, list[str]] = {}
    seat = sit(None)
    seat.go("/sign-in")
    found["/sign-in"] = barriers(seat)
    for name, addresses in pages(ids).items():
        seat = sit(name)
        for address in addresses:
            page = seat.go(address)
            runs_no_code(page)
            assert SURNAME not in page.content() or address == "/items/999999"
            for opener in page.locator("details:not([open]) > summary").all():
                if opener.is_visible():
                    opener.click()
            found[f"{name} {address}"] = barriers(seat)
        if name == "Ann":
            page = seat.go(f"/items/{ids['hostile']}")
            assert HOSTILE_NAME in page.inner_text("h1")
            page.keyboard.press("?")
            found["keys"] = barriers(seat)
            page.keyboard.press("Escape")
            page.select_option("[name=purpose]", PURPOSES[0])
            seat.click("text=Reveal for")
            found["reveal"] = barriers(seat)
            assert SURNAME in page.inner_text(".reading")
            assert "<script>document.title = 'owned'</script>" in page.inner_text(".reading")
            runs_no_code(page)
            page = seat.go("/queue?text=letter")
            assert "\u202e" not in page.content()
            assert "\\u202e" in page.inner_text("main")
        assert not [told for told in seat.complaints if not re.search(r"status of 40\d|^\[DOM\]", told)]
    assert {where: what for where, what in found.items() if what} == {}


def test_the_second_factor_works_without_a_barrier_and_without_a_script(sit: Sit) -> None:
    """Enrol, sign out, sign in with a recovery code: each page looked at, none with a script of its own."""
    found: dict[str, list[str]] = {}
    seat = sit("Ann")
    page = seat.go("/account/second-factor")
    page.fill("[name=password]", PASSWORD)
    seat.click("text=Show a new secret")
    found["secret"] = barriers(seat)
    assert page.evaluate("() => document.querySelectorAll('main svg, main script').length") == 1
    typed = page.inner_text("p:has-text('Or type it') code")
    page.fill("[name=code]", code_at(b32decode(typed.replace(" ", "")), step_of(datetime.now(UTC))))
    seat.click("text=Turn it on")
    found["recovery codes"] = barriers(seat)
    recovery = page.inner_text("main li code")
    seat.go("/account/second-factor")
    found["on"] = barriers(seat)
    seat.context.clear_cookies()
    seat.go("/sign-in")
    page.fill("[name=name]", "Ann")
    page.fill("[name=password]", PASSWORD)
    assert seat.click("main button.primary").startswith("/sign-in/code")
    found["code"] = barriers(seat)
    page.fill("[name=code]", "000000")
    seat.click("main button.primary")
    found["wrong code"] = barriers(seat)
    page.fill("[name=code]", recovery)
    assert not seat.click("main button.primary").startswith("/sign-in")
    lead = sit("Lea")
    lead.go("/locked")
    found["reset"] = barriers(lead)
    assert {where: what for where, what in found.items() if what} == {}


def test_every_page_is_looked_at() -> None:
    numbers = dict.fromkeys(("group", "hostile", "blind", "plain", "decided", "incident"), 1)
    seen = {address for addresses in pages(numbers).values() for address in addresses} | {"/sign-in"}
    declared = {
        route.path
        for module in ROUTES
        for route in module.declared
        if route.methods == {"GET"} and not route.path.startswith("/api/")
    }
    assert declared - NO_PAGE - patterns(seen) == set()
