"""The tables of the review store; each table and column says what it means (docs/reference/database.md).

No column holds document text: findings keep positions, types, masked shapes and keyed hashes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, FailReason, Outcome, Referral, Verdict
from phiscan.review import append_only
from phiscan.review.column_types import CanonicalJson, Clamped64, RowId, SafeText, Unsigned64, UtcTime

SCHEMA_VERSION = "0001"  # the newest revision in migrations/versions

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    },
)


def _one_of(column: str, values: Iterable[str]) -> sa.CheckConstraint:
    listed = textwrap.fill(", ".join(f"'{value}'" for value in values), 100)
    return sa.CheckConstraint(f"{column} IN (\n{listed}\n)", name=f"{column}_known")


def _column(name: str, kind: Any, comment: str, *args: Any, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, *args, nullable=null, comment=comment)


def _id(comment: str) -> sa.Column[Any]:
    return sa.Column("id", RowId, primary_key=True, autoincrement=True, comment=comment)


def _key(name: str, target: str, comment: str) -> sa.Column[Any]:
    """Return a column of a primary key that points at another table."""
    reference = (sa.ForeignKey(target),) if target else ()
    return sa.Column(
        name, RowId, *reference, primary_key=True, autoincrement=False, nullable=False, comment=comment
    )


scan = sa.Table(
    "scan",
    metadata,
    _id("number of the scan"),
    _column("scan_key", sa.Text, "sha256 over roots, versions and options: what makes a scan resumable"),
    _column("status", sa.Text, "running (also: killed), stopped (resumable) or complete"),
    _column("started", UtcTime, "when the scan was begun"),
    _column("ended", UtcTime, "when it last stopped or completed", null=True),
    _column("seconds", sa.Double, "duration of all its parts that ended orderly, in seconds"),
    _column("versions", CanonicalJson, "versions and hashes of program, rules, dictionaries and models"),
    _column("options", CanonicalJson, "options of the scan that change its result"),
    _one_of("status", ("running", "stopped", "complete")),
    sa.Index(None, "scan_key"),
    sqlite_autoincrement=True,
    comment="One scan of one or more roots; a resumed scan stays one row.",
)

root = sa.Table(
    "root",
    metadata,
    _id("number of the root"),
    _column("path", sa.LargeBinary, "raw bytes of the folder's path"),
    _column("display", SafeText, "the path as text, bytes that are not UTF-8 as \\xNN"),
    _column("complete_scan_id", RowId, "newest complete scan of it", sa.ForeignKey("scan.id"), null=True),
    sa.UniqueConstraint("path"),
    sqlite_autoincrement=True,
    comment="A folder (share) that was scanned.",
)

scan_root = sa.Table(
    "scan_root",
    metadata,
    _key("scan_id", "scan.id", "the scan"),
    _key("position", "", "place of the root on the command line, from 0"),
    _column("root_id", RowId, "the root", sa.ForeignKey("root.id")),
    sa.Index(None, "root_id"),
    comment="The roots of a scan, in the order given.",
)

file = sa.Table(
    "file",
    metadata,
    _id("number of the file, in the order of the first crawl"),
    _column("root_id", RowId, "the root it lies under", sa.ForeignKey("root.id")),
    _column("path", sa.LargeBinary, "raw bytes of the path relative to the root"),
    _column("display", SafeText, "the path as text, bytes that are not UTF-8 as \\xNN"),
    _column("seen_scan_id", RowId, "the scan that saw it last", sa.ForeignKey("scan.id")),
    sa.UniqueConstraint("root_id", "path"),
    sa.Index(None, "display"),
    sqlite_autoincrement=True,
    comment="A file that was crawled at least once; it keeps its number and its history.",
)

examination = sa.Table(
    "examination",
    metadata,
    _id("number of the examination"),
    _column("scan_id", RowId, "the scan that examined the file", sa.ForeignKey("scan.id")),
    _column("file_id", RowId, "the file", sa.ForeignKey("file.id")),
    _column("outcome", sa.Text, "what became of the file: screened, skipped or failed"),
    _column("reason", sa.Text, "why it was skipped or failed; empty when screened"),
    _column("detail", SafeText, "technical detail of the reason, never content"),
    _column("versions_key", sa.Text, "versions of everything that made this result"),
    _column("size", sa.BigInteger, "size in bytes when crawled"),
    _column("mtime_ns", Clamped64, "time of last change of the content, nanoseconds since 1970"),
    _column("ctime_ns", Clamped64, "time of last change of the inode, nanoseconds since 1970"),
    _column("inode", Unsigned64, "inode, unsigned 64 bits folded onto signed"),
    _column("device", Unsigned64, "device, unsigned 64 bits folded onto signed"),
    _column("mode", sa.BigInteger, "file mode bits of the file system"),
    _column("uid", sa.BigInteger, "numeric owner"),
    _column("media_type", SafeText, "type by content; empty when never read"),
    _column("content_hash", sa.Text, "blake3 of the bytes, hex; empty when never read"),
    _column("n_chars", sa.BigInteger, "code points of text read"),
    _column("vector", sa.BigInteger, "PII characteristics present, one bit each, FirstName the lowest"),
    _column("hamming", sa.Integer, "bits lacking to satisfy equation 4; 0 = satisfied", null=True),
    _column("missing", sa.BigInteger, "one cheapest set of lacking bits, packed like vector"),
    _column("nearest_prototype", SafeText, "name of the nearest PII prototype (equation 5)"),
    _column("prototype_distance", sa.Integer, "Hamming distance to it", null=True),
    _column("n_people", sa.Integer, "distinct people at risk in the file, an estimate"),
    _column("n_findings", sa.Integer, "number of rows in finding"),
    _column(
        "health_score", sa.Double, "health information about a person, 0 to 1, 0.5 = threshold", null=True
    ),
    _column("health_distance", sa.Double, "Euclidean distance to the k-th nearest prototype", null=True),
    _column("health_prototype", SafeText, "name of the nearest health prototype"),
    _column("referral", sa.Text, "decision of the pipeline; null unless screened", null=True),
    _column("decision_case", SafeText, "row of the decision table that applied"),
    _column("detectors", CanonicalJson, "verdict of each independent detector, [[name, is PHI], ...]"),
    _column("risk", sa.Double, "order in the queue: kinds of identifiers x people x score"),
    _one_of("outcome", (o.value for o in Outcome if o is not Outcome.UNCHANGED)),
    _one_of("referral", (r.value for r in Referral)),
    sa.CheckConstraint("(outcome = 'screened') = (referral IS NOT NULL)", name="referral_if_screened"),
    sa.CheckConstraint("(outcome = 'screened') = (reason = '')", name="reason_unless_screened"),
    sa.CheckConstraint("hamming >= 0 AND prototype_distance >= 0", name="distances_not_negative"),
    sa.CheckConstraint("n_people >= 0 AND n_findings >= 0 AND n_chars >= 0", name="counts_not_negative"),
    sa.CheckConstraint("health_score BETWEEN 0 AND 1", name="health_score_range"),
    sa.UniqueConstraint("scan_id", "file_id"),
    sa.Index(None, "file_id"),
    sa.Index(None, "referral", "risk"),
    sqlite_autoincrement=True,
    comment="What one scan found out about one file; a file keeps all its examinations.",
)

sighting = sa.Table(
    "sighting",
    metadata,
    _key("scan_id", "scan.id", "the scan"),
    _key("file_id", "file.id", "the file that was there"),
    _column("examination_id", RowId, "its standing result", sa.ForeignKey("examination.id")),
    sa.Index(None, "examination_id"),
    comment="A file was there when a scan came by. Unchanged = the examination is of an earlier scan.",
)

finding = sa.Table(
    "finding",
    metadata,
    _key("examination_id", "examination.id", "the examination"),
    _key("position", "", "place in text order, from 0"),
    _column("span_start", sa.BigInteger, "first code point in the extracted text"),
    _column("span_end", sa.BigInteger, "code point after the last"),
    _column("locator", SafeText, "way through containers to the place in the file"),
    _column("entity_type", sa.Text, "type of the identifier"),
    _column("source", SafeText, "id of the rule or recognizer"),
    _column("score", sa.Double, "0 to 1"),
    _column("reasons", CanonicalJson, "steps of the score, [[kind, detail, score after], ...]"),
    _column("preview", SafeText, "shape of the value: letters as X and x, digits as 9"),
    _column("identity", sa.Text, "HMAC-SHA256 of type and normalised value, hex"),
    _one_of("entity_type", (e.value for e in EntityType)),
    sa.CheckConstraint("0 <= span_start AND span_start < span_end", name="span_order"),
    sa.CheckConstraint("score BETWEEN 0 AND 1", name="score_range"),
    sa.CheckConstraint("length(identity) = 64", name="identity_is_a_hash"),
    comment="One identifier found in a file: where, of what type and why; never its value.",
)

health_term = sa.Table(
    "health_term",
    metadata,
    _key("examination_id", "examination.id", "the examination"),
    _key("position", "", "place in the order given, from 0"),
    _column("concept", SafeText, "id of the health concept in our dictionaries"),
    _column("n_hits", sa.Integer, "times it occurs in the file"),
    _column("first_start", sa.BigInteger, "first code point of its first occurrence"),
    _column("first_end", sa.BigInteger, "code point after that occurrence"),
    _column("locator", SafeText, "place of the first occurrence"),
    sa.CheckConstraint("0 <= first_start AND first_start < first_end", name="span_order"),
    sa.CheckConstraint("n_hits >= 1", name="hits_positive"),
    comment="A health concept found in a file and how often; never the words themselves.",
)

unread_part = sa.Table(
    "unread_part",
    metadata,
    _key("examination_id", "examination.id", "the examination"),
    _key("position", "", "place in the order given, from 0"),
    _column("locator", SafeText, "way through containers to the part"),
    _column("reason", sa.Text, "why it could not be read"),
    _column("detail", SafeText, "technical detail, never content"),
    _one_of("reason", (r.value for r in FailReason)),
    comment="A part of a file (attachment, member of an archive) that could not be read.",
)

decision = sa.Table(
    "decision",
    metadata,
    _id("number of the decision; of several, the highest number stands"),
    _column("file_id", RowId, "the file", sa.ForeignKey("file.id")),
    _column("examination_id", RowId, "the result the reviewer saw", sa.ForeignKey("examination.id")),
    _column(
        "content_hash", sa.Text, "blake3 of the content decided upon; other content needs a new decision"
    ),
    _column("verdict", sa.Text, "phi, not_phi or unsure"),
    _column("reviewer", SafeText, "who decided"),
    _column("reason", SafeText, "reason from a short list; may be empty"),
    _column("note", SafeText, "free text of the reviewer; may be empty"),
    _column("decided", UtcTime, "when"),
    _one_of("verdict", (v.value for v in Verdict)),
    sa.CheckConstraint("reviewer <> ''", name="reviewer_named"),
    sa.Index(None, "file_id", "content_hash"),
    sqlite_autoincrement=True,
    comment="A reviewer's verdict. Append-only: undoing is a later decision.",
)

assignment = sa.Table(
    "assignment",
    metadata,
    _id("number of the assignment; of several, the highest number stands"),
    _column("file_id", RowId, "the file", sa.ForeignKey("file.id")),
    _column("assignee", SafeText, "who shall decide; empty = nobody any more"),
    _column("assigned_by", SafeText, "who assigned"),
    _column("assigned", UtcTime, "when"),
    sa.CheckConstraint("assigned_by <> ''", name="assigned_by_named"),
    sa.Index(None, "file_id"),
    sqlite_autoincrement=True,
    comment="Who shall decide about a file. Append-only.",
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    _id("number of the entry, without gaps"),
    _column("at", UtcTime, "when"),
    _column("actor", SafeText, "who"),
    _column("action", sa.Text, "decide or assign"),
    _column("subject_id", RowId, "number of the row in the table that the action writes to"),
    _column("details", CanonicalJson, "what was done, with the digest of the row written"),
    _column("prev_hash", sa.Text, "hash of the entry before; 64 zeros before the first"),
    _column("hash", sa.Text, "sha256 over the canonical JSON of the other columns"),
    _one_of("action", ("decide", "assign")),
    sa.UniqueConstraint("hash"),
    sa.UniqueConstraint("prev_hash"),
    sqlite_autoincrement=True,
    comment="Every change of review state, each entry chained to the one before. Append-only.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "decision": ("id",),
    "assignment": ("id",),
    "audit_log": ("id", "hash", "prev_hash"),
}
"""The append-only tables and their unique columns, by which a REPLACE could otherwise remove a row."""

append_only.guard(metadata, APPEND_ONLY)
