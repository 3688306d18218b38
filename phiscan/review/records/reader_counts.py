"""How many people can read files and folders: the stored numbers, never who they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from phiscan.model import ReaderCount
from phiscan.review.records.file_records import counted_of
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import FileRecord, weight_of
from phiscan.store import seals
from phiscan.store.tables.scans import folder_readers, reader_count, root


@dataclass(frozen=True, slots=True)
class FolderReaders:
    """A folder, the number of files directly in it that are PHI or may be, and who can read one of them."""

    root: str
    folder: str
    n_files: int
    count: ReaderCount


def store_counts(
    connection: sa.Connection,
    files: Sequence[tuple[FileRecord, ReaderCount]],
    folders: Mapping[tuple[int, str], tuple[int, ReaderCount]],
) -> None:
    """Replace all stored numbers, and put the files whose risk changes into their new place in the list."""
    before = _weights(connection)
    of_files = [
        {
            "file_id": one.file_id,
            "of_examination": one.examination_id,
            "weight": weight_of(found, one.exposure),
        }
        | _columns(found)
        for one, found in files
    ]
    of_folders = [
        {"root_id": root_id, "folder": folder, "n_files": n_files} | _columns(found)
        for (root_id, folder), (n_files, found) in folders.items()
    ]
    for table, rows in ((reader_count, of_files), (folder_readers, of_folders)):
        seals.remove(connection, table, sa.true())
        seals.insert(connection, table, rows)
    work_rows.refresh(connection, sorted({file for file, *_ in before ^ _weights(connection)}))


def _weights(connection: sa.Connection) -> set[tuple[Any, ...]]:
    query = sa.select(reader_count.c.file_id, reader_count.c.of_examination, reader_count.c.weight)
    return set(map(tuple, connection.execute(query)))


def _columns(found: ReaderCount) -> dict[str, Any]:
    names = {"low": found.low, "high": found.high, "of": found.n_accounts, "counted": found.counted}
    return {f"readers_{name}": value for name, value in names.items()} | {"readers_notes": list(found.notes)}


def is_counted(connection: sa.Connection) -> bool:
    """Return whether the readers were counted at any time."""
    return connection.execute(sa.select(reader_count.c.file_id).limit(1)).first() is not None


def widest_folders(connection: sa.Connection, limit: int | None = None) -> list[FolderReaders]:
    """Return the folders whose files most people can read; those open to anyone first, unknown ones last."""
    query = sa.select(folder_readers, root.c.display).join(root, root.c.id == folder_readers.c.root_id)
    found = [
        FolderReaders(row.display, row.folder, row.n_files, count)
        for row in connection.execute(query)
        if (count := counted_of(row))
    ]
    return sorted(found, key=_order)[:limit]


def _order(one: FolderReaders) -> tuple[Any, ...]:
    low, high = one.count.low or 0, one.count.high
    return "open" not in one.count.notes, -max(low, high or 0), -low, -one.n_files, one.root, one.folder
