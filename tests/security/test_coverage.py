"""Each column of each table: a change by SQL is found by the verification, or the column is listed."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import sqlalchemy as sa

from phiscan.review import integrity
from phiscan.review.integrity import NOT_COVERED
from phiscan.review.store import Store
from phiscan.store import seals
from phiscan.store.column_types import CanonicalJson, UtcTime, stored_columns
from phiscan.store.tables.integrity import seal_total
from phiscan.store.tables.schema import metadata
from tests.security.test_tampering import kept, lived_template

__all__ = ["kept", "lived_template"]  # fixtures

WHOLLY = {one.table for one in NOT_COVERED if one.what == "everything"}


def listed(what: str) -> set[str]:
    return WHOLLY | {one.table for one in NOT_COVERED if one.what == what}


LATER = "2030-01-01T00:00:00.000000+00:00"
Found = tuple[sa.Connection, Callable[[sa.Executable], bool]]


def other(column: sa.ColumnElement[Any], value: Any) -> Any:
    """Return another value of the kind that the column holds."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1000
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, str):
        return LATER if value[4:5] + value[10:11] == "-T" else f"{value}x"
    return {int: 1, float: 0.5, bytes: b"x", bool: True}.get(column.type.python_type, LATER)


@cache
def as_stored(table: sa.Table) -> sa.TableClause:
    return sa.table(table.name, *(sa.column(one.name, one.type) for one in stored_columns(table)))


def where(table: sa.Table, row: Mapping[Any, Any]) -> list[sa.ColumnElement[bool]]:
    return [as_stored(table).c[key.name] == row[key.name] for key in table.primary_key.columns]


@pytest.fixture
def changed(kept: Store) -> Iterator[Found]:
    """Tell whether a change is found, made where every edit is possible: no triggers, no constraints."""
    engine = kept.database._engine
    with engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert raw is not None
        raw.cursor().execute("PRAGMA foreign_keys = OFF")
        raw.cursor().execute("PRAGMA ignore_check_constraints = ON")
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (name,) in connection.exec_driver_sql(triggers).all():
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        before = integrity.verify(connection).found

        def is_found(change: sa.Executable) -> bool:
            with connection.begin_nested() as point:
                connection.execute(change)
                found = integrity.verify(connection).found
                point.rollback()
            return found != before

        yield connection, is_found
        connection.rollback()
        connection.invalidate()


def first_row(connection: sa.Connection, table: sa.Table) -> sa.RowMapping | None:
    return seals.rows(connection, table).first()


@pytest.fixture
def three_rows(changed: Found) -> tuple[sa.Connection, Callable[[sa.Executable], bool]]:
    """Three rows in each table whose rows are counted, written as the program writes them."""
    connection, is_found = changed
    for table in seals.COUNTED:
        rows = [synthetic(table, 5000 + number) for number in range(3)]
        stored = as_stored(table)
        for row in rows:
            row[seals.COLUMN] = seals.seal_of(connection, table, row)
        connection.execute(stored.insert(), rows)
        seals._count(connection, table, added=[row[seals.COLUMN] for row in rows])
    return connection, is_found


def synthetic(table: sa.Table, number: int) -> dict[str, Any]:
    """Return a row as stored whose key and other whole numbers are this one."""
    row: dict[str, Any] = {}
    for column, stored in zip(table.columns, stored_columns(table), strict=True):
        value = other(stored, None)
        if isinstance(column.type, CanonicalJson):
            row[column.name] = "{}"
        elif isinstance(value, bytes):
            row[column.name] = b"%d" % number
        elif isinstance(value, str) and not isinstance(column.type, UtcTime):
            row[column.name] = str(number)
        else:
            row[column.name] = number if type(value) is int else value
    return row


def differences(connection: sa.Connection, *changes: sa.Executable) -> set[str]:
    """Return what is found about totals after some changes, which are taken back."""
    with connection.begin_nested() as point:
        for change in changes:
            connection.execute(change)
        found = {f"{one.table}: {one.what}" for one in integrity._seals(connection)}
        point.rollback()
    return found


