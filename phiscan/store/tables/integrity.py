"""Tables of integrity and retention: digests, signed end of the log, holds, purges, keys of the hashes."""

from __future__ import annotations

import sqlalchemy as sa

from phiscan.store.column_types import CanonicalJson, RowId, SafeText, UtcTime
from phiscan.store.tables.schema import column, history, key, one_of, row_id, seal, table, when, who

examination_digest = table(
    "examination_digest",
    key("examination_id", "examination.id", "the examination"),
    column(
        "parts", CanonicalJson, "{table: first 24 hex digits of sha256 over its rows of this examination}"
    ),
    seal(),
    comment="Digest of one result and its rows in other tables, made when it was recorded.",
)

scan_digest = history(
    "scan_digest",
    row_id("number of the digest; of several of one scan, the highest applies"),
    column("scan_id", RowId, "the scan", to="scan.id"),
    column("cause", SafeText, "why it was made: scan, or purge (rows of the scan were removed by policy)"),
    column("n_examinations", sa.BigInteger, "results that the scan made"),
    column("examinations", sa.Text, "sha256 over the digests of its results"),
    column("n_sightings", sa.BigInteger, "files that it saw"),
    column("sightings", sa.Text, "sha256 over them"),
    column("scan_row", sa.Text, "sha256 over the scan itself and its roots"),
    column("whole", sa.Boolean, "whether it covered its roots completely"),
    when("made"),
    sa.Index(None, "scan_id"),
    comment="Digest of a complete scan. Append-only; each row is in the audit log.",
)

audit_head = table(
    "audit_head",
    key("id", "", "always 1"),
    column("entry", RowId, "number of the last entry of the audit log when it was signed"),
    column("hash", sa.Text, "hash of that entry"),
    column("key_id", sa.Text, "check value of the key that signed"),
    column("signature", sa.Text, "HMAC-SHA256 over number and hash, hex"),
    column("signed", UtcTime, "when"),
    sa.CheckConstraint("id = 1", name="one_row"),
    comment="The last entry of the audit log, signed; a log that ends before it was truncated.",
)

seal_total = table(
    "seal_total",
    key("name", "", "a table with seals", sa.Text),
    column("n_rows", sa.BigInteger, "its rows"),
    column("total", sa.Text, "sum of their seals, modulo 2 to the power of 256, hex"),
    seal(),
    comment="How many rows a table with seals has, and which: rows that were removed or doubled are noticed.",
)

legal_hold = history(
    "legal_hold",
    row_id("number of the entry; of several about one file or root, the highest applies"),
    column("root_id", RowId, "the root held; null = a single file", to="root.id", null=True),
    column("file_id", RowId, "the file held; null = a whole root", to="file.id", null=True),
    column("state", sa.Text, "placed or lifted"),
    column("reason", SafeText, "why, such as the number of the case"),
    who("set_by", "who"),
    when("set_at"),
    one_of("state", ("placed", "lifted")),
    sa.CheckConstraint("(root_id IS NULL) <> (file_id IS NULL)", name="one_held"),
    sa.CheckConstraint("reason <> ''", name="reason_given"),
    sa.Index(None, "file_id"),
    sa.Index(None, "root_id"),
    comment="Legal holds: nothing about a held file or root is purged. Append-only.",
)

scan_totals = table(
    "scan_totals",
    key("scan_id", "scan.id", "the scan"),
    column("summary", CanonicalJson, "the numbers of the scan as they were before the first purge"),
    seal(),
    comment="Numbers of scans some of whose rows were purged: they can no longer be counted.",
)

purge = history(
    "purge",
    row_id("number of the certificate"),
    when("purged"),
    who("purged_by", "who"),
    column("policy", CanonicalJson, "the policy that was applied, with the dates that follow from it"),
    column("counts", CanonicalJson, "{table: rows removed}"),
    column("oldest", UtcTime, "earliest time in a row that was removed; null = none had a time", null=True),
    column("newest", UtcTime, "latest time in a row that was removed", null=True),
    column("digest", sa.Text, "sha256 over all rows removed, table by table in order"),
    column("ranges", CanonicalJson, "{logged table: [[first, last number], ...]} of rows removed"),
    column("log_through", RowId, "last entry of the audit log that was removed, by this or before; 0 = none"),
    column("log_hash", sa.Text, "hash of that entry: the log continues from it"),
    column("carried", CanonicalJson, "{table: {row: digest}} of rows that outlive their entry in the log"),
    sa.CheckConstraint("length(digest) = 64", name="digest_is_a_hash"),
    comment="The certificate of a purge, and the point from which the audit log continues. Append-only.",
)

key_use = history(
    "key_use",
    row_id("number of the entry; the highest applies"),
    column("key_id", sa.Text, "check value of the key: identifies it, reveals nothing about it"),
    column("former", sa.Text, "state of the previous key: none (the first key), sealed or destroyed"),
    who("used_by", "who activated it"),
    when("used"),
    one_of("former", ("none", "sealed", "destroyed")),
    comment="Which key made the hashes, by its check value. Append-only.",
)
