"""Openings of files by access logs: which file, by how many accounts, when; and the time that logs cover.

An opening is an account, a file and a minute: a set, so that the same log, or a part of it, changes nothing
when it is imported again. Names of accounts are stored as keyed hashes only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

import sqlalchemy as sa

from phiscan.store import seals
from phiscan.store.sql_batches import chunks, listed, merged, rows_in
from phiscan.store.tables.scans import access, departure, examination, file, log_coverage, opening

_DAY = 24 * 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MIN_GAP = timedelta(hours=1)  # shorter ones are between two files of one log


def minute_of(moment: datetime) -> int:
    """Return the minutes since 1970."""
    return int((moment - _EPOCH).total_seconds() // 60)


def moment_of(minute: int) -> datetime:
    """Return the begin of a minute.

    >>> moment_of(minute_of(datetime(2026, 3, 1, 9, 5, 59, tzinfo=UTC))).isoformat()
    '2026-03-01T09:05:00+00:00'
    """
    return _EPOCH + timedelta(minutes=minute)


@dataclass(frozen=True, slots=True)
class Covered:
    """The time that the logs of one kind cover."""

    kind: str
    first: datetime
    last: datetime
    n_gaps: int = 0  # of an hour or more
    longest_gap: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Openings:
    """What the imported logs say about a file, or about several files together."""

    n_openings: int = 0
    n_accounts: int = 0  # different ones
    n_others: int = 0  # of them, those that did not own the file
    first: datetime | None = None
    last: datetime | None = None
    covered: tuple[Covered, ...] = ()  # empty = no log covers it, or it was not asked for

    def to_json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return {
            "openings": self.n_openings,
            "accounts": self.n_accounts,
            "accounts_of_others": self.n_others,
            "first": self.first.isoformat() if self.first else None,
            "last": self.last.isoformat() if self.last else None,
            "covered": [
                {
                    "kind": one.kind,
                    "first": one.first.isoformat(),
                    "last": one.last.isoformat(),
                    "gaps": one.n_gaps,
                    "longest_gap_hours": one.longest_gap / timedelta(hours=1),
                }
                for one in self.covered
            ],
        }


NEVER = Openings()


@dataclass(frozen=True, slots=True)
class OpeningsTogether:
    """Openings of several files."""

    n_opened: int
    n_not_opened: int  # though logs cover them
    n_not_covered: int
    total: Openings


@cache
def _accounts() -> sa.Select[Any]:
    """Select the openings of files by place and account; a place is the file or one that it moved from."""
    start = sa.select(file.c.id.label("here"), file.c.id.label("place")).where(file.c.id.in_(listed("files")))
    here = start.cte("places", recursive=True)
    before = sa.select(here.c.here, departure.c.file_id).join(here, departure.c.moved_to == here.c.place)
    places = here.union(before)
    keys = (places.c.here, places.c.place, opening.c.account)
    return (
        sa.select(
            *keys,
            sa.func.sum(opening.c.n_openings).label("n"),
            sa.func.max(sa.case((opening.c.is_owner, 1), else_=0)).label("is_owner"),
            sa.func.min(opening.c.first).label("first"),
            sa.func.max(opening.c.last).label("last"),
        )
        .select_from(places)
        .join(opening, opening.c.file_id == places.c.place)
        .group_by(*keys)
    )


def _summed(rows: Collection[sa.Row[Any]], covered: tuple[Covered, ...] = ()) -> Openings:
    if not rows:
        return Openings(covered=covered)
    owned = {row.account for row in rows if row.is_owner}
    accounts = {row.account for row in rows}
    return Openings(
        sum(row.n for row in rows),
        len(accounts),
        len(accounts - owned),
        moment_of(min(row.first for row in rows)),
        moment_of(max(row.last for row in rows)),
        covered,
    )


def openings_of(connection: sa.Connection, file_ids: Iterable[int]) -> dict[int, Openings]:
    """Return the openings of files, at their former places too; without the time that logs cover."""
    of_file: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in rows_in(connection, _accounts(), "files", file_ids):
        of_file[row.here].append(row)
    return {number: _summed(rows) for number, rows in of_file.items()}


def openings_together(connection: sa.Connection, file_ids: Collection[int]) -> OpeningsTogether:
    """Return the openings of several files together, and how many of the files logs cover."""
    rows = list(rows_in(connection, _accounts(), "files", file_ids))
    opened = {row.here for row in rows}
    of_file = sa.select(file.c.id, file.c.root_id).where(file.c.id.in_(listed("files")))
    roots = {row.id: row.root_id for row in rows_in(connection, of_file, "files", file_ids)}
    covered = _covered(connection, set(roots.values()))
    n_idle = sum(root in covered and number not in opened for number, root in roots.items())
    return OpeningsTogether(
        n_opened=len(opened),
        n_not_opened=n_idle,
        n_not_covered=len(roots) - len(opened) - n_idle,
        total=_summed({(row.place, row.account): row for row in rows}.values(), _periods(covered)),
    )


def _covered(connection: sa.Connection, roots: Collection[int]) -> dict[int, list[sa.Row[Any]]]:
    found: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    query = sa.select(log_coverage).where(log_coverage.c.root_id.in_(listed("roots")))
    for row in rows_in(connection, query, "roots", roots):
        found[row.root_id].append(row)
    return found


def _periods(covered: Mapping[int, Sequence[sa.Row[Any]]]) -> tuple[Covered, ...]:
    """Return the covered time by kind of log; of several roots together."""
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in (row for rows in covered.values() for row in rows):
        runs[row.kind].append((row.first, row.last))
    found = []
    for kind, of_kind in sorted(runs.items()):
        joined = merged(of_kind)
        between = (timedelta(minutes=b[0] - a[1]) for a, b in pairwise(joined))
        gaps = [gap for gap in between if gap >= _MIN_GAP]
        first, last = moment_of(joined[0][0]), moment_of(joined[-1][1])
        found.append(Covered(kind, first, last, len(gaps), max(gaps, default=timedelta())))
    return tuple(found)


Account = bytes
Batch = Mapping[tuple[int, Account], set[int]]
"""The minutes since 1970 in which an account opened a file."""


def bare_name(account: str) -> str:
    r"""Return the name of an account without its domain, folded, to compare it with an owner's.

    >>> bare_name("CLINIC\\Ana"), bare_name("ana@clinic.example"), bare_name("arn:aws:iam::1:user/Ana")
    ('ana', 'ana', 'ana')
    """
    return account.casefold().rpartition("\\")[2].partition("@")[0].rpartition("/")[2]


def owners_of(connection: sa.Connection, file_ids: Iterable[int]) -> dict[int, str]:
    """Return the bare names of the owners of files at their last examination."""
    query = (
        sa.select(examination.c.file_id, access.c.owner)
        .join(access, access.c.examination_id == examination.c.id)
        .where(examination.c.file_id.in_(listed("files")), access.c.owner != "")
        .order_by(examination.c.id)
    )
    return {row.file_id: bare_name(row.owner) for row in rows_in(connection, query, "files", file_ids)}


def add_openings(connection: sa.Connection, batch: Batch, owning: Collection[tuple[int, Account]]) -> int:
    """Add openings to those that are stored; return the number of new ones.

    A stored row without a right seal is left as it is: ``audit verify`` names it.
    """
    minutes: dict[tuple[int, Account, int], set[int]] = defaultdict(set)
    for (file_id, account), times in batch.items():
        for minute in times:
            minutes[file_id, account, minute // _DAY].add(minute % _DAY)
    n_new = 0
    for keys in chunks(minutes):
        is_here = sa.tuple_(opening.c.file_id, opening.c.account, opening.c.day).in_(keys)
        changed, made = [], []
        stored = {
            (row["file_id"], row["account"], row["day"]): row
            for row in seals.rows(connection, opening, is_here)
        }
        for key in keys:
            row = stored.get(key)
            before = set(_unpacked(row["minutes"])) if row else set()
            if minutes[key] <= before or (row and not seals.is_right(connection, opening, row)):
                continue
            n_new += len(minutes[key] - before)
            changed += [key] if row else []
            is_owner = key[:2] in owning or bool(row and row["is_owner"])
            made.append(_row(key, before | minutes[key], is_owner=is_owner))
        if changed:
            gone = sa.tuple_(opening.c.file_id, opening.c.account, opening.c.day).in_(changed)
            seals.remove(connection, opening, gone)
        seals.insert(connection, opening, made)
    return n_new


def _row(key: tuple[int, Account, int], minutes: set[int], *, is_owner: bool) -> dict[str, Any]:
    ordered, start = sorted(minutes), key[2] * _DAY
    return {
        **dict(zip(("file_id", "account", "day"), key, strict=True)),
        "minutes": b"".join(minute.to_bytes(2) for minute in ordered),
        "n_openings": len(ordered),
        "first": start + ordered[0],
        "last": start + ordered[-1],
        "is_owner": is_owner,
    }


def _unpacked(packed: bytes) -> Iterator[int]:
    return (int.from_bytes(packed[at : at + 2]) for at in range(0, len(packed), 2))


def cover(connection: sa.Connection, root_id: int, kind: str, first: datetime, last: datetime) -> None:
    """Add a time that a log covers, joined with those that it overlaps."""
    run = (minute_of(first), minute_of(last))
    here = (log_coverage.c.root_id == root_id, log_coverage.c.kind == kind)
    near = (*here, log_coverage.c.first <= run[1] + 1, log_coverage.c.last >= run[0] - 1)
    found = [(row["first"], row["last"]) for row in seals.rows(connection, log_coverage, *near)]
    joined = merged([run, *found])
    if joined != found:
        seals.remove(connection, log_coverage, *near)
        rows = [{"root_id": root_id, "kind": kind, "first": a, "last": b} for a, b in joined]
        seals.insert(connection, log_coverage, rows)
