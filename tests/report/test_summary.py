"""The first page of the report: its answers are the counts of the store, and it fills one sheet."""

from dataclasses import replace
from datetime import timedelta

from phiscan.model import Referral, Verdict
from phiscan.report.gather import ReportData, gather
from phiscan.report.rendering.charts import named_bars
from phiscan.report.rendering.html import render
from phiscan.report.summary import Answer, Bar, Summary
from phiscan.review.decisions.incidents import IncidentState
from phiscan.review.store import Store
from tests.report.page import parsed, visible_text
from tests.report.synthetic import NOW, Fill, Made, decide_referred, failed, screened, share, skipped
from tests.review.samples import members


def first_page(made: Made, *, hours: int = 0, hide_paths: bool = False) -> tuple[Summary, dict[str, Answer]]:
    found = gather(made.database, now=NOW + timedelta(hours=hours), hide_paths=hide_paths).data.summary
    return found, {answer.id: answer for answer in found.answers}


def readable(path: str, mode: int, number: int) -> object:
    one = screened(path, Referral.REFERRED, number=number)
    return replace(one, source=replace(one.source, mode=mode))


def test_answers_from_the_store(filled: Fill) -> None:
    made = filled(
        [
            readable("wards/a.txt", 0o100644, 1),
            readable("wards/b.txt", 0o100640, 2),
            readable("admin/c.txt", 0o100600, 3),
            screened("admin/d.txt", Referral.CLEAR, number=4),
            failed("e.pdf", number=5),
            skipped("f.bin", number=6),
        ]
    )
    Store(made.database).decide_all([(1, Verdict.PHI), (3, Verdict.NOT_PHI)], reviewer="A", now=NOW)
    found, answers = first_page(made)
    assert {name: answer.n for name, answer in answers.items()} == {
        "files": 1,
        "people": 1,
        "readers": 1,
        "missed": 1,
        "unread": 1,
        "incidents": 0,
    }
    assert "1 more referred file has no final verdict" in answers["files"].caution
    assert (
        "1 of the 2 files that are PHI or undecided; a group can read 1 more" in answers["readers"].sentence
    )
    assert "each counts as PHI" in answers["missed"].sentence
    assert {bar.name: bar.n for bar in found.outcomes} == {
        "confirmed as PHI": 1,
        "referred, no final verdict": 1,
        "referred, not PHI": 1,
        "read, not referred": 1,
        "could not be read": 1,
        "skipped by a rule": 1,
    }
    assert [(bar.name, bar.n) for bar in found.places] == [("wards", 2)]


def test_before_any_verdict_nothing_is_known_of_the_share(filled: Fill) -> None:
    _, answers = first_page(filled([readable("a.txt", 0o100600, 1)]))
    for name in ("files", "people"):
        assert (answers[name].n, str(answers[name].reason)) == (None, "no file has been decided yet")
    assert str(answers["files"].sentence) == "1 referred file waits for a verdict."
    _, answers = first_page(filled([screened("a.txt", Referral.CLEAR)]))
    assert answers["files"].n == 0


def test_the_outcomes_count_every_file_once(filled: Fill) -> None:
    made = filled(share(300))
    decide_referred(made, share_decided=0.5)
    store = Store(made.database)
    store.desk.draw_sample(n_queued=0, n_unreferred=1, by="B", now=NOW)
    store.decide_all([(members(made.database, referred=False)[0], Verdict.PHI)], reviewer="A", now=NOW)
    data = gather(made.database, now=NOW).data
    assert sum(bar.n for bar in data.summary.outcomes) == data.coverage.crawled == 300


def test_counts_open_incidents_and_confirmed_files_in_none(filled: Fill) -> None:
    made = filled([screened(name, Referral.REFERRED, number=n) for n, name in enumerate("abc", 1)])
    store = Store(made.database)
    store.decide_all([(n, Verdict.PHI) for n in (1, 2, 3)], reviewer="A", now=NOW)
    for title, add in (("one", [1]), ("two", [1])):
        store.desk.write_incident(None, {"title": title}, add=add, by="A", now=NOW)
    store.desk.write_incident(2, {}, state=IncidentState.CLOSED, reason="no risk", by="A", now=NOW)
    _, answers = first_page(made)
    assert answers["incidents"].n == 1
    assert "2 confirmed files are in no incident" in str(answers["incidents"].sentence)
    rows = gather(made.database, now=NOW).data.incidents
    assert [(one.number, one.state, one.here) for one in rows] == [(2, "closed", 1), (1, "open", 1)]


def test_unknown_readers_are_not_nobody(filled: Fill) -> None:
    made = filled([screened("a.txt", Referral.REFERRED)])
    _, answers = first_page(made)
    assert answers["readers"].n is None
    assert "does not report" in (answers["readers"].reason or "")


def test_hidden_paths_give_formats(filled: Fill) -> None:
    made = filled([screened("Quillfeather Jane/a.txt", Referral.REFERRED)])
    found, _ = first_page(made, hide_paths=True)
    assert found.places_are == "format"
    assert "Quillfeather" not in repr(found)


def test_findings_come_before_statistics(data: ReportData) -> None:
    page = render(data)
    order = [section.get("id") for section in parsed(page).iter("section")]
    places = [
        order.index(name) for name in ("summary", "found", "incidents", "coverage", "appendix", "screened")
    ]
    assert places == sorted(places)
    head = visible_text(page).partition("What was found Referred")[0]
    assert "detection probability" not in head


def test_a_long_name_is_shortened_and_escaped() -> None:
    svg = str(named_bars((Bar("<b>" + "w" * 300, "phi", 3),), "By folder"))
    assert "&lt;b&gt;w" in svg
    assert "\N{HORIZONTAL ELLIPSIS}" in svg
