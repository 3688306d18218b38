"""The worker's side of the file hand-off: requests by name, open descriptors as replies.

The scanning process opens the files of mounted shares, read-only, and fetches those of others into sealed
memory (``pipeline.workers.file_handoff``). A worker needs no path of a share and no network: it uses one
connection, made before it gave up the right to connect. Fetched files are freed with their last descriptor.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress

from phiscan.errors import ExtractError
from phiscan.model import FailReason, SourceFile
from phiscan.sandbox import channel as sockets
from phiscan.sandbox import programs

MAX_REPLY = 4096
REPLY_TIMEOUT_S = 60.0
EXIT_NO_FILES = 71  # a worker that can get no files any more makes room for another
_GONE = "its fetched copy is gone"
_NO_ANSWER = "nobody hands it over"


class _Worker:
    """The connection of this process to the file hand-off."""

    address = ""
    connection: socket.socket | None = None
    connected_to = ""


def ask_at(address: str) -> None:
    """Connect this process to the file hand-off, and to the program process in the same folder.

    An isolated process can make no connection later.
    """
    _Worker.address = address
    if address:
        with suppress(OSError):
            _connect()
        programs.ask_at(address.rpartition("/")[0])


def is_handed_over() -> bool:
    """Return whether files come through the hand-off, and are not opened by their path."""
    return bool(_Worker.address)


def is_delivered(source: SourceFile) -> bool:
    """Return whether a file is on a remote share (its root is a URL), so that it is fetched."""
    return b"://" in source.root and not source.root.startswith(b"/")


def key_of(source: SourceFile) -> bytes:
    """Return the name of a file in requests: root and path, separated by NUL."""
    return source.root + b"\0" + source.path


def receive(source: SourceFile) -> bytes:
    """Return the bytes of a file that was fetched for this process.

    Raises:
        ExtractError: why it could not be fetched; or io_error, its copy is gone.
    """
    descriptor, size = take(source)
    try:
        data = sockets.read_whole(descriptor, size)
    finally:
        os.close(descriptor)
    if len(data) < size:
        raise ExtractError(FailReason.IO_ERROR, _GONE)
    return data


def segment_key(source: SourceFile, number: int) -> bytes:
    """Return the name by which another segment of the file that a file begins is asked for."""
    return key_of(source) + b"\0%d" % number


def take_segment(source: SourceFile, number: int) -> int:
    """Return an open descriptor of another segment of the file that a file begins; the caller closes it.

    Raises:
        ExtractError: there is none, or why it cannot be opened.
    """
    return _taken(segment_key(source, number), _NO_ANSWER)[0]


def take(source: SourceFile) -> tuple[int, int]:
    """Return an open descriptor of a file and, if it was fetched, its size; the caller closes it.

    Raises:
        ExtractError: why it cannot be opened or could not be fetched.
    """
    return _taken(key_of(source), _GONE if is_delivered(source) else _NO_ANSWER)


def _taken(key: bytes, without_answer: str) -> tuple[int, int]:
    try:
        reply, descriptor = _ask(key)
    except OSError:
        raise ExtractError(FailReason.IO_ERROR, without_answer) from None
    if descriptor is None:
        raise ExtractError(FailReason(reply.get("reason", "io_error")), reply.get("detail", _GONE))
    return descriptor, int(reply["size"])


def _ask(key: bytes) -> tuple[dict[str, str], int | None]:
    if not _Worker.address:
        return {}, None
    connection = _Worker.connection
    if connection is None or _Worker.connected_to != _Worker.address:
        try:
            connection = _connect()
        except PermissionError:
            os._exit(EXIT_NO_FILES)  # isolated: only a new worker can connect again
    try:
        sockets.send(connection, key)
        message, descriptors = sockets.receive(connection, MAX_REPLY)
    except (OSError, EOFError) as error:
        # A late reply would be taken for that to the next request.
        connection.close()
        _Worker.connection = None
        raise ConnectionResetError from error
    reply: dict[str, str] = json.loads(message)
    return reply, descriptors[0] if descriptors else None


def _connect() -> socket.socket:
    folder, _, name = _Worker.address.rpartition("/")
    connection = sockets.connect(folder, name)
    connection.settimeout(REPLY_TIMEOUT_S)
    if _Worker.connection is not None:
        _Worker.connection.close()
    _Worker.connection, _Worker.connected_to = connection, _Worker.address
    return connection
