"""The first schema, part one: audit log, scans, roots, files, assignments, examinations."""

import sqlalchemy as sa
from alembic import op

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def make_scans() -> None:
    """Make the tables of this part and their indexes."""
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
            comment="sha256 over roots, versions and options: a scan can be resumed if it is equal",
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
            comment="total duration of all its runs that ended normally, in seconds",
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
        sa.Column("root_id", ROW_ID, nullable=False, comment="its root"),
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
            comment="index of the root on the command line, from 0",
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
            comment="number of the assignment; of several, the highest number applies",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column(
            "assignee", sa.Text(), nullable=False, comment="the assigned reviewer; empty = no longer assigned"
        ),
        sa.Column("assigned_by", sa.Text(), nullable=False, comment="who assigned"),
        sa.Column("assigned", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("assigned_by <> ''", name=op.f("ck_assignment_assigned_by_named")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_assignment_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        comment="The assignment of a file to a reviewer. Append-only.",
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
            comment="outcome of the file: screened, skipped or failed",
        ),
        sa.Column(
            "reason", sa.Text(), nullable=False, comment="why it was skipped or failed; empty when screened"
        ),
        sa.Column(
            "detail", sa.Text(), nullable=False, comment="technical detail of the reason, never content"
        ),
        sa.Column(
            "versions_key",
            sa.Text(),
            nullable=False,
            comment="versions of everything that affects this result",
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
            comment="number of missing bits to satisfy equation 4; 0 = satisfied",
        ),
        sa.Column(
            "missing",
            sa.BigInteger(),
            nullable=False,
            comment="one smallest set of missing bits, packed like vector",
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
