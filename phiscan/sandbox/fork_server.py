"""The process that forks the workers: silent, with its socket in our folder, started anew when that is gone.

``multiprocessing`` starts it, and its resource tracker, with our standard error: what these say of a
worker that is stopped half-way, or of a scan that was killed, are Python tracebacks and warnings that
mean nothing to an operator.
"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, process
from pathlib import Path
from typing import Any

from phiscan.sandbox.service import environment
from phiscan.threads import one_thread

_STDERR = 2
CGROUPS = Path("/sys/fs/cgroup")


class _Entry:
    """The way into the folder of the socket, while the server runs."""

    descriptor: int | None = None
    group: Path | None = None  # of control groups, in which the server runs


def start(folder: Path, preload: Sequence[str]) -> bool:
    """Start the fork server, or use the one that runs; return whether this call started it.

    Raises:
        OSError: it cannot be started.
    """
    warnings.filterwarnings("ignore", module=r"multiprocessing\.resource_tracker")
    server = _server()
    if is_reachable():
        return False
    stop()
    forkserver.set_forkserver_preload(list(preload))
    # Through /proc, because the path of a socket may not be longer than 107 bytes. Both stay until the end:
    # a server that is killed is started anew by itself.
    _Entry.descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    _settings()["tempdir"] = f"/proc/self/fd/{_Entry.descriptor}"
    server.ensure_running = _ensure_running  # also called for every worker that the pool replaces
    _ensure_running()
    return True


def is_reachable() -> bool:
    """Tell whether a fork server runs and its socket is still there."""
    return running() is not None and Path(_server()._forkserver_address or "").is_socket()  # noqa: SLF001 (multiprocessing has no other way)


def running() -> int | None:
    """Return the process id of the fork server; None if there is none, or it has ended."""
    pid: int | None = _server()._forkserver_pid  # noqa: SLF001 (multiprocessing has no other way)
    try:
        ended = pid is None or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        ended = True
    return None if ended else pid


def stop() -> None:
    """End the fork server; its workers die with it."""
    _settings()["tempdir"] = None
    server = _server()
    if server._forkserver_pid is not None:  # noqa: SLF001 (multiprocessing has no other way)
        with suppress(ProcessLookupError):
            os.kill(server._forkserver_pid, signal.SIGKILL)  # noqa: SLF001 (multiprocessing has no other way)
        with suppress(FileNotFoundError, ChildProcessError):
            server._stop()  # noqa: SLF001 (multiprocessing has no other way)
        server._forkserver_pid = None  # noqa: SLF001 (multiprocessing has no other way)
    if _Entry.descriptor is not None:
        os.close(_Entry.descriptor)
        _Entry.descriptor = None
    if _Entry.group is not None:
        with suppress(OSError):  # workers that are dying keep it: it has no processes then, and takes nothing
            _Entry.group.rmdir()
        _Entry.group = None


def _ensure_running() -> None:
    """Start the server as ours if it does not run, or no longer does."""
    if running() is None:
        with _silent(), _without_secrets(), one_thread():
            forkserver.ForkServer.ensure_running(_server())
        _join_group()


def parent_of_groups() -> Path | None:
    """Return a cgroup (version 2) in which one with a limit of memory may be made; None where there is none.

    That of this process or the one above it, where the memory controller is on.
    """
    with suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        own = CGROUPS / next((line[4:] for line in lines if line.startswith("0::/")), "")
        for parent in (own, own.parent):
            is_on = "memory" in (parent / "cgroup.subtree_control").read_text(encoding="ascii").split()
            if is_on and os.access(parent, os.W_OK):
                return parent
    return None


def limit_memory(n_bytes: int) -> Path | None:
    """Make a cgroup in which the server and its workers have so much memory together; return its folder."""
    parent = parent_of_groups()
    with suppress(OSError):
        if parent is not None:
            group = parent / f"phiscan-{os.getpid()}"
            group.mkdir(exist_ok=True)
            (group / "memory.max").write_text(str(n_bytes), encoding="ascii")
            _Entry.group = group
            _join_group()
    return _Entry.group


def _join_group() -> None:
    if _Entry.group is not None:
        with suppress(OSError):
            (_Entry.group / "cgroup.procs").write_text(str(running()), encoding="ascii")


def _server() -> Any:
    return forkserver._forkserver  # noqa: SLF001 (multiprocessing has no other way)


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = process.current_process()._config  # type: ignore[attr-defined]  # noqa: SLF001 (multiprocessing has no other way)
    return settings


@contextmanager
def _without_secrets() -> Iterator[None]:
    """Let the processes that are started here find in their environment only what is on the allow list."""
    passed = environment()
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name not in passed}
    try:
        yield
    finally:
        os.environ.update(kept)


@contextmanager
def _silent() -> Iterator[None]:
    """Let the processes that are started here inherit no standard error of ours."""
    try:
        kept = os.dup(_STDERR)
    except OSError:  # it is closed already
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        os.close(nowhere)
