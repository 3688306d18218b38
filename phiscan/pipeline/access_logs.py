"""Import of access logs: the openings in a log are matched with files of the database, and recorded.

Stored are keyed hashes of account names; neither a name, nor an address, nor a path that no scan has seen.
"""

from __future__ import annotations

import os
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import sqlalchemy as sa

from phiscan.config import Config
from phiscan.crawl.access_logs.kinds import KINDS, kind_of
from phiscan.crawl.access_logs.log import Log, opened_log
from phiscan.crawl.access_logs.samba import by_opens
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.location import is_url
from phiscan.crawl.settings import load_settings
from phiscan.errors import ConfigError, InputError
from phiscan.hasher import KeyHasher
from phiscan.review.maintenance import key_rotation
from phiscan.review.records import openings
from phiscan.review.records.openings import bare_name, minute_of
from phiscan.review.worklist import rows as work_rows
from phiscan.store.database import Database
from phiscan.store.identity import load_key
from phiscan.store.tables.scans import file, root

N_PER_TRANSACTION = 50_000  # openings
N_ACCOUNTS, N_PATHS = 65_536, 65_536  # kept in memory
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
            files = _Files(connection, config.accesslog.paths, folds=KINDS[kind].folds)
            ignored = _ignored(config, files.roots)
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
        _finish(database, found, log, {number: files.roots[number] for number in named_roots})
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


class _Files:
    """The numbers of the files of the database by the path that a log has: 16 bytes of memory each."""

    def __init__(self, connection: sa.Connection, table: Mapping[str, str], *, folds: bool) -> None:
        self._folds = folds
        self.roots = {row.id: row.path for row in connection.execute(sa.select(root.c.id, root.c.path))}
        self._prefixes = dict(self._prefixes_of(table))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._exact = _Numbers()
        self._folded = _Numbers()
        query = sa.select(file.c.root_id, file.c.path, file.c.id).execution_options(yield_per=10_000)
        for root_id, path, number in connection.execute(query):
            self._exact.add(root_id, path, number)
            if folds:
                self._folded.add(root_id, os.fsencode(_folded(os.fsdecode(path))), number)
        self.find = lru_cache(N_PATHS)(self._find)

    def _prefixes_of(self, table: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], tuple[int, bytes]]]:
        """Yield the beginnings of paths of each root, those of the configuration last: they hold."""
        for number, raw in self.roots.items():
            name = os.fsdecode(raw).rstrip("/")
            if name.startswith("smb://"):
                host, _slash, rest = name.removeprefix("smb://").partition("/")
                yield self._parts(f"//{_short_name(host.partition(':')[0])}/{rest}"), (number, b"")
            yield self._parts(name), (number, b"")
        for prefix, wanted in table.items():
            target = os.fsencode(wanted.rstrip("/"))
            inside = [one for one in self.roots.items() if (target + b"/").startswith(one[1] + b"/")]
            if not inside:
                message = f"accesslog.paths: {wanted}: expected a root that was scanned, or a folder in one"
                raise InputError(message)
            number, raw = max(inside, key=lambda one: len(one[1]))
            below = target[len(raw) :].lstrip(b"/")
            yield self._parts(prefix.replace("\\", "/").rstrip("/")), (number, below + b"/" if below else b"")

    def _parts(self, path: str) -> tuple[str, ...]:
        return tuple((_folded(path) if self._folds else path).split("/"))

    def _find(self, path: str) -> tuple[int, int]:
        """Return the number of the root and that of the file; 0 = none."""
        parts, written = self._parts(path), path.split("/")
        is_share = parts[:2] == ("", "")
        for length in self._lengths:
            begin = parts[:length]
            place = self._prefixes.get(begin)
            if place is None and is_share:  # //server/share, where the table says \\*\share
                place = self._prefixes.get((*begin[:2], "*", *begin[3:]))
            if place is not None:
                root_id, below = place
                name = below + os.fsencode("/".join(written[length:]))
                number = self._exact.get(root_id, name)
                if not number and self._folds:
                    number = self._folded.get(root_id, os.fsencode(_folded(os.fsdecode(name))))
                return root_id, number
        return 0, 0


class _Numbers:
    """Numbers by 64-bit hashes of names; a name that several files have is of none of them."""

    def __init__(self) -> None:
        self._hashes, self._numbers = array("Q"), array("q")
        self._ordered: tuple[np.ndarray, np.ndarray] | None = None

    def add(self, root_id: int, path: bytes, number: int) -> None:
        self._hashes.append(_hash(root_id, path))
        self._numbers.append(number)

    def get(self, root_id: int, path: bytes) -> int:
        if self._ordered is None:
            hashes = np.frombuffer(self._hashes, np.uint64)
            order = np.argsort(hashes, kind="stable")
            self._ordered = hashes[order], np.frombuffer(self._numbers, np.int64)[order]
        hashes, numbers = self._ordered
        wanted = np.uint64(_hash(root_id, path))
        at, end = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, "right")
        return int(numbers[at]) if end - at == 1 else 0


def _hash(root_id: int, path: bytes) -> int:
    return int.from_bytes(blake2b(b"%d\0%b" % (root_id, path), digest_size=8).digest())


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def _short_name(host: str) -> str:
    """Return the name of a server as its own log has it: without a domain."""
    return host if host.replace(".", "").isdecimal() else host.partition(".")[0]
