"""Incidents in the store: checked fields, files that move, masks, changes by others, and retention."""

from dataclasses import replace
from datetime import timedelta

import pytest

from phiscan.errors import InputError
from phiscan.model import EntityType, Verdict
from phiscan.review.decisions.incidents import Incident, IncidentState, TaskState
from phiscan.review.store import Store
from phiscan.store import identity
from tests.review.results import KEY, NOW, clear, finding, later, referred, scan
from tests.review.test_purging import purge, scan_at, years

pytestmark = pytest.mark.usefixtures("database")

LETTER, OTHER = "a/letter.txt", "b/other.txt"
DAY = "2026-11-18"


def found_in(name: str, *values: tuple[EntityType, str], content: str = "") -> object:
    findings = tuple(finding(value, start=50 * at, kind=kind) for at, (kind, value) in enumerate(values))
    return replace(referred(name, content=content), findings=findings)


def opened(store: Store, *names: str, by: str = "ada") -> int:
    files = [store.find(name) for name in names]
    return store.desk.write_incident(None, {"title": "Ward"}, add=files, by=by, now=later(5))


def texts(store: Store, number: int) -> dict[str, str]:
    return store.desk.incident(number).texts


def test_a_day_and_a_number_are_kept_as_written_although_a_file_holds_them(store: Store) -> None:
    values = ((EntityType.DATE, DAY), (EntityType.MRN, "1204"), (EntityType.PERSON, "Ann Ex"))
    scan(store, [found_in(LETTER, *values)])  # type: ignore[list-item]
    store.database.give_key(identity.OPTION, KEY)
    number = opened(store, LETTER)
    given = {"discovered": DAY, "counted": "1204", "happened": f"Ann Ex, {DAY}, 1204"}
    store.desk.write_incident(number, given, by="ada", now=later(6))
    kept = texts(store, number)
    assert (kept["discovered"], kept["counted"]) == (DAY, "1204")
    assert kept["happened"] == "[PERSON], [DATE], [MRN]"


STORED = [
    ("discovered", " 2026-11-20 ", "2026-11-20"),
    ("discovered", "1990-01-01", "1990-01-01"),
    ("discovered", "", ""),
    ("counted", "1,204", "1204"),
    ("counted", "12 040 300", "12040300"),
    ("counted", "1\N{NARROW NO-BREAK SPACE}204", "1204"),
    ("counted", "0", "0"),
    ("counted", "007", "7"),
]


def test_a_day_and_a_number_are_stored_in_one_form(store: Store) -> None:
    scan(store)
    number = opened(store, LETTER)
    for field, typed, kept in STORED:
        store.desk.write_incident(number, {field: typed}, by="ada", now=NOW)
        assert texts(store, number).get(field, "") == kept


REFUSED = [
    ("discovered", "9999-12-31", "expected year-month-day, from 1990-01-01 to 2026-11-20"),
    ("discovered", "0001-01-01", "from 1990-01-01"),
    ("discovered", "1989-12-31", "from 1990-01-01"),
    ("discovered", "2027-01-01", "to 2026-11-20"),
    ("discovered", "2026-11-21", "to 2026-11-20"),  # not yet begun anywhere at 08:30 UTC of the 20th
    ("discovered", "2026-02-30", "expected year-month-day"),
    ("discovered", "20261118", "expected year-month-day"),
    ("discovered", "18/11/2026", "expected year-month-day"),
    ("discovered", "last week", "expected year-month-day"),
    ("discovered", "2026-11-18T09:00", "expected year-month-day"),
    ("counted", "about 40", "expected a whole number"),
    ("counted", "1,5", "expected a whole number"),
    ("counted", "-3", "expected a whole number"),
    ("counted", "12.0", "expected a whole number"),
    ("counted", "1234567890", "at most nine digits"),
    ("counted", "\N{ARABIC-INDIC DIGIT ONE}", "expected a whole number"),
]


def test_anything_else_is_refused_in_one_line_and_nothing_is_written(store: Store) -> None:
    scan(store)
    number = opened(store, LETTER)
    for field, typed, expected in REFUSED:
        with pytest.raises(InputError, match=expected) as refused:
            store.desk.write_incident(number, {"happened": "x", field: typed}, by="ada", now=NOW)
        assert "\n" not in str(refused.value)
    assert texts(store, number) == {"title": "Ward"}


