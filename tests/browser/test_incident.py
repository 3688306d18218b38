"""From a finding to a filed form and a proved remedy, in two languages, no script, on desk and phone."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.browser.conftest import Server, Sit

pytestmark = pytest.mark.slow

WORDS = {
    "en-CA": (
        *("To an incident", "Open the incident", "assessed", "[to be filled in]"),
        *("Notice of a", "access is restricted"),
    ),
    "fr-CA": (
        *("Vers un incident", "Ouvrir l\u2019incident", "évalué", "[à remplir]"),
        *("Avis d\u2019incident", "est restreint"),
    ),
}
SIZES = {"en-CA": {"width": 1280, "height": 860}, "fr-CA": {"width": 390, "height": 844}}  # desk and phone


@pytest.fixture(autouse=True)
def _chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the desk read a phiscan.toml with jurisdictions."""
    path = tmp_path / "phiscan.toml"
    path.write_text(
        '[organization]\nname = "General Hospital"\njurisdictions = ["quebec", "hipaa"]\n', "utf-8"
    )
    monkeypatch.setenv("PHISCAN_CONFIG", str(path))


@pytest.mark.parametrize("locale", WORDS)
def test_a_confirmed_file_becomes_an_incident_and_a_filed_form(sit: Sit, server: Server, locale: str) -> None:
    group, opened, assessed, empty, title, restricted = WORDS[locale]
    with server.store() as store:
        now = datetime.now(UTC)
        item = store.desk.items(viewer="Ann", now=now, limit=1).items[0]
    seat = sit("Lea", locale=locale, java_script_enabled=False, viewport=SIZES[locale])
    seat.go(f"/items/{item.file_id}")
    seat.click("#verdict-form button[value=phi]")
    page = seat.go("/tasks")
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
    page = seat.go("/tasks?order=folder")
    page.locator("input[name=file]").first.check()
    with page.expect_download() as downloading:
        page.click("button[formaction='/tasks/script']")
    script = Path(downloading.value.path())
    assert run(["sh", str(script)], server) == 0
    assert restricted not in seat.go("/tasks").inner_text("main")  # a dry run
    path = confirmed_path(server, item.file_id)
    mode = path.stat().st_mode
    try:
        assert run(["sh", str(script), "--apply"], server) == 0
        assert run([sys.executable, "-m", "phiscan", "scan", item.root, "--exit-zero"], server) == 0
    finally:
        path.chmod(mode)
    page = seat.go("/tasks")
    assert restricted in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert seat.complaints == []


def confirmed_path(server: Server, file_id: int) -> Path:
    with server.store() as store:
        return Path(os.fsdecode(store.desk.examined(file_id).source.absolute))


def run(command: list[str], server: Server) -> int:
    environ = {**os.environ, "PHISCAN_HOME": str(server.home), "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, env=environ, cwd=server.home, capture_output=True, check=False).returncode
