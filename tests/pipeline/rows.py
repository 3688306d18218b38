"""Every row of a review database, without the times, so that two databases can be compared."""

import sqlite3
from pathlib import Path

# Clock readings, and hashes over them. Everything else must be the same whatever happened on the way.
VOLATILE = {
    "started",
    "last_started",
    "ended",
    "seconds",
    "at",
    "decided",
    "assigned",
    "prev_hash",
    "row_hash",
    "used",
    "hash",
    "details",  # of the audit log, whose digest is over a row with its time
}


def database_rows(path: Path) -> dict[str, list[dict[str, object]]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        tables = [
            row["name"]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
        return {
            table: [
                {name: row[name] for name in row.keys() if name not in VOLATILE}  # noqa: SIM118 (sqlite3.Row)
                for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608
            ]
            for table in tables
        }
