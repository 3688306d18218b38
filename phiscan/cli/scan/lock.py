"""Locks: one scan of a share at a time, and none during operations that need the database exclusively.

A second scan would resume the first as if it were interrupted. A purge needs the database exclusively, and a
new key makes other hashes: a concurrent scan would fail or be wrong.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

from blake3 import blake3

from phiscan.cli.output import print_message
from phiscan.errors import InputError
from phiscan.review.records.scans import LastScan, last_scans
from phiscan.store.database import open_database

_EVERY_SCAN = "scans"  # shared by all scans, exclusive for operations that exclude them


@contextmanager
def lock_roots(home: Path, roots: Sequence[bytes]) -> Iterator[None]:
    """Hold a lock for each root during its scan; the system releases it however the process ends.

    Raises:
        InputError: another process scans one of these roots with the same home.
    """
    with ExitStack() as stack:
        scans = stack.enter_context(_opened(home, _EVERY_SCAN))
        if not _is_free(scans, fcntl.LOCK_SH):
            print_message("phiscan: waits for a purge or a new key; the scan begins when that is done")
            fcntl.flock(scans, fcntl.LOCK_SH)
        for root in sorted(roots):
            if not _is_free(stack.enter_context(_opened(home, _name(root))), fcntl.LOCK_EX):
                shown = root.decode("utf-8", "backslashreplace")
                raise InputError(shown, "is being scanned already; wait for that scan, or stop it")
        yield


@contextmanager
def keep_scans_out(home: Path, database_url: str) -> Iterator[None]:
    """Prevent scans with this home from starting.

    Raises:
        InputError: a scan runs; names it.
        StoreError: the database cannot be read.
    """
    with closing(open_database(database_url, create=False)) as database, _opened(home, _EVERY_SCAN) as scans:
        if not _is_free(scans, fcntl.LOCK_EX):
            with database.read() as connection:
                running = [found for found in last_scans(connection) if _is_running(home, found)]
            which = ", ".join(f"scan {found.scan_id} of {found.display}" for found in running)
            message = f"{which or 'a scan'} is running; wait for its end, or stop it: it goes on later"
            raise InputError(message)
        yield


def _is_running(home: Path, found: LastScan) -> bool:
    with _opened(home, _name(found.path)) as lock:
        return not _is_free(lock, fcntl.LOCK_EX)


def _opened(home: Path, name: str) -> IO[bytes]:
    folder = home / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return (folder / name).open("ab")


def _name(root: bytes) -> str:
    """Return the name of a root's lock file: a hash, because a path may be too long or no valid name."""
    return blake3(root).hexdigest()[:32]


def _is_free(lock: IO[bytes], mode: int) -> bool:
    """Take a lock unless another process holds it."""
    try:
        fcntl.flock(lock, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
