"""Finding files again that were examined before: the hash of their bytes counts, not their dates."""

from __future__ import annotations

import os
import stat

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
    return SourceFile.of(source.root, source.path, info) if stat.S_ISREG(info.st_mode) else None
