"""Tables for detecting later changes of results: digests of scans, the signed end of the log."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, key, metadata, row_id, seal

examination_digest = sa.Table(
    "examination_digest",
    metadata,
    key("examination_id", "examination.id", "the examination"),
    column(
        "parts", CanonicalJson, "{table: first 24 hex digits of sha256 over its rows of this examination}"
    ),
    seal(),
    comment="Digest of one result and its rows in other tables, made when it was recorded.",
)

scan_digest = sa.Table(
    "scan_digest",
    metadata,
    row_id("number of the digest; of several of one scan, the highest applies"),
    column("scan_id", RowId, "the scan", sa.ForeignKey("scan.id")),
    column("cause", SafeText, "why it was made: scan, or purge (rows of the scan were removed by policy)"),
    column("n_examinations", sa.BigInteger, "results that the scan made"),
    column("examinations", sa.Text, "sha256 over the digests of its results"),
    column("n_sightings", sa.BigInteger, "files that it saw"),
    column("sightings", sa.Text, "sha256 over them"),
    column("scan_row", sa.Text, "sha256 over the scan itself and its roots"),
    column("whole", sa.Boolean, "whether it covered its roots completely"),
    column("made", UtcTime, "when"),
    sa.Index(None, "scan_id"),
    sqlite_autoincrement=True,
    comment="Digest of a complete scan. Append-only; each row is in the audit log.",
)

audit_head = sa.Table(
    "audit_head",
    metadata,
    key("id", "", "always 1"),
    column("entry", RowId, "number of the last entry of the audit log when it was signed"),
    column("hash", sa.Text, "hash of that entry"),
    column("key_id", sa.Text, "check value of the key that signed"),
    column("signature", sa.Text, "HMAC-SHA256 over number and hash, hex"),
    column("signed", UtcTime, "when"),
    sa.CheckConstraint("id = 1", name="one_row"),
    comment="The last entry of the audit log, signed; a log that ends before it was truncated.",
)

seal_total = sa.Table(
    "seal_total",
    metadata,
    sa.Column("name", sa.Text, primary_key=True, nullable=False, comment="a table with seals"),
    column("n_rows", sa.BigInteger, "its rows"),
    column("total", sa.Text, "sum of their seals, modulo 2 to the power of 256, hex"),
    seal(),
    comment="How many rows a table with seals has, and which: rows that were removed or doubled are noticed.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {"scan_digest": ("id",)}
"""The append-only tables of this module and their unique columns, by which a REPLACE could remove a row."""
