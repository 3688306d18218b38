"""Keyed hashes by the key process: types with normalised values, or words, in; digests out.

The key is in that process alone, which reads no documents, opens no files and has no network; workers reach
it over a socket. The scan starts it as ``python -m phiscan.sandbox.hashing DESCRIPTOR``; see ``service``.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress

from phiscan.hasher import DIGEST_BYTES, SEED_BYTES, WORD_BYTES, Hasher, KeyHasher
from phiscan.sandbox import channel
from phiscan.sandbox.isolation import restrict
from phiscan.sandbox.layers import namespaces, seccomp
from phiscan.sandbox.service import read_secret

IDENTITIES, WORDS, SEED = b"i", b"w", b"s"
MOST_BYTES = 64 * 1024**2  # of one question
_SIZE = struct.Struct("<I")
_ANSWER_S = 60.0
_STDIN = 0


class RemoteHasher:
    """Keyed hashes over one connection to the key process."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_ANSWER_S)
        self._connection = connection
        self._seed: int | None = None

    def identities(self, messages: Sequence[bytes]) -> list[bytes]:
        """Return the HMAC-SHA256 of each message.

        Raises:
            OSError, EOFError: the process is gone.
        """
        return self._ask(IDENTITIES, messages, DIGEST_BYTES)

    def words(self, words: Sequence[bytes]) -> list[bytes]:
        """Return a keyed BLAKE2b of 8 bytes of each word.

        Raises:
            OSError, EOFError: the process is gone.
        """
        return self._ask(WORDS, words, WORD_BYTES)

    def seed(self) -> int:
        """Return the 32-bit seed of the permutations of signatures; requested once."""
        if self._seed is None:
            self._seed = int.from_bytes(self._ask(SEED, [b""], SEED_BYTES)[0])
        return self._seed

    def _ask(self, kind: bytes, items: Sequence[bytes], size: int) -> list[bytes]:
        if not items:
            return []
        channel.send(self._connection, kind + pack(items))
        answer, descriptors = channel.receive(self._connection, MOST_BYTES)
        channel.close_all(descriptors)
        if len(answer) != size * len(items):
            message = "not a response to the request"
            raise OSError(message)
        return [answer[at : at + size] for at in range(0, len(answer), size)]


def ask_at(folder: str) -> RemoteHasher:
    """Connect to the key process.

    Raises:
        OSError: nobody listens in the folder.
    """
    return RemoteHasher(channel.connect(folder, channel.KEYS))


def serve(connection: socket.socket, hasher: Hasher) -> None:
    """Serve the requests of one worker until it closes the connection."""
    with connection:
        try:
            while True:
                question, descriptors = channel.receive(connection, MOST_BYTES)
                channel.close_all(descriptors)
                channel.send(connection, b"".join(_answer(question, hasher)))
        except (OSError, EOFError, ValueError, struct.error):
            return


def serve_all(listener: socket.socket, hasher: Hasher) -> None:
    """Serve every worker that connects, each in a thread."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, hasher), daemon=True).start()


def pack(items: Iterable[bytes]) -> bytes:
    """Return byte strings as one.

    >>> unpack(pack([b"a", b"", b"bc"]))
    [b'a', b'', b'bc']
    """
    return b"".join(part for item in items for part in (_SIZE.pack(len(item)), item))


def unpack(data: bytes) -> list[bytes]:
    """Return what ``pack`` was given.

    Raises:
        ValueError, struct.error: it is nothing that ``pack`` made.
    """
    items = []
    at = 0
    while at < len(data):
        (length,) = _SIZE.unpack_from(data, at)
        at += _SIZE.size + length
        if at > len(data):
            message = "cut short"
            raise ValueError(message)
        items.append(data[at - length : at])
    return items


def _answer(question: bytes, hasher: Hasher) -> list[bytes]:
    kind, items = question[:1], unpack(question[1:])
    if kind == IDENTITIES:
        return hasher.identities(items)
    if kind == WORDS:
        return hasher.words(items)
    if kind == SEED:
        return [hasher.seed().to_bytes(SEED_BYTES)]
    message = "unknown question"
    raise ValueError(message)


def main(number: int) -> None:
    """Serve on an inherited listening socket until the scan ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        key = read_secret(_STDIN)
    except EOFError:
        return
    namespaces.enter()
    restrict([], [], nobody_needs=[])
    with suppress(OSError):
        seccomp.install(os.getpid(), seccomp.Purpose(may_accept=True))
    # Threads have what the process gave up before they were started.
    threading.Thread(target=_end_with_scan, daemon=True).start()
    listener = socket.socket(fileno=number)
    serve_all(listener, KeyHasher(key))


def _end_with_scan() -> None:
    while os.read(_STDIN, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