def test_a_day_that_has_begun_in_another_time_zone_is_allowed(store: Store) -> None:
    scan(store)
    number = opened(store, LETTER)
    evening = NOW.replace(hour=13)
    store.desk.write_incident(number, {"discovered": "2026-11-21"}, by="ada", now=evening)
    with pytest.raises(InputError):
        store.desk.write_incident(number, {"discovered": "2026-11-22"}, by="ada", now=evening)


def test_texts_are_masked_by_every_stored_result_of_the_files(store: Store) -> None:
    first = found_in(LETTER, (EntityType.PERSON, "Chidi Okafor"))
    scan(store, [first, found_in(OTHER, (EntityType.PHONE, "613-555-0142"))])  # type: ignore[list-item]
    store.database.give_key(identity.OPTION, KEY)
    number = opened(store, LETTER, OTHER)
    changed = found_in(LETTER, (EntityType.PERSON, "Zoe Lind"), content="new")
    scan(store, [changed], minutes=10)  # type: ignore[list-item]  # the other file is gone
    for field, typed, kept in (
        ("happened", "Okafor and Lind", "[PERSON] and [PERSON]"),
        ("found", "call 613-555-0142", "call [PHONE]"),
    ):
        store.desk.write_incident(number, {field: typed}, by="ada", now=later(20))
        assert texts(store, number)[field] == kept
    store.desk.write_incident(
        number, {}, state=IncidentState.ASSESSED, reason="Okafor is well", by="ada", now=later(21)
    )
    assert store.desk.incident(number).entries[-1].text == "[PERSON] is well"
    store.desk.annotate(
        "answer", [store.find(LETTER)], field="needed", text="for Okafor", by="ada", now=later(22)
    )
    assert store.desk.answers()[store.find(LETTER)].text == "for [PERSON]"


def test_line_ends_are_those_of_one_kind(store: Store) -> None:
    scan(store)
    number = opened(store, LETTER)
    store.desk.write_incident(number, {"happened": "a\r\nb\rc\nd\r\n"}, by="ada", now=later(6))
    store.desk.write_incident(
        number, {}, state=IncidentState.CLOSED, reason="no\r\nrisk", by="ada", now=later(7)
    )
    assert texts(store, number)["happened"] == "a\nb\nc\nd"
    assert store.desk.incident(number).entries[-1].text == "no\nrisk"
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", note="x\r\ny", now=later(8))
    assert store.item(1).decisions[-1].note == "x\ny"


# Files that move


def moved(store: Store, to: str, *others: str, minutes: int) -> int:
    scan(store, [referred(to, content=f"hash of {LETTER}")], unchanged=others, minutes=minutes)
    return store.find(to)


def test_a_file_that_moves_stays_in_its_incident(store: Store) -> None:
    scan(store, [referred(LETTER), referred(OTHER)])
    old = store.find(LETTER)
    store.desk.decide(old, Verdict.PHI, reviewer="ada", now=later(2))
    number = opened(store, LETTER, OTHER)
    second = moved(store, "c/moved.txt", OTHER, minutes=10)
    third = moved(store, "d/again.txt", OTHER, minutes=20)
    found = store.desk.incident(number)
    assert found.files == (third, store.find(OTHER))
    assert set(found.places) == {old, second, third, store.find(OTHER)}
    assert [one.file_id for one in store.desk.tasks(now=later(30))] == [third]
    before = len(found.entries)
    store.desk.write_incident(number, {}, add=[third], by="ada", now=later(31))  # it is there already
    assert len(store.desk.incident(number).entries) == before
    store.desk.write_incident(number, {}, remove=[third], by="ada", now=later(32))
    assert store.desk.incident(number).files == (store.find(OTHER),)
    store.desk.write_incident(number, {}, add=[third], by="ada", now=later(33))
    assert set(store.desk.incident(number).files) == {third, store.find(OTHER)}


def test_a_file_that_is_back_at_its_place_is_in_its_incident_there(store: Store) -> None:
    scan(store, [referred(LETTER), referred(OTHER)])
    old, number = store.find(LETTER), opened(store, LETTER)
    moved(store, "c/moved.txt", OTHER, minutes=10)
    scan(store, [referred(LETTER)], unchanged=[OTHER], minutes=20)
    assert store.desk.incident(number).files == (old,)


