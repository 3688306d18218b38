"""Maintenance of the review list: the rows of ``work_item``, derived from the other tables.

Every change of a file's result, verdict, assignment, sample or group calls ``refresh`` for it in the same
transaction: the row is derived again from its sources, never patched, so that ``rebuild`` gives the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.model import EntityType, FileResult, Referral
from phiscan.review.decisions.second_verdicts import FIRST, LEAD, NOBODY, SECOND, awaited
from phiscan.review.records.file_records import present
from phiscan.review.worklist import counts as work_tallies
from phiscan.review.worklist import row_sources
from phiscan.review.worklist import row_sources as work_sources
from phiscan.review.worklist.hidden_items import Place, hidden_until, hiders
from phiscan.review.worklist.model import WorkState
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import chunks, listed
from phiscan.store.tables import (
    examination,
    file,
    sample_member,
    scan_root,
    sighting,
    work_item,
)

THRESHOLD = 0.5  # HealthScore: the threshold learned from the prototypes
RANDOM_SHARE = 0.1  # of the items, at a random position in the order by doubt
_BIT = {kind.value: 1 << place for place, kind in enumerate(EntityType)}

# Compiled once: nearly every decision executes them.
_INSERT = work_item.insert()
_REMOVE = work_item.delete().where(work_item.c.file_id.in_(listed("files")))
_WAITING = sa.select(work_item.c.file_id, work_item.c.group_id).where(
    work_item.c.file_id.in_(listed("files")), work_item.c.awaits == SECOND, work_item.c.is_open.is_(True)
)
_WITH_CONTENTS = sa.select(work_item.c.file_id).where(work_item.c.content_hash.in_(listed("contents")))
_IN_LIST = sa.select(work_item.c.file_id).where(work_item.c.file_id.in_(listed("files")))


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
    """Derive the rows of these files again, or remove them if the files are not in the list any more.

    ``types``: the packed types of findings by file, where they are known; the others are queried.
    """
    lock_chain(connection)  # serialized: a row depends on the rows of its duplicates
    for batch in chunks(dict.fromkeys(file_ids)):
        before = _waiting(connection, batch)
        rows = _renew(connection, batch, types or {})
        after = {
            row["file_id"]: row["group_id"] for row in rows if row["awaits"] == SECOND and row["is_open"]
        }
        # A file that begins or ceases to await a second verdict hides or shows its near-duplicates.
        turned = {(before | after)[number] for number in before.keys() ^ after.keys()} - {None}
        for others in chunks(row_sources.hidden_by(connection, turned, but=batch)):
            _renew(connection, others, {})


def refresh_contents(connection: sa.Connection, contents: Sequence[tuple[int, str]]) -> list[int]:
    """Derive the rows of files, given with their contents, and of all files identical to them.

    Returns the others: a decision about one stands for them, too.
    """
    files, same = [number for number, _ in contents], set[int]()
    for batch in chunks(dict.fromkeys(content for _, content in contents)):
        same |= set(connection.execute(_WITH_CONTENTS, {"contents": batch}).scalars())
    refresh(connection, [*files, *sorted(same)])
    return sorted(same.difference(files))


def _renew(connection: sa.Connection, batch: Sequence[int], types: Mapping[int, int]) -> list[dict[str, Any]]:
    previous = work_tallies.rows_of(connection, batch)
    if previous:
        connection.execute(_REMOVE, {"files": batch})
    rows = _rows(connection, batch, types)
    if rows:
        connection.execute(_INSERT, rows)
    work_tallies.note(connection, previous, rows)
    return rows


def _waiting(connection: sa.Connection, batch: Sequence[int]) -> dict[int, Any]:
    """Return the files that await a second verdict, each with its near-duplicate group."""
    return {row.file_id: row.group_id for row in connection.execute(_WAITING, {"files": batch})}


def rebuild(connection: sa.Connection) -> int:
    """Derive the whole list again and return its length."""
    lock_chain(connection)
    connection.execute(work_item.delete())
    work_tallies.clear(connection)
    for batch in chunks(_candidates(connection)):
        rows = _rows(connection, batch, {})
        if rows:
            connection.execute(_INSERT, rows)
            work_tallies.note(connection, (), rows)
    return int(connection.execute(sa.select(sa.func.count()).select_from(work_item)).scalar_one())


def differences(connection: sa.Connection) -> Iterator[tuple[int | None, str]]:
    """Yield the files whose rows differ from their sources, and how; changes nothing."""
    expected: set[int] = set()
    counts: Counter[tuple[str, str]] = Counter()
    for batch in chunks(_candidates(connection)):
        kept = {
            row["file_id"]: dict(row)
            for row in connection.execute(
                sa.select(work_item).where(work_item.c.file_id.in_(listed("files"))), {"files": batch}
            ).mappings()
        }
        for row in _rows(connection, batch, {}):
            number = row["file_id"]
            expected.add(number)
            work_tallies.count(counts, row)
            found = kept.get(number)
            if found is None:
                yield number, "was removed from the list"
                continue
            changed = [name for name, value in row.items() if found[name] != value]
            if changed:
                yield number, f"{', '.join(changed)} changed"
    there = connection.execute(sa.select(work_item.c.file_id).order_by(work_item.c.file_id)).scalars()
    for number in there:
        if number not in expected:
            yield number, "was added to the list"
    if not work_tallies.agree(connection, counts):
        yield None, "counts of the list changed"


def take_in(connection: sa.Connection, results: Mapping[int, FileResult], back: Sequence[int]) -> None:
    """Update the list by recorded results, by file, and by files that came back unchanged."""
    referred = {number: one for number, one in results.items() if one.referral is Referral.REFERRED}
    # Files may leave the list; the result of a copy does not contain whether it is referred.
    others = [number for number in results if number not in referred]
    copies = [number for number in others if results[number].is_copy]
    types = {
        number: types_mask(found.entity_type.value for found in one.findings)
        for number, one in referred.items()
    }
    concerned = dict.fromkeys([*referred, *copies, *in_list(connection, others), *back])
    refresh(connection, list(concerned), types=types)


def in_list(connection: sa.Connection, file_ids: Sequence[int]) -> set[int]:
    """Return which of these files have a row."""
    found: set[int] = set()
    for batch in chunks(dict.fromkeys(file_ids)):
        found |= set(connection.execute(_IN_LIST, {"files": batch}).scalars())
    return found


def drop_departed(connection: sa.Connection, scan_id: int) -> None:
    """Remove the files that a complete scan did not find on its roots."""
    of_scan = sa.select(scan_root.c.root_id).where(scan_root.c.scan_id == scan_id)
    # Checked for each file in the list, which is short compared with the share.
    previous = sa.exists().where(file.c.id == work_item.c.file_id, file.c.seen_scan_id < scan_id)
    lock_chain(connection)
    here = work_item.c.root_id.in_(of_scan) & previous
    work_tallies.note(connection, work_tallies.rows_where(connection, here), ())
    connection.execute(work_item.delete().where(here))


def _candidates(connection: sa.Connection) -> list[int]:
    referred = present(sa.select(file.c.id).select_from(sighting), None).where(
        examination.c.referral == Referral.REFERRED.value
    )
    latest = work_sources.latest_draw(connection)
    drawn = sa.select(sample_member.c.file_id).where(sample_member.c.draw_id == latest)
    return sorted({*connection.execute(referred).scalars(), *connection.execute(drawn).scalars()})


def _rows(connection: sa.Connection, batch: Sequence[int], types: Mapping[int, int]) -> list[dict[str, Any]]:
    members = work_sources.members(connection, batch)
    standing = work_sources.current_in_list(connection, batch, members)
    if not standing:
        return []
    contents = {row.file_id: row.content_hash for row in standing}
    ids = list(contents)
    results = [row.id for row in standing]
    verdicts = work_sources.verdicts(connection, results)
    assignees = work_sources.assignees(connection, ids)
    groups = work_sources.groups(connection, contents)
    awaits = awaited(connection, results, verdicts)
    concealed = row_sources.hidden(connection, groups, awaits)
    kinds = {
        **work_sources.types(connection, [row.id for row in standing if row.file_id not in types]),
        **types,
    }
    places = [Place(row.id, row.root_id, row.path) for row in standing]
    hidden = hidden_until(connection, places, hiders(connection))
    rows = []
    for row in standing:
        number = row.file_id
        member = members.get(number)
        verdict = verdicts.get(number)
        waits = awaits[number] if verdict else FIRST
        blind = member is not None and waits not in {NOBODY, LEAD} and _is_of_sample(row, member)
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
                "group_id": groups.get(number),
                "state": verdict.verdict if verdict else WorkState.UNDECIDED.value,
                "reviewer": verdict.reviewer if verdict else "",
                "decided": verdict.decided if verdict else None,
                "decision_id": verdict.id if verdict else None,
                "assignee": assignees.get(number, ""),
                # Hidden as if it awaited a second verdict, but closed: a duplicate of it awaits one.
                "awaits": SECOND if number in concealed else waits,
                "is_open": waits in {FIRST, SECOND},
                "hidden_until": "" if blind else hidden.get(row.id, ""),
            }
        )
    return rows


def _is_of_sample(row: sa.Row[Any], member: sa.Row[Any]) -> bool:
    """Return whether a drawn file is of the sample: a referred one, while it has the drawn content."""
    if row.referral == Referral.REFERRED:
        return bool(member.referred) and member.content_hash == row.content_hash
    return True


def _doubt(row: sa.Row[Any]) -> float:
    """Return the distance of the score from its threshold; for a random share of the items, a random number.

    The random ones are spread over the whole order: their verdicts are representative of all the others.
    """
    draw = int.from_bytes(sha256(b"lot\0%d" % row.file_id).digest()[:6]) / 2**48
    if draw < RANDOM_SHARE:
        return draw / RANDOM_SHARE * THRESHOLD
    return abs(float(row.health_score or 0.0) - THRESHOLD)
