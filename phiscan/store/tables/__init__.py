"""The tables of the review store; every table and column has a comment (see docs/reference/database.md)."""

from phiscan.store import append_only
from phiscan.store.tables import desk, integrity, models, patients, retention, review, users
from phiscan.store.tables.desk import (
    adjudication,
    decision_form,
    decision_undo,
    desk_policy,
    near_group,
    near_signature,
    reveal,
    sample_draw,
    sample_member,
    second_review,
    second_verdict,
    skip,
    span_correction,
    span_review,
    suppression,
    suppression_approval,
    suppression_lift,
    topic_correction,
    work_item,
    work_tally,
)
from phiscan.store.tables.integrity import audit_head, examination_digest, scan_digest
from phiscan.store.tables.models import health_window, model_activation, model_version
from phiscan.store.tables.patients import patient_check, patient_event, patient_match
from phiscan.store.tables.retention import key_use, legal_hold, purge, scan_totals
from phiscan.store.tables.review import assignment, audit_log, decision
from phiscan.store.tables.scans import (
    access,
    departure,
    early_result,
    examination,
    file,
    finding,
    folder,
    health_term,
    reuse,
    root,
    scan,
    scan_root,
    sighting,
    stage_time,
    unread_part,
)
from phiscan.store.tables.schema import metadata

__all__ = [
    "APPEND_ONLY",
    "SCHEMA_VERSION",
    "access",
    "adjudication",
    "assignment",
    "audit_head",
    "audit_log",
    "decision",
    "decision_form",
    "decision_undo",
    "departure",
    "desk_policy",
    "early_result",
    "examination",
    "examination_digest",
    "file",
    "finding",
    "folder",
    "health_term",
    "health_window",
    "key_use",
    "legal_hold",
    "metadata",
    "model_activation",
    "model_version",
    "near_group",
    "near_signature",
    "patient_check",
    "patient_event",
    "patient_match",
    "purge",
    "reuse",
    "reveal",
    "root",
    "sample_draw",
    "sample_member",
    "scan",
    "scan_digest",
    "scan_root",
    "scan_totals",
    "second_review",
    "second_verdict",
    "sighting",
    "skip",
    "span_correction",
    "span_review",
    "stage_time",
    "suppression",
    "suppression_approval",
    "suppression_lift",
    "topic_correction",
    "unread_part",
    "work_item",
    "work_tally",
]

SCHEMA_VERSION = "0017"  # the newest revision in migrations/versions

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    **review.APPEND_ONLY,
    **users.APPEND_ONLY,
    **desk.APPEND_ONLY,
    **models.APPEND_ONLY,
    **retention.APPEND_ONLY,
    **patients.APPEND_ONLY,
    **integrity.APPEND_ONLY,
}
"""All append-only tables and their unique columns, by which a REPLACE could otherwise remove a row."""

append_only.guard(metadata, APPEND_ONLY)
