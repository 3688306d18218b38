"""From a finding to a filed form, in English and French, without a script, on a desk and on a phone."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phiscan.model import Verdict
from tests.browser.conftest import Server, Sit

pytestmark = pytest.mark.slow

WORDS = {
    "en-CA": ("To an incident", "Open the incident", "assessed", "[to be filled in]", "Notice of a"),
    "fr-CA": ("Vers un incident", "Ouvrir l\u2019incident", "évalué", "[à remplir]", "Avis d\u2019incident"),
}
SIZES = {"desk": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(autouse=True)
def _chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the desk read a phiscan.toml with jurisdictions."""
    path = tmp_path / "phiscan.toml"
    path.write_text(
        '[organization]\nname = "General Hospital"\njurisdictions = ["quebec", "hipaa"]\n', "utf-8"
    )
    monkeypatch.setenv("PHISCAN_CONFIG", str(path))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("locale", WORDS)
def test_a_confirmed_file_becomes_an_incident_and_a_filed_form(
    sit: Sit, server: Server, locale: str, size: str
) -> None:
    group, opened, assessed, empty, title = WORDS[locale]
    with server.store() as store:
        now = datetime.now(UTC)
        item = store.desk.items(viewer="Ann", now=now, limit=1).items[0]
        store.desk.decide(item.file_id, Verdict.PHI, reviewer="Ann", now=now)
    seat = sit("Lea", locale=locale, java_script_enabled=False, viewport=SIZES[size])
    page = seat.go("/incidents")
    page.locator("input[name=file]").first.check()
    seat.click(f"button:has-text('{group}')")
    page.fill("[name=title]", "Cardiology")
    assert seat.click(f"button:has-text('{opened}')") == "/incidents/1"
    page.fill("#happened", "A folder was open to all staff.")
    seat.click("form[aria-labelledby=what] button.primary")
    page.fill("[id='quebec.sensitivity']", "Diagnoses")
    seat.click("form[aria-labelledby=law-quebec] button.primary")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.select_option("[name=state]", "assessed")
    page.fill("[name=reason]", "Risk of serious injury")
    seat.click("form[action$='/state'] button")
    assert assessed in page.inner_text("h1 + .facts")
    with page.expect_download() as downloading:
        page.click("a[href$='/quebec.notice/txt']")
    text = Path(downloading.value.path()).read_text("utf-8")
    assert text.startswith(title)
    for words in ("General Hospital", "A folder was open to all staff.", "Diagnoses", empty):
        assert words in text
    assert not re.search(r"[a-z_]+\.[a-z_]+:", text), "no name of a field is left"
    assert seat.complaints == []
