"""Tables of retention: purges, legal holds, and the keys of the hashes."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, key, metadata, one_of, row_id, seal

legal_hold = sa.Table(
    "legal_hold",
    metadata,
    row_id("number of the entry; of several about one file or root, the highest applies"),
    column("root_id", RowId, "the root held; null = a single file", sa.ForeignKey("root.id"), null=True),
    column("file_id", RowId, "the file held; null = a whole root", sa.ForeignKey("file.id"), null=True),
    column("state", sa.Text, "placed or lifted"),
    column("reason", SafeText, "why, such as the number of the case"),
    column("set_by", SafeText, "who"),
    column("set_at", UtcTime, "when"),
    one_of("state", ("placed", "lifted")),
    sa.CheckConstraint("(root_id IS NULL) <> (file_id IS NULL)", name="one_held"),
    sa.CheckConstraint("set_by <> ''", name="set_by_named"),
    sa.CheckConstraint("reason <> ''", name="reason_given"),
    sa.Index(None, "file_id"),
    sa.Index(None, "root_id"),
    sqlite_autoincrement=True,
    comment="Legal holds: nothing about a held file or root is purged. Append-only.",
)

scan_totals = sa.Table(
    "scan_totals",
    metadata,
    key("scan_id", "scan.id", "the scan"),
    column("summary", CanonicalJson, "the numbers of the scan as they were before the first purge"),
    seal(),
    comment="Numbers of scans some of whose rows were purged: they can no longer be counted.",
)

purge = sa.Table(
    "purge",
    metadata,
    row_id("number of the certificate"),
    column("purged", UtcTime, "when"),
    column("purged_by", SafeText, "who"),
    column("policy", CanonicalJson, "the policy that was applied, with the dates that follow from it"),
    column("counts", CanonicalJson, "{table: rows removed}"),
    column("oldest", UtcTime, "earliest time in a row that was removed; null = none had a time", null=True),
    column("newest", UtcTime, "latest time in a row that was removed", null=True),
    column("digest", sa.Text, "sha256 over all rows removed, table by table in order"),
    column("ranges", CanonicalJson, "{logged table: [[first, last number], ...]} of rows removed"),
    column("log_through", RowId, "last entry of the audit log that was removed, by this or before; 0 = none"),
    column("log_hash", sa.Text, "hash of that entry: the log continues from it"),
    column("carried", CanonicalJson, "{table: {row: digest}} of rows that outlive their entry in the log"),
    sa.CheckConstraint("purged_by <> ''", name="purged_by_named"),
    sa.CheckConstraint("length(digest) = 64", name="digest_is_a_hash"),
    sqlite_autoincrement=True,
    comment="The certificate of a purge, and the point from which the audit log continues. Append-only.",
)

key_use = sa.Table(
    "key_use",
    metadata,
    row_id("number of the entry; the highest applies"),
    column("key_id", sa.Text, "check value of the key: identifies it, reveals nothing about it"),
    column("former", sa.Text, "state of the previous key: none (the first key), sealed or destroyed"),
    column("used_by", SafeText, "who activated it"),
    column("used", UtcTime, "when"),
    one_of("former", ("none", "sealed", "destroyed")),
    sa.CheckConstraint("used_by <> ''", name="used_by_named"),
    sqlite_autoincrement=True,
    comment="Which key made the hashes, by its check value. Append-only.",
)

APPEND_ONLY: dict[str, tuple[str, ...]] = {"legal_hold": ("id",), "purge": ("id",), "key_use": ("id",)}
"""The append-only tables of this module and their unique columns, by which a REPLACE could remove a row."""
