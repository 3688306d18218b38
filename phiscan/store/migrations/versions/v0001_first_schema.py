"""The first schema: scans, files, examinations, findings, decisions, audit log.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "decision": ("id",),
    "assignment": ("id",),
    "audit_log": ("id", "hash", "prev_hash"),
}


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "audit_log",
        sa.Column(
            "id", ROW_ID, autoincrement=True, nullable=False, comment="number of the entry, without gaps"
        ),
        sa.Column("at", sa.Text(), nullable=False, comment="when"),
        sa.Column("actor", sa.Text(), nullable=False, comment="who"),
        sa.Column("action", sa.Text(), nullable=False, comment="decide or assign"),
        sa.Column(
            "subject_id",
            ROW_ID,
            nullable=False,
            comment="number of the row in the table that the action writes to",
        ),
        sa.Column(
            "details", sa.Text(), nullable=False, comment="what was done, with the digest of the row written"
        ),
        sa.Column(
            "prev_hash",
            sa.Text(),
            nullable=False,
            comment="hash of the entry before; 64 zeros before the first",
        ),
        sa.Column(
            "hash", sa.Text(), nullable=False, comment="sha256 over the canonical JSON of the other columns"
        ),
        sa.CheckConstraint(
            """action IN (
'decide', 'assign'
)""",
            name=op.f("ck_audit_log_action_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
        sa.UniqueConstraint("hash", name=op.f("uq_audit_log_hash")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_audit_log_prev_hash")),
        comment="Every change of review state, each entry chained to the one before. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "scan",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the scan"),
        sa.Column(
            "scan_key",
            sa.Text(),
            nullable=False,
            comment="sha256 over roots, versions and options: what makes a scan resumable",
        ),
        sa.Column(
            "status",
            sa.Text(),
            nullable=False,
            comment="running (also: killed), stopped (resumable) or complete",
        ),
        sa.Column("started", sa.Text(), nullable=False, comment="when the scan was begun"),
        sa.Column("ended", sa.Text(), nullable=True, comment="when it last stopped or completed"),
        sa.Column(
            "seconds",
            sa.Double(),
            nullable=False,
            comment="duration of all its parts that ended orderly, in seconds",
        ),
        sa.Column(
            "versions",
            sa.Text(),
            nullable=False,
            comment="versions and hashes of program, rules, dictionaries and models",
        ),
        sa.Column("options", sa.Text(), nullable=False, comment="options of the scan that change its result"),
        sa.CheckConstraint(
            """status IN (
'running', 'stopped', 'complete'
)""",
            name=op.f("ck_scan_status_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan")),
        comment="One scan of one or more roots; a resumed scan stays one row.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_scan_scan_key"), "scan", ["scan_key"], unique=False)
    op.create_table(
        "root",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the root"),
        sa.Column("path", sa.LargeBinary(), nullable=False, comment="raw bytes of the folder's path"),
        sa.Column(
            "display",
            sa.Text(),
            nullable=False,
            comment="the path as text, bytes that are not UTF-8 as \\xNN",
        ),
        sa.Column("complete_scan_id", ROW_ID, nullable=True, comment="newest complete scan of it"),
        sa.ForeignKeyConstraint(["complete_scan_id"], ["scan.id"], name=op.f("fk_root_complete_scan_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_root")),
        sa.UniqueConstraint("path", name=op.f("uq_root_path")),
        comment="A folder (share) that was scanned.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "file",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the file, in the order of the first crawl",
        ),
        sa.Column("root_id", ROW_ID, nullable=False, comment="the root it lies under"),
        sa.Column(
            "path", sa.LargeBinary(), nullable=False, comment="raw bytes of the path relative to the root"
        ),
        sa.Column(
            "display",
            sa.Text(),
            nullable=False,
            comment="the path as text, bytes that are not UTF-8 as \\xNN",
        ),
        sa.Column("seen_scan_id", ROW_ID, nullable=False, comment="the scan that saw it last"),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_file_root_id")),
        sa.ForeignKeyConstraint(["seen_scan_id"], ["scan.id"], name=op.f("fk_file_seen_scan_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file")),
        sa.UniqueConstraint("root_id", "path", name=op.f("uq_file_root_id_path")),
        comment="A file that was crawled at least once; it keeps its number and its history.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_file_display"), "file", ["display"], unique=False)
    op.create_table(
        "scan_root",
        sa.Column("scan_id", ROW_ID, autoincrement=False, nullable=False, comment="the scan"),
        sa.Column(
            "position",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="place of the root on the command line, from 0",
        ),
        sa.Column("root_id", ROW_ID, nullable=False, comment="the root"),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_scan_root_root_id")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_scan_root_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", "position", name=op.f("pk_scan_root")),
        comment="The roots of a scan, in the order given.",
    )
    op.create_index(op.f("ix_scan_root_root_id"), "scan_root", ["root_id"], unique=False)
    op.create_table(
        "assignment",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the assignment; of several, the highest number stands",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("assignee", sa.Text(), nullable=False, comment="who shall decide; empty = nobody any more"),
        sa.Column("assigned_by", sa.Text(), nullable=False, comment="who assigned"),
        sa.Column("assigned", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("assigned_by <> ''", name=op.f("ck_assignment_assigned_by_named")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_assignment_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        comment="Who shall decide about a file. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_assignment_file_id"), "assignment", ["file_id"], unique=False)
    op.create_table(
        "examination",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the examination"),
        sa.Column("scan_id", ROW_ID, nullable=False, comment="the scan that examined the file"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column(
            "outcome",
            sa.Text(),
            nullable=False,
            comment="what became of the file: screened, skipped or failed",
        ),
        sa.Column(
            "reason", sa.Text(), nullable=False, comment="why it was skipped or failed; empty when screened"
        ),
        sa.Column(
            "detail", sa.Text(), nullable=False, comment="technical detail of the reason, never content"
        ),
        sa.Column(
            "versions_key", sa.Text(), nullable=False, comment="versions of everything that made this result"
        ),
        sa.Column("size", sa.BigInteger(), nullable=False, comment="size in bytes when crawled"),
        sa.Column(
            "mtime_ns",
            sa.BigInteger(),
            nullable=False,
            comment="time of last change of the content, nanoseconds since 1970",
        ),
        sa.Column(
            "ctime_ns",
            sa.BigInteger(),
            nullable=False,
            comment="time of last change of the inode, nanoseconds since 1970",
        ),
        sa.Column(
            "inode", sa.BigInteger(), nullable=False, comment="inode, unsigned 64 bits folded onto signed"
        ),
        sa.Column(
            "device", sa.BigInteger(), nullable=False, comment="device, unsigned 64 bits folded onto signed"
        ),
        sa.Column("mode", sa.BigInteger(), nullable=False, comment="file mode bits of the file system"),
        sa.Column("uid", sa.BigInteger(), nullable=False, comment="numeric owner"),
        sa.Column("media_type", sa.Text(), nullable=False, comment="type by content; empty when never read"),
        sa.Column(
            "content_hash",
            sa.Text(),
            nullable=False,
            comment="blake3 of the bytes, hex; empty when never read",
        ),
        sa.Column("n_chars", sa.BigInteger(), nullable=False, comment="code points of text read"),
        sa.Column(
            "vector",
            sa.BigInteger(),
            nullable=False,
            comment="PII characteristics present, one bit each, FirstName the lowest",
        ),
        sa.Column(
            "hamming",
            sa.Integer(),
            nullable=True,
            comment="bits lacking to satisfy equation 4; 0 = satisfied",
        ),
        sa.Column(
            "missing",
            sa.BigInteger(),
            nullable=False,
            comment="one cheapest set of lacking bits, packed like vector",
        ),
        sa.Column(
            "nearest_prototype",
            sa.Text(),
            nullable=False,
            comment="name of the nearest PII prototype (equation 5)",
        ),
        sa.Column("prototype_distance", sa.Integer(), nullable=True, comment="Hamming distance to it"),
        sa.Column(
            "n_people",
            sa.Integer(),
            nullable=False,
            comment="distinct people at risk in the file, an estimate",
        ),
        sa.Column("n_findings", sa.Integer(), nullable=False, comment="number of rows in finding"),
        sa.Column(
            "health_score",
            sa.Double(),
            nullable=True,
            comment="health information about a person, 0 to 1, 0.5 = threshold",
        ),
        sa.Column(
            "health_distance",
            sa.Double(),
            nullable=True,
            comment="Euclidean distance to the k-th nearest prototype",
        ),
        sa.Column(
            "health_prototype", sa.Text(), nullable=False, comment="name of the nearest health prototype"
        ),
        sa.Column(
            "referral", sa.Text(), nullable=True, comment="decision of the pipeline; null unless screened"
        ),
        sa.Column(
            "decision_case", sa.Text(), nullable=False, comment="row of the decision table that applied"
        ),
        sa.Column(
            "detectors",
            sa.Text(),
            nullable=False,
            comment="verdict of each independent detector, [[name, is PHI], ...]",
        ),
        sa.Column(
            "risk",
            sa.Double(),
            nullable=False,
            comment="order in the queue: kinds of identifiers x people x score",
        ),
        sa.CheckConstraint(
            "(outcome = 'screened') = (reason = '')", name=op.f("ck_examination_reason_unless_screened")
        ),
        sa.CheckConstraint(
            "(outcome = 'screened') = (referral IS NOT NULL)",
            name=op.f("ck_examination_referral_if_screened"),
        ),
        sa.CheckConstraint(
            """outcome IN (
'screened', 'skipped', 'failed'
)""",
            name=op.f("ck_examination_outcome_known"),
        ),
        sa.CheckConstraint(
            """referral IN (
'referred', 'pii_only', 'health_only', 'clear'
)""",
            name=op.f("ck_examination_referral_known"),
        ),
        sa.CheckConstraint(
            "hamming >= 0 AND prototype_distance >= 0", name=op.f("ck_examination_distances_not_negative")
        ),
        sa.CheckConstraint("health_score BETWEEN 0 AND 1", name=op.f("ck_examination_health_score_range")),
        sa.CheckConstraint(
            "n_people >= 0 AND n_findings >= 0 AND n_chars >= 0",
            name=op.f("ck_examination_counts_not_negative"),
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_examination_file_id")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_examination_scan_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_examination")),
        sa.UniqueConstraint("scan_id", "file_id", name=op.f("uq_examination_scan_id_file_id")),
        comment="What one scan found out about one file; a file keeps all its examinations.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_examination_file_id"), "examination", ["file_id"], unique=False)
    op.create_index(op.f("ix_examination_referral_risk"), "examination", ["referral", "risk"], unique=False)
    op.create_table(
        "decision",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the decision; of several, the highest number stands",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="the result the reviewer saw"),
        sa.Column(
            "content_hash",
            sa.Text(),
            nullable=False,
            comment="blake3 of the content decided upon; other content needs a new decision",
        ),
        sa.Column("verdict", sa.Text(), nullable=False, comment="phi, not_phi or unsure"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who decided"),
        sa.Column("reason", sa.Text(), nullable=False, comment="reason from a short list; may be empty"),
        sa.Column("note", sa.Text(), nullable=False, comment="free text of the reviewer; may be empty"),
        sa.Column("decided", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("reviewer <> ''", name=op.f("ck_decision_reviewer_named")),
        sa.CheckConstraint(
            """verdict IN (
'phi', 'not_phi', 'unsure'
)""",
            name=op.f("ck_decision_verdict_known"),
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_decision_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_decision_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
        comment="A reviewer's verdict. Append-only: undoing is a later decision.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_decision_file_id_content_hash"), "decision", ["file_id", "content_hash"], unique=False
    )
    op.create_table(
        "finding",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "position", ROW_ID, autoincrement=False, nullable=False, comment="place in text order, from 0"
        ),
        sa.Column(
            "span_start", sa.BigInteger(), nullable=False, comment="first code point in the extracted text"
        ),
        sa.Column("span_end", sa.BigInteger(), nullable=False, comment="code point after the last"),
        sa.Column(
            "locator", sa.Text(), nullable=False, comment="way through containers to the place in the file"
        ),
        sa.Column("entity_type", sa.Text(), nullable=False, comment="type of the identifier"),
        sa.Column("source", sa.Text(), nullable=False, comment="id of the rule or recognizer"),
        sa.Column("score", sa.Double(), nullable=False, comment="0 to 1"),
        sa.Column(
            "reasons",
            sa.Text(),
            nullable=False,
            comment="steps of the score, [[kind, detail, score after], ...]",
        ),
        sa.Column(
            "preview",
            sa.Text(),
            nullable=False,
            comment="shape of the value: letters as X and x, digits as 9",
        ),
        sa.Column(
            "identity", sa.Text(), nullable=False, comment="HMAC-SHA256 of type and normalised value, hex"
        ),
        sa.CheckConstraint(
            """entity_type IN (
'PERSON', 'HEALTH_PROFESSIONAL', 'ORGANIZATION', 'STREET_ADDRESS', 'LOCATION', 'POSTAL_CODE',
'DATE', 'DATE_OF_BIRTH', 'AGE_OVER_89', 'PHONE', 'FAX', 'EMAIL', 'SIN', 'SSN', 'HEALTH_CARD',
'PASSPORT', 'DRIVER_LICENSE', 'MRN', 'HEALTH_PLAN', 'ACCOUNT', 'CREDIT_CARD', 'LICENSE', 'VEHICLE',
'DEVICE', 'URL', 'IP', 'BIOMETRIC', 'OTHER_ID'
)""",
            name=op.f("ck_finding_entity_type_known"),
        ),
        sa.CheckConstraint("0 <= span_start AND span_start < span_end", name=op.f("ck_finding_span_order")),
        sa.CheckConstraint("length(identity) = 64", name=op.f("ck_finding_identity_is_a_hash")),
        sa.CheckConstraint("score BETWEEN 0 AND 1", name=op.f("ck_finding_score_range")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_finding_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", "position", name=op.f("pk_finding")),
        comment="One identifier found in a file: where, of what type and why; never its value.",
    )
    op.create_table(
        "health_term",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "position",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="place in the order given, from 0",
        ),
        sa.Column(
            "concept", sa.Text(), nullable=False, comment="id of the health concept in our dictionaries"
        ),
        sa.Column("n_hits", sa.Integer(), nullable=False, comment="times it occurs in the file"),
        sa.Column(
            "first_start", sa.BigInteger(), nullable=False, comment="first code point of its first occurrence"
        ),
        sa.Column("first_end", sa.BigInteger(), nullable=False, comment="code point after that occurrence"),
        sa.Column("locator", sa.Text(), nullable=False, comment="place of the first occurrence"),
        sa.CheckConstraint(
            "0 <= first_start AND first_start < first_end", name=op.f("ck_health_term_span_order")
        ),
        sa.CheckConstraint("n_hits >= 1", name=op.f("ck_health_term_hits_positive")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_health_term_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", "position", name=op.f("pk_health_term")),
        comment="A health concept found in a file and how often; never the words themselves.",
    )
    op.create_table(
        "sighting",
        sa.Column("scan_id", ROW_ID, autoincrement=False, nullable=False, comment="the scan"),
        sa.Column("file_id", ROW_ID, autoincrement=False, nullable=False, comment="the file that was there"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="its standing result"),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_sighting_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_sighting_file_id")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_sighting_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", "file_id", name=op.f("pk_sighting")),
        comment="A file was there when a scan came by. Unchanged = the examination is of an earlier scan.",
    )
    op.create_index(op.f("ix_sighting_examination_id"), "sighting", ["examination_id"], unique=False)
    op.create_table(
        "unread_part",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "position",
            ROW_ID,
            autoincrement=False,
            nullable=False,
            comment="place in the order given, from 0",
        ),
        sa.Column("locator", sa.Text(), nullable=False, comment="way through containers to the part"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why it could not be read"),
        sa.Column("detail", sa.Text(), nullable=False, comment="technical detail, never content"),
        sa.CheckConstraint(
            """reason IN (
'encrypted', 'corrupt', 'too_large', 'timed_out', 'out_of_memory', 'crashed', 'no_permission',
'changed', 'unsupported', 'needs_ocr', 'io_error', 'nested_too_deep'
)""",
            name=op.f("ck_unread_part_reason_known"),
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_unread_part_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", "position", name=op.f("pk_unread_part")),
        comment="A part of a file (attachment, member of an archive) that could not be read.",
    )
    bind = op.get_bind()
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(bind.dialect.name, table, unique):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: there is nothing before the first schema."""
    message = "there is no schema before 0001"
    raise NotImplementedError(message)
