"""Messages between two processes over a Unix socket: bytes with open files.

A message is its length and number of descriptors, then its bytes; the descriptors come with the head.
"""

from __future__ import annotations

import array
import errno
import os
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress

KEYS, PROGRAMS = "keys", "programs"  # the sockets of the processes beside the workers
_HEAD = struct.Struct("<II")
_MOST_DESCRIPTORS = 64  # in one message
_CHUNK = 1024**2


def connect(folder: str, name: str) -> socket.socket:
    """Connect to the socket ``name`` in a folder, however long the folder's path is.

    Raises:
        OSError: nobody listens there.
    """
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # first: what is isolated may not
    try:
        # Through /proc, because the path of a socket may not be longer than 107 bytes.
        entry = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            channel.connect(f"/proc/self/fd/{entry}/{name}")
        finally:
            os.close(entry)
    except BaseException:
        channel.close()
        raise
    return channel


def listen(folder: str, name: str) -> socket.socket:
    """Return a socket in a folder to which this user's processes can connect.

    Raises:
        OSError: it cannot be made.
    """
    entry = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = f"/proc/self/fd/{entry}/{name}"
        listener.bind(place)
        os.chmod(place, 0o600)  # noqa: PTH101 (through the descriptor of the folder)
        listener.listen(128)
    except BaseException:
        listener.close()
        raise
    finally:
        os.close(entry)
    return listener


def send(channel: socket.socket, data: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send one message; the descriptors stay open here.

    Raises:
        OSError: the other side is gone.
    """
    head = _HEAD.pack(len(data), len(descriptors))
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    sent = channel.sendmsg([head, data], [rights] if descriptors else [])
    if sent < len(head) + len(data):  # nearly never: two pieces would wake the other side twice
        channel.sendall((head + data)[sent:])


def receive(
    channel: socket.socket, most_bytes: int, deadline: float | None = None
) -> tuple[bytes, list[int]]:
    """Receive one message; the descriptors are the caller's to close.

    ``deadline``: of ``time.monotonic``, for the whole message; None = the time limit of the socket for each
    part of it.

    Raises:
        TimeoutError: it is not complete by the deadline.
        EOFError: the other side has closed the connection.
        OSError: it is gone, or the message is longer than ``most_bytes``.
    """
    descriptors: list[int] = []
    try:
        head, descriptors, _, _ = socket.recv_fds(channel, _HEAD.size, _MOST_DESCRIPTORS)
        if not head:
            raise EOFError  # noqa: TRY301 (as for every part of a message)
        head += exactly(channel, _HEAD.size - len(head), deadline)
        n_bytes, n_promised = _HEAD.unpack(head)
        if n_bytes > most_bytes or n_promised != len(descriptors):
            message = "not a message of this channel"
            raise OSError(message)  # noqa: TRY301 (the same)
        return exactly(channel, n_bytes, deadline), descriptors
    except BaseException:
        close_all(descriptors)
        raise


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors that were received."""
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)


class _Memory:
    """Where files in memory are made by this process."""

    folder: str | None = (
        None  # a file system in memory, of limited size; None = by memfd_create, without a limit
    )


def hold_in(folder: str) -> None:
    """Let this process make its files in memory in a folder of a file system in memory."""
    _Memory.folder = folder


def in_memory(data: bytes) -> int:
    """Return the descriptor of an anonymous file in memory that holds ``data``, at its beginning.

    Raises:
        MemoryError: there is no room for it.
        OSError: it cannot be made.
    """
    if _Memory.folder is None:
        descriptor = os.memfd_create("phiscan", os.MFD_CLOEXEC)
    else:
        descriptor = os.open(_Memory.folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EFBIG}:
            raise MemoryError from None
        raise
    return descriptor


def read_whole(descriptor: int, size: int | None = None) -> bytes:
    """Return the bytes of an open file from its start; its position, shared with others, is not used.

    ``size``: so many at most; None = all that it has now.
    """
    data = bytearray(os.fstat(descriptor).st_size if size is None else size)
    view = memoryview(data)
    at = 0
    while at < len(data) and (n_bytes := os.preadv(descriptor, [view[at:]], at)):
        at += n_bytes
    return bytes(view[:at])


def exactly(channel: socket.socket, n_bytes: int, deadline: float | None = None) -> bytes:
    """Receive so many bytes; see ``receive``."""
    data = bytearray()
    while len(data) < n_bytes:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(left)
        chunk = channel.recv(min(n_bytes - len(data), _CHUNK))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)
