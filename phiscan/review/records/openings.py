"""Openings of files by access logs: which file, by how many accounts, when; and the time that logs cover.

An opening is an account, a file and a minute: a set, so that the same log, or a part of it, changes nothing
when it is imported again. Names of accounts are stored as keyed hashes only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import sqlalchemy as sa

from phiscan.store import seals
from phiscan.store.sql_batches import chunks, listed, merged, rows_in
from phiscan.store.tables.scans import access, departure, examination, file, log_coverage, opening

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MIN_GAP = 60  # minutes; shorter ones are between two files of one log


def minute_of(moment: datetime) -> int:
    """Return the minutes since 1970."""
    return int((moment - _EPOCH).total_seconds() // 60)


def moment_of(minute: int) -> datetime:
    """Return the begin of a minute.

    >>> moment_of(minute_of(datetime(2026, 3, 1, 9, 5, 59, tzinfo=UTC))).isoformat()
    '2026-03-01T09:05:00+00:00'
    """
    return _EPOCH + timedelta(minutes=minute)


class Covered(NamedTuple):
    """The time that the logs of one kind cover."""

    kind: str
    first: datetime
    last: datetime
    gaps: int  # of an hour or more
    longest_gap_hours: float


@dataclass(frozen=True, slots=True)
class Openings:
    """What the imported logs say about a file, or about several files together."""

    n_openings: int = 0
    n_accounts: int = 0  # different ones
    n_others: int = 0  # of them, those that are not known to own the file
    first: datetime | None = None
    last: datetime | None = None
    # Of the files; where only a list is read, there is nothing of what logs cover.
    covered: tuple[Covered, ...] = ()  # empty = no log covers it
    n_opened: int = 0
    n_not_opened: int = 0  # though logs cover them
    n_not_covered: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return {
            "openings": self.n_openings,
            "accounts": self.n_accounts,
            "accounts_of_others": self.n_others,
            "first": self.first.isoformat() if self.first else None,
            "last": self.last.isoformat() if self.last else None,
            "covered": [
                {**one._asdict(), "first": one.first.isoformat(), "last": one.last.isoformat()}
                for one in self.covered
            ],
        }


NEVER = Openings()


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
            sa.func.count().label("n"),
            sa.func.max(sa.case((opening.c.is_owner, 1), else_=0)).label("is_owner"),
            sa.func.min(opening.c.minute).label("first"),
            sa.func.max(opening.c.minute).label("last"),
        )
        .select_from(places)
        .join(opening, opening.c.file_id == places.c.place)
        .group_by(*keys)
    )


def _summed(rows: Collection[sa.Row[Any]], **about: Any) -> Openings:
    if rows:
        accounts = {row.account for row in rows}
        about["n_openings"] = sum(row.n for row in rows)
        about["n_accounts"] = len(accounts)
        about["n_others"] = len(accounts - {row.account for row in rows if row.is_owner})
        about["first"] = moment_of(min(row.first for row in rows))
        about["last"] = moment_of(max(row.last for row in rows))
    return Openings(**about)


def openings_of(connection: sa.Connection, file_ids: Iterable[int]) -> dict[int, Openings]:
    """Return the openings of files, at their former places too; without the time that logs cover."""
    of_file: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in rows_in(connection, _accounts(), "files", file_ids):
        of_file[row.here].append(row)
    return {number: _summed(rows) for number, rows in of_file.items()}


def openings_together(connection: sa.Connection, file_ids: Collection[int]) -> Openings:
    """Return the openings of several files together, and how many of the files logs cover."""
    rows = list(rows_in(connection, _accounts(), "files", file_ids))
    of_file = sa.select(file.c.id, file.c.root_id, file.c.path).where(file.c.id.in_(listed("files")))
    files = list(rows_in(connection, of_file, "files", file_ids))
    of_root = sa.select(log_coverage).where(log_coverage.c.root_id.in_(listed("roots")))
    logs = defaultdict[int, list[sa.Row[Any]]](list)
    for log in rows_in(connection, of_root, "roots", {one.root_id for one in files}):
        logs[log.root_id].append(log)
    covering = {
        one.id: [log for log in logs[one.root_id] if one.path.startswith(log.folder)] for one in files
    }
    opened = {row.here for row in rows}
    n_idle = sum(bool(found) and number not in opened for number, found in covering.items())
    return _summed(
        {(row.place, row.account): row for row in rows}.values(),
        covered=tuple(_periods(chain.from_iterable(covering.values()))),
        n_opened=len(opened),
        n_not_opened=n_idle,
        n_not_covered=len(files) - len(opened) - n_idle,
    )


def _periods(logs: Iterable[sa.Row[Any]]) -> Iterator[Covered]:
    """Yield the covered time by kind of log; of several roots together."""
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in logs:
        runs[row.kind].append((row.first, row.last))
    for kind, of_kind in sorted(runs.items()):
        joined = merged(of_kind)
        gaps = [gap for a, b in pairwise(joined) if (gap := b[0] - a[1]) >= _MIN_GAP]
        first, last = moment_of(joined[0][0]), moment_of(joined[-1][1])
        yield Covered(kind, first, last, len(gaps), max(gaps, default=0) / _MIN_GAP)


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


def add_openings(connection: sa.Connection, found: Mapping[tuple[int, bytes, int], bool]) -> int:
    """Add openings to those that are stored, and return the number of new ones.

    ``found``: whether the account owned the file, by file, account and minute since 1970.
    """
    key = (opening.c.file_id, opening.c.account, opening.c.minute)
    n_new = 0
    for batch in chunks(found):
        stored = set(map(tuple, connection.execute(sa.select(*key).where(sa.tuple_(*key).in_(batch)))))
        names = ("file_id", "account", "minute", "is_owner")
        new = [(*one, found[one]) for one in batch if one not in stored]
        seals.insert(connection, opening, [dict(zip(names, one, strict=True)) for one in new])
        n_new += len(new)
    return n_new


def cover(
    connection: sa.Connection, place: tuple[int, bytes], kind: str, first: datetime, last: datetime
) -> None:
    """Add a time that a log covers of a root, or of a folder in it, joined with those that it overlaps."""
    run = (minute_of(first), minute_of(last))
    made = log_coverage.c
    here = (made.root_id == place[0], made.folder == place[1], made.kind == kind)
    near = (*here, made.first <= run[1] + 1, made.last >= run[0] - 1)
    found = [(row["first"], row["last"]) for row in seals.rows(connection, log_coverage, *near)]
    joined = merged([run, *found])
    if joined != found:
        seals.remove(connection, log_coverage, *near)
        of = {"root_id": place[0], "folder": place[1], "kind": kind}
        seals.insert(connection, log_coverage, [{**of, "first": a, "last": b} for a, b in joined])
