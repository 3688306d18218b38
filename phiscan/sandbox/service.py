"""A service process of a scan, which does for workers what they may not: it starts and ends with the scan.

It listens on a socket in a private folder, gets its secret through a pipe, and ends when that pipe is closed,
so also when the scan is killed. One that dies is started again on the same socket.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import phiscan
from phiscan.config import Limits
from phiscan.sandbox import channel

_MOST_STARTS = 20  # a process that cannot live is not started for ever
_END_S = 10.0
# What processes that read documents, and their helpers, are started with; the rest may hold a secret.
_ENVIRONMENT = frozenset(
    {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "TESSDATA_PREFIX"}
    | {"PYTHONHOME", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE"}
    | {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_THREAD_LIMIT"}
)


class Service:
    """One process that answers workers."""

    def __init__(
        self, module: str, name: str, *, arguments: Sequence[str] = (), secret: Callable[[], bytes] = bytes
    ) -> None:
        self.name = name
        self._module = module
        self._arguments = tuple(arguments)
        self._secret = secret
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closing = False
        self._folder = ""

    def __repr__(self) -> str:
        """Show its name, never its secret."""
        return f"Service({self.name!r})"

    def open(self, folder: str) -> None:
        """Listen in a folder and start the process.

        Raises:
            OSError: it cannot be started.
        """
        self._folder = folder
        self._listener = channel.listen(folder, self.name)
        process = self._start(self._listener)
        threading.Thread(target=self._keep_running, args=(process,), name=self.name, daemon=True).start()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._is_closing = True
            process, self._process = self._process, None
            if self._listener is not None:
                self._listener.close()
        if process is None:
            return
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _keep_running(self, process: subprocess.Popen[bytes]) -> None:
        for _ in range(_MOST_STARTS):
            process.wait()
            with self._lock:
                if self._is_closing or self._listener is None:
                    return
                try:
                    process = self._start(self._listener)
                except OSError:
                    return

    def _start(self, listener: socket.socket) -> subprocess.Popen[bytes]:
        number = listener.fileno()
        environment = program_environment() | {
            "TMPDIR": self._folder
        }  # removed with the scan, or by the next one
        secret = self._secret()
        process = subprocess.Popen(
            [sys.executable, "-m", self._module, str(number), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(number,),
            cwd="/",
            env=environment,
        )
        if process.stdin is not None:
            with suppress(OSError):  # it died: it is started again
                process.stdin.write(len(secret).to_bytes(4, "little") + secret)
                process.stdin.flush()
        self._process = process
        return process


def key_service(load: Callable[[], bytes]) -> Service:
    """Return the process that computes keyed hashes; it alone is given the key, which is loaded then."""
    return Service("phiscan.sandbox.hashing", channel.KEYS, secret=load)


def program_service(limits: Limits) -> Service:
    """Return the process that runs the helper programs, each in a sandbox of its own."""
    arguments = [str(limits.memory_bytes), str(max(limits.member_bytes, limits.file_bytes))]
    return Service("phiscan.sandbox.programs", channel.PROGRAMS, arguments=arguments)


def environment() -> dict[str, str]:
    """Return the variables that a process may have which reads documents, or helps to."""
    return {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}


def program_environment() -> dict[str, str]:
    """Return the variables of a process that is started as a program of this package."""
    own = {"PYTHONPATH": str(Path(phiscan.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    return environment() | own


def read_secret(descriptor: int) -> bytes:
    """Read, in the process that was started, what the scan gave it; the pipe stays open until the scan ends.

    Raises:
        EOFError: the scan is gone.
    """
    with open(descriptor, "rb", closefd=False) as pipe:
        head = pipe.read(4)
        length = int.from_bytes(head, "little")
        secret = pipe.read(length)
    if len(head) < 4 or len(secret) < length:  # noqa: PLR2004 (the length)
        raise EOFError
    return secret
