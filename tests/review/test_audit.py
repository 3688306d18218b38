"""Decisions, assignments and their log: nothing is changed, removed, replaced or forged unseen."""

import sqlite3
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.model import Verdict
from phiscan.review.accounts.users import Role
from phiscan.review.audit import log as audit
from phiscan.review.store import Store
from phiscan.store.database import parse
from tests.review.results import NOW, failed, later, scan

TABLES = ("decision", "assignment", "audit_log", "user_event", "log_review")


@pytest.fixture
def decided(store: Store) -> Store:
    scan(store)
    store.decide_all([(1, Verdict.PHI)], reviewer="ada", reason="letter", note="see file", now=NOW)
    store.assign_all([6], "bea", by="ada", now=later(1))
    store.decide_all([(1, Verdict.UNSURE), (6, Verdict.NOT_PHI)], reviewer="bea", now=later(2))
    return store


def tamper(url: str, *statements: str) -> None:
    """Change rows as somebody with the database in hand would: the triggers dropped first."""
    engine = sa.create_engine(parse(url))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        else:
            triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            for (name,) in connection.exec_driver_sql(triggers).all():
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


CHANGES = {
    "sqlite": (
        "UPDATE {table} SET id = id",
        "DELETE FROM {table} WHERE id = 1",
        "INSERT OR REPLACE INTO {table} SELECT * FROM {table} WHERE id = 1",
        "REPLACE INTO {table} SELECT * FROM {table}",
        "INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET id = 1",
        "UPDATE OR REPLACE {table} SET id = 1",
    ),
    "postgresql": (
        "UPDATE {table} SET id = id",
        "DELETE FROM {table} WHERE id = 1",
        "TRUNCATE {table} CASCADE",
        "INSERT INTO {table} SELECT * FROM {table} WHERE id = 1 ON CONFLICT (id) DO UPDATE SET id = 1",
        "MERGE INTO {table} USING {table} AS other ON {table}.id = other.id WHEN MATCHED THEN DELETE",
    ),
}


def test_append_only_tables_refuse_every_change(decided: Store, url: str, backend: str) -> None:
    decided.users.add(name="Ana", role=Role.LEAD, password=None, by="test", now=NOW)
    decided.users.sign_log(head=decided.verify_audit().head, note="", reviewer="Ana", now=NOW)
    recursive = [f"PRAGMA recursive_triggers = {mode}" for mode in ("ON", "OFF")]
    settings = recursive if backend == "sqlite" else ["SELECT 1"]
    engine = sa.create_engine(parse(url))
    for setting, table, change in product(settings, TABLES, CHANGES[backend]):
        with engine.connect() as connection:
            connection.exec_driver_sql(setting)
            with pytest.raises(sa.exc.DBAPIError, match=f"{table} is append-only"):
                connection.exec_driver_sql(change.format(table=table))
    engine.dispose()


@pytest.mark.parametrize("column", ["hash", "prev_hash"])
def test_replace_through_another_unique_column_is_refused(
    decided: Store, database: Path, column: str
) -> None:
    assert decided.verify_audit().ok
    names = ["at", "actor", "action", "subject_id", "details", "prev_hash", "hash"]
    values = ["'forged'" if name in {"hash", "prev_hash"} and name != column else name for name in names]
    query = f"SELECT {', '.join(values)} FROM audit_log WHERE id = 2"  # noqa: S608 (names of ours)
    with sqlite3.connect(database) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(f"INSERT OR REPLACE INTO audit_log ({', '.join(names)}) {query}")


def test_an_empty_log_is_whole(store: Store) -> None:
    check = store.verify_audit()
    assert (check.ok, check.n_rows, check.head) == (True, 0, "0" * 64)
    assert store.verify_audit(head=check.head).ok


def test_a_noted_head_shows_that_the_end_was_cut_off(decided: Store, url: str) -> None:
    head = decided.verify_audit().head
    tamper(url, "DELETE FROM audit_log WHERE id = 4", "DELETE FROM decision WHERE id = 3")
    with decided.database.read() as connection:
        assert audit.verify(connection).ok  # nothing inside the chain can show this
        assert not audit.contains(connection, head)
    check = decided.verify_audit(head=head)
    assert (check.ok, check.first_bad) == (False, 4)
    assert "noted hash is not in the log" in check.problem


def test_a_file_that_failed_later_cannot_be_decided(decided: Store) -> None:
    scan(decided, [replace(failed("a/letter.txt"), content_hash="")], minutes=5)
    with pytest.raises(InputError, match="never read"):
        decided.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
