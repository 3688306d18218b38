"""One scan of a share at a time: a second would take the first for an interrupted scan and go on with it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from blake3 import blake3

from phiscan.errors import InputError


@contextmanager
def lock_roots(home: Path, roots: Sequence[bytes]) -> Iterator[None]:
    """Hold a lock for each root while its scan runs; the system frees it however the process ends.

    Raises:
        InputError: another process scans one of these roots with the same home.
    """
    folder = home / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        for root in sorted(roots):
            # The name is a hash: a path may hold bytes and lengths that a file name cannot.
            lock = stack.enter_context((folder / blake3(root).hexdigest()[:32]).open("ab"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                shown = root.decode("utf-8", "backslashreplace")
                message = f"{shown}: is being scanned already; wait for that scan, or stop it"
                raise InputError(message) from None
        yield
