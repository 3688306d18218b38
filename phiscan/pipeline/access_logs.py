"""Import of access logs: the openings in a log are matched with files of the database, and recorded.

Stored are keyed hashes of account names; neither a name, nor an address, nor a path that no scan has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from phiscan.config import Config
from phiscan.crawl.access_logs.kinds import KINDS, by_opens, kind_of, openings_in
from phiscan.crawl.access_logs.log import opened_log
from phiscan.crawl.access_logs.paths import LoggedPaths
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
    roots: dict[str, dict[str, str]] = field(default_factory=dict)  # what the log covers, first and last


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
    hasher = KeyHasher(key)

    @lru_cache(N_ACCOUNTS)
    def account_of(name: str) -> bytes:
        named = b"ACCOUNT\0" + name.casefold().encode("utf-8", "surrogatepass")
        return hasher.identities([named])[0][:_N_ACCOUNT_BYTES]

    with opened_log(path, now=now, zone=_zone(config), year=year) as log:
        kind = kind or kind_of(log, str(path))
        found = Imported(str(path), kind, by_opens=kind == "samba" and by_opens(log))
        with database.read() as connection:
            roots = {row.id: row.path for row in connection.execute(sa.select(root.c.id, root.c.path))}
            every = sa.select(file.c.root_id, file.c.path, file.c.id).execution_options(yield_per=10_000)
            known = connection.execute(every)
            files = LoggedPaths(roots, config.accesslog.paths, known, folds=KINDS[kind].folds)
        ignored = _ignored(config, roots.values())
        named: set[int] = set()  # roots
        parsed = openings_in(log, kind)
        while batch := list(islice(parsed, N_PER_TRANSACTION)):
            names: dict[tuple[int, bytes, int], str] = {}  # without domains
            for one in batch:
                name = bare_name(one.account)
                if one.account.casefold() in ignored or name in ignored:
                    found.n_ignored += 1
                    continue
                root_id, number = files.find(one.path)
                named.add(root_id)
                if number:
                    found.n_matched += 1
                    names[number, account_of(one.account), minute_of(one.moment)] = name
            found.n_openings += len(batch)
            found.n_new += database.write(lambda connection: _record(connection, names))  # noqa: B023
        for number in named & roots.keys():
            database.write(lambda connection: openings.cover(connection, number, kind, log.first, log.last))  # noqa: B023
            shown = roots[number].decode("utf-8", "backslashreplace")
            found.roots[shown] = {"first": log.first.isoformat(), "last": log.last.isoformat()}
    found.n_understood, found.n_unknown, found.is_damaged = log.n_understood, log.n_unknown, log.is_damaged
    return found


def _record(connection: sa.Connection, names: Mapping[tuple[int, bytes, int], str]) -> int:
    files = {key[0] for key in names}
    owners = openings.owners_of(connection, files)
    owned = {key: owners.get(key[0]) == name for key, name in names.items()}
    n_new = openings.add_openings(connection, owned)
    if n_new:
        work_rows.refresh_opened(connection, files)
    return n_new


def _zone(config: Config) -> ZoneInfo | None:
    try:
        return ZoneInfo(config.accesslog.time_zone) if config.accesslog.time_zone else None
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(
            config.source, "accesslog.time_zone: expected a name such as America/Toronto"
        ) from None


def _ignored(config: Config, roots: Iterable[bytes]) -> set[str]:
    """Return the accounts that are left out, folded: those of the configuration, and phiscan's own."""
    ignored = {name.casefold() for name in config.accesslog.ignore}
    for name in filter(is_url, roots):
        own = credentials_of(name, load_settings(config)).username
        ignored |= {own.casefold(), bare_name(own)} if own else set()
    return ignored
