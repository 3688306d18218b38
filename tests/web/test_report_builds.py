"""The report as a page of the desk: the numbers of the audit pack, for whoever may read reports."""

import re
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI

from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.review.store import Store
from phiscan.web import report_builds
from phiscan.web.report_builds import MAX_AGE, MAX_CONCURRENT, MAX_WAITING, LiveReports, ReportRequest
from phiscan.web.request_context import Desk
from tests.review.results import NOW, url_of
from tests.waiting import wait_until
from tests.web.conftest import Visit

VALUE = re.compile(r'<data value="([^"]*)">')


@pytest.fixture
def served(app: FastAPI, tmp_path: Path) -> Desk:
    """Return a desk whose configuration names the copied database, with no report in memory."""
    desk: Desk = app.state.desk
    config = replace(desk.config, database=url_of(tmp_path / "phiscan.db"))
    desk = replace(desk, config=config, reports=LiveReports())
    app.state.desk = desk
    return desk


def got(reports: LiveReports, requested: ReportRequest) -> tuple[str, str]:
    """Return what is wrong with a report, and the report."""
    found = reports.get(requested, wait_s=120)
    assert found is not None
    return found.problem, found.html


def test_the_page_shows_the_numbers_of_the_pack(served: Desk, store: Store, browser: Visit) -> None:
    answer = browser("lead").get("/reports/scan/1")
    assert answer.status_code == 200
    exported = pack(gather(store.database, 1, now=served.now()))["report.html"]
    body = exported[exported.index('<main id="main">') : exported.rindex("</main>")]
    shown = answer.text[answer.text.index('<div class="report">') :]
    assert len(VALUE.findall(body)) > 50
    assert VALUE.findall(shown) == VALUE.findall(body)
    for question in ("How many files hold PHI?", "About how many people?"):
        assert answer.text.count(question) == 1
    for place in re.findall(r'<li><a href="#([\w-]+)">', answer.text):
        assert f'id="{place}"' in shown


def test_a_report_is_made_anew_after_a_minute_or_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ReportRequest] = []

    def process(_make: object, requested: ReportRequest) -> tuple[str, str]:
        made.append(requested)
        return "", f"report {len(made)}"

    monkeypatch.setattr(report_builds, "build", process)
    reports, first = LiveReports(), ReportRequest("sqlite:///secret.db", 1, NOW)
    assert "secret" not in repr(first)

    later = NOW + MAX_AGE
    assert got(reports, first) == got(reports, first) == ("", "report 1")
    assert got(reports, replace(first, scan_id=2)) == ("", "report 2")
    assert got(reports, replace(first, now=later - timedelta(seconds=1))) == ("", "report 1")
    assert got(reports, replace(first, now=later)) == ("", "report 3")
    reports.clear()
    assert got(reports, replace(first, now=later)) == ("", "report 4")


@pytest.mark.usefixtures("report_here")
def test_a_report_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    missing = ReportRequest(url_of(tmp_path / "none.db"), 1, NOW)
    problem, html = got(LiveReports(), missing)
    assert "no such database" in problem
    assert not html


def test_a_desk_has_the_styles_of_the_report(browser: Visit) -> None:
    client = browser("")
    page = browser("lead").get("/reports/scan/99")
    assert (page.status_code, "report.css" in page.text) == (404, False)
    desk: Desk = client.app.state.desk  # type: ignore[attr-defined]
    css = client.get(desk.pages.static.url("report.css")).text
    assert css.startswith(".report {")
    assert ":root" not in css
    assert css.count("{") == css.count("}")


def test_neither_many_reports_nor_many_readers_hold_up_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    release = threading.Event()

    def process(_make: object, requested: ReportRequest) -> tuple[str, str]:
        made.append(requested.scan_id)
        release.wait()
        return "", "report"

    monkeypatch.setattr(report_builds, "build", process)
    reports, first = LiveReports(), ReportRequest("sqlite://", 1, NOW)
    for scan in range(1, 20):
        assert reports.get(replace(first, scan_id=scan), wait_s=0.0) is None
    assert len(reports._making) == MAX_CONCURRENT
    readers = [threading.Thread(target=reports.get, args=(first,), daemon=True) for _ in range(MAX_WAITING)]
    for reader in readers:
        reader.start()
    wait_until(lambda: reports._n_waiting == MAX_WAITING, "as many readers wait as may")
    assert reports.get(first) is None  # at once: the server's other threads stay free
    release.set()
    for reader in readers:
        reader.join()
    assert reports._n_waiting == 0
    assert sorted(set(made)) == [1, 2]


def test_a_report_whose_process_did_not_start_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_make: object, _wanted: ReportRequest) -> tuple[str, str]:
        message = "can't start new thread"
        raise RuntimeError(message)

    reports, requested = LiveReports(), ReportRequest("sqlite://", 1, NOW)
    monkeypatch.setattr(report_builds, "build", fail)
    assert "RuntimeError" in got(reports, requested)[0]
    monkeypatch.setattr(report_builds, "build", lambda _make, _wanted: ("", "report"))
    assert got(reports, requested) == ("", "report")
