"""Plain SQL against the database: each single edit is found and named; the program's own life is not."""

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from phiscan.errors import StoreError
from phiscan.model import PatientCheck, Verdict
from phiscan.review import retention
from phiscan.review.accounts.users import Role, SignedIn
from phiscan.review.audit.log import AuditCheck
from phiscan.review.decisions import learning as models
from phiscan.review.retention import Retention
from phiscan.review.store import Store
from tests.cli.program import run
from tests.review.results import NOW, SHARE, later, pii_only, referred, scan, url_of

PASSWORD = "correct horse battery"


def sealed_scan(store: Store, minutes: int = 0, **given: object) -> int:
    """A scan as the pipeline ends it: recorded, complete, with its digests."""
    number = scan(store, minutes=minutes, **given)  # type: ignore[arg-type]
    store.digest_scan(number, whole=True, now=later(minutes + 1))
    return number


def open_with_key(url: str, folder: Path) -> Store:
    return Store.open(url, audit_key=folder / "keys" / "audit.key")


def lived(store: Store) -> None:
    """What people do with a database: scans, decisions, accounts, tokens, sessions."""
    sealed_scan(store)
    users = store.users
    ada = users.add(name="ada", role=Role.LEAD, password=PASSWORD, by="root", now=NOW)
    bea = users.add(name="bea", role=Role.READER, password=PASSWORD, by="root", now=NOW)
    users.add(name="cas", role=Role.ADMIN, password=PASSWORD, by="root", now=NOW)
    users.disable(3, by="root", now=later(1))
    users.make_token(bea.id, label="export", days=30, by="bea", now=later(1))
    users.revoke_token(1, user_id=bea.id, by="bea", now=later(2))
    users.make_token(bea.id, label="export", days=30, by="bea", now=later(2))
    assert isinstance(users.sign_in("ada", PASSWORD, address="10.0.0.1", now=later(3)), SignedIn)
    store.decide_all([(1, Verdict.PHI)], reviewer=ada.name, now=later(4))
    store.assign_all([6], "bea", by="ada", now=later(5))
    new = replace(
        referred("d/new.txt", content="new"),
        signature=b"s" * 256,
        patients=PatientCheck("index", n_patients=1, n_lookups=9),
    )
    sealed_scan(store, 9, results=[new], unchanged=["a/letter.txt", "c/referral.txt"])
    store.desk.write_incident(None, {"title": "A folder"}, add=[6], by="ada", now=later(20))


