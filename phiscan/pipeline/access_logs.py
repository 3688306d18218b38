"""Import of access logs: the openings in a log are matched with files of the database, and recorded.

Stored are keyed hashes of account names; neither a name, nor an address, nor a path that no scan has seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from phiscan.config import Config
from phiscan.crawl.access_logs.kinds import KINDS, kind_of
from phiscan.crawl.access_logs.log import Log, opened_log
from phiscan.crawl.access_logs.paths import LoggedPaths
from phiscan.crawl.access_logs.samba import by_opens
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.location import is_url
from phiscan.crawl.settings import load_settings
from phiscan.errors import ConfigError
from phiscan.hasher import KeyHasher
from phiscan.review.maintenance import key_rotation
from phiscan.review.records import openings
from phiscan.review.records.openings import bare_name, minute_of
from phiscan.review.worklist import rows as work_rows
from phiscan.store.database import Database
from phiscan.store.identity import load_key
from phiscan.store.tables.scans import file, root

N_PER_TRANSACTION = 50_000  # openings
N_ACCOUNTS = 65_536  # kept in memory
_N_ACCOUNT_BYTES = 16


@dataclass(slots=True)
class Imported:
    """What an import found in one log."""

    log: str
    kind: str
    n_openings: int = 0  # in the log, as it counts them
    n_matched: int = 0  # of them, of files of the database
    n_ignored: int = 0  # of them, by accounts that are left out
    n_new: int = 0  # minutes in which an account opened a file that were not known
    n_understood: int = 0  # lines or records
    n_unknown: int = 0
    is_damaged: bool = False
    by_opens: bool = False  # of Samba: listings of a folder are among the openings
    roots: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)  # what the log covers


def import_log(
    database: Database, config: Config, path: Path, *, kind: str = "", year: int | None = None, now: datetime
) -> Imported:
    """Import one log; a second import of the same log changes nothing.

    Raises:
        InputError: it cannot be read, or is of no known kind.
        ConfigError: a setting, or the key of the hashes, is not usable.
    """
    key = load_key(config.key_file)
    database.write(lambda connection: key_rotation.require(connection, key_rotation.key_id(key), now=now))
    try:
        zone = ZoneInfo(config.accesslog.time_zone) if config.accesslog.time_zone else None
    except (ZoneInfoNotFoundError, ValueError):
        message = f"{config.source}: accesslog.time_zone: expected a name such as America/Toronto"
        raise ConfigError(message) from None
    with opened_log(path, now=now, zone=zone, year=year) as log:
        kind = kind or kind_of(log, str(path))
        found = Imported(str(path), kind, by_opens=kind == "samba" and by_opens(log))
        with database.read() as connection:
            roots = {row.id: row.path for row in connection.execute(sa.select(root.c.id, root.c.path))}
            files = LoggedPaths(roots, config.accesslog.paths, folds=KINDS[kind].folds)
            every = sa.select(file.c.root_id, file.c.path, file.c.id).execution_options(yield_per=10_000)
            for row in connection.execute(every):
                files.add(*row)
        ignored = _ignored(config, roots)
        hasher = KeyHasher(key)

        @lru_cache(N_ACCOUNTS)
        def account_of(name: str) -> bytes:
            named = b"ACCOUNT\0" + name.casefold().encode("utf-8", "surrogatepass")
            return hasher.identities([named])[0][:_N_ACCOUNT_BYTES]

        named_roots: set[int] = set()
        parsed = KINDS[kind].parse(log)
        while batch := list(islice(parsed, N_PER_TRANSACTION)):
            minutes: dict[tuple[int, bytes], set[int]] = defaultdict(set)
            names: dict[tuple[int, bytes], str] = {}
            for one in batch:
                found.n_openings += 1
                if not {one.account.casefold(), bare_name(one.account)}.isdisjoint(ignored):
                    found.n_ignored += 1
                    continue
                root_id, number = files.find(one.path)
                named_roots |= {root_id} - {0}
                if number:
                    found.n_matched += 1
                    place = (number, account_of(one.account))
                    minutes[place].add(minute_of(one.moment))
                    names[place] = bare_name(one.account)
            found.n_new += database.write(lambda connection: _record(connection, minutes, names))  # noqa: B023
        _finish(database, found, log, {number: roots[number] for number in named_roots})
    return found


def _record(
    connection: sa.Connection,
    minutes: Mapping[tuple[int, bytes], set[int]],
    names: Mapping[tuple[int, bytes], str],
) -> int:
    numbers = dict.fromkeys(number for number, _account in minutes)
    owners = openings.owners_of(connection, numbers)
    owning = {place for place, name in names.items() if owners.get(place[0]) == name}
    n_new = openings.add_openings(connection, minutes, owning)
    if n_new:
        work_rows.refresh_opened(connection, numbers)
    return n_new


def _finish(database: Database, found: Imported, log: Log, roots: Mapping[int, bytes]) -> None:
    found.n_understood, found.n_unknown, found.is_damaged = log.n_understood, log.n_unknown, log.is_damaged
    first, last = log.first, log.last
    if first is None or last is None:
        return

    def cover(connection: sa.Connection) -> None:
        for number in roots:
            openings.cover(connection, number, found.kind, first, last)

    database.write(cover)
    found.roots = {name.decode("utf-8", "backslashreplace"): (first, last) for name in roots.values()}


def _ignored(config: Config, roots: Mapping[int, bytes]) -> set[str]:
    """Return the accounts that are left out, folded: those of the configuration, and phiscan's own."""
    ignored = {name.casefold() for name in config.accesslog.ignore}
    settings = load_settings(config) if any(map(is_url, roots.values())) else None
    for name in roots.values() if settings else ():
        if settings and is_url(name) and (own := credentials_of(name, settings).username):
            ignored |= {own.casefold(), bare_name(own)}
    return ignored
