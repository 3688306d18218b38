"""The hand-off of files to isolated workers: open descriptors through a private socket.

A fetched file lies in anonymous memory (memfd), sealed against change; one of this machine is opened here,
read-only, when its worker asks for it. Both leave as open descriptors through a socket in a folder that only
this user can enter: docs/decisions/0018. Only files that are being examined can be had. The processes that
help workers listen in the same folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from phiscan.errors import ExtractError, PhiscanError
from phiscan.extract.core.opening import open_read_only, open_sibling
from phiscan.model import FailReason, SourceFile
from phiscan.sandbox import channel
from phiscan.sandbox.delivered_files import key_of
from phiscan.sandbox.scratch_folder import make_folder, remove_folder
from phiscan.sandbox.service import Service

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_MAX_KEY = 1024**2
_MOST_DIGITS = 4  # of the number of a segment
_LONGEST_WAIT_S = 1.0  # for a free descriptor
SOCKET = "files"


class MemoryFile:
    """Bytes in anonymous memory, freed by the kernel with the last descriptor."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("phiscan", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            ExtractError: out_of_memory.
        """
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self.descriptor, left) :]
        except OSError:
            raise ExtractError(FailReason.OUT_OF_MEMORY, "no memory for a fetched file") from None
        self.size += len(data)

    def seal(self) -> None:
        """Forbid all further changes, also through the descriptors that are handed out."""
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)

    def close(self) -> None:
        """Close the descriptor; the memory is freed when it is the last one."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class FileHandoff:
    """Holds fetched files, or why they could not be fetched, and opens others, until they are taken back."""

    def __init__(self, services: Sequence[Service] = ()) -> None:
        self._lock = threading.Lock()
        self._services = tuple(services)
        self._local: dict[bytes, list[SourceFile]] = {}  # files of this machine that are being examined
        self._held: dict[bytes, MemoryFile | ExtractError] = {}
        self._listener: socket.socket | None = None
        self._freed = threading.Event()  # a descriptor, since the server last ran out of them

    def __enter__(self) -> Self:
        """Make the folder of the socket; the server starts with the first file."""
        self._folder = make_folder()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and close the files that are left."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # which ends the thread that waits at it
            self._listener.close()
            self._freed.set()
        for service in self._services:
            service.close()
        remove_folder(self._folder)
        with self._lock:
            for held in self._held.values():
                if isinstance(held, MemoryFile):
                    held.close()
            self._held.clear()

    @property
    def address(self) -> str:
        """The path of the socket, for processes of this user."""
        return str(self._folder / SOCKET)

    def put(self, source: SourceFile, held: MemoryFile | ExtractError) -> None:
        """Register a fetched file, or the reason why there is none, for the worker that requests it."""
        with self._lock:
            self._start()
            self._held[key_of(source)] = held

    def put_local(self, source: SourceFile) -> None:
        """Register a file of this machine; it is opened when a worker requests it.

        Raises:
            PhiscanError: the server cannot be started.
        """
        with self._lock:
            self._start()
            self._local.setdefault(key_of(source), []).append(source)

    def _start(self) -> None:
        if self._listener is not None:
            return
        try:
            for service in self._services:
                service.open(str(self._folder))
            self._listener = channel.listen(str(self._folder), SOCKET)
        except OSError as error:
            raise PhiscanError(
                self._folder, f"the processes beside the workers cannot be started: {error.strerror}"
            ) from None
        threading.Thread(target=self._serve, args=(self._listener,), name=SOCKET, daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        """Answer each worker that connects, in a thread, until the listener is closed."""
        while listener.fileno() >= 0:
            try:
                threading.Thread(target=self._answer, args=listener.accept()[:1], daemon=True).start()
            except (OSError, RuntimeError):  # it is closed, or there are too many open files or threads
                self._freed.wait(_LONGEST_WAIT_S)  # others than these files may be closed as well
                self._freed.clear()

    def _answer(self, connection: socket.socket) -> None:
        """Answer the requests of one worker until it closes the connection or sends what is none."""
        with connection, suppress(OSError, EOFError):
            while True:
                key, given = channel.receive(connection, _MAX_KEY)
                channel.close_all(given)
                reply, descriptors = self.serve_request(key)
                try:
                    channel.send(connection, reply, descriptors)
                finally:
                    channel.close_all(descriptors)

    def take_back(self, source: SourceFile) -> None:
        """Forget a file that was examined, and close its memory."""
        with self._lock:
            if local := self._local.get(key_of(source)):
                local.pop()
                if not local:
                    del self._local[key_of(source)]
            held = self._held.pop(key_of(source), None)
            if isinstance(held, MemoryFile):
                held.close()
        self._freed.set()

    def serve_request(self, key: bytes) -> tuple[bytes, list[int]]:
        """Return the reply to a request, with a new descriptor, the caller's to close, if there is a file."""
        with self._lock:
            local = self._local.get(key)
            source = local[-1] if local else None
            held = self._held.get(key)
            if isinstance(held, MemoryFile):
                return json.dumps({"size": held.size}).encode(), [os.dup(held.descriptor)]
        if source is not None:  # a file system that hangs must not stop the others
            try:
                return json.dumps({"size": source.size}).encode(), [open_read_only(source)]
            except ExtractError as error:
                held = error
        if held is None:
            return self._serve_segment(key)
        return _refused(held)

    def _serve_segment(self, key: bytes) -> tuple[bytes, list[int]]:
        """Open another segment of a file that is being examined: ``root NUL path NUL number``."""
        first, _, number = key.rpartition(b"\0")
        with self._lock:
            local = self._local.get(first) if number.isdigit() and len(number) <= _MOST_DIGITS else None
            source = local[-1] if local else None
        if source is None:
            return b"{}", []
        try:
            return json.dumps({"size": 0}).encode(), [open_sibling(source, int(number))]
        except ExtractError as error:
            return _refused(error)


def _refused(held: ExtractError) -> tuple[bytes, list[int]]:
    return json.dumps({"reason": str(held.reason), "detail": held.detail}).encode(), []
