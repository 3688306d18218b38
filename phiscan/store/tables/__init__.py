"""The tables of the review store; every table and column has a comment (see docs/make_database.py)."""

from phiscan.store import append_only
from phiscan.store.tables import desk, integrity, scans, schema, users

__all__ = ["SCHEMA_VERSION", "desk", "integrity", "scans", "schema", "users"]

append_only.guard(schema.metadata, schema.APPEND_ONLY)

SCHEMA_VERSION = f"0001.{schema.digest(schema.metadata, schema.APPEND_ONLY)}"
"""Revision of a database that holds these tables; until the first release it changes with them."""
