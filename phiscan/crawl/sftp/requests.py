"""The requests of SFTP that reading needs, over a channel of SSH.

paramiko's own client decodes names as UTF-8 and waits for each answer; here names are raw bytes, and several
requests are sent ahead of their answers.
Source: draft-ietf-secsh-filexfer-02 (version 3); OpenSSH's PROTOCOL, 4.9 (users-groups-by-id).
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Protocol

from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason

_INIT, _OPEN, _CLOSE, _READ, _LSTAT, _FSTAT, _OPENDIR, _READDIR = 1, 3, 4, 5, 7, 8, 11, 12
_EXTENDED, _VERSION, _STATUS = 200, 2, 101
_END = 1  # status at the end of a file or of a listing
_NAMES_BY_ID = b"users-groups-by-id@openssh.com"
_U32, _U64, _HEAD = struct.Struct(">I"), struct.Struct(">Q"), struct.Struct(">IBI")
_SIZE, _OWNERS, _MODE, _TIMES, _MORE = 0x1, 0x2, 0x4, 0x8, 0x80000000
# Attributes as OpenSSH sends them: all four kinds, and none extended.
_ALL, _USUAL = _U32.pack(0xF), struct.Struct(">QIII4xI")
_USUAL_END = len(_ALL) + _USUAL.size
_OPEN_TO_READ = struct.pack(">II", 1, 0)  # read only; no attributes
_RECEIVED_BYTES = 1 << 17
_MOST_BYTES = 1 << 24  # of an answer
_MOST_LISTINGS = 8  # requests for parts of one listing on their way
_REFUSED = {
    2: (FailReason.CHANGED, "vanished before it was read"),
    3: (FailReason.NO_PERMISSION, "access denied"),
    5: (FailReason.IO_ERROR, "its name is refused by the server"),
}
_NOT_ENTRIES = frozenset({b".", b".."})
_LOST = frozenset({6, 7})  # statuses: no connection


class Channel(Protocol):
    """What is used of paramiko's channel."""

    def sendall(self, data: bytes) -> None: ...  # noqa: D102 (as of a socket)
    def recv(self, nbytes: int) -> bytes: ...  # noqa: D102


class Attributes(NamedTuple):
    """Attributes of a file; times in seconds since 1970."""

    size: int
    uid: int
    gid: int
    mode: int
    mtime: int


# One entry of a listing: its name, a line for people as ``ls -l`` prints it, and its attributes.
Listed = tuple[bytes, bytes, Attributes]


