"""The program process: it starts helper programs and OCR processes for workers and reads no documents.

Started by the scan as ``python -m phiscan.sandbox.program_process DESCRIPTOR MEMORY_BYTES FILE_BYTES``. It
forks a child for each worker, which runs one program after the other and has one OCR process.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress

from phiscan.sandbox.layers import privileges
from phiscan.sandbox.programs import ProgramLimits, answer
from phiscan.sandbox.service import read_secret

_STDIN = 0


def main(number: int, limits: ProgramLimits) -> None:
    """Serve on an inherited listening socket until the scan ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(
        signal.SIGCHLD, signal.SIG_IGN
    )  # the children of workers that have ended are not waited for
    try:
        read_secret(_STDIN)
    except EOFError:
        return
    listener = socket.socket(fileno=number)
    while True:
        ready, _, _ = select.select([number, _STDIN], [], [])
        if _STDIN in ready and not os.read(_STDIN, 1):
            return
        if number not in ready:
            continue
        connection, _ = listener.accept()
        if os.fork() == 0:
            os._exit(_serve(connection, listener, limits))
        connection.close()


def _serve(connection: socket.socket, listener: socket.socket, limits: ProgramLimits) -> int:
    parent = os.getppid()
    listener.close()
    os.close(_STDIN)
    os.open(os.devnull, os.O_RDONLY)  # takes its number, so that this process does not keep the pipe open
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(OSError):
        privileges.die_with_parent(signal.SIGKILL)
        privileges.gain_nothing_by_exec()
    if os.getppid() != parent:
        return 1
    with suppress(OSError, EOFError):
        answer(connection, limits)
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]), ProgramLimits(int(sys.argv[2]), int(sys.argv[3])))
