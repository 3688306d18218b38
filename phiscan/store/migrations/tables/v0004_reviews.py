"""The officer's desk, part two: reviews of spans, topics, second verdicts, work items, forms, undo."""

import sqlalchemy as sa
from alembic import op

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def make_reviews() -> None:
    """Make the tables of this part and their indexes."""
    op.create_table(
        "span_review",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the entry; of several about one content, the highest applies",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="the reviewed result"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="the reviewed content"),
        sa.Column(
            "complete",
            sa.Boolean(),
            nullable=False,
            comment="every span was checked, and the missed ones were marked",
        ),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who made it"),
        sa.Column("reviewed", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_span_review_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_span_review_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_span_review")),
        comment="A file whose spans were all checked: spans without a mark are right. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_span_review_file_id_content_hash"), "span_review", ["file_id", "content_hash"], unique=False
    )
    op.create_table(
        "topic_correction",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the correction; of several about one content, the highest applies",
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="the reviewed result"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content that the labels belong to"),
        sa.Column(
            "labels",
            sa.Text(),
            nullable=False,
            comment="labels of ICD chapters and blocks that fit the file, [label, ...]",
        ),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who made it"),
        sa.Column("corrected", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_topic_correction_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_topic_correction_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic_correction")),
        comment="A reviewer's correction of a file's topics. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_topic_correction_file_id_content_hash"),
        "topic_correction",
        ["file_id", "content_hash"],
        unique=False,
    )
    op.create_table(
        "second_review",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the second review"),
        sa.Column("decision_id", ROW_ID, nullable=False, comment="the first verdict"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="content to be judged"),
        sa.Column("share", sa.Double(), nullable=False, comment="probability with which it was drawn"),
        sa.Column("drawn", sa.Text(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"], name=op.f("fk_second_review_decision_id")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_second_review_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_review")),
        sa.UniqueConstraint("decision_id", name=op.f("uq_second_review_decision_id")),
        comment="An item drawn at random for a blind second verdict. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_second_review_file_id"), "second_review", ["file_id"], unique=False)
    op.create_table(
        "work_item",
        sa.Column("file_id", ROW_ID, autoincrement=False, nullable=False, comment="the file"),
        sa.Column("examination_id", ROW_ID, nullable=False, comment="its current result"),
        sa.Column("root_id", ROW_ID, nullable=False, comment="its root"),
        sa.Column(
            "path_folded",
            sa.Text(),
            nullable=False,
            comment="path below the root, its case folded, to search in",
        ),
        sa.Column("content_hash", sa.Text(), nullable=False, comment="blake3 of the present content"),
        sa.Column(
            "referred",
            sa.Boolean(),
            nullable=False,
            comment="the scan referred it; otherwise it is of the random sample",
        ),
        sa.Column("blind", sa.Boolean(), nullable=False, comment="shown without the program's results"),
        sa.Column(
            "risk",
            sa.Double(),
            nullable=False,
            comment="order of the list: people x kinds x exposure x score; random for a blind item",
        ),
        sa.Column(
            "doubt",
            sa.Double(),
            nullable=False,
            comment="order by doubt: distance of the score from its threshold; random for a blind item",
        ),
        sa.Column("arrived", ROW_ID, nullable=False, comment="the scan that first saw this content"),
        sa.Column("media_type", sa.Text(), nullable=False, comment="type by content"),
        sa.Column("owner", sa.Text(), nullable=False, comment="owner's name, else its number"),
        sa.Column(
            "types",
            sa.BigInteger(),
            nullable=False,
            comment="types of identifiers found, a bit each in the order of the contract",
        ),
        sa.Column("score", sa.Double(), nullable=True, comment="health score; null when blind"),
        sa.Column(
            "band",
            sa.Integer(),
            nullable=False,
            comment="tenth of the health score, 0 to 9, for estimates; never shown",
        ),
        sa.Column(
            "group_id",
            ROW_ID,
            nullable=True,
            comment="near-duplicate group: number of its first file; null = alone",
        ),
        sa.Column(
            "state",
            sa.Text(),
            nullable=False,
            comment="undecided, phi, not_phi or unsure: the current verdict",
        ),
        sa.Column(
            "reviewer", sa.Text(), nullable=False, comment="who gave that verdict; empty when undecided"
        ),
        sa.Column("decided", sa.Text(), nullable=True, comment="when that verdict was given"),
        sa.Column("decision_id", ROW_ID, nullable=True, comment="the current decision"),
        sa.Column("assignee", sa.Text(), nullable=False, comment="the assigned reviewer; empty = none"),
        sa.Column(
            "awaits",
            sa.Text(),
            nullable=False,
            comment="nobody, first (a first verdict), second (a blind second) or lead (disagreed)",
        ),
        sa.Column(
            "is_open", sa.Boolean(), nullable=False, comment="a verdict of a reviewer (not a lead) is awaited"
        ),
        sa.Column(
            "hidden_until",
            sa.Text(),
            nullable=False,
            comment="hidden by a suppression until then (UTC, ISO 8601); empty = not hidden",
        ),
        sa.CheckConstraint(
            "awaits IN ('nobody', 'first', 'second', 'lead')", name=op.f("ck_work_item_awaits_known")
        ),
        sa.CheckConstraint(
            "state IN ('undecided', 'phi', 'not_phi', 'unsure')", name=op.f("ck_work_item_state_known")
        ),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"], name=op.f("fk_work_item_decision_id")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_work_item_examination_id")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_work_item_file_id")),
        sa.ForeignKeyConstraint(["root_id"], ["root.id"], name=op.f("fk_work_item_root_id")),
        sa.PrimaryKeyConstraint("file_id", name=op.f("pk_work_item")),
        comment="The review list, one row per file in it; derived from the other tables as they change.",
    )
    op.create_index(op.f("ix_work_item_group_id"), "work_item", ["group_id"], unique=False)
    op.create_index("ix_work_item_open_doubt", "work_item", ["is_open", "doubt", "file_id"], unique=False)
    op.create_index("ix_work_item_open_oldest", "work_item", ["is_open", "file_id"], unique=False)
    op.create_index("ix_work_item_open_risk", "work_item", ["is_open", "risk", "file_id"], unique=False)
    op.create_index("ix_work_item_state_risk", "work_item", ["state", "risk", "file_id"], unique=False)
    op.create_table(
        "second_verdict",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the verdict; of several not undone, the highest applies",
        ),
        sa.Column("second_review_id", ROW_ID, nullable=False, comment="the second review"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("verdict", sa.Text(), nullable=False, comment="phi, not_phi or unsure"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who gave it, without seeing the first"),
        sa.Column("reason", sa.Text(), nullable=False, comment="reason from a short list; may be empty"),
        sa.Column("note", sa.Text(), nullable=False, comment="free text of the reviewer; may be empty"),
        sa.Column("decided", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint("reviewer <> ''", name=op.f("ck_second_verdict_reviewer_named")),
        sa.CheckConstraint(
            """verdict IN (
    'phi', 'not_phi', 'unsure'
    )""",
            name=op.f("ck_second_verdict_verdict_known"),
        ),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_second_verdict_file_id")),
        sa.ForeignKeyConstraint(
            ["second_review_id"], ["second_review.id"], name=op.f("fk_second_verdict_second_review_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_verdict")),
        comment="The verdict of a second person who did not see the first. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_second_verdict_second_review_id"), "second_verdict", ["second_review_id"], unique=False
    )
    op.create_table(
        "adjudication",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the adjudication"),
        sa.Column("second_review_id", ROW_ID, nullable=False, comment="the second review"),
        sa.Column("second_verdict_id", ROW_ID, nullable=False, comment="the verdict that disagreed"),
        sa.Column("decision_id", ROW_ID, nullable=False, comment="the lead's decision, which is final"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"], name=op.f("fk_adjudication_decision_id")),
        sa.ForeignKeyConstraint(
            ["second_review_id"], ["second_review.id"], name=op.f("fk_adjudication_second_review_id")
        ),
        sa.ForeignKeyConstraint(
            ["second_verdict_id"], ["second_verdict.id"], name=op.f("fk_adjudication_second_verdict_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjudication")),
        sa.UniqueConstraint("decision_id", name=op.f("uq_adjudication_decision_id")),
        comment="Two people disagreed and a third decided. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_adjudication_second_review_id"), "adjudication", ["second_review_id"], unique=False
    )
    op.create_table(
        "decision_form",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the form"),
        sa.Column(
            "token", sa.Text(), nullable=False, comment="sha256 of the token of the form that was sent"
        ),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("reviewer", sa.Text(), nullable=False, comment="who sent it"),
        sa.Column("decision_id", ROW_ID, nullable=True, comment="the decision made of it"),
        sa.Column("second_verdict_id", ROW_ID, nullable=True, comment="or the blind verdict"),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"], name=op.f("fk_decision_form_decision_id")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_decision_form_file_id")),
        sa.ForeignKeyConstraint(
            ["second_verdict_id"], ["second_verdict.id"], name=op.f("fk_decision_form_second_verdict_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision_form")),
        sa.UniqueConstraint("token", name=op.f("uq_decision_form_token")),
        comment="Forms already processed: a form sent twice is one decision. Append-only.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "decision_undo",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the undoing"),
        sa.Column("file_id", ROW_ID, nullable=False, comment="the file"),
        sa.Column("decision_id", ROW_ID, nullable=True, comment="the undone decision"),
        sa.Column("second_verdict_id", ROW_ID, nullable=True, comment="or the blind verdict"),
        sa.Column("undone_by", sa.Text(), nullable=False, comment="who undid it"),
        sa.Column("undone", sa.Text(), nullable=False, comment="when"),
        sa.CheckConstraint(
            "(decision_id IS NULL) <> (second_verdict_id IS NULL)", name=op.f("ck_decision_undo_one_undone")
        ),
        sa.ForeignKeyConstraint(["decision_id"], ["decision.id"], name=op.f("fk_decision_undo_decision_id")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_decision_undo_file_id")),
        sa.ForeignKeyConstraint(
            ["second_verdict_id"], ["second_verdict.id"], name=op.f("fk_decision_undo_second_verdict_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision_undo")),
        sa.UniqueConstraint("decision_id", name=op.f("uq_decision_undo_decision_id")),
        sa.UniqueConstraint("second_verdict_id", name=op.f("uq_decision_undo_second_verdict_id")),
        comment="A decision that was undone; the one before it applies again. Append-only.",
        sqlite_autoincrement=True,
    )
