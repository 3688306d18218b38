"""Tables for learning from reviews: features of reviewed files, model versions and activations."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, key, metadata, row_id

health_window = sa.Table(
    "health_window",
    metadata,
    key("examination_id", "examination.id", "the examination"),
    column("n_chars", sa.BigInteger, "length of the text window with the best health score; 0 = no window"),
    column("counts", CanonicalJson, "{concept, kind or cue of the dictionaries: count in that window}"),
    column("evidence", CanonicalJson, "{what the file holds, or input of P(PHI): number}"),
    sa.CheckConstraint("n_chars >= 0", name="length_not_negative"),
    comment="Evidence for `phiscan learn`: counts of dictionary ids, sizes of inputs; never the words.",
)

model_version = sa.Table(
    "model_version",
    metadata,
    row_id("number of the version"),
    column("made", UtcTime, "when it was learned"),
    column("made_by", SafeText, "who requested it"),
    column("files", CanonicalJson, "{file in PHISCAN_HOME/models/NUMBER: sha256 of its bytes}"),
    column("summary", CanonicalJson, "training data, effect on the last scan, and warnings"),
    sa.CheckConstraint("made_by <> ''", name="made_by_named"),
    sqlite_autoincrement=True,
    comment="A version of models learned from decisions. Append-only; making one does not use it.",
)

model_activation = sa.Table(
    "model_activation",
    metadata,
    row_id("number of the activation; the highest number applies"),
    column(
        "version_id",
        RowId,
        "the version; null = what is shipped",
        sa.ForeignKey("model_version.id"),
        null=True,
    ),
    column("activated", UtcTime, "when"),
    column("activated_by", SafeText, "who"),
    column("accepted", SafeText, "why, if something spoke against the version; empty otherwise", default=""),
    sa.CheckConstraint("activated_by <> ''", name="activated_by_named"),
    sqlite_autoincrement=True,
    comment="Which version scans use from now on. Append-only: going back is a later activation.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {"model_version": ("id",), "model_activation": ("id",)}
