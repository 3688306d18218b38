"""Counts who can read the files of the review list, by the directory and the rights of folders and shares."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from phiscan.config import Config
from phiscan.crawl.directory import Directory, directory_of, read_cached, read_local
from phiscan.crawl.effective_access import EffectiveAccess, Reach
from phiscan.crawl.settings import load_settings
from phiscan.model import ReaderCount, Referral, Verdict
from phiscan.review.records import reader_counts
from phiscan.review.store import FileRecord, Store
from phiscan.store.identity import load_key

if TYPE_CHECKING:
    from phiscan.crawl.smb.share import SmbShare

_CACHE = "directory.json"  # in home


def refresh_directory(config: Config, now: datetime) -> Directory | None:
    """Read the directory of the configuration anew and keep it without names; None: none is configured.

    Raises:
        InputError: it cannot be read; what was kept stays.
    """
    if not config.directory.url:
        return None
    from phiscan.crawl.ldap_directory import read_ldap  # noqa: PLC0415 (an optional part)

    entries, base = read_ldap(config.directory, load_settings(config), now)
    found = directory_of(entries, load_key(config.key_file), now, base)
    found.write(config.home / _CACHE)
    return found


def kept_directory(config: Config) -> Directory | None:
    """Return the directory as it was last read, without names."""
    return read_cached(config.home / _CACHE) if config.directory.url else None


class FolderRights:
    """Asks servers who may enter a folder; one connection to each root."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._shares: dict[bytes, SmbShare] = {}

    def __call__(self, root: bytes, folder: bytes) -> Sequence[str]:
        """Return who may enter a folder of an SMB share.

        Raises:
            InputError, RefusedError, UnansweredError: it cannot be asked.
        """
        from phiscan.crawl.smb.share import SmbShare  # noqa: PLC0415 (an optional part)

        if root not in self._shares:
            self._shares[root] = SmbShare(root, load_settings(self._config))
        share = self._shares[root]
        return share.retry_policy.run(lambda: share.who_may_enter(folder))

    def close(self) -> None:
        """Close all connections."""
        for share in self._shares.values():
            share.close()


def effective_access(
    config: Config, directory: Directory | None, rights: FolderRights, now: datetime
) -> EffectiveAccess:
    """Return what computes who can read a file."""
    key = load_key(config.key_file)
    return EffectiveAccess(directory, directory_of(read_local(), key, now), key, config.access, rights)


def count_readers(
    store: Store, config: Config, directory: Directory | None, now: datetime
) -> tuple[int, int]:
    """Count who can read each file of the review list, and each folder with files that may be PHI.

    Returns the number of files, and of those of which it is known who can read them.
    """
    files: list[tuple[FileRecord, ReaderCount]] = []
    folders: dict[tuple[int, str], tuple[int, Reach]] = {}
    n_accounts: dict[int, int] = {}
    rights = FolderRights(config)
    try:
        access = effective_access(config, directory, rights, now)
        for one in (*store.queue(conceal=True), *store.sampled()):
            reach = access.reach(one.source)
            n_accounts[one.root_id] = access.accounts_for(one.source.root).active.bit_count()
            files.append((one, _counted(reach, n_accounts[one.root_id], now)))
            if may_be_phi(one):
                n_files, before = folders.get((one.root_id, one.folder), (0, Reach()))
                folders[one.root_id, one.folder] = (n_files + 1, before.with_files(reach))
    finally:
        rights.close()
    of_folders = {
        place: (n_files, _counted(reach, n_accounts[place[0]], now))
        for place, (n_files, reach) in folders.items()
    }
    store.database.write(
        lambda connection: reader_counts.store_counts(connection, files, of_folders), durable=True
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


def _counted(reach: Reach, n_accounts: int, now: datetime) -> ReaderCount:
    notes = tuple(sorted(reach.notes | reach.unknown))
    return ReaderCount(low=reach.low, high=reach.high, n_accounts=n_accounts, notes=notes, counted=now)
