"""Reuse of results: equal content is screened once and reported at every path; and detection of moved files.

A copy has a row of its own, with all findings of the first examination, so that each path of a content has
its own owner, readers, risk and decision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import OCR_PENDING, OWN_NAMES, EntityType, Outcome, Verdict
from phiscan.review.worklist.model import NOT_BY_THEMSELVES
from phiscan.store import seals
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import (
    departure,
    examination,
    file,
    finding,
    health_term,
    reuse,
    root,
    scan_root,
    sighting,
    unread_part,
)

_IN_OWN_NAME = (finding.c.examination_id == examination.c.id, finding.c.locator.in_(OWN_NAMES))
# Patient data in a file's own name does not apply to an equal content elsewhere.
_IS_OF_CONTENT = ~sa.exists().where(*_IN_OWN_NAME)
# A result that waits for OCR is not reused: it is about to change.
_IS_WHOLE = ~sa.exists().where(
    unread_part.c.examination_id == examination.c.id, unread_part.c.detail == OCR_PENDING
)
MAX_DUPLICATES = 200  # contents of one size that a file is compared with; sizes with more are skipped


def duplicates(
    connection: sa.Connection, sizes: Sequence[int], versions_key: str, *, scan_id: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Return by size the contents, "HASH MEDIA_TYPE", whose result can be reused for an equal content.

    Only examinations by the same versions count; with ``scan_id``, only those of this scan.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for batch in chunks(dict.fromkeys(sizes)):
        ranked = (
            sa.select(
                examination.c.size,
                examination.c.content_hash,
                examination.c.media_type,
                sa.func.row_number()
                .over(partition_by=examination.c.size, order_by=sa.func.max(examination.c.id).desc())
                .label("place"),
            )
            .where(
                examination.c.size.in_(batch),
                examination.c.outcome == Outcome.SCREENED.value,
                examination.c.versions_key == versions_key,
                _IS_OF_CONTENT,
                _IS_WHOLE,
                *([] if scan_id is None else [examination.c.scan_id == scan_id]),
            )
            .group_by(examination.c.size, examination.c.content_hash, examination.c.media_type)
            .subquery()
        )
        query = sa.select(ranked).where(ranked.c.place <= MAX_DUPLICATES)
        for size, content_hash, media_type, _ in connection.execute(query):
            found[size].append(f"{content_hash} {media_type}")
    return {size: tuple(hashes) for size, hashes in found.items()}


def originals(
    connection: sa.Connection, contents: Sequence[tuple[str, str]], versions_key: str
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return by content hash and media type the newest examination by these versions.

    Raises:
        StoreError: a content was never screened by these versions.
    """
    wanted = set(contents)
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for batch in chunks(dict.fromkeys(content_hash for content_hash, _ in contents)):
        newest = (
            sa.select(sa.func.max(examination.c.id))
            .where(
                examination.c.content_hash.in_(batch),
                examination.c.outcome == Outcome.SCREENED.value,
                examination.c.versions_key == versions_key,
                _IS_OF_CONTENT,
                _IS_WHOLE,
            )
            .group_by(examination.c.content_hash, examination.c.media_type)
        )
        query = sa.select(examination).where(examination.c.id.in_(newest))
        for row in connection.execute(query).mappings():
            found[row["content_hash"], row["media_type"]] = {str(name): value for name, value in row.items()}
    if not wanted <= found.keys():
        message = "a file was reported as a copy of a content that was never screened; nothing was recorded"
        raise StoreError(message)
    return found


def same_people() -> sa.ColumnElement[str]:
    """Return an expression over examinations: equal for two files that put the same people at risk.

    Copies of one content do, unless their own names contain data of different people.
    """
    named = (
        sa.select(sa.func.min(finding.c.identity))
        .where(*_IN_OWN_NAME, finding.c.entity_type == EntityType.PERSON.value)
        .correlate(examination)
        .scalar_subquery()
    )
    return examination.c.content_hash + sa.func.coalesce(named, "")


