"""Alembic migrations of the review store, shipped with the program and run by it.

Until the first release ``store/tables/`` alone states the schema: the baseline creates it, and a changed
table makes another ``SCHEMA_VERSION``; databases of an earlier one are refused. Developers: the first
migration after a release freezes the baseline (its revision becomes the released ``SCHEMA_VERSION``, its
``upgrade`` a copy of the released statements), adds ``versions/v0002_*.py`` with its id as
``down_revision``, and sets ``SCHEMA_VERSION`` to "0002"; tests/review/test_migrations.py compares the result
with the tables.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory


def migrate(connection: sa.Connection, revision: str = "head") -> None:
    """Migrate the database to a revision, inside the caller's transaction.

    Rows derived from other tables (``review.worklist.rows``) must be rebuilt by the caller.
    """
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def pending(found: str) -> list[tuple[str, str]] | None:
    """Return number and summary of each pending revision of a database at ``found`` ("" = empty).

    None: this program has no such revision.
    """
    scripts = ScriptDirectory.from_config(alembic_config())
    steps = [(step.revision, str(step.doc)) for step in scripts.walk_revisions()]
    numbers = [number for number, _ in steps]
    if not found:
        return steps[::-1]
    return steps[: numbers.index(found)][::-1] if found in numbers else None


def alembic_config() -> Config:
    """Return Alembic's configuration: no ini file, the scripts in this folder."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
