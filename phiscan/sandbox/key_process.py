"""The key process: it computes keyed hashes, reads no documents, opens no files and has no network.

Started by the scan as ``python -m phiscan.sandbox.key_process DESCRIPTOR``; see ``service``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress

from phiscan.hasher import KeyHasher
from phiscan.sandbox.hashing import serve_all
from phiscan.sandbox.isolation import restrict
from phiscan.sandbox.layers import namespaces, seccomp
from phiscan.sandbox.service import read_secret

_STDIN = 0


def main(number: int) -> None:
    """Serve on an inherited listening socket until the scan ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        key = read_secret(_STDIN)
    except EOFError:
        return
    namespaces.enter()
    restrict([], [], nobody_needs=[])
    with suppress(OSError):
        seccomp.install(os.getpid(), may_accept=True)
    # Threads have what the process gave up before they were started.
    threading.Thread(target=_end_with_scan, daemon=True).start()
    listener = socket.socket(fileno=number)
    serve_all(listener, KeyHasher(key))


def _end_with_scan() -> None:
    while os.read(_STDIN, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
