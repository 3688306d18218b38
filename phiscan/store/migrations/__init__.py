"""Alembic migrations of the review store, shipped with the program and run by it.

Developers: a new revision is written by hand in versions/ (number, what it changes, why), together with
tables/ and its SCHEMA_VERSION; tests/review/test_migrations.py compares the two.
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


def pending(found: str) -> list[tuple[str, str]]:
    """Return number and summary of each pending revision of a database at ``found`` ("" = empty)."""
    scripts = ScriptDirectory.from_config(alembic_config())
    steps = [(step.revision, str(step.doc)) for step in scripts.walk_revisions()]
    return [(number, summary) for number, summary in reversed(steps) if number > found]


def alembic_config() -> Config:
    """Return Alembic's configuration: no ini file, the scripts in this folder."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
