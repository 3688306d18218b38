"""Import of access logs: the openings in a log are matched with files of the database, and recorded.

Stored are keyed hashes of account names; neither a name, nor an address, nor a path that no scan has seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from phiscan.config import Config
from phiscan.crawl.access_logs import KINDS, Log, LoggedPaths, by_opens, kind_of, opened_log, openings_in
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.settings import load_settings
from phiscan.errors import ConfigError, InputError
from phiscan.hasher import KeyHasher
from phiscan.review.maintenance import key_rotation
from phiscan.review.records.openings import add_openings, bare_name, cover, minute_of, owners_of
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
    kind: str | None = None  # None: it is empty, or could not be read
    n_openings: int = 0  # in the log, as it counts them
    n_matched: int = 0  # of them, of files of the database
    n_ignored: int = 0  # of them, by accounts that are left out
    n_new: int = 0  # minutes in which an account opened a file that were not known
    n_understood: int = 0  # lines or records
    n_unknown: int = 0
    is_damaged: bool = False
    by_opens: bool = False  # of Samba: listings of a folder are among the openings
    roots: dict[str, dict[str, str]] = field(default_factory=dict)  # what the log covers, first and last
    problem: str | None = None  # why nothing of it was read


def import_logs(
    database: Database,
    config: Config,
    paths: Iterable[Path],
    *,
    kind: str = "",
    year: int | None = None,
    now: datetime,
) -> Iterator[Imported]:
    """Import logs and yield what was found in each; a second import of the same log changes nothing.

    A log that cannot be read, or is of no known kind, has a ``problem`` and costs no other one.

    Raises:
        ConfigError: a setting, or the key of the hashes, is not usable.
    """
    key, zone = load_key(config.key_file), _zone(config)
    database.write(lambda connection: key_rotation.require(connection, key_rotation.key_id(key), now=now))
    importing = _Import(database, config, key)
    for path in paths:
        try:
            with opened_log(path, now=now, zone=zone, year=year) as log:
                yield importing.take(log, str(path), kind or (kind_of(log, str(path)) if log.head else None))
        except InputError as error:
            yield Imported(str(path), problem=str(error))


class _Import:
    """An import of logs: the roots and files of the database are read once."""

    def __init__(self, database: Database, config: Config, key: bytes) -> None:
        self._database, self._config, self._hasher = database, config, KeyHasher(key)
        with database.read() as connection:
            found = connection.execute(sa.select(root.c.id, root.c.path))
            self._roots = {row.id: row.path for row in found}
        self._files = cache(self._read_files)
        self._account = lru_cache(N_ACCOUNTS)(self._hashed)

    def _read_files(self, folds: bool) -> LoggedPaths:
        every = sa.select(file.c.root_id, file.c.path, file.c.id).execution_options(yield_per=10_000)
        paths = self._config.accesslog.paths
        with self._database.read() as connection:
            try:
                return LoggedPaths(self._roots, paths, connection.execute(every), folds=folds)
            except InputError as error:
                raise ConfigError(self._config.source, error) from None

    def _hashed(self, names: tuple[str, ...]) -> tuple[bytes, frozenset[str]]:
        """Return the hash of an account, and its names, folded, with and without domain."""
        named = b"ACCOUNT\0" + names[0].casefold().encode("utf-8", "surrogatepass")
        forms = frozenset(form for name in names for form in (name.casefold(), bare_name(name)))
        return self._hasher.identities([named])[0][:_N_ACCOUNT_BYTES], forms

    def take(self, log: Log, path: str, kind: str | None) -> Imported:
        """Import a log of this kind; None: it is empty."""
        found = Imported(path, kind, by_opens=kind == "samba" and by_opens(log))
        if kind is None:
            return found
        files = self._files(KINDS[kind].folds)
        ignored = _ignored(self._config, self._roots.values(), KINDS[kind].scheme)
        places: set[tuple[int, str]] = set()  # roots, and folders in them
        parsed = openings_in(log, kind)
        while batch := list(islice(parsed, N_PER_TRANSACTION)):
            names: dict[tuple[int, bytes, int], frozenset[str]] = {}
            for one in batch:
                account, forms = self._account(one.names)
                root_id, folder, number = files.find(one.path)
                places.add((root_id, folder))
                if not forms.isdisjoint(ignored):
                    found.n_ignored += 1
                elif number:
                    found.n_matched += 1
                    names[number, account, minute_of(one.moment)] = forms
            found.n_openings += len(batch)
            found.n_new += self._database.write(partial(_record, names=names))
        for root_id, folder in sorted(places - {(0, "")}):
            place = root_id, os.fsencode(folder)
            self._database.write(partial(cover, place=place, kind=kind, first=log.first, last=log.last))
            shown = b"/".join(filter(None, (self._roots[root_id], place[1].rstrip(b"/"))))
            times = {"first": log.first.isoformat(), "last": log.last.isoformat()}
            found.roots[shown.decode("utf-8", "backslashreplace")] = times
        for name in ("n_understood", "n_unknown", "is_damaged"):
            setattr(found, name, getattr(log, name))
        return found


def _record(connection: sa.Connection, names: Mapping[tuple[int, bytes, int], frozenset[str]]) -> int:
    files = {key[0] for key in names}
    owners = owners_of(connection, files)
    n_new = add_openings(connection, {key: owners.get(key[0]) in known for key, known in names.items()})
    if n_new:
        work_rows.refresh_opened(connection, files)
    return n_new


def _zone(config: Config) -> ZoneInfo | None:
    try:
        return ZoneInfo(config.accesslog.time_zone) if config.accesslog.time_zone else None
    except (ZoneInfoNotFoundError, ValueError):
        problem = "accesslog.time_zone: expected a name such as America/Toronto"
        raise ConfigError(config.source, problem) from None


def _ignored(config: Config, roots: Iterable[bytes], scheme: str) -> set[str]:
    """Return the accounts that are left out, folded: those of the configuration, and phiscan's own."""
    ignored = {name.casefold() for name in config.accesslog.ignore}
    for name in (one for one in roots if one.startswith(f"{scheme}://".encode())):
        own = credentials_of(name, load_settings(config)).username
        ignored |= {own.casefold(), bare_name(own)} if own else set()
    return ignored
