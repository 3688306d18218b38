"""Finding files again that were examined before: the hash of their bytes counts, not their dates."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from phiscan.crawl import is_remote
from phiscan.model import SourceFile


def present(source: SourceFile) -> SourceFile | None:
    """Return a file of this machine as it lies there now; None when it is gone, or is no file any more.

    A file of a share that is not mounted is returned as it was examined: whoever fetches it asks the share.
    """
    if is_remote(source.root):
        return source
    try:
        info = os.lstat(source.absolute)
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return replace(
        source,
        size=info.st_size,
        mtime_ns=info.st_mtime_ns,
        ctime_ns=info.st_ctime_ns,
        inode=info.st_ino,
        device=info.st_dev,
    )
