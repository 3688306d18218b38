"""The migrations and the tables in the code say the same; every table and column is described."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from phiscan.errors import StoreError
from phiscan.review.integrity import problems
from phiscan.review.maintenance import backup
from phiscan.review.store import Store
from phiscan.store import database as database_module
from phiscan.store import migrations
from phiscan.store.append_only import statements
from phiscan.store.database import parse
from phiscan.store.migrations import alembic_config
from phiscan.store.tables import SCHEMA_VERSION
from phiscan.store.tables.schema import digest, metadata
from tests.postgresql import Server
from tests.review.results import NOW, clear, scan, url_of


def test_migrations_make_what_the_code_describes(store: Store, backend: str) -> None:
    with store.database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert problems(connection) == []
        if backend == "sqlite":  # a description of a table states its constraints there
            return
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


def test_texts_sort_by_code_points(store: Store) -> None:
    names = ["a.txt", "B.txt", "_.txt", "é.txt", "E.txt", "王.txt", "\U0001f600.txt"]
    scan(store, [clear(name) for name in names])
    assert [row.path for row in store.rows()] == sorted(names)


def test_no_text_is_left_to_the_order_of_the_server(url: str, server: Server) -> None:
    engine = sa.create_engine(parse(url))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 'a' < 'B'").scalar() is True  # its own order is English
        tables = set(
            connection.exec_driver_sql(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public'"
                " AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
            ).scalars()
        )
        assert tables == set()
    engine.dispose()
    assert server.folder.is_dir()


_SECOND = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "0002", "{before}", None, None
def upgrade():
    op.create_table("later", sa.Column("id", sa.BigInteger(), primary_key=True))
"""


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a migration after the baseline, as after the first release."""
    (tmp_path / "v0002.py").write_text(_SECOND.format(before=SCHEMA_VERSION))
    config = alembic_config()
    here = Path(migrations.__file__).parent / "versions"
    config.set_main_option("version_locations", f"{here} {tmp_path}")
    config.set_main_option("path_separator", "space")
    monkeypatch.setattr(migrations, "alembic_config", lambda: config)
    for module in (database_module, backup):
        monkeypatch.setattr(module, "SCHEMA_VERSION", "0002")


def test_a_database_of_the_baseline_is_migrated_and_keeps_its_rows(
    store: Store, url: str, request: pytest.FixtureRequest
) -> None:
    scan(store)
    before = store.queue_size()
    store.close()
    request.getfixturevalue("later")
    with pytest.raises(StoreError, match=r"expected 0002; `phiscan db migrate` updates it"):
        Store.open(url)
    with Store.open(url, create=True) as migrated:
        assert migrated.queue_size() == before == 2
        with migrated.database.read() as connection:
            assert sa.inspect(connection).has_table("later")
            assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all() == [
                "0002"
            ]


def test_a_backup_of_the_baseline_is_restored_and_migrated(
    store: Store, url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    scan(store)
    backup.back_up(url, tmp_path / "old.phiscan", now=NOW)
    request.getfixturevalue("later")
    backup.restore(tmp_path / "old.phiscan", url_of(tmp_path / "new.db"))
    with Store.open(url_of(tmp_path / "new.db")) as restored:
        assert restored.queue_size() == store.queue_size() == 2


def test_the_version_changes_with_the_tables_and_not_with_comments() -> None:
    def version(*columns: sa.Column[int], comment: str = "") -> str:
        one = sa.MetaData()
        sa.Table("one", one, *columns, comment=comment)
        return digest(one, {"one": ("id",)})

    plain = version(sa.Column("id", sa.Integer))
    assert version(sa.Column("id", sa.Integer, comment="number"), comment="words") == plain
    changed = [
        version(sa.Column("id", sa.Text)),
        version(sa.Column("id", sa.Integer, nullable=False)),
        version(sa.Column("id", sa.Integer, unique=True)),
        version(sa.Column("id", sa.Integer, index=True)),
        version(sa.Column("id", sa.Integer), sa.Column("n", sa.Integer)),
        version(sa.Column("id", sa.Integer, sa.CheckConstraint("id > 0", name="positive"))),
        version(sa.Column("id", sa.Integer, server_default="1")),
    ]
    assert len({plain, *changed}) == len(changed) + 1


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


def test_refuses_a_database_without_append_only_triggers() -> None:
    with pytest.raises(ValueError, match="mysql"):
        statements("mysql", "decision", ("id",))
