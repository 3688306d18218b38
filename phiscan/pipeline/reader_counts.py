"""Counts who can read the files of the review list, by the directory and the rights of folders and shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cache

from phiscan.config import Config
from phiscan.crawl.directory import Directory, directory_of, read_cached, read_ldap, read_local
from phiscan.crawl.effective_access import NOBODY, EffectiveAccess, People
from phiscan.crawl.settings import load_settings
from phiscan.crawl.smb import SmbShare
from phiscan.model import ReaderCount, Referral, Verdict
from phiscan.review.records import reader_counts
from phiscan.review.store import FileRecord, Store
from phiscan.store.identity import load_key

_CACHE = "directory.json"  # in home


def refresh_directory(config: Config, now: datetime) -> Directory | None:
    """Read the directory of the configuration anew and keep it without names; None: none is configured.

    Raises:
        InputError: it cannot be read; what was kept stays.
    """
    if not config.directory.url:
        return None
    entries, base = read_ldap(config.directory, load_settings(config), now)
    found = directory_of(entries, load_key(config.key_file), now, base)
    found.write(config.home / _CACHE)
    return found


def kept_directory(config: Config) -> Directory | None:
    """Return the directory as it was last read, without names."""
    return read_cached(config.home / _CACHE) if config.directory.url else None


@contextmanager
def effective_access(config: Config, directory: Directory | None) -> Iterator[EffectiveAccess]:
    """Return what computes who can read a file; of each SMB share folders are asked by one connection."""
    with ExitStack() as connections:

        @cache
        def share_of(root: bytes) -> SmbShare:
            share = SmbShare(root, load_settings(config))
            connections.callback(share.close)
            return share

        def who_may_enter(root: bytes, folder: bytes) -> Sequence[str]:
            share = share_of(root)
            return share.retry_policy.run(lambda: share.who_may_enter(folder))

        key = load_key(config.key_file)
        yield EffectiveAccess(directory, read_local(), key, config.access, who_may_enter)


def count_readers(
    store: Store, config: Config, directory: Directory | None, now: datetime
) -> tuple[int, int]:
    """Count who can read each file of the review list, and each folder with files that may be PHI.

    Returns the number of files, and of those of which it is known who can read them.
    """
    files: list[tuple[FileRecord, ReaderCount]] = []
    folders: dict[tuple[int, str], tuple[int, ReaderCount]] = {}
    of_folders: dict[tuple[int, str], tuple[int, People]] = {}
    with effective_access(config, directory) as access:
        for one in (*store.queue(conceal=True), *store.sampled()):
            people = access.reach(one.source)
            files.append((one, counted(access, one, people, now)))
            if may_be_phi(one):
                place = one.root_id, one.folder
                n_files, before = of_folders.get(place, (0, NOBODY))
                of_folders[place] = n_files + 1, before.either(people)
                folders[place] = n_files + 1, counted(access, one, before.either(people), now)
    store.database.write(
        lambda connection: reader_counts.store_counts(connection, files, folders), durable=True
    )
    return len(files), sum(found.low is not None and found.high is not None for _, found in files)


def count_again(store: Store, config: Config, now: datetime) -> None:
    """Count after a scan, with the directory as it was last read, if the readers were ever counted."""
    with store.database.read() as connection:
        is_counted = reader_counts.is_counted(connection)
    if is_counted:
        count_readers(store, config, kept_directory(config), now)


def may_be_phi(record: FileRecord) -> bool:
    """Return whether a file is confirmed as PHI, or referred and not decided as not PHI."""
    is_open = record.referral is Referral.REFERRED and record.verdict is not Verdict.NOT_PHI
    return record.verdict is Verdict.PHI or is_open


def counted(access: EffectiveAccess, of: FileRecord, people: People, now: datetime) -> ReaderCount:
    """Return the number of people who can read a file, or one of its folder, without who they are."""
    n_accounts, notes = access.accounts_for(of.source.root).active.bit_count(), tuple(sorted(people.notes))
    return ReaderCount(low=people.low, high=people.high, n_accounts=n_accounts, notes=notes, counted=now)
