"""Returning freed heap memory of the C library to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    """Return ``malloc_trim`` of glibc; None where the C library has none."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> None:
    """Give freed memory back to the system: milliseconds, so after large documents, not after each file.

    What a document was made of lies between what stays, and the allocator of glibc gives back by itself only
    what is at the end: a worker would keep the memory of the largest file that it ever read.
    """
    trim = _trim()
    if trim is not None:
        trim(0)
