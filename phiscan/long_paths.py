"""Open files whose path exceeds the limit of one system call (4,096 bytes on Linux), folder by folder.

Such paths exist on shares, since they can be created from a relative working folder.
"""

from __future__ import annotations

import os

_MAX_BYTES = 4_000
_STEP = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def open_path(path: bytes, flags: int) -> int:
    """Return a descriptor of an absolute raw path of any length.

    Raises:
        OSError: as ``os.open``.
    """
    if len(path) <= _MAX_BYTES:
        return os.open(path, flags)
    folder: int | None = None
    try:
        while len(path) > _MAX_BYTES:
            cut = path.rfind(b"/", 1, _MAX_BYTES)
            if cut < 0:
                break
            step = os.open(path[:cut], _STEP, dir_fd=folder)
            if folder is not None:
                os.close(folder)
            folder, path = step, path[cut:].lstrip(b"/")
        return os.open(path, flags, dir_fd=folder)
    finally:
        if folder is not None:
            os.close(folder)
