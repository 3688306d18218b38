"""Readings by the OCR process, which is started for the first one and replaced when it dies or hangs.

The process is not trusted once it has seen a picture: its replies are JSON of known fields and bounded
length, and one that is anything else ends it. A reading that kills the process costs that reading alone.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import phiscan
from phiscan.sandbox import channel
from phiscan.sandbox.ocr import messages
from phiscan.sandbox.ocr.messages import OcrReply, OcrRequest
from phiscan.sandbox.ocr.tesseract_library import library_files

MOST_READINGS = 500  # of one process: the library may leak
_TRIAL_BYTES = 1024**3
_START_S = 30.0
_MOST_FAILED_STARTS = 3
_NOT_A_REPLY = 70
_NO_THREAD_MEMORY = 127  # the exit status of glibc without memory for data of a thread
_ENVIRONMENT = frozenset({"PATH", "LANG", "LD_LIBRARY_PATH", "TESSDATA_PREFIX"})  # what is passed on
_OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGPROF)


class OcrClient:
    """One OCR process at a time; readings from several threads follow each other."""

    def __init__(self, memory_bytes: int, libraries: Sequence[str] | None = None) -> None:
        self._memory_bytes = memory_bytes
        self._libraries = tuple(library_files()) if libraries is None else tuple(libraries)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._languages = ""
        self._n_readings = 0
        self._n_failed_starts = 0
        self._owner = os.getpid()
        self.version = ""  # of the library that the process has loaded

    def read(self, job: str, descriptor: int, seconds: float, languages: str) -> tuple[int, bytes] | None:
        """Read the grey PGM picture of an open file; return the exit status and what tesseract would write.

        Args:
            job: ``ocr``, a table of words, or ``orientation``.
            descriptor: the file.
            seconds: of wall clock, and the budget of processor time.
            languages: ``eng+fra`` for instance.

        Returns:
            None where no such process can be had: the program has to be started. A negative status is the
            signal that ended the process.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        with self._lock:
            deadline = time.monotonic() + seconds
            if not self._is_ready(languages):
                return None
            self._n_readings += 1
            left = max(deadline - time.monotonic(), 0.01)
            try:
                reply = self._ask(OcrRequest(job, left), descriptor, left)
            except TimeoutError:
                self._stop()
                raise subprocess.TimeoutExpired(job, seconds) from None
            except ValueError:
                self._stop()
                return _NOT_A_REPLY, b""
            except (OSError, EOFError):
                status = self._end()
                if status in _OUT_OF_TIME:
                    raise subprocess.TimeoutExpired(job, seconds) from None
                return status, b""
            return reply.status, reply.output.encode("utf-8", "replace")

    def start(self, languages: str) -> str:
        """Start the process if it does not run; return the version of its library, empty without one."""
        with self._lock:
            return self.version if self._is_ready(languages) else ""

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._forget_if_forked()
            self._stop()

    def _forget_if_forked(self) -> None:
        """Drop the process of the parent, if this is a copy made by fork: its replies are for the parent."""
        if self._owner == os.getpid():
            return
        if self._connection is not None:
            self._connection.close()  # of this copy alone
        if self._process is not None:
            self._process.returncode = 0  # not a child of this process: there is nothing to wait for
        self._process, self._connection, self._owner = None, None, os.getpid()

    def _ask(self, request: OcrRequest, descriptor: int, seconds: float) -> OcrReply:
        connection = self._connection
        if connection is None:
            raise EOFError
        connection.settimeout(seconds)
        deadline = time.monotonic() + seconds
        channel.send(connection, messages.pack(request), [descriptor])
        return self._reply(connection, deadline)

    @staticmethod
    def _reply(connection: socket.socket, deadline: float) -> OcrReply:
        data, descriptors = channel.receive(connection, messages.MOST_REPLY_BYTES, deadline)
        channel.close_all(descriptors)
        return messages.unpack(OcrReply, data)

    def _is_ready(self, languages: str) -> bool:
        self._forget_if_forked()
        if self._process is not None and (self._n_readings >= MOST_READINGS or languages != self._languages):
            self._stop()
        if self._process is not None and self._process.poll() is None:
            return True
        self._stop()
        return self._n_failed_starts < _MOST_FAILED_STARTS and self._start(languages)

    def _start(self, languages: str) -> bool:
        ours, theirs = socket.socketpair()
        environment = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}
        environment |= {"PYTHONPATH": str(Path(phiscan.__file__).parents[1]), "OMP_THREAD_LIMIT": "1"}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        arguments = [str(theirs.fileno()), str(self._memory_bytes), languages, *self._libraries]
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "phiscan.sandbox.ocr.ocr_process", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    cwd="/",
                    env=environment,
                )
            self._connection, self._languages, self._n_readings = ours, languages, 0
            ours.settimeout(_START_S)
            self.version = self._reply(ours, time.monotonic() + _START_S).output
        except (OSError, EOFError, ValueError):
            self._n_failed_starts += 1
            self._stop()
            ours.close()
            return False
        self._n_failed_starts = 0
        return True

    def _end(self) -> int:
        """Return the exit status of a process that hung up; NO_MEMORY where that is what it died of."""
        process = self._process
        if process is None or process.returncode is not None:
            return _NOT_A_REPLY
        # Without effect on a process that is dying; one that has only hung up must not go on.
        os.kill(process.pid, signal.SIGKILL)
        _, code, usage = os.wait4(process.pid, 0)
        status = process.returncode = os.waitstatus_to_exitcode(code)
        self._stop()
        # Without memory the library ends itself by SIGABRT, as it does for other reasons.
        has_filled_it = usage.ru_maxrss * 1024 > self._memory_bytes // 2
        is_full = status == _NO_THREAD_MEMORY or (status == -signal.SIGABRT and has_filled_it)
        return messages.NO_MEMORY if is_full else status

    def _stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()  # does nothing to one that was waited for
            self._process.wait()
        self._process = self._connection = None


def loaded_version(languages: str) -> str:
    """Return the version of the library that an OCR process loads here; empty where none can be had."""
    client = OcrClient(_TRIAL_BYTES)
    version = client.start(languages)
    client.close()
    return version


_CLIENTS: dict[int, OcrClient] = {}


def client_of(memory_bytes: int) -> OcrClient:
    """Return the client of this process for one limit of memory."""
    if memory_bytes not in _CLIENTS:
        _CLIENTS[memory_bytes] = OcrClient(memory_bytes)
        atexit.register(_CLIENTS[memory_bytes].close)
    return _CLIENTS[memory_bytes]
