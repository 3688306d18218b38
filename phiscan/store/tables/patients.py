"""Tables of the patient index: matches by opaque numbers, and a log of changes and searches."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, key, metadata, one_of, row_id

EVENTS = ("build", "update", "rotate", "destroy", "find", "affected")

patient_check = sa.Table(
    "patient_check",
    metadata,
    key("examination_id", "examination.id", "the examination"),
    column("index_id", sa.Text, "build of the patient index that the document was compared with"),
    column("n_patients", sa.Integer, "distinct patients matched by a strong key or a pair"),
    column("n_rare_names", sa.Integer, "further patients matched by a rare name alone"),
    column("n_lookups", sa.BigInteger, "match keys looked up"),
    column("expected_by_chance", sa.Double, "expected number of false matches"),
    sa.CheckConstraint("n_patients >= 0 AND n_rare_names >= 0", name="patients_not_negative"),
    sa.CheckConstraint("n_lookups >= 0 AND expected_by_chance >= 0", name="lookups_not_negative"),
    comment="How an examination was compared with the patient index; no row = there was no index.",
)

patient_match = sa.Table(
    "patient_match",
    metadata,
    key("examination_id", "examination.id", "the examination"),
    sa.Column(
        "position",
        RowId,
        primary_key=True,
        autoincrement=False,
        nullable=False,
        comment="number of the match in its document, from 0",
    ),
    column("patient", sa.BigInteger, "opaque number of the patient, as in the organization's own list"),
    column("kind", sa.Text, "what matched: a strong key, a pair of values, or a rare name alone"),
    column("span_start", sa.BigInteger, "first code point of the values"),
    column("span_end", sa.BigInteger, "code point after the last of them"),
    column("locator", SafeText, "where the values are in the file"),
    column("is_planted", sa.Boolean, "the record is invented: a canary, planted to detect leaks"),
    sa.CheckConstraint("span_start >= 0 AND span_end > span_start", name="span_not_empty"),
    sa.CheckConstraint("patient > 0", name="patient_numbered"),
    sa.Index(None, "patient"),
    comment="Patients of the organization found in a document, by opaque number; never a value.",
)

patient_event = sa.Table(
    "patient_event",
    metadata,
    row_id("number of the event"),
    column("event", sa.Text, "change of the patient index, or kind of search"),
    column("purpose", SafeText, "purpose; empty where the event implies it"),
    column("details", CanonicalJson, "counts, kinds of fields and check values; never a value of a patient"),
    column("done_by", SafeText, "who"),
    column("done", UtcTime, "when"),
    one_of("event", EVENTS),
    sa.CheckConstraint("done_by <> ''", name="done_by_named"),
    sqlite_autoincrement=True,
    comment="Changes of the patient index and searches for a person. Append-only.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {"patient_event": ("id",)}
"""The append-only tables of this module and their unique columns, by which a REPLACE could remove a row."""
