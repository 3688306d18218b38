"""Alembic migrations of the review store, shipped with the program and run by it.

Developers: a new revision is written by hand in versions/ (number, what it changes, why), together with
tables/ and its SCHEMA_VERSION; tests/review/test_migrations.py compares the two.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


def migrate(connection: sa.Connection) -> None:
    """Bring the database up to the newest revision, inside the caller's transaction."""
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def alembic_config() -> Config:
    """Return Alembic's configuration: no ini file, the scripts beside this one."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
