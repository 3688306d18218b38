"""The first schema, part two: decisions, findings, health terms, sightings, unread parts."""

import sqlalchemy as sa
from alembic import op

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def make_findings() -> None:
    """Make the tables of this part and their indexes."""
    op.create_table(
        "decision",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the decision; of several, the highest number applies",
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
            "position", ROW_ID, autoincrement=False, nullable=False, comment="index in text order, from 0"
        ),
        sa.Column(
            "span_start", sa.BigInteger(), nullable=False, comment="first code point in the extracted text"
        ),
        sa.Column("span_end", sa.BigInteger(), nullable=False, comment="code point after the last"),
        sa.Column(
            "locator",
            sa.Text(),
            nullable=False,
            comment="path through containers to the position in the file",
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
            comment="index in the given order, from 0",
        ),
        sa.Column(
            "concept", sa.Text(), nullable=False, comment="id of the health concept in the dictionaries"
        ),
        sa.Column("n_hits", sa.Integer(), nullable=False, comment="number of occurrences in the file"),
        sa.Column(
            "first_start", sa.BigInteger(), nullable=False, comment="first code point of its first occurrence"
        ),
        sa.Column("first_end", sa.BigInteger(), nullable=False, comment="code point after that occurrence"),
        sa.Column("locator", sa.Text(), nullable=False, comment="locator of the first occurrence"),
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
        sa.Column("examination_id", ROW_ID, nullable=False, comment="its current result"),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_sighting_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_sighting_file_id")),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_sighting_scan_id")),
        sa.PrimaryKeyConstraint("scan_id", "file_id", name=op.f("pk_sighting")),
        comment="A file seen by a scan. If it was unchanged, the examination is of an earlier scan.",
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
            comment="index in the given order, from 0",
        ),
        sa.Column("locator", sa.Text(), nullable=False, comment="path through containers to the part"),
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
