"""The private temporary folder of one pool, and the removal of those that a killed scan left behind."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_NAME = re.compile(r"phiscan-(\d+)-")


def make_folder(*, passable: bool = False) -> Path:
    """Return a new folder that only this user can enter, named after this process.

    ``passable``: workers that root starts and that become nobody may pass through it to folders of their own.
    """
    remove_stale_folders()
    folder = Path(tempfile.mkdtemp(prefix=f"phiscan-{os.getpid()}-"))
    if passable and os.geteuid() == 0:
        folder.chmod(0o711)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a pool's folder with everything in it."""
    shutil.rmtree(folder, ignore_errors=True)


def remove_stale_folders() -> int:
    """Remove folders of this user whose process is gone; return how many."""
    n_removed = 0
    for entry in os.scandir(tempfile.gettempdir()):
        match = _NAME.match(entry.name)
        if not match or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            is_ours = entry.stat(follow_symlinks=False).st_uid == os.getuid()
        except FileNotFoundError:
            continue  # another scan that starts now removed it first
        if is_ours and not Path(f"/proc/{match.group(1)}").exists():
            shutil.rmtree(entry.path, ignore_errors=True)
            n_removed += 1
    return n_removed
