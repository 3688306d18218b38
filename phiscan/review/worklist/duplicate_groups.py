"""Near-duplicates are judged blind together: they share one draw, and are hidden until all are judged.

The verdict on a form letter reveals that on the next. So while one of them awaits a second verdict, the
verdicts on all of them are visible only to the user who gave them. (Identical files have one verdict.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from phiscan.review.decisions.second_verdicts import SECOND, awaited
from phiscan.review.worklist import row_sources as work_sources
from phiscan.review.worklist.model import WorkState
from phiscan.store.sql_batches import chunks, listed
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
        listed_now = work_sources.current_in_list(connection, files, work_sources.members(connection, files))
        standing = {row.file_id: row for row in listed_now if row.content_hash in contents}
        results = [row.id for row in standing.values()]
        whom = awaited(connection, results, work_sources.verdicts(connection, results)) if results else {}
        found |= {standing[number].content_hash for number, one in whom.items() if one == SECOND}
    return found


def _members(group_id: int) -> sa.Select[Any]:
    return sa.select(work_item.c.file_id).where(work_item.c.group_id == group_id)
