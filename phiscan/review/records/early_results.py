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
from phiscan.store.identity import is_shape
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
    if rows:
        connection.execute(early_result.insert(), rows)


def forget(connection: sa.Connection, scan_id: int, places: Iterable[Place], roots: RootIds) -> None:
    """Remove results of a scan, because they are recorded now."""
    keys = [{"a_scan": scan_id, "a_root": roots[root_path], "a_path": path} for root_path, path in places]
    if keys:
        which = (
            (early_result.c.scan_id == sa.bindparam("a_scan"))
            & (early_result.c.root_id == sa.bindparam("a_root"))
            & (early_result.c.path == sa.bindparam("a_path"))
        )
        connection.execute(early_result.delete().where(which), keys)


def forget_scan(connection: sa.Connection, scan_id: int) -> None:
    """Remove all results of a scan that is complete."""
    connection.execute(early_result.delete().where(early_result.c.scan_id == scan_id))


def forget_roots(connection: sa.Connection, root_ids: Collection[int]) -> None:
    """Remove the early results of scans of these roots, which are not resumed any more."""
    connection.execute(early_result.delete().where(early_result.c.root_id.in_(root_ids)))


def stored_results(connection: sa.Connection, scan_id: int) -> dict[Place, FileResult]:
    """Return the early results of a scan by root and path; invalid rows are omitted and read again."""
    query = (
        sa.select(root.c.path, early_result.c.path, early_result.c.result)
        .join(root, root.c.id == early_result.c.root_id)
        .where(early_result.c.scan_id == scan_id)
    )
    found = {}
    for root_path, path, text in connection.execute(query):
        result = from_json(text)
        if result is not None and (result.source.root, result.source.path) == (root_path, path):
            found[root_path, path] = result
    return found


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
