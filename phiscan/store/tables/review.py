"""Tables of reviewers' decisions and assignments, and the audit log; all append-only."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.model import Verdict
from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, metadata, one_of, row_id

decision = sa.Table(
    "decision",
    metadata,
    row_id("number of the decision; of several, the highest number applies"),
    column("file_id", RowId, "the file; it stands for identical ones", sa.ForeignKey("file.id")),
    column("examination_id", RowId, "the result the reviewer saw", sa.ForeignKey("examination.id")),
    column("content_hash", sa.Text, "blake3 of the content decided upon; other content needs a new decision"),
    column("verdict", sa.Text, "phi, not_phi or unsure"),
    column("reviewer", SafeText, "who decided"),
    column("reason", SafeText, "reason from a short list; may be empty"),
    column("note", SafeText, "free text of the reviewer; may be empty"),
    column("by_name", sa.Boolean, "judged by the file's name, unopened: counts in no bound"),
    column("decided", UtcTime, "when"),
    one_of("verdict", (v.value for v in Verdict)),
    sa.CheckConstraint("reviewer <> ''", name="reviewer_named"),
    sa.Index(None, "file_id"),
    sa.Index(None, "content_hash"),
    sqlite_autoincrement=True,
    comment="A reviewer's verdict. Append-only: undoing is a later decision.",
)

assignment = sa.Table(
    "assignment",
    metadata,
    row_id("number of the assignment; of several, the highest number applies"),
    column("file_id", RowId, "the file", sa.ForeignKey("file.id")),
    column("assignee", SafeText, "the assigned reviewer; empty = no longer assigned"),
    column("assigned_by", SafeText, "who assigned"),
    column("assigned", UtcTime, "when"),
    sa.CheckConstraint("assigned_by <> ''", name="assigned_by_named"),
    sa.Index(None, "file_id"),
    sqlite_autoincrement=True,
    comment="The assignment of a file to a reviewer. Append-only.",
)

_GROUPED = ("text", "state", "add", "remove")
incident_entry = sa.Table(
    "incident_entry",
    metadata,
    row_id("number of the entry; of several about one field or file, the highest number applies"),
    column("incident", RowId, "number of the incident; null = of a file, folder or owner alone", null=True),
    column("kind", sa.Text, "what was done: a text, a state, a file added or removed, or about a remedy"),
    column("field", SafeText, "field of a text, state, answer, last day of an exception, folder or owner"),
    column("text", SafeText, "free text, without identifiers of the files; may be empty"),
    column("file_id", RowId, "the file that it is about", sa.ForeignKey("file.id"), null=True),
    column("entered_by", SafeText, "who"),
    column("entered", UtcTime, "when"),
    one_of("kind", (*_GROUPED, "answer", "assignee", "note", "exception", "owner", "address", "reminder")),
    sa.CheckConstraint(f"(incident IS NOT NULL) = (kind IN {_GROUPED})", name="incident_given"),
    sa.CheckConstraint("entered_by <> ''", name="entered_by_named"),
    sa.Index(None, "incident"),
    sa.Index(None, "file_id"),
    sqlite_autoincrement=True,
    comment="The record of incidents and remedies: what was written, decided, assigned. Append-only.",
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    row_id("number of the entry, without gaps"),
    column("at", UtcTime, "when"),
    column("actor", SafeText, "who"),
    column("action", sa.Text, "what was done; `phiscan.review.audit.log` lists the actions"),
    column("subject_id", RowId, "number of the row in the table that the action writes to"),
    column("details", CanonicalJson, "what was done, with the digest of the row written"),
    column("prev_hash", sa.Text, "hash of the entry before; 64 zeros before the first"),
    column("hash", sa.Text, "sha256 over the canonical JSON of the other columns"),
    sa.CheckConstraint("action <> ''", name="action_named"),
    sa.UniqueConstraint("hash"),
    sa.UniqueConstraint("prev_hash"),
    sqlite_autoincrement=True,
    comment="Every change of review state, each entry chained to the one before. Append-only.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "decision": ("id",),
    "assignment": ("id",),
    "incident_entry": ("id",),
    "audit_log": ("id", "hash", "prev_hash"),
}
"""The append-only tables of this module and their unique columns, by which a REPLACE could remove a row."""
