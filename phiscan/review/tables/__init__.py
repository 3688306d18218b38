"""The tables of the review store; each table and column says what it means (docs/reference/database.md)."""

from phiscan.review import append_only
from phiscan.review.tables import desk, models, retention, review, users
from phiscan.review.tables.models import health_window, model_activation, model_version
from phiscan.review.tables.review import assignment, audit_log, decision
from phiscan.review.tables.scans import (
    access,
    examination,
    file,
    finding,
    health_term,
    root,
    scan,
    scan_root,
    sighting,
    unread_part,
)
from phiscan.review.tables.schema import metadata

__all__ = [
    "APPEND_ONLY",
    "SCHEMA_VERSION",
    "access",
    "assignment",
    "audit_log",
    "decision",
    "examination",
    "file",
    "finding",
    "health_term",
    "health_window",
    "metadata",
    "model_activation",
    "model_version",
    "root",
    "scan",
    "scan_root",
    "sighting",
    "unread_part",
]

SCHEMA_VERSION = "0006"  # the newest revision in migrations/versions

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    **review.APPEND_ONLY,
    **users.APPEND_ONLY,
    **desk.APPEND_ONLY,
    **models.APPEND_ONLY,
    **retention.APPEND_ONLY,
}
"""All append-only tables and their unique columns, by which a REPLACE could otherwise remove a row."""

append_only.guard(metadata, APPEND_ONLY)