def is_about(made: sa.FromClause, examined: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that a decision is about a result: the same bytes, of this or any other file.

    Of an identical file, a verdict other than PHI is not about one whose own name says more than was found
    in the other: a person or a condition. A verdict by the name, unopened, is about its own file alone.
    """
    adds = [
        _is_added(made, examined, finding, finding.c.identity),
        _is_added(made, examined, health_term, health_term.c.concept),
    ]
    is_phi = made.c.verdict == Verdict.PHI.value
    return sa.and_(
        made.c.content_hash == examined.c.content_hash,
        made.c.content_hash != "",
        (made.c.file_id == examined.c.file_id) | (~made.c.by_name & (is_phi | ~sa.or_(*adds))),
    )


def _is_added(
    made: sa.FromClause, examined: sa.FromClause, table: sa.Table, value: sa.Column[str]
) -> sa.ColumnElement[bool]:
    """Return the condition that a file's own name has a value that was not in the result decided upon."""
    named, known = table.alias(), table.alias()
    is_known = sa.exists().where(
        known.c.examination_id == made.c.examination_id, known.c[value.name] == named.c[value.name]
    )
    says = [named.c.examination_id == examined.c.id, named.c.locator.in_(OWN_NAMES)]
    if table is finding:
        says.append(named.c.entity_type.not_in([kind.value for kind in NOT_BY_THEMSELVES]))
    return sa.exists().where(*says, ~is_known.correlate_except(known)).correlate_except(named)


def copy_children(
    connection: sa.Connection, tables: Sequence[sa.Table], pairs: Sequence[tuple[int, int]]
) -> None:
    """Copy the rows of the first examination of each pair to the second, in these tables."""
    by_original: dict[int, list[int]] = defaultdict(list)
    for original, copy in pairs:
        by_original[original].append(copy)
    for table in tables:
        filled = _with_rows(connection, table, list(by_original))
        others = [column for column in table.columns if column.name != "examination_id"]
        names = ["examination_id", *(column.name for column in others)]
        for original in filled:
            for batch in chunks(by_original[original]):
                every = sa.join(table, examination, sa.true())  # each row of one for each of the others
                rows = (
                    sa.select(examination.c.id, *others)
                    .select_from(every)
                    .where(table.c.examination_id == original, examination.c.id.in_(batch))
                )
                connection.execute(table.insert().from_select(names, rows))
    if pairs:
        connection.execute(reuse.insert(), [{"examination_id": copy} for _, copy in pairs])


def _with_rows(connection: sa.Connection, table: sa.Table, examination_ids: Sequence[int]) -> list[int]:
    """Return the examinations that have rows in a table."""
    found: list[int] = []
    for batch in chunks(examination_ids):
        query = sa.select(table.c.examination_id).where(table.c.examination_id.in_(batch)).distinct()
        found.extend(connection.execute(query).scalars())
    return found


def note_departures(connection: sa.Connection, scan_id: int) -> dict[int, int]:
    """Record the files that were present at the last complete scan of these roots and are missing now.

    A missing file whose content this scan found at a new path has moved there. Called when a scan is
    complete, before its roots are marked with it. Returns the moved files, each with its new one.
    """
    missing = connection.execute(
        sa.select(file.c.id, examination.c.content_hash)
        .join(root, root.c.id == file.c.root_id)
        .join(scan_root, (scan_root.c.root_id == root.c.id) & (scan_root.c.scan_id == scan_id))
        .join(sighting, (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id))
        .join(examination, examination.c.id == sighting.c.examination_id)
        .where(file.c.seen_scan_id < scan_id, file.c.seen_scan_id >= root.c.complete_scan_id)
        .order_by(file.c.id)
    ).all()
    arrived = _arrived(connection, scan_id, [row.content_hash for row in missing if row.content_hash])
    rows = []
    for row in missing:
        places = arrived.get(row.content_hash)
        rows.append({"scan_id": scan_id, "file_id": row.id, "moved_to": places.pop(0) if places else None})
    for batch in chunks(rows):
        seals.insert(connection, departure, batch)
    return {row["file_id"]: row["moved_to"] for row in rows if row["moved_to"] is not None}


def _arrived(connection: sa.Connection, scan_id: int, content_hashes: Sequence[str]) -> dict[str, list[int]]:
    """Return by content hash the files that no earlier scan had seen."""
    found: dict[str, list[int]] = defaultdict(list)
    earlier = sa.select(sighting.c.file_id).where(
        sighting.c.file_id == examination.c.file_id, sighting.c.scan_id < scan_id
    )
    for batch in chunks(dict.fromkeys(content_hashes)):
        query = (
            sa.select(examination.c.content_hash, examination.c.file_id)
            .where(
                examination.c.scan_id == scan_id,
                examination.c.content_hash.in_(batch),
                ~earlier.exists(),
            )
            .order_by(examination.c.file_id)
        )
        for content_hash, file_id in connection.execute(query):
            found[content_hash].append(file_id)
    return found