@pytest.fixture(scope="session")
def lived_template(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that was lived with, and its signing key."""
    folder = tmp_path_factory.mktemp("lived")
    shutil.copy(sqlite_template, folder / "phiscan.db")
    with open_with_key(url_of(folder / "phiscan.db"), folder) as store:
        lived(store)
        assert store.verify_audit().found == ()
    return folder


@pytest.fixture
def kept(lived_template: Path, database: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copytree(lived_template, tmp_path, dirs_exist_ok=True)
    with open_with_key(url_of(database), tmp_path) as store:
        yield store


def edit(database: Path, statement: str) -> None:
    """One edit by somebody who has the file: triggers are dropped for it and put back as they were."""
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in found:
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(statement).rowcount > 0, "the edit changes something"
        for _, sql in found:
            connection.execute(sql)
    connection.close()


# One of each kind; each column and each table is in test_coverage.py.
EDITS = [
    (
        "UPDATE user_account SET role = 'admin' WHERE name = 'bea'",
        "user_account 2: was changed or added (wrong seal)",
    ),
    (
        (
            "INSERT INTO user_account (name, name_key, role, password_hash, created, seal) "
            "VALUES ('eve', 'eve', 'admin', 'x', '2026-11-20T08:30:00.000000+00:00', '')"
        ),
        "user_account 4: was changed or added",
    ),
    ("DELETE FROM user_account WHERE name = 'cas'", "user_account: rows were removed or doubled: 2 of 3"),
    (
        "UPDATE examination SET referral = 'clear' WHERE file_id = 6 AND scan_id = 1",
        "examination 6: was changed",
    ),
    ("DELETE FROM finding WHERE examination_id = 1", "finding (examination 1): all rows were removed"),
    ("DELETE FROM finding WHERE examination_id = 1 AND position = 1", "finding (examination 1): rows were"),
    ("DELETE FROM work_item", "work_item 1: was removed from the list"),
    ("UPDATE work_item SET state = 'not_phi' WHERE file_id = 6", "work_item 6: state changed"),
    ("UPDATE work_tally SET n = n + 1", "counts of the list changed"),
    ("DELETE FROM sighting WHERE scan_id = 2 AND file_id = 6", "files that scan 2 saw were changed"),
    ("UPDATE file SET seen_scan_id = 1 WHERE id = 6", "file 6: was seen last by scan 2"),
    ("UPDATE file SET path = x'61', display = 'a' WHERE id = 1", "examination 1: was changed"),
    ("UPDATE root SET complete_scan_id = NULL", "root 1: its newest complete scan is 2"),
    ("UPDATE scan SET status = 'stopped' WHERE id = 2", "scan 2: status became stopped"),
    ("UPDATE scan SET versions = '{}' WHERE id = 1", "scan 1: it or its roots were changed"),
    ("DELETE FROM scan_digest WHERE id = 2", "row 2 of scan_digest was removed"),
    ("UPDATE decision SET verdict = 'not_phi'", "row 1 of decision was changed"),
    ("DELETE FROM decision WHERE id = 1", "row 1 of decision was removed"),
    (
        (
            "INSERT INTO decision SELECT 9, file_id, examination_id, content_hash, 'phi', reviewer, reason, "
            "note, by_name, decided FROM decision WHERE id = 1"
        ),
        "row 9 of decision is not in the log",
    ),
    ("DELETE FROM audit_log WHERE id = 2", "audit_log 3: entry 2 is missing"),
    ("UPDATE audit_log SET prev_hash = 'x' WHERE id = 3", "audit_log 3: it is not chained to the entry"),
    ("UPDATE audit_log SET actor = 'eve' WHERE id = 2", "audit_log 2: its content does not match its hash"),
    ("DELETE FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)", "but the log ends at"),
    ("UPDATE audit_head SET entry = entry - 1", "is not the one that was signed"),
    ("UPDATE audit_head SET signature = 'x'", "is forged"),
    ("DELETE FROM audit_head", "the signature of the log's end was removed"),
    ("UPDATE user_event SET value = 'admin' WHERE id = 2", "row 2 of user_event was changed"),
    ("UPDATE web_session SET seen = '2030-01-01T00:00:00.000000+00:00'", "web_session 1: was changed or"),
    (
        "UPDATE sighting SET examination_id = 1 WHERE file_id = 6",
        "sighting (file 6): has the result of another",
    ),
]


def said(check: AuditCheck) -> str:
    return "\n".join(map(str, check.found))


@pytest.mark.parametrize(("statement", "words"), EDITS)
def test_each_single_edit_is_found_and_named(kept: Store, database: Path, statement: str, words: str) -> None:
    edit(database, statement)
    check = kept.verify_audit()
    assert not check.ok
    assert words in said(check)


SCHEMA_EDITS = [
    ("DROP TRIGGER decision_no_update", "decision_no_update: of the schema was removed"),
    ("CREATE TRIGGER t AFTER INSERT ON decision BEGIN DELETE FROM skip; END", "t: of the schema was added"),
    ("CREATE VIEW v AS SELECT 1", "v: of the schema was added"),
    ("ALTER TABLE skip ADD COLUMN x", "skip: of the schema was changed"),
    ("DROP INDEX ix_user_event_user_id", "ix_user_event_user_id: of the schema was removed"),
    (  # of the same name, and it does nothing
        (
            "DROP TRIGGER decision_no_delete;"
            "CREATE TRIGGER decision_no_delete BEFORE DELETE ON decision BEGIN SELECT 1; END"
        ),
        "decision_no_delete: of the schema was changed",
    ),
]


@pytest.mark.parametrize(("statement", "words"), SCHEMA_EDITS)
def test_each_edit_of_the_schema_is_found(kept: Store, database: Path, statement: str, words: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.executescript(statement)
    connection.close()
    check = kept.verify_audit()
    assert not check.ok
    assert words in said(check)


UNREADABLE = [
    ("UPDATE assignment SET assigned = '2026-11-20T08:31:00'", "row 1 of assignment was changed"),
    ("UPDATE decision SET decided = 'yesterday'", "row 1 of decision was changed"),
    ("UPDATE audit_log SET details = '{' WHERE id = 2", "audit_log 2: its content does not match its hash"),
    ("UPDATE audit_log SET at = '' WHERE id = 2", "audit_log 2: its content does not match its hash"),
    ("UPDATE scan SET started = 5 WHERE id = 1", "scan 1: it or its roots were changed"),
    ("UPDATE scan_digest SET made = '' WHERE id = 1", "row 1 of scan_digest was changed"),
    ("UPDATE examination_digest SET parts = '[' WHERE examination_id = 1", "examination"),
    ("UPDATE examination SET reasons = '[' WHERE id = 1", "examination 1: was changed"),
    ("UPDATE audit_head SET signed = ''", "audit_head: cannot be checked: a value cannot be read"),
    ("UPDATE work_item SET hidden_until = x'ff'", "work_item"),
    ("UPDATE web_session SET seen = 'never'", "web_session 1: was changed or added"),
]


@pytest.mark.parametrize(("statement", "words"), UNREADABLE)
def test_a_row_that_cannot_be_read_is_a_difference_and_the_rest_is_checked(
    kept: Store, database: Path, statement: str, words: str
) -> None:
    edit(database, statement)
    edit(database, "UPDATE user_account SET role = 'admin' WHERE name = 'bea'")
    edit(database, "DELETE FROM finding WHERE examination_id = 2")
    found = said(kept.verify_audit())
    assert words in found
    assert "user_account 2: was changed" in found
    assert "finding (examination 2): all rows were removed" in found


def test_the_command_ends_with_status_two_where_a_row_cannot_be_read(
    kept: Store, database: Path, tmp_path: Path
) -> None:
    edit(database, "UPDATE assignment SET assigned = '2026-11-20T08:31:00'")
    kept.close()
    settings = tmp_path / "phiscan.toml"
    settings.write_text(f'home = "{tmp_path / "keys"}"\ndatabase = "{url_of(database)}"\n')
    assert "row 1 of assignment was changed" in run("--config", str(settings), "audit", "verify", status=2)


def test_a_session_whose_last_use_was_set_with_sql_is_over(kept: Store, database: Path) -> None:
    signed = kept.users.sign_in("ada", PASSWORD, address="10.0.0.1", now=later(20))
    assert isinstance(signed, SignedIn)
    assert kept.users.session(signed.secret, now=later(25)) is not None
    edit(database, "UPDATE web_session SET seen = '2026-11-20T10:10:00.000000+00:00'")
    assert kept.users.session(signed.secret, now=later(26)) is None
    assert kept.users.session(signed.secret, now=later(101)) is None


def test_the_time_when_it_was_right_is_said(kept: Store, database: Path) -> None:
    edit(database, "DELETE FROM finding WHERE examination_id = 1")
    (found,) = [one for one in kept.verify_audit().found if one.table == "finding"]
    assert (found.row, found.by, found.since[:16]) == (1, "examination", "2026-11-20T08:31")


CUT = (
    "DELETE FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)",
    "DELETE FROM scan_digest WHERE id = 2",
)


@pytest.mark.parametrize(
    "also",
    [
        "",
        "DELETE FROM audit_head",
        (
            "UPDATE audit_head SET entry = (SELECT max(id) FROM audit_log), "
            "hash = (SELECT hash FROM audit_log ORDER BY id DESC LIMIT 1)"
        ),
    ],
)
def test_an_end_that_was_cut_off_is_not_covered_up_by_what_the_program_writes_next(
    kept: Store, database: Path, also: str
) -> None:
    for statement in (*CUT, *([also] if also else [])):
        edit(database, statement)
    kept.decide_all([(1, Verdict.UNSURE)], reviewer="ada", now=later(31))
    kept.decide_all([(1, Verdict.PHI)], reviewer="ada", now=later(32))
    words = said(kept.verify_audit())
    assert any(what in words for what in ("is not the one that was signed", "was removed", "is forged"))


@pytest.mark.parametrize("head", ["", "DELETE FROM audit_head"])
def test_who_removes_the_signing_key_does_not_get_the_log_signed_anew(
    kept: Store, database: Path, tmp_path: Path, head: str
) -> None:
    for statement in (*CUT, *([head] if head else [])):
        edit(database, statement)
    kept.close()
    key = tmp_path / "keys" / "audit.key"
    key.unlink()
    for number in range(2):  # the first start makes a key
        with Store.open(url_of(database), audit_key=key) as store:
            words = said(store.verify_audit())
            known = (
                "is signed with key",
                "were signed, but the log ends at",
                "was removed",
                "not the one that",
            )
            assert any(what in words for what in known)
            store.decide_all([(1, Verdict.UNSURE)], reviewer="ada", now=later(40 + number))


def test_a_lost_key_is_replaced_by_a_command_alone(kept: Store, database: Path, tmp_path: Path) -> None:
    kept.close()
    home = tmp_path / "home"
    home.mkdir()
    settings = tmp_path / "phiscan.toml"
    settings.write_text(f'home = "{home}"\ndatabase = "{url_of(database)}"\n')

    audit = ("--config", str(settings), "audit")
    assert "is signed with key" in run(*audit, "verify", status=2)
    run(*audit, "sign")
    run(*audit, "verify")


def test_an_edit_is_not_covered_up_by_what_the_program_writes_next(kept: Store, database: Path) -> None:
    edit(database, "UPDATE user_account SET password_hash = 'x' WHERE name = 'bea'")
    kept.users.set_role(2, Role.REVIEWER, by="root", now=later(30))
    edit(database, "UPDATE examination SET risk = 0 WHERE id = 1")
    kept.decide_all([(1, Verdict.UNSURE)], reviewer="ada", now=later(31))
    sealed_scan(kept, 40, results=[pii_only("e/next.csv")], unchanged=["a/letter.txt"])
    words = said(kept.verify_audit())
    assert "user_account 2: was changed" in words
    assert "examination 1: was changed" in words


def test_an_older_version_of_an_account_is_found_by_its_events(kept: Store, database: Path) -> None:
    older = shutil.copy(database, database.with_name("older.db"))
    kept.users.set_role(1, Role.READER, by="root", now=later(30))
    kept.users.enable(3, by="root", now=later(30))
    with sqlite3.connect(database) as connection:
        connection.execute(f"ATTACH '{older}' AS older")
        connection.execute("REPLACE INTO user_account SELECT * FROM older.user_account")
        connection.execute("REPLACE INTO seal_total SELECT * FROM older.seal_total")
    connection.close()
    words = said(kept.verify_audit())
    assert "user_account 1: role is not what its last event in the log says" in words
    assert "user_account 3: disabled is not what" in words


def test_the_whole_normal_life_is_not_flagged(url: str, tmp_path: Path) -> None:
    with open_with_key(url, tmp_path) as store:
        lived(store)
        users = store.users
        users.set_role(2, Role.REVIEWER, by="root", now=later(20))
        users.set_password(1, PASSWORD + "!", by="ada", now=later(21))
        users.enable(3, by="root", now=later(21))
        for minute in range(20):
            users.sign_in("cas", "wrong", address="10.0.0.9", now=later(30 + 16 * minute))
        users.unlock(3, by="root", now=later(600))
        session = users.sign_in("cas", PASSWORD, address="10.0.0.9", now=later(601))
        assert isinstance(session, SignedIn)
        users.make_token(3, label="x", days=9, by="cas", now=later(601))
        users.end_sessions(3, by="cas", now=later(602))
        store.desk.decide(6, Verdict.NOT_PHI, reviewer="bea", now=later(603), token="form")
        store.desk.undo(6, by="bea", now=later(604))
        models.add_version(
            store.database, number=1, files={"a.npz": "0" * 64}, summary={}, by="ada", now=later(605)
        )
        models.activate(store.database, 1, by="ada", now=later(606))
        half = scan(store, [referred("f/half.txt")], minutes=700, complete=False)
        assert store.verify_audit().found == ()
        scan(store, [referred("f/half.txt", n_people=7), *SHARE], minutes=700)
        store.digest_scan(half, whole=True, now=later(702))
        assert store.verify_audit().found == ()


def test_deletion_by_policy_is_not_flagged_and_what_is_left_stays_proved(
    url: str, database: Path, tmp_path: Path
) -> None:
    with open_with_key(url, tmp_path) as store:
        lived(store)
        years = Retention(findings_years=1, decisions_years=1, logs_years=1, superseded_years=1)
        sealed_scan(store, 60 * 24 * 300, results=[referred("d/new.txt", content="newest")])
        done = retention.run(store.database, years, by="ada", now=NOW + timedelta(days=420), dry_run=False)
        assert done.counts["examination"]
        assert done.log_through
        assert store.verify_audit().found == ()
        edit(database, "UPDATE user_account SET role = 'admin' WHERE name = 'bea'")
        assert "user_account 2: was changed" in said(store.verify_audit())


def test_a_changed_database_is_not_purged(kept: Store, database: Path) -> None:
    edit(database, "DELETE FROM finding WHERE examination_id = 1")
    with pytest.raises(StoreError, match=r"nothing was purged.*finding"):
        retention.run(kept.database, Retention(), by="ada", now=later(99), dry_run=False)


def test_holds_do_not_change_what_is_proved(kept: Store) -> None:
    kept.database.write(
        lambda connection: retention.set_holds(
            connection, state="placed", files=[1], reason="case", by="ada", now=later(50)
        )
    )
    assert kept.verify_audit().found == ()