@pytest.mark.parametrize("table", seals.COUNTED, ids=lambda table: table.name)
def test_a_row_that_is_removed_doubled_or_replaced_by_another_is_found(
    three_rows: Found, table: sa.Table
) -> None:
    connection, _ = three_rows
    rows = seals.rows(connection, table).all()[-3:]
    before = differences(connection)
    remove = [as_stored(table).delete().where(*where(table, row)) for row in rows]
    total = seal_total.delete().where(seal_total.c.name == table.name)
    for changes in ([remove[0]], remove, [remove[2]], [as_stored(table).delete()]):
        assert any("removed or doubled" in one for one in differences(connection, *changes) - before)
    assert any("count of" in one for one in differences(connection, total) - before)
    assert any("count of" in one for one in differences(connection, seal_total.delete(), *remove) - before)
    is_unique = any(isinstance(one, sa.UniqueConstraint) for one in table.constraints)
    is_unique |= any(index.unique for index in table.indexes)
    if "id" in table.columns and not is_unique:  # the seal does not cover the number of a row
        copy = as_stored(table).insert().values({**rows[1], "id": 7000})
        assert any("removed or doubled" in one for one in differences(connection, copy) - before)
        assert any("removed or doubled" in one for one in differences(connection, remove[0], copy) - before)


@pytest.mark.parametrize("table", seals.COUNTED, ids=lambda table: table.name)
def test_what_the_program_removes_itself_is_no_difference(three_rows: Found, table: sa.Table) -> None:
    connection, _ = three_rows
    before = differences(connection)
    (key, *_) = table.primary_key.columns
    seals.remove(connection, table, key == 5001)
    assert differences(connection) == before
    # A row that was put in with SQL is named, and was never counted: its removal restores order.
    forged = as_stored(table).insert().values(synthetic(table, 6000))
    connection.execute(forged)
    assert any("wrong seal" in one for one in differences(connection) - before)
    seals.remove(connection, table, key == 6000)
    assert differences(connection) == before


def test_what_sql_removed_is_not_covered_up_by_what_the_program_writes_next(three_rows: Found) -> None:
    connection, _ = three_rows
    table = seals.COUNTED[0]
    row = seals.rows(connection, table).all()[-1]
    connection.execute(as_stored(table).delete().where(*where(table, row)))
    connection.execute(seal_total.delete())
    seals.remove(connection, table, next(iter(table.primary_key.columns)) == 5001)
    assert any("count of" in one for one in differences(connection))


@pytest.mark.slow
def test_each_changed_column_is_found_or_listed(changed: Found) -> None:
    connection, is_found = changed
    places: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    for table in metadata.sorted_tables:
        row = first_row(connection, table)
        for column in stored_columns(table) if row is not None else ():
            assert row is not None
            values = {column.name: other(column, row[column.name])}
            change = as_stored(table).update().where(*where(table, row)).values(values)
            is_noticed = is_found(change)
            places[is_noticed].add((table.name, column.name))
    assert {(table, name) for table, name in places[False] if table not in listed(name)} == set()
    assert {(table, name) for table, name in places[True] if table in listed(name)} == set()
    assert len({table for table, _ in places[True]}) >= 15


def test_each_added_row_is_found_or_its_table_listed(changed: Found) -> None:
    _, is_found = changed
    missed = set()
    for table in metadata.sorted_tables:
        row = {
            column.name: "{}" if isinstance(column.type, CanonicalJson) else other(stored, None)
            for column, stored in zip(table.columns, stored_columns(table), strict=True)
        }
        parents = {
            "scan_id",
            "root_id",
            "user_id",
            *(["examination_id"] if table in integrity.CHILDREN else ()),
        }
        row |= {name: 1 if name in parents else 1001 for name, value in row.items() if type(value) is int}
        change = as_stored(table).insert().values(row)
        if not is_found(change):
            missed.add(table.name)
    assert missed == listed("rows added")


def test_each_removed_row_is_found_or_its_table_listed(changed: Found) -> None:
    connection, is_found = changed
    missed = set()
    for table in metadata.sorted_tables:
        row = first_row(connection, table)
        if row is None:
            continue
        change = as_stored(table).delete().where(*where(table, row))
        if not is_found(change):
            missed.add(table.name)
    assert missed <= listed("rows removed")
