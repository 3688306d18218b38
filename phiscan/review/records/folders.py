"""Digests of folders whose entries all have current results, so that a rescan can skip unchanged folders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from phiscan.store import seals
from phiscan.store.column_types import stored_columns
from phiscan.store.sql_batches import Run, chunks, merged
from phiscan.store.tables import folder, root


def place_of(path: bytes) -> bytes:
    """Return a folder's path in a form that sorts in crawl order: depth first, by raw name."""
    return path.replace(b"/", b"\0")


@dataclass(frozen=True, slots=True)
class FolderState:
    """A folder's digest, and the runs of numbers of its files, in order."""

    place: bytes
    digest: bytes
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, path: bytes, digest: bytes, file_ids: Sequence[int]) -> FolderState:
        """Return the state of a folder (its path relative to the root) and of its files."""
        runs = merged((number, number) for number in file_ids)
        return cls(place_of(path), digest, tuple(runs))

    @property
    def n_files(self) -> int:
        """The number of its files."""
        return sum(last - first + 1 for first, last in self.runs)


def following(connection: sa.Connection, root_path: bytes, place: bytes, *, limit: int) -> list[FolderState]:
    """Return the stored states of folders of a root from a path on, in crawl order."""
    query = (
        sa.select(*stored_columns(folder))
        .join(root, root.c.id == folder.c.root_id)
        .where(root.c.path == root_path, folder.c.place >= place)
        .order_by(folder.c.place)
        .limit(limit)
    )
    states = []
    for row in connection.execute(query).mappings():
        is_ours = seals.is_right(connection, folder, row)  # else it is listed, as a folder that changed
        runs = tuple((first, last) for first, last in json.loads(row["file_runs"])) if is_ours else ()
        states.append(FolderState(row["place"], row["digest"] if is_ours else b"", runs))
    return states


def note(connection: sa.Connection, root_id: int, states: Sequence[FolderState]) -> None:
    """Store the states of folders, replacing the previous ones."""
    for batch in chunks(states):
        here = (folder.c.root_id == root_id) & folder.c.place.in_([state.place for state in batch])
        seals.remove(connection, folder, here)
        rows = [
            {
                "root_id": root_id,
                "place": state.place,
                "digest": state.digest,
                "file_runs": [list(run) for run in state.runs],
            }
            for state in batch
        ]
        seals.insert(connection, folder, rows)


def forget(connection: sa.Connection) -> None:
    """Delete the states of all folders, because files may have lost their numbers: a full rescan follows."""
    seals.remove(connection, folder)
