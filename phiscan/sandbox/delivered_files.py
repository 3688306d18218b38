"""Files of shares that are not mounted: this process has no network, so their bytes are handed to it.

Whoever has the network fetches a file into sealed memory and passes the descriptor through a socket in a
private folder (``pipeline.workers.file_handoff`` is the other side). Nothing touches a disk, and what is
not read any more is gone with its last descriptor, however the processes end.
"""

from __future__ import annotations

import json
import os
import socket
import struct

from phiscan.errors import ExtractError
from phiscan.model import FailReason, SourceFile

LENGTH = struct.Struct("<I")
MAX_REPLY = 4096
REPLY_TIMEOUT_S = 60.0
_GONE = "its fetched copy is gone"


class _Worker:
    """Where this process asks for fetched files."""

    address = ""


def ask_at(address: str) -> None:
    """Let this process ask for the files of remote shares at a socket."""
    _Worker.address = address


def is_delivered(source: SourceFile) -> bool:
    """Tell whether a file cannot be opened here, because its root is a URL."""
    return b"://" in source.root and not source.root.startswith(b"/")


def key_of(source: SourceFile) -> bytes:
    """Return the name by which a fetched file is asked for."""
    return source.root + b"\0" + source.path


def receive(source: SourceFile) -> bytes:
    """Return the bytes of a file that was fetched for this process.

    Raises:
        ExtractError: why it could not be fetched; or io_error, its copy is gone.
    """
    try:
        reply, descriptor = _ask(key_of(source))
    except OSError:
        raise ExtractError(FailReason.IO_ERROR, _GONE) from None
    if descriptor is None:
        raise ExtractError(FailReason(reply.get("reason", "io_error")), reply.get("detail", _GONE))
    try:
        return _read(descriptor, int(reply["size"]))
    finally:
        os.close(descriptor)


def _ask(key: bytes) -> tuple[dict[str, str], int | None]:
    if not _Worker.address:
        return {}, None
    folder, _, name = _Worker.address.rpartition("/")
    # Through /proc, because the path of a socket may not be longer than 107 bytes.
    entry = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(REPLY_TIMEOUT_S)
        try:
            channel.connect(f"/proc/self/fd/{entry}/{name}")
        finally:
            os.close(entry)
        channel.sendall(LENGTH.pack(len(key)) + key)
        message, descriptors, _, _ = socket.recv_fds(channel, MAX_REPLY, 1)
    reply: dict[str, str] = json.loads(message) if message else {}
    return reply, descriptors[0] if descriptors else None


def _read(descriptor: int, size: int) -> bytes:
    """Read from the start; the descriptor's position is shared with others and is not used."""
    data = bytearray(size)
    view = memoryview(data)
    at = 0
    while at < size and (n_bytes := os.preadv(descriptor, [view[at:]], at)):
        at += n_bytes
    if at < size:
        raise ExtractError(FailReason.IO_ERROR, _GONE)
    return bytes(data)
