"""Duplicates are judged blind together: they share one draw, and are hidden until all are judged.

The verdict on a file reveals that on its copy. So while one of them awaits a second verdict, the verdicts on
all of them are visible only to the user who gave them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from phiscan.review.decisions.second_verdicts import SECOND, awaited
from phiscan.review.worklist import row_sources as work_sources
from phiscan.review.worklist.model import WorkState
from phiscan.store.sql_batches import listed
from phiscan.store.tables import (
    decision,
    decision_undo,
    examination,
    near_group,
    second_review,
    second_verdict,
    work_item,
)

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
            decision.c.file_id == second_review.c.file_id, decision.c.reviewer == second_verdict.c.reviewer
        )
        .correlate(second_review, second_verdict)
    )
    .correlate(second_review)
)
_COLUMNS = (second_review.c.id, second_review.c.file_id, second_review.c.content_hash)
_OF_GROUPS = (
    sa.select(*_COLUMNS, near_group.c.group_id)
    .join(
        near_group,
        (near_group.c.file_id == second_review.c.file_id)
        & (near_group.c.content_hash == second_review.c.content_hash),
    )
    .where(near_group.c.group_id.in_(listed("groups")), ~_answered)
    .order_by(second_review.c.id.desc())
)
_OF_CONTENTS = (
    sa.select(*_COLUMNS, sa.null().label("group_id"))
    .distinct()
    .join(
        examination,
        (examination.c.file_id == second_review.c.file_id)
        & (examination.c.content_hash == second_review.c.content_hash),
    )
    .where(examination.c.content_hash.in_(listed("contents")), ~_answered)
    .order_by(second_review.c.id.desc())
)
_ANY = sa.select(second_review.c.id).limit(1)
_FIRST_OF_GROUP = (
    sa.select(near_group.c.content_hash)
    .where(near_group.c.file_id == near_group.c.group_id)
    .where(near_group.c.group_id == sa.bindparam("group"))
)


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Files that are judged together: those of one near-duplicate group (None = none yet), and copies."""

    group_id: int | None
    content_hash: str


def of_file(connection: sa.Connection, file_id: int, content_hash: str) -> DuplicateGroup:
    """Return the key of the files that a file is judged with."""
    return DuplicateGroup(work_sources.groups(connection, {file_id: content_hash}).get(file_id), content_hash)


def draw_key(connection: sa.Connection, group: DuplicateGroup) -> str:
    """Return the input of their common draw: the content of the group's first file, else their own."""
    if group.group_id is None:
        return group.content_hash
    first = connection.execute(_FIRST_OF_GROUP, {"group": group.group_id}).scalar()
    return str(first or group.content_hash)


def is_open(connection: sa.Connection, group: DuplicateGroup) -> bool:
    """Return whether one of them awaits a second verdict, from the stored list."""
    return _exists(connection, group, _IS_OPEN)


def is_decided(connection: sa.Connection, group: DuplicateGroup, *, but: Collection[int]) -> bool:
    """Return whether one of them, other than the given files, has a verdict."""
    return _exists(connection, group, _IS_DECIDED & work_item.c.file_id.not_in(but))


def hidden(
    connection: sa.Connection,
    contents: Mapping[int, str],
    groups: Mapping[int, int],
    awaits: Mapping[int, str],
) -> set[int]:
    """Return the decided files that await no second verdict, while a duplicate of theirs does.

    Computed from the source tables, not from the stored list.

    Args:
        connection: connection to the database.
        contents: content hash by file.
        groups: near-duplicate group by file, where there is one.
        awaits: the awaited verdict of each decided content, by file.
    """
    done = [number for number, whom in awaits.items() if whom != SECOND]
    if not done or connection.execute(_ANY).first() is None:
        return set()
    open_groups = _open(
        connection, _OF_GROUPS, "groups", {groups[number] for number in done if number in groups}, "group_id"
    )
    open_contents = _open(
        connection, _OF_CONTENTS, "contents", {contents[number] for number in done}, "content_hash"
    )
    return {
        number for number in done if groups.get(number) in open_groups or contents[number] in open_contents
    }


def hidden_by(
    connection: sa.Connection, turned: Iterable[DuplicateGroup], *, but: Collection[int]
) -> set[int]:
    """Return the decided files to hide or show after ``but`` began or ceased to await a second verdict.

    Those with another duplicate that awaits one are unchanged.
    """
    found: set[int] = set()
    for query in [one for group in turned for one in _queries(group)]:
        others = query.where(work_item.c.file_id.not_in(but))
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


def _open(
    connection: sa.Connection, query: sa.Select[Any], name: str, sought: set[Any], column: str
) -> set[Any]:
    """Return the groups or contents with a file that awaits its second verdict."""
    found: set[Any] = set()
    if not sought:
        return found
    rows = connection.execute(query, {name: sorted(sought)}).all()
    for start in range(0, len(rows), N_TRIED):
        batch = [row for row in rows[start : start + N_TRIED] if getattr(row, column) not in found]
        if batch:
            waiting = _waiting(connection, batch)
            found |= {getattr(row, column) for row in batch if (row.file_id, row.content_hash) in waiting}
        if found == sought:
            break
    return found


def _waiting(connection: sa.Connection, batch: Sequence[sa.Row[Any]]) -> set[tuple[int, str]]:
    ids = list({row.file_id for row in batch})
    standing = work_sources.current_in_list(connection, ids, work_sources.members(connection, ids))
    contents = {row.file_id: row.content_hash for row in standing}
    whom = awaited(connection, contents, work_sources.verdicts(connection, contents)) if contents else {}
    return {(number, contents[number]) for number, one in whom.items() if one == SECOND}


def _exists(connection: sa.Connection, group: DuplicateGroup, condition: sa.ColumnElement[bool]) -> bool:
    return any(
        connection.execute(query.where(condition).limit(1)).first() is not None for query in _queries(group)
    )


def _queries(group: DuplicateGroup) -> list[sa.Select[Any]]:
    copies = sa.select(examination.c.file_id).where(examination.c.content_hash == group.content_hash)
    queries: list[sa.Select[Any]] = [
        sa.select(work_item.c.file_id).where(
            work_item.c.file_id.in_(copies), work_item.c.content_hash == group.content_hash
        )
    ]
    if group.group_id is not None:
        queries.append(sa.select(work_item.c.file_id).where(work_item.c.group_id == group.group_id))
    return queries
