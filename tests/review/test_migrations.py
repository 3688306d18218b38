"""The migrations and the tables in the code say the same; every table and column is described."""

import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql

from phiscan.review.store import Store
from phiscan.store import collation
from phiscan.store.append_only import statements
from phiscan.store.migrations import alembic_config
from phiscan.store.tables import APPEND_ONLY, SCHEMA_VERSION, metadata
from phiscan.store.urls import parse
from tests.postgresql import Server
from tests.review.results import clear, scan, url_of


def _schema(engine: sa.Engine) -> dict[str, list[str]]:
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").all()
        return {
            name: [*_columns(connection, name), *_other_lines(connection, name, sql)]
            for name, sql in found
            if name not in {"alembic_version", "sqlite_sequence"}
        }


def _columns(connection: sa.Connection, table: str) -> list[str]:
    """Return the columns as SQLite knows them; a column that was added stands behind the constraints."""
    rows = connection.exec_driver_sql(f'PRAGMA table_info("{table}")')
    return sorted(f"{row.name} {row.type} {row.notnull} {row.dflt_value} {row.pk}" for row in rows)


def _other_lines(connection: sa.Connection, table: str, sql: str) -> list[str]:
    """Return the lines that declare no column; their order has no meaning."""
    names = {row.name for row in connection.exec_driver_sql(f'PRAGMA table_info("{table}")')}
    lines = (part.strip(" \n\t,") for part in sql.splitlines())
    return sorted(line for line in lines if line.split(" ")[0] not in names and line != ")")


def test_migrations_make_what_the_code_describes(store: Store, database: Path, tmp_path: Path) -> None:
    assert store.scans() == []
    created = sa.create_engine(url_of(tmp_path / "created.db"))
    metadata.create_all(created)
    migrated = sa.create_engine(url_of(database))
    assert _schema(migrated) == _schema(created)
    assert len(_schema(created)) > 20
    with migrated.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_migrations_make_the_same_on_a_server(url: str, server: Server) -> None:
    engine = sa.create_engine(parse(url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        triggers = set(
            connection.exec_driver_sql("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal").scalars()
        )
        assert triggers == {
            f"{table}_{what}" for table in APPEND_ONLY for what in ("no_change", "no_truncate")
        }
        checks = connection.exec_driver_sql(
            "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0"
        ).scalars()
        assert set(checks) == {
            str(constraint.name)
            if str(constraint.name).startswith("ck_")
            else f"ck_{table.name}_{constraint.name}"
            for table in metadata.sorted_tables
            for constraint in table.constraints
            if isinstance(constraint, sa.CheckConstraint)
        }
    engine.dispose()
    assert server.folder.is_dir()


def test_texts_sort_by_code_points(store: Store) -> None:
    names = ["a.txt", "B.txt", "_.txt", "é.txt", "E.txt", "王.txt", "\U0001f600.txt"]
    scan(store, [clear(name) for name in names])
    assert [row.path for row in store.rows()] == sorted(names)


def test_no_text_is_left_to_the_order_of_the_server(url: str, server: Server) -> None:
    engine = sa.create_engine(parse(url))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 'a' < 'B'").scalar() is True  # its own order is English
        assert collation.statements(connection) == ()
    engine.dispose()
    assert server.folder.is_dir()


def test_the_log_of_an_older_database_is_kept_and_guarded(tmp_path: Path) -> None:
    engine = sa.create_engine(url_of(tmp_path / "old.db"))
    config = alembic_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.exec_driver_sql(
            "INSERT INTO audit_log (at, actor, action, subject_id, details, prev_hash, hash)"
            " VALUES ('2026-11-20T00:00:00+00:00', 'ana', 'decide', 1, '{}', 'p', 'h')"
        )
        command.upgrade(config, "head")
        assert connection.exec_driver_sql("SELECT id, actor, hash FROM audit_log").all() == [(1, "ana", "h")]
    for change in (
        "UPDATE audit_log SET actor = 'eve'",
        "DELETE FROM audit_log",
        "INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log",
    ):
        with pytest.raises(sa.exc.IntegrityError, match="append-only"), engine.begin() as connection:
            connection.exec_driver_sql(change)


def test_the_version_in_the_code_is_the_newest_revision() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == SCHEMA_VERSION


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_everything_is_described_and_named(table: sa.Table) -> None:
    assert table.comment
    assert [column.name for column in table.columns if not column.comment] == []
    assert [c for c in table.constraints if not c.name] == []
    assert [
        c.name for c in table.constraints if isinstance(c, sa.CheckConstraint) and "None" in str(c.name)
    ] == []


def test_the_tables_can_be_said_in_postgresql() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made = [str(sa.schema.CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables]
    assert not [text for text in made if "BLOB" in text or "AUTOINCREMENT" in text]
    ids = [table.c.get("id") for table in metadata.sorted_tables]
    numbered = [one for one in ids if one is not None and one.autoincrement is True]
    assert sum("id BIGSERIAL NOT NULL" in text for text in made) == len(numbered) >= 7
    for table, unique in APPEND_ONLY.items():
        triggers = statements("postgresql", table, unique)
        assert any("BEFORE UPDATE OR DELETE" in text for text in triggers)
        assert any("BEFORE TRUNCATE" in text for text in triggers)


def test_refuses_a_database_without_append_only_triggers() -> None:
    with pytest.raises(ValueError, match="mysql"):
        statements("mysql", "decision", ("id",))


@pytest.mark.bench
def test_bench_migration(tmp_path: Path) -> None:
    for run in range(5):
        started = time.perf_counter()
        Store.open(url_of(tmp_path / f"{run}.db"), create=True).close()
        print(f"new database, run {run}: {time.perf_counter() - started:.3f} s")
