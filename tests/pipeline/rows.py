"""Every row of a review database, without the times, so that two databases can be compared."""

import sqlite3
from pathlib import Path

# Clock readings, and hashes over them. Everything else must be the same whatever happened on the way.
VOLATILE = {
    "started",
    "last_started",
    "ended",
    "seconds",
    "total_s",
    "at",
    "decided",
    "assigned",
    "prev_hash",
    "row_hash",
    "used",
    "hash",
    "examinations",  # digests of a scan, over rows with their times
    "scan_row",
    "made",
    "signed",
    "signature",
    "key_id",  # of the key of the audit log, of which every home makes its own
    "parts",  # digests of a result, over rows with their times
    "seal",  # by the same key, over such digests and other rows
    "details",  # of the audit log, whose digest is over a row with its time
}

# What the next scan may pass over: an interrupted one has looked at some files twice, and noted folders. Sums
# of seals are by the key of each home, and over states of folders.
DERIVED = {"folder", "seal_total"}


def database_rows(path: Path) -> dict[str, list[dict[str, object]]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        tables = [
            row["name"]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
        rows = {
            table: [
                {name: row[name] for name in row.keys() if name not in VOLATILE}  # noqa: SIM118 (sqlite3.Row)
                for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608
            ]
            for table in tables
            if table not in DERIVED
        }
    # Counts begin in the order of the batches, which end by the clock; one that was there and is not is 0.
    rows["work_tally"] = sorted((row for row in rows["work_tally"] if row["n"]), key=repr)
    return rows


def results_by_path(path: Path) -> dict[tuple[bytes, bytes], dict[str, list[tuple[object, ...]]]]:
    """Return what stands for each file (root, path): its result, findings, terms, gaps and readers.

    For shares with copies: left out are the numbers of rows and which of equal contents was read and which
    took its result over (``reuse``), for they depend on whose answer came first. All else must be the same.
    """
    parts = ("examination", "finding", "health_term", "unread_part", "access", "health_window")
    found: dict[tuple[bytes, bytes], dict[str, list[tuple[object, ...]]]] = {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        for part in parts:
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({part})")]
            keys = {"id", "scan_id", "file_id", "examination_id"}
            kept = ", ".join(f'part."{name}"' for name in names if name not in keys)  # "case": a word of SQL
            number = "id" if part == "examination" else "examination_id"
            query = (
                f"SELECT root.path, file.path, {kept} "  # noqa: S608 (our names)
                f"FROM sighting JOIN file ON file.id = sighting.file_id JOIN root ON root.id = file.root_id "
                f"JOIN {part} part ON part.{number} = sighting.examination_id ORDER BY sighting.file_id, 3"
            )
            for root, name, *values in connection.execute(query):
                found.setdefault((root, name), {}).setdefault(part, []).append(tuple(values))
    return found
