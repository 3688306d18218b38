"""The organization's own patients: matches by opaque number, and every search for a person.

Revision ID: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from phiscan.store import append_only, collation
from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime

revision = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Make the tables; what was examined before was compared with no index."""
    op.create_table(
        "patient_check",
        sa.Column("examination_id", RowId, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "index_id",
            sa.Text(),
            nullable=False,
            comment="build of the patient index that the document was compared with",
        ),
        sa.Column(
            "n_patients",
            sa.Integer(),
            nullable=False,
            comment="distinct patients matched by a strong key or a pair",
        ),
        sa.Column(
            "n_rare_names",
            sa.Integer(),
            nullable=False,
            comment="further patients matched by a rare name alone",
        ),
        sa.Column("n_lookups", sa.BigInteger(), nullable=False, comment="match keys looked up"),
        sa.Column(
            "expected_by_chance",
            sa.Double(),
            nullable=False,
            comment="expected number of false matches",
        ),
        sa.CheckConstraint(
            "n_patients >= 0 AND n_rare_names >= 0", name=op.f("ck_patient_check_patients_not_negative")
        ),
        sa.CheckConstraint(
            "n_lookups >= 0 AND expected_by_chance >= 0", name=op.f("ck_patient_check_lookups_not_negative")
        ),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_patient_check_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", name=op.f("pk_patient_check")),
        comment="How an examination was compared with the patient index; no row = there was no index.",
    )
    op.create_table(
        "patient_match",
        sa.Column("examination_id", RowId, autoincrement=False, nullable=False, comment="the examination"),
        sa.Column(
            "position",
            RowId,
            autoincrement=False,
            nullable=False,
            comment="number of the match in its document, from 0",
        ),
        sa.Column(
            "patient",
            sa.BigInteger(),
            nullable=False,
            comment="opaque number of the patient, as in the organization's own list",
        ),
        sa.Column(
            "kind",
            sa.Text(),
            nullable=False,
            comment="what matched: a strong key, a pair of values, or a rare name alone",
        ),
        sa.Column("span_start", sa.BigInteger(), nullable=False, comment="first code point of the values"),
        sa.Column("span_end", sa.BigInteger(), nullable=False, comment="code point after the last of them"),
        sa.Column("locator", SafeText(), nullable=False, comment="where the values are in the file"),
        sa.Column(
            "is_planted",
            sa.Boolean(),
            nullable=False,
            comment="the record is invented: a canary, planted to detect leaks",
        ),
        sa.CheckConstraint(
            "span_start >= 0 AND span_end > span_start", name=op.f("ck_patient_match_span_not_empty")
        ),
        sa.CheckConstraint("patient > 0", name=op.f("ck_patient_match_patient_numbered")),
        sa.ForeignKeyConstraint(
            ["examination_id"], ["examination.id"], name=op.f("fk_patient_match_examination_id")
        ),
        sa.PrimaryKeyConstraint("examination_id", "position", name=op.f("pk_patient_match")),
        comment="Patients of the organization found in a document, by opaque number; never a value.",
    )
    op.create_index(op.f("ix_patient_match_patient"), "patient_match", ["patient"], unique=False)
    op.create_table(
        "patient_event",
        sa.Column("id", RowId, autoincrement=True, nullable=False, comment="number of the event"),
        sa.Column(
            "event",
            sa.Text(),
            nullable=False,
            comment="change of the patient index, or kind of search",
        ),
        sa.Column("purpose", SafeText(), nullable=False, comment="purpose; empty where the event implies it"),
        sa.Column(
            "details",
            CanonicalJson(),
            nullable=False,
            comment="counts, kinds of fields and check values; never a value of a patient",
        ),
        sa.Column("done_by", SafeText(), nullable=False, comment="who"),
        sa.Column("done", UtcTime(), nullable=False, comment="when"),
        sa.CheckConstraint(
            """event IN (
'build', 'update', 'rotate', 'destroy', 'find', 'affected'
)""",
            name=op.f("ck_patient_event_event_known"),
        ),
        sa.CheckConstraint("done_by <> ''", name=op.f("ck_patient_event_done_by_named")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_patient_event")),
        comment="Changes of the patient index and searches for a person. Append-only.",
        sqlite_autoincrement=True,
    )
    bind = op.get_bind()
    for statement in append_only.statements(bind.dialect.name, "patient_event", ("id",)):
        bind.exec_driver_sql(statement)
    if bind.dialect.name == "postgresql":
        for statement in collation.statements(bind):
            bind.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: what people decided would be lost."""
    message = "a database is not taken back to an older schema; restore a backup"
    raise NotImplementedError(message)
