"""One thread for libraries that multiply matrices: ours are small, and a scan uses every core already.

They read the environment when they are loaded, so it must be set before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NAMES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT")


def use_one_thread() -> None:
    """Let this process and those that it starts use one, unless the environment says otherwise."""
    for name in _NAMES:
        os.environ.setdefault(name, "1")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the processes that are started meanwhile use one, whatever the environment says."""
    before = {name: os.environ.get(name) for name in _NAMES}
    os.environ.update(dict.fromkeys(_NAMES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
