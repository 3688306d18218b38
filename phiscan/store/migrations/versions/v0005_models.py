"""Versions of what was learned from reviews.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY: dict[str, tuple[str, ...]] = {"model_version": ("id",), "model_activation": ("id",)}


def upgrade() -> None:
    """Make the tables."""
    _make_health_window()
    op.create_table(
        "model_version",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False, comment="number of the version"),
        sa.Column("made", sa.Text(), nullable=False, comment="when it was learned"),
        sa.Column("made_by", sa.Text(), nullable=False, comment="who requested it"),
        sa.Column(
            "files",
            sa.Text(),
            nullable=False,
            comment="{file in PHISCAN_HOME/models/NUMBER: sha256 of its bytes}",
        ),
        sa.Column(
            "summary",
            sa.Text(),
            nullable=False,
            comment="training data, results on held-out files, and warnings",
        ),
        sa.CheckConstraint("made_by <> ''", name=op.f("ck_model_version_made_by_named")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_version")),
        sqlite_autoincrement=True,
        comment="A version of models learned from decisions. Append-only; making one does not use it.",
    )
    op.create_table(
        "model_activation",
        sa.Column(
            "id",
            ROW_ID,
            autoincrement=True,
            nullable=False,
            comment="number of the activation; the highest number applies",
        ),
        sa.Column("version_id", ROW_ID, nullable=True, comment="the version; null = what is shipped"),
        sa.Column("activated", sa.Text(), nullable=False, comment="when"),
        sa.Column("activated_by", sa.Text(), nullable=False, comment="who"),
        sa.CheckConstraint("activated_by <> ''", name=op.f("ck_model_activation_activated_by_named")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["model_version.id"], name=op.f("fk_model_activation_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_activation")),
        sqlite_autoincrement=True,
        comment="Which version scans use from now on. Append-only: going back is a later activation.",
    )
    connection = op.get_bind()
    for table, unique in APPEND_ONLY.items():
        for statement in append_only.statements(connection.dialect.name, table, unique):
            connection.exec_driver_sql(statement)


def _make_health_window() -> None:
    op.create_table(
        "health_window",
        sa.Column("examination_id", ROW_ID, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "n_chars",
            sa.BigInteger(),
            nullable=False,
            comment="length of the text window with the best health score",
        ),
        sa.Column(
            "counts",
            sa.Text(),
            nullable=False,
            comment="{concept, kind or cue of the dictionaries: count in that window}",
        ),
        sa.Column(
            "evidence",
            sa.Text(),
            nullable=False,
            comment="{input of the decision table besides the score: number}",
        ),
        sa.CheckConstraint("n_chars >= 0", name=op.f("ck_health_window_length_not_negative")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_health_window_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_health_window")),
        comment="Training data of `phiscan learn`: counts of dictionary ids; never the words.",
    )


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
