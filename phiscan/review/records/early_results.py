"""Results of a running scan that cannot be recorded yet: stored as JSON, read when the scan is resumed.

Results are recorded in crawl order, so that a scan that was killed and resumed has the same rows as an
uninterrupted one. A result that waits for a slow file earlier in that order is stored here meanwhile, in
the same transactions, so that a kill loses none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import FileResult
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.store import seals
from phiscan.store.identity import is_shape
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import early_result, root

Place = tuple[bytes, bytes]  # raw bytes of root and path
RootIds = Mapping[bytes, int]


@dataclass(frozen=True, slots=True)
class Early:
    """Early results to store and to remove in one transaction."""

    waiting: Sequence[FileResult] = ()  # to be stored
    recorded: Sequence[Place] = ()  # stored before, and recorded now


def store_results(
    connection: sa.Connection, scan_id: int, results: Sequence[FileResult], roots: RootIds
) -> None:
    """Write early results of a scan; a stored one is replaced.

    Raises:
        StoreError: a preview is not masked: nothing is written.
    """
    forget(connection, scan_id, [(result.source.root, result.source.path) for result in results], roots)
    rows = [
        {
            "scan_id": scan_id,
            "root_id": roots[result.source.root],
            "path": result.source.path,
            "result": to_json(result),
        }
        for result in results
    ]
    seals.insert(connection, early_result, rows)


def forget(connection: sa.Connection, scan_id: int, places: Iterable[Place], roots: RootIds) -> None:
    """Remove results of a scan, because they are recorded now."""
    for batch in chunks([(roots[root_path], path) for root_path, path in places]):
        at = sa.tuple_(early_result.c.root_id, early_result.c.path).in_(batch)
        seals.remove(connection, early_result, early_result.c.scan_id == scan_id, at)


def forget_scan(connection: sa.Connection, scan_id: int) -> None:
    """Remove all results of a scan that is complete."""
    seals.remove(connection, early_result, early_result.c.scan_id == scan_id)


def forget_roots(connection: sa.Connection, root_ids: Collection[int]) -> None:
    """Remove the early results of scans of these roots, which are not resumed any more."""
    seals.remove(connection, early_result, early_result.c.root_id.in_(root_ids))


def stored_results(connection: sa.Connection, scan_id: int) -> dict[Place, FileResult]:
    """Return the early results of a scan by root and path; invalid rows are omitted and read again."""
    roots: dict[int, bytes] = {
        row.id: row.path for row in connection.execute(sa.select(root.c.id, root.c.path))
    }
    found = {}
    for row in seals.rows(connection, early_result, early_result.c.scan_id == scan_id):
        result = from_json(row["result"]) if seals.is_right(connection, early_result, row) else None
        place = (roots[row["root_id"]], row["path"])
        if result is not None and (result.source.root, result.source.path) == place:
            found[place] = result
    return found


def refuse_forged(connection: sa.Connection, scan_id: int) -> int:
    """Remove the early results of a scan that this program did not store; return their number."""
    forged = [
        {"a_root": row["root_id"], "a_path": row["path"]}
        for row in seals.rows(connection, early_result, early_result.c.scan_id == scan_id)
        if not seals.is_right(connection, early_result, row)
    ]
    if forged:
        which = (early_result.c.root_id == sa.bindparam("a_root")) & (
            early_result.c.path == sa.bindparam("a_path")
        )
        connection.execute(early_result.delete().where(early_result.c.scan_id == scan_id, which), forged)
        seals.count_all(connection, [early_result])  # the log says how many were refused
    return len(forged)


def to_json(result: FileResult) -> str:
    """Return a result as a JSON list of its fields; numbers are written exactly.

    Raises:
        StoreError: a preview is not masked.
    """
    for position, found in enumerate(result.findings):
        if not is_shape(found.preview):
            message = f"{result.source.display}: finding {position}: its preview is not masked; not recorded"
            raise StoreError(message)
    plain = replace(result, source=replace(result.source, duplicates=()))
    return dumps(to_plain(FileResult, plain))


def from_json(text: str) -> FileResult | None:
    """Parse the output of ``to_json``; None if the text is invalid."""
    try:
        result: FileResult = from_plain(FileResult, json.loads(text))
    except (TypeError, ValueError):
        return None
    return result
