"""Purging: what the policy lets go and nothing else, a certificate that holds, a log that stays provable."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from phiscan.errors import InputError, StoreError
from phiscan.model import Verdict
from phiscan.review import retention
from phiscan.review.accounts.sign_in import SignedIn
from phiscan.review.accounts.users import Role
from phiscan.review.retention import DAYS_PER_YEAR, Certificate, Retention
from phiscan.review.store import Store
from phiscan.store.portable_rows import sums_of
from phiscan.store.tables.desk import audit_log, decision
from phiscan.store.tables.integrity import scan_totals
from phiscan.store.tables.scans import examination, file, finding, sighting
from tests.review.results import NOW, ROOT, VERSIONS, clear, referred, scan, url_of
from tests.review.test_audit import tamper

LETTER, OTHER = "a/letter.txt", "b/other.txt"


def years(number: float) -> datetime:
    return NOW + timedelta(days=DAYS_PER_YEAR * number)


def scan_at(store: Store, when: datetime, *results: object, unchanged: tuple[str, ...] = ()) -> int:
    state = store.begin_scan([ROOT], versions=VERSIONS, options={}, now=when)
    seen = [store.find(name) for name in unchanged]
    store.record(state.id, "v1", results, unchanged=seen)  # type: ignore[arg-type]
    store.finish_scan(state.id, status="complete", seconds=1.0, now=when)
    return state.id


def purge(
    store: Store, when: datetime, *, dry_run: bool = False, policy: Retention | None = None
) -> Certificate:
    return retention.run(store.database, policy or Retention(), by="ada", now=when, dry_run=dry_run)


def count(store: Store, table: sa.Table) -> int:
    with store.database.read() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def everything(store: Store) -> object:
    with store.database.read() as connection:
        return sums_of(connection)


def hold(store: Store, state: str = "placed", **what: object) -> None:
    store.database.write(
        lambda c: retention.set_holds(c, state=state, reason="case 7", by="ada", now=NOW, **what)  # type: ignore[arg-type]
    )


def test_lets_superseded_results_go_and_keeps_their_numbers(store: Store) -> None:
    first = scan_at(store, NOW, referred(LETTER), clear(OTHER))
    second = scan_at(store, years(0.5), referred(LETTER, content="new"), unchanged=(OTHER,))
    before = store.summary(first)
    third = scan_at(store, years(2.5), clear("c.txt"), unchanged=(LETTER, OTHER))
    made = purge(store, years(3))
    assert made.counts == {
        "examination": 1,  # the first look at the letter; the other file's still stands
        "examination_digest": 1,
        "finding": 2,
        "health_term": 1,
        "sighting": 4,
        "unread_part": 1,
    }
    assert (store.summary(first), store.summary(first).crawled) == (before, 2)
    assert [head.n_crawled for head in store.scans()] == [2, 2, 3]
    with pytest.raises(StoreError, match=f"scan {second}: its rows were purged by policy"):
        list(store.rows(second))
    assert len(list(store.rows(third))) == 3
    assert purge(store, years(3)).id is None
    assert count(store, scan_totals) == 2


def test_lets_everything_about_a_file_go_that_went_long_ago(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER), clear(OTHER))
    store.decide_all([(store.find(LETTER), Verdict.PHI)], reviewer="ada", now=NOW)
    store.assign_all([store.find(LETTER)], "bea", by="ada", now=NOW)
    scan_at(store, years(0.1), unchanged=(OTHER,))
    assert "file" not in purge(store, years(5.9)).counts
    made = purge(store, years(6.2))
    assert made.counts["file"] == made.counts["decision"] == made.counts["assignment"] == 1
    with pytest.raises(InputError):
        store.find(LETTER)
    assert store.find(OTHER)
    assert store.verify_audit().ok


def test_a_file_that_went_is_kept_while_people_are_at_work_on_it(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER), clear(OTHER))
    number = store.find(LETTER)
    scan_at(store, years(0.1), unchanged=(OTHER,))
    store.decide_all([(number, Verdict.PHI)], reviewer="ada", now=years(4))
    assert "file" not in purge(store, years(7)).counts
    assert purge(store, years(10.1)).counts["file"] == 1


def test_what_is_still_there_is_kept_however_old(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    store.assign_all([1], "bea", by="ada", now=NOW)
    item = store.item(1)
    made = purge(store, years(50))
    assert set(made.counts) == {"audit_log"}
    assert store.item(1) == item
    assert store.verify_audit().ok


def test_verdicts_about_a_content_that_was_replaced_go(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER, content="old"))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    scan_at(store, years(1), referred(LETTER, content="new"))
    store.decide_all([(1, Verdict.NOT_PHI)], reviewer="bea", now=years(1))
    purge(store, years(6.1))
    assert [made.reviewer for made in store.item(1).decisions] == ["bea"]
    check = store.verify_audit()
    assert (check.ok, check.n_rows) == (True, 2)


def test_sessions_and_tokens_go_long_after_their_end(store: Store) -> None:
    ada = store.users.add(name="Ada", role=Role.LEAD, password="correct horse battery", by="x", now=NOW)
    for _ in ("ended", "left open"):
        assert isinstance(
            store.users.sign_in("ada", "correct horse battery", address="192.0.2.1", now=NOW), SignedIn
        )
    store.users.sign_out(store.users.sessions(ada.id, now=NOW)[0], now=NOW)
    store.users.make_token(ada.id, label="export", days=90, by="ada", now=NOW)
    assert "web_session" not in purge(store, years(5.9)).counts
    kept = purge(store, years(6.1))
    assert kept.counts["web_session"] == 2
    assert "api_token" not in kept.counts  # it was good for ninety days more
    assert purge(store, years(7.1)).counts["api_token"] == 1
    assert store.users.named("ada").role is Role.LEAD
    assert store.verify_audit().ok


@pytest.mark.parametrize("what", [{"files": [1]}, {"roots": ["/share"]}])
def test_a_legal_hold_keeps_everything_about_its_file(store: Store, what: dict[str, object]) -> None:
    scan_at(store, NOW, referred(LETTER, content="old"))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    scan_at(store, years(1), referred(LETTER, content="new"))
    scan_at(store, years(1.5), clear(OTHER))
    hold(store, **what)
    before = everything(store)
    assert purge(store, years(30)).counts == {}
    assert everything(store) == before
    with store.database.read() as connection:
        (held,) = retention.holds(connection)
    assert (held.root, held.path, held.reason) == ("/share", LETTER if "files" in what else "", "case 7")
    hold(store, "lifted", **what)
    assert {"file", "decision", "examination", "audit_log"} <= set(purge(store, years(30)).counts)
    assert store.verify_audit().ok


def test_a_hold_needs_a_reason_and_something_to_stand_on(store: Store) -> None:
    scan(store)
    with pytest.raises(InputError, match="it has no hold"):
        hold(store, "lifted", files=[1])
    with pytest.raises(InputError, match="/nowhere: no such root; expected one that was scanned: /share"):
        hold(store, roots=["/nowhere"])
    with pytest.raises(InputError, match="file 99: no such file; expected a number that"):
        hold(store, files=[1, 99])
    with store.database.read() as connection:
        assert not retention.holds(connection)  # not on the first either
    with pytest.raises(InputError, match="reason: expected a text"):
        store.database.write(
            lambda c: retention.set_holds(c, state="placed", files=[1], reason=" ", by="ada", now=NOW)
        )


def test_the_log_goes_on_from_the_certificate(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER))
    for number in range(5):
        store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=years(number))
    early = store.verify_audit().head
    made = purge(store, years(8.5))
    assert (made.log_through, made.counts) == (3, {"audit_log": 3})
    check = store.verify_audit()
    assert (check.ok, check.n_rows) == (True, 3)  # two verdicts and the purge
    assert store.verify_audit(head=early).ok
    assert store.verify_audit(head=made.log_hash).ok
    assert not store.verify_audit(head="0" * 63 + "1").ok
    store.decide_all([(1, Verdict.UNSURE)], reviewer="ada", now=years(9))
    again = purge(store, years(20))
    assert again.log_through == 7  # the last decision, and the first certificate's own entry
    assert store.verify_audit().ok
    assert count(store, audit_log) == 1
    assert count(store, decision) == 6


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE decision SET verdict = 'not_phi' WHERE id = 1", "row 1 of decision was changed"),
        ("DELETE FROM decision WHERE id = 1", "row 1 of decision was removed"),
        ("UPDATE purge SET log_through = 2", "entry 3 is missing|not chained"),
        ("UPDATE purge SET carried = '{}'", "not in the log|changed"),
        ("DELETE FROM purge", "entry 1 is missing"),
        ("UPDATE purge SET ranges = '{\"decision\": [[1, 9]]}'", "row 1 of purge was changed"),
        ("UPDATE purge SET counts = '{}'", "row 1 of purge was changed"),
    ],
)
def test_tampering_shows_also_after_a_purge(
    store: Store, database: Path, statement: str, problem: str
) -> None:
    scan_at(store, NOW, referred(LETTER))
    for number in range(5):
        store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=years(number))
    purge(store, years(8.5))
    tamper(url_of(database), statement)
    check = store.verify_audit()
    assert not check.ok
    assert any(words in check.problem for words in problem.split("|")), check.problem
    with pytest.raises(StoreError, match="nothing was purged: the audit log is not whole"):
        purge(store, years(20))


def test_a_dry_run_says_what_a_purge_does_and_changes_nothing(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER, content="old"), clear(OTHER))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    scan_at(store, years(1), referred(LETTER, content="new"))
    before = everything(store)
    planned = purge(store, years(30), dry_run=True)
    assert everything(store) == before
    made = purge(store, years(30))
    assert replace(planned, audit_hash="") == replace(made, audit_hash="")
    assert made.counts["file"] == 1
    assert everything(store) != before


def test_the_certificate_says_what_was_purged(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER, content="old"))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=years(0.25))
    scan_at(store, years(1), referred(LETTER, content="new"))
    made = purge(store, years(30)).to_json()
    assert (made["certificate"], made["purged_by"], made["holds"]) == (1, "ada", 0)
    assert (made["oldest"], made["newest"]) == (NOW.isoformat(), years(0.25).isoformat())
    assert made["policy"]["findings_years"] == 6.0
    assert made["policy"]["findings_before"].startswith("2050-")
    assert made["rows"] == sum(made["counts"].values())
    assert len(made["sha256"]) == 64
    assert made["audit"]["entry"] == 2
    with store.database.read() as connection:
        (stored,) = retention.certificates(connection)
    assert stored.to_json() == made


def test_equal_rows_have_the_same_digest_on_every_database(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER, content="old"))
    scan_at(store, years(1), referred(LETTER, content="new"))
    made = purge(store, years(30))
    assert made.digest == DIGEST, made.digest


DIGEST = "31b6390ed349abde3a156181c930e6012de62f0b0936c6be80fb04f69ae3e7c2"


def test_removed_rows_cannot_be_removed_by_anyone_else_afterwards(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER))
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
    purge(store, years(30))
    engine = store.database._engine
    for statement in (
        *map("DELETE FROM {}".format, ("decision", "audit_log", "purge")),
        "UPDATE purge SET id = 2",
    ):
        with pytest.raises(sa.exc.DBAPIError, match="is append-only"), engine.begin() as connection:
            connection.exec_driver_sql(statement)


def test_nothing_of_what_was_purged_is_left_in_the_file(store: Store, database: Path) -> None:
    scan_at(store, NOW, referred("canary-path/letter.txt", content="canary-content"), clear(OTHER))
    scan_at(store, years(1), unchanged=(OTHER,))
    purge(store, years(30))
    store.close()
    assert not [one for one in database.parent.glob("phiscan.db*") if b"canary" in one.read_bytes()]


def test_old_scans_are_forgotten_when_nothing_is_left_of_them(store: Store) -> None:
    scan_at(store, NOW, referred(LETTER))
    scan_at(store, years(1), referred(LETTER, content="new"))
    scan_at(store, years(2), referred(LETTER, content="newer"))
    made = purge(store, years(6.5))
    assert made.counts["scan"] == 1
    assert [head.id for head in store.scans()] == [2, 3]
    assert count(store, sighting) == count(store, examination) == count(store, file) == 1
    assert count(store, finding) == 2


def test_refuses_to_purge_for_nobody(store: Store) -> None:
    with pytest.raises(InputError, match="by: expected a name"):
        retention.run(store.database, Retention(), by=" ", now=NOW, dry_run=True)
