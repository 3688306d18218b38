"""Keeping the review list: the rows of ``work_item``, made from the other tables.

Whatever changes a file's result, verdict, assignment, sample or group calls ``refresh`` for it in the same
transaction: the row is made anew from the truth, never patched, so that ``rebuild`` gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, FileResult, Outcome, Referral
from phiscan.review import work_tallies
from phiscan.review.database import lock_chain
from phiscan.review.hiding import Place, hidden_until, hiders
from phiscan.review.second_verdicts import FIRST, SECOND, awaited
from phiscan.review.standing import present
from phiscan.review.statements import chunks, listed, some_runs
from phiscan.review.tables import (
    access,
    assignment,
    decision,
    decision_undo,
    examination,
    file,
    finding,
    near_group,
    root,
    sample_draw,
    sample_member,
    scan_root,
    sighting,
    work_item,
)
from phiscan.review.work import WorkState

N_BANDS = 10  # of scores, for the estimate of what is left
THRESHOLD = 0.5  # HealthScore: the threshold learned from the prototypes
RANDOM_SHARE = 0.1  # of the items, at a random place in the order by doubt
_BIT = {kind.value: 1 << place for place, kind in enumerate(EntityType)}

# Put together once: a decision executes nearly all of them.
_INSERT = work_item.insert()
_REMOVE = work_item.delete().where(work_item.c.file_id.in_(listed("files")))
_IN_LIST = sa.select(work_item.c.file_id).where(work_item.c.file_id.in_(listed("files")))
_LATEST_DRAW = sa.select(sa.func.max(sample_draw.c.id))
_MEMBERS = sa.select(sample_member).where(
    sample_member.c.file_id.in_(listed("files")), sample_member.c.draw_id == sa.bindparam("draw")
)
_VERDICTS = (
    sa.select(decision)
    .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
    .where(decision.c.file_id.in_(listed("files")), decision_undo.c.id.is_(None))
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


def types_mask(kinds: Iterable[str]) -> int:
    """Pack types of identifiers into an integer, a bit each in the order of ``EntityType``.

    >>> types_mask(["PERSON", "ORGANIZATION", "PERSON"])
    5
    """
    mask = 0
    for kind in kinds:
        mask |= _BIT[kind]
    return mask


def refresh(
    connection: sa.Connection, file_ids: Sequence[int], *, types: Mapping[int, int] | None = None
) -> None:
    """Make the rows of these files anew, or remove them when the files are not in the list (any more).

    ``types``: the packed types of findings by file, where they are known; the others are looked up.
    """
    lock_chain(connection)  # one at a time: rows are made from what the others left
    for some in chunks(dict.fromkeys(file_ids)):
        gone = work_tallies.rows_of(connection, some)
        if gone:
            connection.execute(_REMOVE, {"files": some})
        rows = _rows(connection, some, types or {})
        if rows:
            connection.execute(_INSERT, rows)
        work_tallies.note(connection, gone, rows)


def rebuild(connection: sa.Connection) -> int:
    """Make the whole list anew and return its length."""
    lock_chain(connection)
    connection.execute(work_item.delete())
    work_tallies.clear(connection)
    for some in chunks(_candidates(connection)):
        rows = _rows(connection, some, {})
        if rows:
            connection.execute(_INSERT, rows)
            work_tallies.note(connection, (), rows)
    return int(connection.execute(sa.select(sa.func.count()).select_from(work_item)).scalar_one())


def take_in(connection: sa.Connection, results: Mapping[int, FileResult], back: Sequence[int]) -> None:
    """Bring the list up to date with recorded results, by file, and with files that came back unchanged."""
    referred = {number: one for number, one in results.items() if one.referral is Referral.REFERRED}
    # What was in the list may have left it; a copy's result does not say whether it is referred.
    others = [number for number in results if number not in referred]
    copies = [number for number in others if results[number].is_copy]
    types = {
        number: types_mask(found.entity_type.value for found in one.findings)
        for number, one in referred.items()
    }
    concerned = dict.fromkeys([*referred, *copies, *in_list(connection, others), *back])
    refresh(connection, list(concerned), types=types)


def absent(connection: sa.Connection, file_ids: Sequence[int]) -> list[int]:
    """Return which of these files were gone after the last complete scan; being seen brings them back."""
    found: list[int] = []
    for runs in some_runs(sorted(set(file_ids))):  # what did not change is few runs of numbers
        among = sa.or_(*(file.c.id.between(first, last) for first, last in runs))
        query = (
            sa.select(file.c.id)
            .join(root, root.c.id == file.c.root_id)
            .where(among, file.c.seen_scan_id < root.c.complete_scan_id)
        )
        found += connection.execute(query).scalars()
    return found


def in_list(connection: sa.Connection, file_ids: Sequence[int]) -> set[int]:
    """Return which of these files have a row."""
    found: set[int] = set()
    for some in chunks(dict.fromkeys(file_ids)):
        found |= set(connection.execute(_IN_LIST, {"files": some}).scalars())
    return found


def drop_departed(connection: sa.Connection, scan_id: int) -> None:
    """Remove the files that a scan, now complete, did not see on its roots."""
    of_scan = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
    gone = sa.select(file.c.id).where(file.c.root_id.in_(of_scan), file.c.seen_scan_id < scan_id)
    lock_chain(connection)
    here = work_item.c.root_id.in_(of_scan) & work_item.c.file_id.in_(gone)
    work_tallies.note(connection, work_tallies.rows_where(connection, here), ())
    connection.execute(work_item.delete().where(here))


def latest_draw(connection: sa.Connection) -> int | None:
    """Return the number of the sample that stands."""
    number: int | None = connection.execute(_LATEST_DRAW).scalar()
    return number


def _candidates(connection: sa.Connection) -> list[int]:
    referred = present(sa.select(file.c.id).select_from(sighting), None).where(
        examination.c.referral == Referral.REFERRED.value
    )
    drawn = sa.select(sample_member.c.file_id).where(sample_member.c.draw_id == latest_draw(connection))
    return sorted({*connection.execute(referred).scalars(), *connection.execute(drawn).scalars()})


def _rows(connection: sa.Connection, some: Sequence[int], types: Mapping[int, int]) -> list[dict[str, Any]]:
    members = _members(connection, some)
    standing = [
        row
        for row in _standing(connection, some)
        if row.referral == Referral.REFERRED or (row.file_id in members and row.outcome == Outcome.SCREENED)
    ]
    if not standing:
        return []
    contents = {row.file_id: row.content_hash for row in standing}
    ids = list(contents)
    verdicts = _verdicts(connection, contents)
    assignees = _assignees(connection, ids)
    groups = _groups(connection, contents)
    awaits = awaited(connection, contents, verdicts)
    kinds = {**_types(connection, [row.id for row in standing if row.file_id not in types]), **types}
    places = [Place(row.id, row.root_id, row.path) for row in standing]
    hidden = hidden_until(connection, places, hiders(connection))
    rows = []
    for row in standing:
        number = row.file_id
        member = members.get(number)
        blind = member is not None and _is_blind(row, member)
        verdict = verdicts.get(number)
        waits = awaits[number] if verdict else FIRST
        rows.append(
            {
                "file_id": number,
                "examination_id": row.id,
                "root_id": row.root_id,
                "path_folded": row.path.casefold(),
                "content_hash": row.content_hash,
                "referred": row.referral == Referral.REFERRED,
                "blind": blind,
                "risk": member.risk if blind and member else row.risk,
                "doubt": member.doubt if blind and member else _doubt(row),
                "arrived": row.arrived,
                "media_type": row.media_type,
                "owner": row.owner or str(row.uid),
                "types": 0 if blind else kinds.get(number, 0),
                "score": None if blind else row.health_score,
                "band": min(int((row.health_score or 0.0) * N_BANDS), N_BANDS - 1),
                "group_id": groups.get(number),
                "state": verdict.verdict if verdict else WorkState.UNDECIDED.value,
                "reviewer": verdict.reviewer if verdict else "",
                "decided": verdict.decided if verdict else None,
                "decision_id": verdict.id if verdict else None,
                "assignee": assignees.get(number, ""),
                "awaits": waits,
                "is_open": waits in {FIRST, SECOND},
                "hidden_until": "" if blind else hidden.get(row.id, ""),
            }
        )
    return rows


def _is_blind(row: sa.Row[Any], member: sa.Row[Any]) -> bool:
    """A referred file is blind as long as it is what was drawn; one that was not referred, until it is."""
    if row.referral == Referral.REFERRED:
        return bool(member.referred) and member.content_hash == row.content_hash
    return True


def _doubt(row: sa.Row[Any]) -> float:
    """Return how far the score is from its threshold; of a share of the items, a random number instead.

    The random ones spread over the whole order: what is decided of them says something of all the others.
    """
    lot = int.from_bytes(sha256(b"lot\0%d" % row.file_id).digest()[:6]) / 2**48
    if lot < RANDOM_SHARE:
        return lot / RANDOM_SHARE * THRESHOLD
    return abs(float(row.health_score or 0.0) - THRESHOLD)


def _standing(connection: sa.Connection, some: Sequence[int]) -> Sequence[sa.Row[Any]]:
    return connection.execute(_standing_files(), {"files": some}).all()


@cache
def _standing_files() -> sa.Select[Any]:
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


def _members(connection: sa.Connection, some: Sequence[int]) -> dict[int, sa.Row[Any]]:
    draw = latest_draw(connection)
    if draw is None:
        return {}
    return {row.file_id: row for row in connection.execute(_MEMBERS, {"files": some, "draw": draw})}


def _verdicts(connection: sa.Connection, contents: Mapping[int, str]) -> dict[int, sa.Row[Any]]:
    """Return the decision that stands for each of these contents."""
    return {
        row.file_id: row
        for row in connection.execute(_VERDICTS, {"files": list(contents)})
        if contents[row.file_id] == row.content_hash
    }


def _assignees(connection: sa.Connection, some: Sequence[int]) -> dict[int, str]:
    return {row.file_id: row.assignee for row in connection.execute(_ASSIGNEES, {"files": some})}


def _groups(connection: sa.Connection, contents: Mapping[int, str]) -> dict[int, int]:
    return {
        row.file_id: row.group_id
        for row in connection.execute(_GROUPS, {"files": list(contents)})
        if contents[row.file_id] == row.content_hash
    }


def _types(connection: sa.Connection, examination_ids: Sequence[int]) -> dict[int, int]:
    """Return the packed types of findings by file."""
    found: dict[int, int] = {}
    for some in chunks(examination_ids):
        for file_id, kind in connection.execute(_TYPES, {"examinations": some}):
            found[file_id] = found.get(file_id, 0) | _BIT[kind]
    return found
