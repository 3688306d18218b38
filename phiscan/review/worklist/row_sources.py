"""Sources of the rows of the review list in the other tables; near-duplicates are judged blind together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, Outcome, Referral
from phiscan.review.decisions.second_verdicts import SECOND, awaited
from phiscan.review.records.file_records import present
from phiscan.review.records.reuse import is_about
from phiscan.review.worklist.model import WorkState
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
    second_review,
    second_verdict,
    sighting,
    work_item,
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


N_TRIED = 50  # second reviews per query; one that is open decides for all

_IS_OPEN = work_item.c.is_open.is_(True) & (work_item.c.awaits == SECOND)
_IS_HIDDEN = work_item.c.is_open.is_(False) & (work_item.c.awaits == SECOND)
_IS_DECIDED = work_item.c.state != WorkState.UNDECIDED.value

# A second verdict by a user who did not give a first one too: that review awaits nothing any more.
_answered = (
    sa.exists()
    .where(second_verdict.c.second_review_id == second_review.c.id)
    .where(~sa.exists().where(decision_undo.c.second_verdict_id == second_verdict.c.id))
    .where(
        ~sa.exists()
        .where(
            decision.c.content_hash == second_review.c.content_hash,
            decision.c.reviewer == second_verdict.c.reviewer,
        )
        .correlate(second_review, second_verdict)
    )
    .correlate(second_review)
)
_OF_GROUPS = (
    sa.select(second_review.c.id, second_review.c.content_hash, near_group.c.group_id)
    .distinct()
    .join(near_group, near_group.c.content_hash == second_review.c.content_hash)
    .where(near_group.c.group_id.in_(listed("groups")), ~_answered)
    .order_by(second_review.c.id.desc())
)
_WITH_CONTENTS = sa.select(examination.c.file_id).where(examination.c.content_hash.in_(listed("contents")))
_ANY = sa.select(second_review.c.id).limit(1)
_FIRST_OF_GROUP = (
    sa.select(near_group.c.content_hash)
    .where(near_group.c.file_id == near_group.c.group_id)
    .where(near_group.c.group_id == sa.bindparam("group"))
)


def draw_key(connection: sa.Connection, group_id: int | None, content_hash: str) -> str:
    """Return the input of a group's common draw: the content of its first file, else a file's own."""
    first = connection.execute(_FIRST_OF_GROUP, {"group": group_id}).scalar()
    return str(first or content_hash)


def is_open(connection: sa.Connection, group_id: int) -> bool:
    """Return whether a file of a group awaits a second verdict, from the stored list."""
    return connection.execute(_members(group_id).where(_IS_OPEN).limit(1)).first() is not None


def is_decided(connection: sa.Connection, group_id: int, *, but: Collection[int]) -> bool:
    """Return whether a file of a group, other than the given files, has a verdict."""
    others = _members(group_id).where(_IS_DECIDED, work_item.c.file_id.not_in(but))
    return connection.execute(others.limit(1)).first() is not None


def hidden(connection: sa.Connection, groups: Mapping[int, int], awaits: Mapping[int, str]) -> set[int]:
    """Return the decided files that await no second verdict, while a near-duplicate of theirs does.

    Computed from the source tables, not from the stored list.

    Args:
        connection: connection to the database.
        groups: near-duplicate group by file, where there is one.
        awaits: the awaited verdict of each decided content, by file.
    """
    done = [number for number, whom in awaits.items() if whom != SECOND and number in groups]
    if not done or connection.execute(_ANY).first() is None:
        return set()
    open_groups = _open(connection, {groups[number] for number in done})
    return {number for number in done if groups[number] in open_groups}


def hidden_by(connection: sa.Connection, turned: Iterable[int], *, but: Collection[int]) -> set[int]:
    """Return the decided files to hide or show after ``but`` began or ceased to await a second verdict.

    ``turned``: their groups. Those with another near-duplicate that awaits one are unchanged.
    """
    found: set[int] = set()
    for group_id in turned:
        others = _members(group_id).where(work_item.c.file_id.not_in(but))
        if connection.execute(others.where(_IS_OPEN).limit(1)).first() is None:
            found |= set(connection.execute(others.where(_IS_DECIDED)).scalars())
    return found


def to_refresh(connection: sa.Connection) -> list[int]:
    """Return the files that may have to be hidden or shown after the groups changed or files were removed."""
    hidden_now = sa.select(work_item.c.file_id).where(_IS_HIDDEN)
    other = work_item.alias()
    groups = sa.select(other.c.group_id).where(other.c.awaits == SECOND, other.c.is_open.is_(True))
    to_show = sa.select(work_item.c.file_id).where(
        _IS_DECIDED, work_item.c.awaits != SECOND, work_item.c.group_id.in_(groups)
    )
    return sorted({*connection.execute(hidden_now).scalars(), *connection.execute(to_show).scalars()})


def _open(connection: sa.Connection, sought: set[int]) -> set[int]:
    """Return the groups with a file that awaits its second verdict."""
    found: set[int] = set()
    rows: Sequence[Any] = connection.execute(_OF_GROUPS, {"groups": sorted(sought)}).all()
    for start in range(0, len(rows), N_TRIED):
        batch = [row for row in rows[start : start + N_TRIED] if row.group_id not in found]
        if batch:
            waiting = _waiting(connection, batch)
            found |= {row.group_id for row in batch if row.content_hash in waiting}
        if found == sought:
            break
    return found


def _waiting(connection: sa.Connection, batch: Sequence[Any]) -> set[str]:
    """Return the contents that await a second verdict, of those of the list."""
    contents = {row.content_hash for row in batch}
    ids = sorted(set(connection.execute(_WITH_CONTENTS, {"contents": list(contents)}).scalars()))
    found: set[str] = set()
    for files in chunks(ids):
        listed_now = current_in_list(connection, files, members(connection, files))
        standing = {row.file_id: row for row in listed_now if row.content_hash in contents}
        results = [row.id for row in standing.values()]
        whom = awaited(connection, results, verdicts(connection, results)) if results else {}
        found |= {standing[number].content_hash for number, one in whom.items() if one == SECOND}
    return found


def _members(group_id: int) -> sa.Select[Any]:
    return sa.select(work_item.c.file_id).where(work_item.c.group_id == group_id)
