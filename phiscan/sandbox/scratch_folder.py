"""Private temporary folders, and the removal of those whose process was killed.

The process that makes a folder holds a lock on it (flock) for as long as it lives: whoever gets the lock
knows that the process is gone, also where its number belongs to another process now or to another container.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"phiscan-(\d+)-")
_NEW_S = 60.0  # a folder so young whose process is there may not be locked yet
_locks: dict[Path, int] = {}  # descriptors that hold the locks of this process


def make_folder(*, passable: bool = False) -> Path:
    """Return a new folder that only this user can enter, named after this process.

    ``passable``: workers that root starts and that become nobody may pass through it to folders of their own.
    """
    remove_stale_folders()
    folder = _made()
    if passable and os.geteuid() == 0:
        folder.chmod(0o711)
    return folder


@contextmanager
def scratch() -> Iterator[str]:
    """Give a folder for one job, and remove it with everything in it."""
    folder = _made()
    try:
        yield str(folder)
    finally:
        remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if (descriptor := _locks.pop(folder, None)) is not None:
        os.close(descriptor)


def remove_stale_folders() -> int:
    """Remove folders of this user whose process is gone; return how many."""
    n_removed = 0
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:  # no such place: nothing is there
        for entry in entries:
            match = _NAME.match(entry.name)
            if match and _is_stale(entry.path, int(match.group(1))):
                shutil.rmtree(entry.path, ignore_errors=True)
                n_removed += 1
    return n_removed


def _made() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"phiscan-{os.getpid()}-"))
    descriptor = _opened(folder)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    _locks[folder] = descriptor
    return folder


def _is_stale(path: str, process: int) -> bool:
    """Tell whether a folder is this user's and its process is gone."""
    try:
        descriptor = _opened(Path(path))
    except OSError:
        return False  # a link, a file, not ours, or removed by a command that starts now, too
    try:
        state = os.fstat(descriptor)
        if state.st_uid != os.getuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_there = Path(f"/proc/{process}").exists()
        return not is_there or time.time() - state.st_mtime > _NEW_S
    except OSError:
        return False  # locked: its process lives
    finally:
        os.close(descriptor)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