class SftpRequests:
    """Requests of one thread to a server, over a channel that runs its SFTP subsystem."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._received = bytearray()
        self._answers: dict[int, tuple[int, bytes]] = {}
        self._dropped: set[int] = set()
        self._n_put = 0
        self._unsent = bytearray()
        channel.sendall(struct.pack(">IBI", 5, _INIT, 3))
        kind, body = self._packet()
        if kind != _VERSION:
            raise RefusedError(FailReason.IO_ERROR, "the server does not speak SFTP")
        extensions, at = [], _U32.size
        while at < len(body):
            text, at = _text(body, at)
            extensions.append(text)
        self.knows_names = _NAMES_BY_ID in extensions[::2]

    def check_folder(self, path: bytes) -> None:
        """Open a folder, and close it without listing it; it may be a link to one."""
        self._close(self._handle(self._put(_OPENDIR, _packed(path))))

    def entries(self, path: bytes) -> list[Listed]:
        """Return the entries of a folder except ``.`` and ``..``, with links as links."""
        handle = self._handle(self._put(_OPENDIR, _packed(path)))
        found: list[Listed] = []
        waiting: list[int] = []
        n_ahead = (
            3  # OpenSSH sends 100 entries at a time, and says in an answer of its own that there are no more
        )
        try:
            while True:
                if not waiting:
                    waiting = [self._put(_READDIR, _packed(handle)) for _ in range(n_ahead)]
                    n_ahead = min(2 * n_ahead, _MOST_LISTINGS)
                kind, body = self._answer(waiting.pop(0))
                if kind == _STATUS:
                    if _status(body) == _END:
                        return found
                    raise _refusal(body)
                found += _listed(body)
        finally:
            self._dropped.update(waiting)
            self._close(handle)

    def attributes(self, path: bytes) -> Attributes:
        """Return the attributes of a path; of a link, its own."""
        return self._attributes(self._put(_LSTAT, _packed(path)))

    def open(self, path: bytes) -> bytes:
        """Open a file to read it; return its handle."""
        return self._handle(self._put(_OPEN, _packed(path) + _OPEN_TO_READ))

    def attributes_of(self, handle: bytes) -> Attributes:
        """Return the attributes of an open file."""
        return self._attributes(self._put(_FSTAT, _packed(handle)))

    def ask_bytes(self, handle: bytes, start: int, n_bytes: int) -> int:
        """Request a part of an open file; return the number of the request."""
        return self._put(_READ, _packed(handle) + _U64.pack(start) + _U32.pack(n_bytes))

    def bytes_of(self, request: int) -> bytes:
        """Return the part requested, which may be shorter; none at the end of the file."""
        kind, body = self._answer(request)
        if kind == _STATUS:
            if _status(body) == _END:
                return b""
            raise _refusal(body)
        return _text(body, 0)[0]

    def drop(self, requests: list[int]) -> None:
        """Take no notice of the answers to these requests."""
        for request in requests:
            if self._answers.pop(request, None) is None:
                self._dropped.add(request)

    def close(self, handle: bytes, requests: list[int]) -> None:
        """Close an open file, of which some requests are still unanswered."""
        self.drop(requests)
        self._close(handle)

    def names(self, uid: int, gid: int) -> tuple[str, str]:
        """Return the server's names of a user and a group; empty where it has none."""
        body = _packed(_NAMES_BY_ID) + _packed(_U32.pack(uid)) + _packed(_U32.pack(gid))
        kind, body = self._answer(self._put(_EXTENDED, body))
        if kind == _STATUS:
            return "", ""
        users, at = _text(body, 0)
        groups, _ = _text(body, at)
        user, group = (_text(names, 0)[0].decode("utf-8", "replace") for names in (users, groups))
        return user, group

    def _put(self, kind: int, body: bytes) -> int:
        """Put a request into what is sent next; return its number."""
        self._n_put = self._n_put + 1 & 0xFFFFFFFF
        self._unsent += _HEAD.pack(len(body) + 5, kind, self._n_put) + body
        return self._n_put

    def _answer(self, request: int) -> tuple[int, bytes]:
        if self._unsent:  # in one packet, since each costs as much as hundreds of entries of a listing
            unsent, self._unsent = bytes(self._unsent), bytearray()
            self._channel.sendall(unsent)
        while request not in self._answers:
            kind, body = self._packet()
            number, body = _U32.unpack_from(body)[0], body[4:]
            if number in self._dropped:
                self._dropped.remove(number)
            else:
                self._answers[number] = kind, body
        return self._answers.pop(request)

    def _packet(self) -> tuple[int, bytes]:
        (n_bytes,) = _U32.unpack(self._take(4))
        if not 1 <= n_bytes <= _MOST_BYTES:
            message = "the server's answer is damaged"
            raise UnansweredError(message, is_gone=False)
        packet = self._take(n_bytes)
        return packet[0], packet[1:]

    def _take(self, n_bytes: int) -> bytes:
        while len(self._received) < n_bytes:
            data = self._channel.recv(_RECEIVED_BYTES)
            if not data:
                message = "the server closed the connection"
                raise UnansweredError(message, is_gone=True)
            self._received += data
        taken = bytes(self._received[:n_bytes])
        del self._received[:n_bytes]
        return taken

    def _handle(self, request: int) -> bytes:
        kind, body = self._answer(request)
        if kind == _STATUS:
            raise _refusal(body)
        return _text(body, 0)[0]

    def _attributes(self, request: int) -> Attributes:
        kind, body = self._answer(request)
        if kind == _STATUS:
            raise _refusal(body)
        return _attributes(body, 0)[0]

    def _close(self, handle: bytes) -> None:
        self._dropped.add(self._put(_CLOSE, _packed(handle)))


def _packed(text: bytes) -> bytes:
    return _U32.pack(len(text)) + text


def _text(body: bytes, at: int) -> tuple[bytes, int]:
    """Return the text at a position, and where it ends."""
    end = at + 4 + _U32.unpack_from(body, at)[0]
    return body[at + 4 : end], end


def _status(body: bytes) -> int:
    return int(_U32.unpack_from(body)[0])


def _refusal(body: bytes) -> RefusedError | UnansweredError:
    """Return the error of a status; the server's own message is left out, which may name files."""
    code = _status(body)
    if code in _LOST:
        return UnansweredError("the server lost its connection", is_gone=True)
    return RefusedError(*_REFUSED.get(code, (FailReason.IO_ERROR, f"the server refused it (status {code})")))


def _listed(body: bytes) -> list[Listed]:
    found, at = [], 4
    for _ in range(_status(body)):
        name, at = _text(body, at)
        line, at = _text(body, at)
        attributes, at = _attributes(body, at)
        if name not in _NOT_ENTRIES:
            found.append((name, line, attributes))
    return found


def _attributes(body: bytes, at: int) -> tuple[Attributes, int]:
    """Return the attributes at a position, and where they end."""
    if body[at : at + 4] == _ALL:
        return Attributes._make(_USUAL.unpack_from(body, at + 4)), at + _USUAL_END
    flags = _U32.unpack_from(body, at)[0]
    if not flags & _SIZE or not flags & _MODE:
        raise RefusedError(FailReason.IO_ERROR, "the server does not say what is a file, and how large it is")
    size, at = _U64.unpack_from(body, at + 4)[0], at + 12
    uid = gid = mtime = 0
    if flags & _OWNERS:
        (uid, gid), at = struct.unpack_from(">II", body, at), at + 8
    mode, at = _U32.unpack_from(body, at)[0], at + 4
    if flags & _TIMES:
        mtime, at = _U32.unpack_from(body, at + 4)[0], at + 8
    if flags & _MORE:
        n_more, at = _U32.unpack_from(body, at)[0], at + 4
        for _ in range(2 * n_more):
            _, at = _text(body, at)
    return Attributes(size, uid, gid, mode, mtime), at
