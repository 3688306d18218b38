"""Tables of what can be learned from reviews, and of what was: model versions and which one is active."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, key, metadata, row_id

health_window = sa.Table(
    "health_window",
    metadata,
    key("examination_id", "examination.id", "the examination"),
    column("n_chars", sa.BigInteger, "length of the stretch of text that decided the health score"),
    column("counts", CanonicalJson, "{concept, kind or cue of our dictionaries: times in that stretch}"),
    column(
        "evidence",
        CanonicalJson,
        "{what the decision table looked at besides the score: yes, no or number}",
    ),
    sa.CheckConstraint("n_chars >= 0", name="length_not_negative"),
    comment="What `phiscan learn` learns from: counts of ids of our own dictionaries; never the words.",
)

model_version = sa.Table(
    "model_version",
    metadata,
    row_id("number of the version"),
    column("made", UtcTime, "when it was learned"),
    column("made_by", SafeText, "who asked for it"),
    column("files", CanonicalJson, "{file in PHISCAN_HOME/models/NUMBER: sha256 of its bytes}"),
    column("summary", CanonicalJson, "what it was learned from, how it did on held-out files, and warnings"),
    sa.CheckConstraint("made_by <> ''", name="made_by_named"),
    sqlite_autoincrement=True,
    comment="A version of models learned from decisions. Append-only; making one does not use it.",
)

model_activation = sa.Table(
    "model_activation",
    metadata,
    row_id("number of the activation; the highest number stands"),
    column(
        "version_id",
        RowId,
        "the version; null = what is shipped",
        sa.ForeignKey("model_version.id"),
        null=True,
    ),
    column("activated", UtcTime, "when"),
    column("activated_by", SafeText, "who"),
    sa.CheckConstraint("activated_by <> ''", name="activated_by_named"),
    sqlite_autoincrement=True,
    comment="Which version scans use from now on. Append-only: going back is a later activation.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {"model_version": ("id",), "model_activation": ("id",)}