def test_an_answer_of_an_owner_stays_with_a_file_that_moves(store: Store) -> None:
    scan(store, [referred(LETTER), referred(OTHER)])
    store.desk.annotate("answer", [store.find(LETTER)], field="mine", by="jroe", now=later(3))
    place = moved(store, "c/moved.txt", OTHER, minutes=10)
    assert store.desk.answers()[place].field == "mine"
    store.desk.annotate("answer", [place], field="done", by="jroe", now=later(12))
    assert store.desk.answers()[place].field == "done"


def test_the_task_of_a_content_that_was_cleaned_is_found_on_request(store: Store) -> None:
    scan(store, [referred(LETTER)])
    number = store.find(LETTER)
    store.desk.decide(number, Verdict.PHI, reviewer="ada", now=later(2))
    scan(store, [referred(LETTER, content="clean")], minutes=10)
    store.desk.decide(number, Verdict.NOT_PHI, reviewer="ada", now=later(12))
    assert store.desk.tasks(now=later(13)) == ()
    (task,) = store.desk.tasks(now=later(13), cleaned=True)
    assert (task.state, task.confirmed) == (TaskState.CHANGED, later(2))


# Changes by others


def seen(found: Incident) -> int:
    return found.entries[-1].id


def test_fields_that_different_people_write_are_all_kept(store: Store) -> None:
    scan(store)
    number = opened(store, LETTER)
    page = seen(store.desk.incident(number))
    bea = {"title": "Ward", "happened": "by bea", "found": ""}
    ada = {"title": "Ward", "happened": "", "found": "by ada"}
    store.desk.write_incident(number, bea, seen=page, by="bea", now=later(6))
    store.desk.write_incident(number, ada, seen=page, by="ada", now=later(7))
    assert texts(store, number) == {"title": "Ward", "happened": "by bea", "found": "by ada"}


# Retention


def test_nothing_about_the_files_of_an_incident_is_purged_until_it_is_closed(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER), clear(OTHER))
    store.decide_all([(store.find(LETTER), Verdict.PHI)], reviewer="ada", now=NOW)
    number = opened(store, LETTER)
    scan_at(store, years(0.1), referred("c/moved.txt", content=f"hash of {LETTER}"), unchanged=(OTHER,))
    scan_at(store, years(0.2), unchanged=(OTHER,))  # gone from its second place too
    plan = purge(store, years(30), dry_run=True)
    assert not {"file", "decision", "finding", "departure"} & plan.counts.keys()
    assert plan.to_json()["incidents"] == 1
    purge(store, years(30))
    assert store.desk.incident(number).files == (store.find("c/moved.txt"),)
    store.desk.write_incident(number, {}, state=IncidentState.CLOSED, reason="done", by="ada", now=years(30))
    assert "file" not in purge(store, years(35.9)).counts  # decided upon less than six years ago
    closed = purge(store, years(37) + timedelta(days=1))
    assert closed.counts["file"] == 2
    assert closed.to_json()["incidents"] == 0
    assert store.verify_audit().ok


def test_an_incident_that_is_opened_again_keeps_its_files_and_one_that_was_removed_is_let_go(
    store: Store,
) -> None:
    scan_at(store, NOW, referred(LETTER), referred(OTHER), clear("c.txt"))
    number = opened(store, LETTER, OTHER)
    given = {"by": "ada", "now": later(6)}
    store.desk.write_incident(number, {}, state=IncidentState.CLOSED, reason="x", **given)  # type: ignore[arg-type]
    store.desk.write_incident(number, {}, state=IncidentState.OPEN, reason="y", **given)  # type: ignore[arg-type]
    store.desk.write_incident(number, {}, remove=[store.find(OTHER)], **given)  # type: ignore[arg-type]
    scan_at(store, years(0.1), unchanged=("c.txt",))
    made = purge(store, years(20))
    assert made.counts["file"] == 1
    with pytest.raises(InputError):
        store.find(OTHER)
    assert store.find(LETTER)


@pytest.mark.slow
def test_more_files_than_one_statement_takes_are_one_incident(store: Store) -> None:
    names = [f"f{number:04}.txt" for number in range(1, 1_203)]
    scan(store, [referred(name) for name in names])
    files = [store.find(name) for name in names]
    number = store.desk.write_incident(None, {"title": "Share"}, add=files, by="ada", now=later(6))
    assert store.desk.incident(number).files == tuple(files)
    store.desk.annotate("answer", files, field="done", text="613-555-0199", by="ada", now=later(7))
    assert len(store.desk.answers()) == len(files)
    store.desk.write_incident(number, {}, remove=files[1:], by="ada", now=later(8))
    assert store.desk.incident(number).files == (files[0],)
