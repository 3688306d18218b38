"""What the desk and a second scan add to the report: against counts made by hand, and never a free text."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import jsonschema
import pypdfium2
import pytest

from phiscan.metrics.agreement import agreement
from phiscan.model import Verdict
from phiscan.report.gather import ReportData, gather
from phiscan.report.pack import pack, write_pack
from phiscan.review.decisions.learning import Mark
from phiscan.review.store import Store
from tests.docs.generated import report_schema
from tests.report.desk_day import DAY, day_at_the_desk, two_scans
from tests.report.page import json_numbers, shown_numbers, visible_text
from tests.report.synthetic import CANARY, Made

NOW = DAY + timedelta(hours=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    made = two_scans(tmp_path_factory.mktemp("desk"))
    day_at_the_desk(made)
    yield made
    made.database.close()


@pytest.fixture(scope="module")
def data(made: Made) -> ReportData:
    return gather(made.database, now=NOW, conceal=False).data


@pytest.fixture(scope="module")
def files(made: Made) -> dict[str, str]:
    return dict(pack(gather(made.database, now=NOW, conceal=False)))


def test_no_free_text_and_no_trace_of_a_value_is_in_any_file(made: Made, tmp_path: Path) -> None:
    written = write_pack(gather(made.database, now=NOW, conceal=False), tmp_path)
    identities = {finding.identity for result in made.results for finding in result.findings}
    for path in written:
        text = path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".pdf":
            pages = pypdfium2.PdfDocument(io.BytesIO(path.read_bytes()))
            text = " ".join(page.get_textpage().get_text_range() for page in pages)
        for secret in (*CANARY.split(), "999-9999", "XXX-9999", *identities):
            assert secret not in text, path.name


def test_satisfies_the_schema_and_shows_only_numbers_that_json_has(files: dict[str, str]) -> None:
    jsonschema.validate(json.loads(files["report.json"]), report_schema())
    assert shown_numbers(files["report.html"]) - json_numbers(files["report.json"]) == set()


def test_says_what_changed_since_the_last_scan(data: ReportData) -> None:
    change = data.change
    assert (change.previous, change.present_before, change.present, change.reason) == (1, 7, 7, None)
    kinds = (change.new, change.moved, change.changed, change.same, change.now_read, change.deleted)
    assert kinds == (1, 1, 1, 3, 1, 1)
    assert (change.no_longer_read, change.never_read) == (0, 0)
    newly = (change.newly_referred_new, change.newly_referred_changed, change.newly_referred_same)
    assert (change.newly_referred, newly) == (3, (1, 1, 1))
    assert (change.no_longer_referred, change.referred_gone, change.still_referred) == (1, 1, 2)
    assert change.versions == ("rules",)
    moved = next(one for one in change.files if one.change == "moved")
    assert (moved.path, moved.now_at) == ("wards/old place.txt", "clinic/new place.txt")


def test_compares_nothing_without_an_earlier_scan(made: Made) -> None:
    change = gather(made.database, 1, now=NOW).data.change
    assert change.previous is None
    assert change.reason
    assert change.new is None


def test_counts_a_decision_that_was_taken_back_as_such(data: ReportData) -> None:
    undone = [one for one in data.decisions if one.undone]
    assert [(one.path, one.standing) for one in undone] == [("wards/copy of same.txt", False)]
    # One of the four files of PHI has the verdict on an identical one: three decisions.
    assert (data.overall.phi, sum(one.phi for one in data.reviewers)) == (4, 3)


def test_says_who_asked_to_see_texts(data: ReportData) -> None:
    seen = {one.revealed_by: (one.reveals, one.files) for one in data.oversight.revealers}
    assert seen == {"ana": (2, 1), "ben": (1, 1)}
    assert [one.path for one in data.oversight.reveals] == ["wards/same.txt"] * 3


def test_says_what_is_hidden_by_whom_and_until_when(data: ReportData) -> None:
    rows = {one.suppression: one for one in data.oversight.suppressions}
    assert [rows[number].status for number in (1, 2, 3, 4)] == ["active", "lifted", "active", "ended"]
    assert [rows[number].rule for number in (1, 2, 3, 4)] == ["ca.phone.1", "", "ca.phone.2", ""]
    assert (rows[1].hid_when_made, rows[1].hides_now, rows[1].where) == (1, 1, "/srv/share/wards")
    assert (rows[2].hides_now, rows[2].lifted_by) == (None, "ben")
    assert (rows[3].approved_by, rows[3].hides_now, rows[3].where) == ("lena", 0, "every share")
    assert data.oversight.hidden_now == 1


def test_says_who_has_signed_the_log(made: Made, data: ReportData) -> None:
    (signed,) = data.oversight.sign_offs
    assert (signed.reviewer, signed.since, signed.holds) == ("olga", 1, True)
    assert signed.entries == data.scope.audit_rows - 1
    assert Store(made.database).users.log_reviews()[0].note == CANARY


def test_scores_spans_from_corrections(data: ReportData) -> None:
    scores = data.span_scores
    assert (scores.files, scores.gold, scores.system) == (1, 3, 2)
    overall = scores.overall
    assert overall is not None
    counts = (overall.correct, overall.substitution, overall.insertion, overall.deletion)
    assert counts == (1, 1, 0, 1)
    assert (overall.precision, overall.recall) == (1 / 2, 1 / 3)
    by_type = {one.name: (one.correct, one.insertion, one.deletion) for one in scores.by_type}
    assert by_type == {"PERSON": (1, 0, 0), "PHONE": (0, 1, 0), "FAX": (0, 0, 1), "MRN": (0, 0, 1)}
    exact = next(one for one in scores.schemes if one.scheme == "exact")
    assert (exact.correct, exact.missed) == (2, 1)


def test_scores_topics_from_corrections_without_labels_that_are_no_chapter(data: ReportData) -> None:
    scores = data.topic_scores
    assert (scores.files, scores.left_out) == (1, 1)
    chapter = next(one for one in scores.scores if one.level == 0)
    assert chapter.tp + chapter.fn == 1


def test_agreement_is_that_of_blind_second_verdicts(data: ReportData) -> None:
    blind = data.blind_review
    assert (blind.drawn, blind.compared, blind.agreed, blind.disagreed, blind.settled) == (3, 2, 1, 1, 1)
    assert blind.kappa == agreement(["phi", "phi"], ["phi", "not_phi"]).kappa
    assert [(pair.first, pair.second, pair.files) for pair in blind.pairs] == [("ana", "ben", 2)]


def test_nothing_in_the_pack_depends_on_a_verdict_that_awaits_a_blind_second_one(tmp_path: Path) -> None:
    """The same day with another first verdict, other spans and topics gives the same pack, byte by byte."""
    packs = []
    for verdict, mark in ((Verdict.PHI, Mark.RIGHT), (Verdict.NOT_PHI, Mark.SPURIOUS)):
        folder = tmp_path / verdict.value
        folder.mkdir()
        made = two_scans(folder)
        store = Store(made.database)
        desk = store.desk
        number = store.find("clinic/new place.txt")
        seen = desk.item(number, viewer="ana", now=DAY).examination_id
        desk.set_policy(second_review=1.0, hide_limit=100, by="lena", now=DAY)
        desk.correct(number, mark, position=0, seen=seen, reviewer="ana", now=DAY)
        desk.complete_spans(number, seen=seen, reviewer="ana", now=DAY)
        desk.correct_topics(number, [mark.value], seen=seen, reviewer="ana", now=DAY)
        desk.decide(number, verdict, reviewer="ana", now=DAY)
        report = gather(made.database, now=NOW)
        assert (report.data.blind_review.held_back, report.data.funnel.undecided) == (1, 5)
        assert not report.data.decisions
        unlogged = replace(report.data, scope=replace(report.data.scope, audit_head=""))  # random numbers
        packs.append(pack(replace(report, data=unlogged)))
        desk.decide(number, verdict, reviewer="ben", now=DAY)
        assert gather(made.database, now=NOW).data.funnel.undecided == 4
        made.database.close()
    assert packs[0] == packs[1]
    assert "held back" in visible_text(packs[0]["report.html"])


def test_an_incident_is_in_the_report_without_its_texts(made: Made) -> None:
    store = Store(made.database)
    same = store.find("wards/same.txt")
    texts = {"title": CANARY, "happened": CANARY}
    number = store.desk.write_incident(None, texts, add=[same], by="ana", now=DAY)
    report = gather(made.database, now=NOW)
    (row,) = report.data.incidents
    assert (row.number, row.state, row.files, row.here) == (number, "open", 1, 1)
    assert report.data.in_no_incident == 2  # of three; a fourth awaits its second verdict
    files = pack(report)
    (line,) = csv.DictReader(io.StringIO(files["tables/incidents.csv"]))
    assert line["state"] == "open"
    assert not [name for name, text in files.items() if CANARY in text]


def test_hides_paths_everywhere(made: Made) -> None:
    assert gather(made.database, now=NOW, hide_paths=True).data.folders == ()
    for name, text in pack(gather(made.database, now=NOW, hide_paths=True)).items():
        for path in ("same.txt", "place.txt", "gone.txt", "/srv/share", "wards"):
            assert path not in text, (name, path)
