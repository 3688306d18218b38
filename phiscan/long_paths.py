"""Opening files whose path is longer than the system takes in one call (4,096 bytes on Linux).

A share may hold them: whoever made the folders did it step by step, and so are they opened.
"""

from __future__ import annotations

import os

_MOST_BYTES = 4_000
_STEP = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def open_path(path: bytes, flags: int) -> int:
    """Return a descriptor of an absolute raw path of any length.

    Raises:
        OSError: as ``os.open``.
    """
    if len(path) <= _MOST_BYTES:
        return os.open(path, flags)
    folder: int | None = None
    try:
        while len(path) > _MOST_BYTES:
            cut = path.rfind(b"/", 1, _MOST_BYTES)
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
