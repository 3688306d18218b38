"""Sources of the rows of the review list: the data of some files in the other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, Outcome, Referral
from phiscan.review.records.file_records import present
from phiscan.review.records.reuse import is_about
from phiscan.store.sql_batches import chunks, listed
from phiscan.store.tables import (
    access,
    assignment,
    decision,
    decision_undo,
    examination,
    file,
    finding,
    near_group,
    sample_draw,
    sample_member,
    sighting,
)

_BIT = {kind.value: 1 << place for place, kind in enumerate(EntityType)}

_LATEST_DRAW = sa.select(sa.func.max(sample_draw.c.id))
_MEMBERS = sa.select(sample_member).where(
    sample_member.c.file_id.in_(listed("files")), sample_member.c.draw_id == sa.bindparam("draw")
)
_VERDICTS = (
    sa.select(examination.c.file_id.label("of_file"), decision)
    .select_from(examination)
    .join(decision, is_about(decision, examination))
    .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
    .where(examination.c.id.in_(listed("examinations")), decision_undo.c.id.is_(None))
    .order_by(decision.c.id)
)
_ASSIGNEES = (
    sa.select(assignment.c.file_id, assignment.c.assignee)
    .where(assignment.c.file_id.in_(listed("files")))
    .order_by(assignment.c.id)
)
_GROUPS = sa.select(near_group).where(near_group.c.file_id.in_(listed("files")))
_TYPES = (
    sa.select(examination.c.file_id, finding.c.entity_type)
    .join(finding, finding.c.examination_id == examination.c.id)
    .where(examination.c.id.in_(listed("examinations")))
    .distinct()
)


def latest_draw(connection: sa.Connection) -> int | None:
    """Return the number of the current sample."""
    number: int | None = connection.execute(_LATEST_DRAW).scalar()
    return number


def current_in_list(
    connection: sa.Connection, batch: Sequence[int], members: Mapping[int, sa.Row[Any]]
) -> list[sa.Row[Any]]:
    """Return the results of the files that belong to the list: referred, or of the sample."""
    return [
        row
        for row in current(connection, batch)
        if row.referral == Referral.REFERRED or (row.file_id in members and row.outcome == Outcome.SCREENED)
    ]


def current(connection: sa.Connection, batch: Sequence[int]) -> Sequence[sa.Row[Any]]:
    """Return the results of the files that are present and whose content was read."""
    return connection.execute(_current_files(), {"files": batch}).all()


@cache
def _current_files() -> sa.Select[Any]:
    other = examination.alias()
    arrived = (
        sa.select(sa.func.min(other.c.scan_id))
        .where(other.c.file_id == file.c.id, other.c.content_hash == examination.c.content_hash)
        .scalar_subquery()
    )
    query: sa.Select[Any] = sa.select(
        file.c.id.label("file_id"),
        file.c.root_id,
        file.c.display.label("path"),
        examination.c.id,
        examination.c.outcome,
        examination.c.referral,
        examination.c.risk,
        examination.c.media_type,
        examination.c.content_hash,
        examination.c.uid,
        examination.c.health_score,
        access.c.owner,
        arrived.label("arrived"),
    ).select_from(sighting)
    query = present(query, None).outerjoin(access, access.c.examination_id == examination.c.id)
    return query.where(file.c.id.in_(listed("files")), examination.c.content_hash != "")


def members(connection: sa.Connection, batch: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the rows of files in the current random sample."""
    draw = latest_draw(connection)
    if draw is None:
        return {}
    return {row.file_id: row for row in connection.execute(_MEMBERS, {"files": batch, "draw": draw})}


def verdicts(connection: sa.Connection, examination_ids: Sequence[int]) -> dict[int, sa.Row[Any]]:
    """Return the decision that stands for each of these results, by their files; it may be about a copy."""
    return {
        row.of_file: row for row in connection.execute(_VERDICTS, {"examinations": list(examination_ids)})
    }


def assignees(connection: sa.Connection, batch: Sequence[int]) -> dict[int, str]:
    """Return the assignees of files."""
    return {row.file_id: row.assignee for row in connection.execute(_ASSIGNEES, {"files": batch})}


def groups(connection: sa.Connection, contents: Mapping[int, str]) -> dict[int, int]:
    """Return the near-duplicate groups of these contents, by file."""
    return {
        row.file_id: row.group_id
        for row in connection.execute(_GROUPS, {"files": list(contents)})
        if contents[row.file_id] == row.content_hash
    }


def types(connection: sa.Connection, examination_ids: Sequence[int]) -> dict[int, int]:
    """Return the types of findings by file, packed into bits."""
    found: dict[int, int] = {}
    for batch in chunks(examination_ids):
        for file_id, kind in connection.execute(_TYPES, {"examinations": batch}):
            found[file_id] = found.get(file_id, 0) | _BIT[kind]
    return found
