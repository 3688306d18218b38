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
import socketserver
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from phiscan.errors import ExtractError, PhiscanError
from phiscan.extract.core.opening import open_read_only, open_sibling
from phiscan.model import FailReason, SourceFile
from phiscan.sandbox.channel import exactly
from phiscan.sandbox.delivered_files import LENGTH, key_of
from phiscan.sandbox.scratch_folder import make_folder, remove_folder
from phiscan.sandbox.service import Service

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_MAX_KEY = 1024**2
_MOST_DIGITS = 4  # of the number of a segment
_CHUNK = 64 * 1024
SOCKET = "files"
LOOK_S = 0.05  # how often the server checks whether it is to be closed


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
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        """Make the folder of the socket; the server starts with the first file."""
        self._folder = make_folder()
        self._entry = os.open(self._folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server and close the files that are left."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        for service in self._services:
            service.close()
        os.close(self._entry)
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
            if self._server is None:
                self._server = self._opened()
            self._held[key_of(source)] = held

    def put_local(self, source: SourceFile) -> None:
        """Register a file of this machine; it is opened when a worker requests it.

        Raises:
            PhiscanError: the server cannot be started.
        """
        with self._lock:
            if self._server is None:
                self._server = self._opened()
            self._local.setdefault(key_of(source), []).append(source)

    def _opened(self) -> _Server:
        try:
            for service in self._services:
                service.open(str(self._folder))
        except OSError as error:
            message = f"{self._folder}: the processes beside the workers cannot be started: {error.strerror}"
            raise PhiscanError(message) from None
        # Through /proc, because the path of a socket may not be longer than 107 bytes.
        server = _Server(f"/proc/self/fd/{self._entry}/{SOCKET}", self)
        serve = partial(server.serve_forever, poll_interval=LOOK_S)
        threading.Thread(target=serve, name=SOCKET, daemon=True).start()
        return server

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


class _Server(socketserver.ThreadingUnixStreamServer):
    """Answers one worker on each connection, in a thread."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path: str, handoff: FileHandoff) -> None:
        super().__init__(path, _Question)
        self.handoff = handoff
        Path(path).chmod(0o600)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a worker that was killed in the middle of its question is no error of ours."""


class _Question(socketserver.BaseRequestHandler):
    """The requests of one worker, one after the other; only registered files are handed out."""

    server: _Server
    request: socket.socket

    def handle(self) -> None:
        """Read requests and send replies until the worker has closed the connection."""
        while True:
            # A question comes in one piece, nearly always: asking twice would wake this thread twice.
            data = self.request.recv(_CHUNK)
            if len(data) < LENGTH.size:
                data += exactly(self.request, LENGTH.size - len(data))
            (length,) = LENGTH.unpack_from(data)
            if length > _MAX_KEY or len(data) > LENGTH.size + length:
                return
            key = data[LENGTH.size :] + exactly(self.request, LENGTH.size + length - len(data))
            reply, descriptors = self.server.handoff.serve_request(key)
            try:
                socket.send_fds(self.request, [reply], descriptors)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
