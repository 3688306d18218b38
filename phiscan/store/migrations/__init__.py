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
    """Bring the database up to a revision, inside the caller's transaction.

    Rows that are derived from other tables (``review.worklist.rows``) are the caller's to make anew.
    """
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def pending(found: str) -> list[tuple[str, str]]:
    """Return number and summary of each revision that a database at ``found`` ("" = empty) still lacks."""
    scripts = ScriptDirectory.from_config(alembic_config())
    steps = [(step.revision, str(step.doc)) for step in scripts.walk_revisions()]
    return [(number, summary) for number, summary in reversed(steps) if number > found]


def alembic_config() -> Config:
    """Return Alembic's configuration: no ini file, the scripts beside this one."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
