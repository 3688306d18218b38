"""Limits of a worker process: memory, file size, no core dump, no network, death with its parent."""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from multiprocessing import forkserver
from typing import Any

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_NETWORK_EVENTS = frozenset(
    {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.sendmsg"}
)
_MIN_FILE_BYTES = 64 * 1024**2


def confine(*, memory_bytes: int, file_bytes: int, temp_folder: str, has_network: bool = True) -> None:
    """Confine the calling process; called once at its start, before it sees any document.

    ``has_network``: False when it was put into a network namespace of its own already.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _die_with_parent()
    os.environ["TMPDIR"] = temp_folder
    tempfile.tempdir = temp_folder
    if has_network:
        cut_network()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump holds document text
    lower_limit(resource.RLIMIT_FSIZE, max(file_bytes, _MIN_FILE_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full quota is an OSError, not a death
    limit_memory(memory_bytes)
    fall_silent()


def fall_silent() -> None:
    """Close the process's outputs: libraries quote what they complain about, and a log is a leak."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def limit_memory(memory_bytes: int) -> None:
    """Allow ``memory_bytes`` of address space beyond what the process has now, as a hard limit."""
    with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 (not a file on a disk)
        now = int(stream.read().split()[0]) * resource.getpagesize()
    lower_limit(resource.RLIMIT_AS, now + memory_bytes)


def cut_network() -> str:
    """Leave this process without network; return how: ``namespace``, ``user_namespace`` or ``audit``.

    A privileged process takes a new network namespace; others take a new user namespace with it, which
    would cost a privileged one its rights on the share. Where the kernel allows neither, Python's
    sockets are refused.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return "namespace"
    if os.geteuid() != 0 and libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        return "user_namespace"
    sys.addaudithook(_refuse_network)
    return "audit"


def network_isolation() -> str:
    """Return how a worker would lose its network here, tried in a process of its own."""
    code = "from phiscan.sandbox.confinement import cut_network; print(cut_network())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=False)
    return done.stdout.decode("ascii", "replace").strip() or "audit"


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    # A path is no network: fetched files come through a socket in our private folder.
    is_path = event == "socket.connect" and isinstance(arguments[1], str | bytes)
    if event in _NETWORK_EVENTS and not is_path:
        message = "no network in a document worker"
        raise PermissionError(message)


def _die_with_parent() -> None:
    """Die when the fork server does; it ends when the scan's process is gone."""
    # A worker that keeps this descriptor open would keep the fork server, and so itself, alive.
    server = getattr(forkserver, "_forkserver", None)
    alive = getattr(server, "_forkserver_alive_fd", None)
    if alive is not None:
        os.close(alive)
        server._forkserver_alive_fd = None  # type: ignore[union-attr]  # noqa: SLF001 (multiprocessing has no other way)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def lower_limit(limit: int, value: int) -> None:
    """Lower a limit for good: code that took the process over could raise a soft limit alone again."""
    _, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))
