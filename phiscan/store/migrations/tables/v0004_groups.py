"""The officer's desk, part one: policy, draws, groups, suppressions, reveals, corrections of spans."""

import sqlalchemy as sa
from alembic import op

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def make_groups() -> None:
    """Make the tables of this part and their indexes."""
    op.create_table(
        "desk_policy",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the policy; the highest applies",
        ),
        sa.Column(
            "second_review",
            sa.Double(),
            nullable=False,
            comment="share of decisions that get a blind second review",
        ),
        sa.Column(
            "hide_limit",
            sa.Integer(),
            nullable=False,
            comment="a suppression that hides more items needs a lead's approval",
        ),
        sa.Column("seed", sa.Text(), nullable=False, comment="secret of the random draws"),
        sa.Column("set_by", sa.Text(), nullable=False, comment="who set it"),
        sa.Column("set_at", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("hide_limit >= 0", name=op.f("ck_desk_policy_hide_limit_not_negative")),
        sa.CheckConstraint("second_review BETWEEN 0 AND 1", name=op.f("ck_desk_policy_second_review_share")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_desk_policy")),
        comment="How the desk works: shares and limits. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sample_draw",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the draw; the highest applies",
        ),
        sa.Column("seed", sa.Text(), nullable=False, comment="seed of the random order"),
        sa.Column("n_queued", sa.Integer(), nullable=False, comment="referred files that it was drawn from"),
        sa.Column(
            "n_unreferred", sa.Integer(), nullable=False, comment="files not referred that it was drawn from"
        ),
        sa.Column("drawn_by", sa.Text(), nullable=False, comment="who"),
        sa.Column("drawn", sa.Text(), nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_draw")),
        comment="A random sample of referred and of unreferred files, to be judged blind. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "work_tally",
        sa.Column("kind", sa.Text(), nullable=False, comment="what is counted"),
        sa.Column("value", sa.Text(), nullable=False, comment="a value of it, or several as JSON"),
        sa.Column("n", sa.BigInteger(), nullable=False, comment="items of the list that have it"),
        sa.PrimaryKeyConstraint("kind", "value", name=op.f("pk_work_tally")),
        comment="Counts of the review list, updated with it, so that pages need not count.",
    )
    op.create_table(
        "suppression",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the suppression"),
        sa.Column("kind", sa.Text(), nullable=False, comment="value (a keyed hash) or rule"),
        sa.Column("target", sa.Text(), nullable=False, comment="the keyed hash, or the id of the rule"),
        sa.Column(
            "preview", sa.Text(), nullable=False, comment="masked shape of the value; empty for a rule"
        ),
        sa.Column("root_id", ROW_ID, nullable=True, comment="only below this root; null = everywhere"),
        sa.Column(
            "folder",
            sa.Text(),
            nullable=False,
            comment="only below this folder of the root, as shown; empty = all of it",
        ),
        sa.Column(
            "n_hidden", sa.Integer(), nullable=False, comment="queued items that it hid when it was made"
        ),
        sa.Column(
            "needs_approval",
            sa.Boolean(),
            nullable=False,
            comment="too broad to apply before a lead approves",
        ),
        sa.Column("reason", sa.Text(), nullable=False, comment="why"),
        sa.Column("until", sa.Text(), nullable=False, comment="when it ends"),
        sa.Column("made_by", sa.Text(), nullable=False, comment="who made it"),
        sa.Column("made", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint(
            """kind IN (
    'value', 'rule'
    )""",
            name=op.f("ck_suppression_kind_known"),
        ),
        sa.CheckConstraint("made_by <> ''", name=op.f("ck_suppression_made_by_named")),
        sa.CheckConstraint("reason <> ''", name=op.f("ck_suppression_reason_given")),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_suppression_root_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppression")),
        comment="A temporary suppression of a value or rule; it only hides items of the list. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "near_group",
        sa.Column(
            "file_id", ROW_ID, autoincrement=False, nullable=False, comment="a file that has near-duplicates"
        ),
        sa.Column("group_id", ROW_ID, nullable=False, comment="number of the group's first file"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content for which it was computed"),
        sa.Column(
            "similarity",
            sa.Double(),
            nullable=False,
            comment="estimated share of word triples in common with the first; 1 = a copy",
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_near_group_file_id")),
        sa.ForeignKeyConstraint(["group_id"], ["file.id"], name=op.f("fk_near_group_group_id")),
        sa.PrimaryKeyConstraint("file_id", name=op.f("pk_near_group")),
        comment="Groups of near-duplicate files; rebuilt at the end of each scan.",
    )
    op.create_index(op.f("ix_near_group_group_id"), "near_group", ["group_id"], unique=False)
    op.create_table(
        "sample_member",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the row"),
        sa.Column("draw_id", ROW_ID, nullable=False, comment="the draw"),
        sa.Column(
            "place", sa.Integer(), nullable=False, comment="index in the random order of its kind, from 0"
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content when it was drawn"),
        sa.Column(
            "referred",
            sa.Boolean(),
            nullable=False,
            comment="drawn from the queue, else from the files not referred",
        ),
        sa.Column(
            "risk",
            sa.Double(),
            nullable=False,
            comment="order in the list, drawn from the risks in the queue",
        ),
        sa.Column("doubt", sa.Double(), nullable=False, comment="order by doubt"),
        sa.ForeignKeyConstraint(["draw_id"], ["sample_draw.id"], name=op.f("fk_sample_member_draw_id")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_sample_member_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample_member")),
        comment="The files of a draw. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_sample_member_file_id"), "sample_member", ["file_id"], unique=False)
    op.create_table(
        "skip",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the skip"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="the skipped content"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who skipped it"),
        sa.Column("until", sa.Text(), nullable=False, comment="when it is shown again"),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_skip_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_skip")),
        comment="An item that one reviewer skipped for now; of several, the highest number applies.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_skip_reviewer_file_id"), "skip", ["reviewer", "file_id"], unique=False)
    op.create_table(
        "suppression_approval",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the approval"),
        sa.Column("suppression_id", ROW_ID, nullable=False, comment="the suppression"),
        sa.Column("approved_by", sa.Text(), nullable=False, comment="the lead; not who made it"),
        sa.Column("approved", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["suppression_id"], ["suppression.id"], name=op.f("fk_suppression_approval_suppression_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppression_approval")),
        sa.UniqueConstraint("suppression_id", name=op.f("uq_suppression_approval_suppression_id")),
        comment="A lead's approval of a broad suppression. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "suppression_lift",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the lifting"),
        sa.Column("suppression_id", ROW_ID, nullable=False, comment="the suppression"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why; may be empty"),
        sa.Column("lifted_by", sa.Text(), nullable=False, comment="who"),
        sa.Column("lifted", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["suppression_id"], ["suppression.id"], name=op.f("fk_suppression_lift_suppression_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppression_lift")),
        sa.UniqueConstraint("suppression_id", name=op.f("uq_suppression_lift_suppression_id")),
        comment="A suppression that was lifted. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "near_signature",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "signature",
            sa.LargeBinary(),
            nullable=False,
            comment="MinHash over word triples, keyed: 64 values of 32 bits, little-endian",
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_near_signature_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_near_signature")),
        comment="Signature for near-duplicates; without the key it reveals nothing about words.",
    )
    op.create_table(
        "reveal",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the reveal"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="the result it was opened from"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content that was to be shown"),
        sa.Column("purpose", sa.Text(), nullable=False, comment="purpose, as the person wrote it"),
        sa.Column("revealed_by", sa.Text(), nullable=False, comment="who"),
        sa.Column(
            "revealed", sa.Text(), nullable=False, comment="when it was asked for, before anything was shown"
        ),
        sa.CheckConstraint("purpose <> ''", name=op.f("ck_reveal_purpose_given")),
        sa.CheckConstraint("revealed_by <> ''", name=op.f("ck_reveal_revealed_by_named")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_reveal_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_reveal_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reveal")),
        comment="A person asked to see the text of a file. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_reveal_file_id"), "reveal", ["file_id"], unique=False)
    op.create_table(
        "span_correction",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the correction; of several about one span, the highest applies",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="the reviewed result"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content that the positions belong to"),
        sa.Column(
            "position",
            ROW_ID,
            nullable=True,
            comment="index of the finding in its result; null if missed",
        ),
        sa.Column("mark", sa.Text(), nullable=False, comment="the correction"),
        sa.Column(
            "span_start", sa.BigInteger(), nullable=False, comment="first code point of the right span"
        ),
        sa.Column("span_end", sa.BigInteger(), nullable=False, comment="code point after its last"),
        sa.Column("entity_type", sa.Text(), nullable=False, comment="right type"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who made it"),
        sa.Column("corrected", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint(
            """entity_type IN (
    'PERSON', 'HEALTH_PROFESSIONAL', 'ORGANIZATION', 'STREET_ADDRESS', 'LOCATION', 'POSTAL_CODE',
    'DATE', 'DATE_OF_BIRTH', 'AGE_OVER_89', 'PHONE', 'FAX', 'EMAIL', 'SIN', 'SSN', 'HEALTH_CARD',
    'PASSPORT', 'DRIVER_LICENSE', 'MRN', 'HEALTH_PLAN', 'ACCOUNT', 'CREDIT_CARD', 'LICENSE', 'VEHICLE',
    'DEVICE', 'URL', 'IP', 'BIOMETRIC', 'OTHER_ID'
    )""",
            name=op.f("ck_span_correction_entity_type_known"),
        ),
        sa.CheckConstraint(
            """mark IN (
    'right', 'wrong_type', 'wrong_extent', 'spurious', 'missed', 'withdrawn'
    )""",
            name=op.f("ck_span_correction_mark_known"),
        ),
        sa.CheckConstraint(
            "position IS NOT NULL OR mark IN ('missed', 'withdrawn')",
            name=op.f("ck_span_correction_position_if_found"),
        ),
        sa.CheckConstraint(
            "0 <= span_start AND span_start < span_end", name=op.f("ck_span_correction_span_order")
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_span_correction_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_span_correction_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_span_correction")),
        comment="A reviewer's correction of one span: positions and types, never text. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_span_correction_file_id_content_hash"),
        "span_correction",
        ["file_id", "content_hash"],
        unique=False,
    )
