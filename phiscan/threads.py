"""Limit libraries for linear algebra to one thread, since a scan uses every core already.

They read the environment when they are imported, so it must be set before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NAMES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT")


def use_one_thread() -> None:
    """Set one thread for this process and its children, unless the environment sets another number."""
    for name in _NAMES:
        os.environ.setdefault(name, "1")


@contextmanager
def one_thread() -> Iterator[None]:
    """Set one thread for processes started in this block, overriding the environment."""
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
