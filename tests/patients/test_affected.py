"""Distinct patients over files decided, copies and scans; planted records; what a scan says of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.model import FileResult, PatientCheck, PatientMatch, Span, Verdict
from phiscan.patients.affected import affected, canary_files, scan_matches
from phiscan.patients.matching import Matcher
from phiscan.patients.records import Kind
from phiscan.patients.settings import PatientSettings
from phiscan.report.gather import gather
from phiscan.report.rendering.html import render
from phiscan.report.sections import counts as patients_section
from phiscan.review.store import Store
from tests.empty_database import new_store
from tests.report.page import visible_text
from tests.review.results import NOW, clear, referred, scan


def _checked(result: FileResult, *patients: int, rare: int = 0, planted: int = 0) -> FileResult:
    """Return a result with matches of these patients, and of one by a rare name, one planted."""
    kinds = [(one, Kind.CARD, False) for one in patients]
    kinds += [(rare, Kind.RARE_NAME, False)] * bool(rare) + [(planted, Kind.RECORD, True)] * bool(planted)
    matches = tuple(
        PatientMatch(one, kind.value, Span(9 * at, 9 * at + 5), "#p1", is_planted)
        for at, (one, kind, is_planted) in enumerate(kinds)
    )
    check = PatientCheck("build", matches, len(patients) + bool(planted), bool(rare), 10, 0.25)
    return replace(result, patients=check)


SHARE = (
    _checked(referred("a/one.txt"), 3, 17),
    _checked(referred("a/two.txt", content="x"), 17, rare=300),
    _checked(referred("b/three.txt", content="y"), 5, planted=9),
    _checked(clear("b/minutes.txt")),
    referred("c/unmatched.txt", content="z"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "phiscan.db") as opened:
        scan(opened, SHARE)
        yield opened


def _decide(store: Store, *paths: str) -> None:
    decided = [(store.find(path), Verdict.PHI) for path in paths]
    store.desk.decide_all(decided, reviewer="Ann", reason="", note="", now=NOW)


def test_patients_of_the_files_decided_count_once(store: Store, matcher: Matcher) -> None:
    with store.database.read() as connection:
        assert affected(connection, None, verdict=Verdict.PHI, scan_id=None).patients == ()
    _decide(store, "a/one.txt", "a/two.txt", "c/unmatched.txt")
    with store.database.read() as connection:
        found = affected(connection, matcher.index, verdict=Verdict.PHI, scan_id=None)
        assert found.patients == (3, 17)
        assert (found.n_files, found.n_files_without_match) == (3, 1)
        assert found.by_folder == {"/share/a": 2}
        assert found.by_region == {"BC": 1, "QC": 1}
        everybody = affected(connection, None, verdict=None, scan_id=1)
        assert everybody.patients == (3, 5, 9, 17)
        assert everybody.by_region is None


def test_a_scan_says_what_it_matched_and_what_is_chance(store: Store) -> None:
    with store.database.read() as connection:
        found = scan_matches(connection, 1)
        assert found is not None
        assert found.to_json() == {
            "files": 3,
            "patients": 4,
            "rare_name_files": 0,
            "expected_by_chance": 1.0,
            "canary_files": 1,
        }
        assert canary_files(connection, 1) == [("/share", "b/three.txt")]


def test_a_scan_without_an_index_says_nothing_of_patients(store: Store) -> None:
    number = scan(store, [referred("d/later.txt", content="w")], minutes=60)
    with store.database.read() as connection:
        assert scan_matches(connection, number) is None


def test_matches_of_an_unchanged_file_stand_and_those_of_a_changed_one_go(store: Store) -> None:
    changed = _checked(referred("a/one.txt", content="new"), 3)
    names = [result.source.path.decode() for result in SHARE[1:]]
    number = scan(store, [changed], unchanged=names, minutes=60)
    with store.database.read() as connection:
        found = scan_matches(connection, number)
        assert found is not None
        assert (found.n_files, found.n_patients) == (3, 4)
        assert affected(connection, None, verdict=None, scan_id=number).patients == (3, 5, 9, 17)
        assert affected(connection, None, verdict=None, scan_id=None).n_files == 5


@pytest.mark.usefixtures("matcher")
def test_the_report_counts_patients_by_state_or_province(
    store: Store, settings: PatientSettings, tmp_path: Path
) -> None:
    assert gather(store.database, now=NOW).data.affected is None  # nothing is confirmed
    _decide(store, "a/one.txt", "a/two.txt", "c/unmatched.txt")
    report = gather(store.database, now=NOW, patient_index=settings.folder)
    everything = report.data.affected
    assert everything is not None
    assert (everything.patients, everything.by_region) == (2, {"BC": 1, "QC": 1})
    assert (everything.files, everything.files_without_match, everything.notice_in) == (2, 0, ())
    text = visible_text(render(report.data))
    assert "2 distinct patients" in text
    assert "BC: 1" in text
    without = gather(store.database, now=NOW, patient_index=tmp_path / "gone").data
    assert without.affected == replace(everything, by_region=None)
    assert "not known without the patient list" in render(without)


def test_five_hundred_patients_in_one_state_are_named(
    store: Store, matcher: Matcher, settings: PatientSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert matcher.index.manifest.n_patients
    monkeypatch.setattr(patients_section, "NOTICE_AT", 1)
    _decide(store, "a/one.txt", "b/three.txt")
    report = gather(store.database, now=NOW, patient_index=settings.folder)
    assert report.data.affected is not None
    assert report.data.affected.notice_in == tuple(report.data.affected.by_region or ())
    assert "45 CFR 164.406" in render(report.data)
