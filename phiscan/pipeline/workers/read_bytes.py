"""How many bytes this process has read, as the kernel counts them."""

from __future__ import annotations

import os
from contextlib import suppress

_PLACE = "/proc/self/io"
_ANSWER_BYTES = 4096


class ReadCounter:
    """Counts the bytes that this process reads with system calls, holes of sparse files included.

    Reads of Python's own modules count too; whoever asks about one file caps the number at its size. Where
    the kernel does not count, the number is None. Each process needs a counter of its own.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with suppress(OSError):
            self._descriptor = os.open(_PLACE, os.O_RDONLY | os.O_CLOEXEC)
        self._n_asked = 0  # bytes of answers so far: the kernel counts these as well

    def n_bytes(self) -> int | None:
        """Return the bytes read since the process began; None = not known."""
        if self._descriptor is None:
            return None
        try:
            answer = os.pread(self._descriptor, _ANSWER_BYTES, 0)
        except OSError:
            return None
        before, self._n_asked = self._n_asked, self._n_asked + len(answer)
        label, _, count = answer.partition(b"\n")[0].partition(b":")
        return int(count) - before if label == b"rchar" else None
