"""Crawl the mailboxes of an IMAP server through imapclient: ``imaps://server[:port][/folder]``, ``imap://``.

Each message is an item ``FOLDER/UID.eml``. Folders are opened with EXAMINE and messages are fetched with
BODY.PEEK, so that none is marked as seen. A message never changes: another one has another UID, or its folder
another UIDVALIDITY.

Source: RFC 3501 (IMAP4rev1; 5.1: modified UTF-7), RFC 2342 (namespaces), RFC 4314 (access control lists), RFC
5530 (response codes).
"""

from __future__ import annotations

import imaplib
import logging
import re
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.http_client import SLOWEST, tls_context
from phiscan.crawl.location import LOOPBACK, escaped
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import (
    Crawled,
    RefusedError,
    UnansweredError,
    identity_number,
    nanoseconds_of,
    optional,
)
from phiscan.errors import PhiscanError
from phiscan.model import FailReason, SourceFile

with optional("imap://", "imapclient", "imap"):
    from imapclient import IMAPClient
    from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError
    from imapclient.imap_utf7 import decode, encode

PAGE = 1_000  # messages listed by one command; their numbers fit in the line that any server reads
RANGE_BYTES = 8 * 1024**2  # of a message, fetched by one command
MOST_BYTES = 4 * RANGE_BYTES  # of an answer: a range, or as much as a hundred thousand folders
_CHUNK = 2**18
_NO_MESSAGES = (b"\\noselect", b"\\nonexistent")
_GROUP = re.compile(r"!?\$|group[=:]")
# Who may read, of the identifiers that are no names.
_NOBODY = {"anyone": "everyone", "anonymous": "everyone", "authenticated": "group authenticated"}
_CODE = re.compile(r"\[([A-Z]+)")
_VANISHED = (FailReason.CHANGED, "vanished before it was read")
_SIGNED_OUT = (FailReason.NO_PERMISSION, "wrong user name or password")
_REFUSED = {
    **dict.fromkeys(("AUTHENTICATIONFAILED", "AUTHORIZATIONFAILED", "EXPIRED"), _SIGNED_OUT),
    "NOPERM": (FailReason.NO_PERMISSION, "access denied"),
    "NONEXISTENT": _VANISHED,
}
_TEMPORARY = frozenset({"INUSE", "LIMIT", "OVERQUOTA", "SERVERBUG", "THROTTLED", "UNAVAILABLE"})

# The library logs what it sends, which is passwords as well.
logging.getLogger("imapclient").setLevel(logging.CRITICAL + 1)


class _Connection(threading.local):
    """The connection of one thread, with the folder that is open in it and its UIDVALIDITY."""

    client: Any = None
    folder: bytes | None = None
    validity = ""


class ImapShare(FolderShare):
    """The mailboxes that one user can list, or one of them with those below it."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._connection = _Connection()
        self._clients: list[Any] = []  # of all threads
        self._mailboxes: dict[bytes, tuple[bytes, str]] = {}  # path -> name on the server, user
        self._readers: dict[bytes, tuple[str, ...]] = {}

    def check(self) -> None:
        """Sign in and list the folders; see ``ServerShare``."""
        if not self.credentials.username:
            detail = "expected a user name (PHISCAN_IMAP_USERNAME, or in credentials_file)"
            raise RefusedError(FailReason.NO_PERMISSION, detail)
        self._list_mailboxes()
        if not self._mailboxes:
            raise RefusedError(FailReason.CHANGED)

    def close(self) -> None:
        """Close all connections; threads that still wait get no response."""
        super().close()
        for client in tuple(self._clients):
            _shut(client)

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the folders in a folder, and its messages; see ``FolderShare``."""
        if not folder:
            self._list_mailboxes()
        base = folder + b"/" if folder else b""
        below = {
            base + path.removeprefix(base).split(b"/")[0]
            for path in self._mailboxes
            if path.startswith(base) and path != folder
        }
        entries = [Crawled(SourceFile(self.root, path, 0, 0, 0, 0, 0), is_folder=True) for path in below]
        if folder in self._mailboxes:
            entries += self._messages(base, self._mailboxes[folder][0])
        return entries

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled message at a position; see ``ServerShare``."""
        path, _, name = source.path.rpartition(b"/")
        uid = int(name.removesuffix(b".eml"))
        if not self._mailboxes:
            self._list_mailboxes()
        if path not in self._mailboxes:
            raise RefusedError(*_VANISHED)
        folder, owner = self._mailboxes[path]
        with self._connected() as client:
            client.use_uid = True
            if self._connection.folder != folder:
                self._examine(folder)
            if identity_number(self._connection.validity, str(uid)) != source.inode:
                raise RefusedError(FailReason.CHANGED, "not the message that was crawled")

            def fetch(start: int) -> bytes:
                rows = client.fetch(uid, [f"BODY.PEEK[]<{start}.{RANGE_BYTES}>"])
                found = [pair for pair in rows.get(uid, {}).items() if pair[0].startswith(b"BODY[")]
                if not found:
                    raise RefusedError(*_VANISHED)
                # One that does not name the range is the whole message.
                data: bytes = (found[0][1] or b"")[0 if found[0][0].endswith(b">") else start :]
                end = start + len(data)
                # Some servers estimate sizes; a short range is the last.
                opened.n_bytes = end if len(data) < RANGE_BYTES else max(opened.n_bytes, end + 1)
                return data

            described = replace(source, owner=owner, readers=self._readers_of(client, folder, owner))
            opened = RangeFile(described, fetch, offset, n_bytes=max(source.size, offset + 1))
            yield opened

    def _list_mailboxes(self) -> None:
        """Ask for the mailboxes of all namespaces that have messages and lie below the root."""
        base, user = "/".join(self.location.path), self.credentials.username
        found = {}
        with self._connected() as client:
            others = client.namespace().other if client.has_capability("NAMESPACE") else None
            for flags, delimiter, name in client.list_folders():
                raw = name if isinstance(name, bytes) else str(name).encode()
                whole = path_of(raw, delimiter)
                below = whole.removeprefix(base)
                is_inside = not base or (whole.startswith(base) and below[:1] in {"", "/"})
                if is_inside and not any(flag.lower() in _NO_MESSAGES for flag in flags):
                    path = below.lstrip("/").encode("utf-8", "surrogateescape")
                    found[path] = raw, _owner(raw, others or (), user)
        self._mailboxes = found

    def _messages(self, base: bytes, folder: bytes) -> Iterator[Crawled]:
        """Yield the messages of a folder, listed by their numbers, which do not move during FETCH."""
        with self._connected() as client:
            n_messages = self._examine(folder)
            client.use_uid = False
            for first in range(1, n_messages + 1, PAGE):
                numbers = range(first, min(first + PAGE, n_messages + 1))
                for row in client.fetch(numbers, ["UID", "RFC822.SIZE", "INTERNALDATE"]).values():
                    if b"UID" in row and b"RFC822.SIZE" in row:
                        uid, time_ns = row[b"UID"], nanoseconds_of(row.get(b"INTERNALDATE"))
                        inode = identity_number(self._connection.validity, str(uid))
                        path, size = base + b"%d.eml" % uid, row[b"RFC822.SIZE"]
                        source = SourceFile(self.root, path, size, time_ns, time_ns, inode, 0)
                        yield Crawled(source, is_folder=False)

    def _examine(self, folder: bytes) -> int:
        """Open a folder read-only; return its number of messages."""
        self._connection.folder = None
        answer = self._connection.client.select_folder(folder, readonly=True)
        self._connection.folder, self._connection.validity = folder, str(answer.get(b"UIDVALIDITY", 0))
        return int(answer.get(b"EXISTS", 0))

    def _readers_of(self, client: Any, folder: bytes, owner: str) -> tuple[str, ...]:
        """Return who may read a folder, asked once; nobody is named where the server does not say."""
        if folder not in self._readers:
            try:
                rights = client.getacl(folder) if client.has_capability("ACL") else []
            except IMAPClientAbortError:
                raise
            except IMAPClientError:
                rights = []  # only who administers a folder is told
            self._readers[folder] = readers_of(rights, owner)
        return self._readers[folder]

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Give the connection of this thread; every error becomes phiscan's, and a broken one is dropped."""
        held = self._connection
        try:
            if held.client is None:
                held.client, held.folder = self._sign_in(), None
                self._clients.append(held.client)
            yield held.client
        except PhiscanError:
            raise
        except Exception as error:  # noqa: BLE001 (sockets and the library's own: all mean no answer)
            translated = _translated(error)
            if held.client is not None and isinstance(translated, UnansweredError):
                self._clients.remove(held.client)
                _shut(held.client)
                held.client = None
            raise translated from None

    def _sign_in(self) -> Any:
        """Return a new connection, encrypted unless the server is this machine."""
        where, who = self.location, self.credentials
        is_tls, context = where.scheme == "imaps", tls_context(who.ca_file, "imap")
        how: dict[str, Any] = {"ssl_context": context if is_tls else None, "timeout": self.settings.timeout_s}
        client = Client(where.host, where.port or None, ssl=is_tls, **how)
        try:
            client.folder_encode = client.normalise_times = False
            if not is_tls and client.has_capability("STARTTLS"):
                client.starttls(context)
            elif not is_tls and where.host not in LOOPBACK:
                detail = "the connection would not be encrypted; expected imaps, or a server with STARTTLS"
                raise RefusedError(FailReason.IO_ERROR, detail)  # noqa: TRY301 (closed as after any error)
            if who.token:
                client.oauth2_login(who.username, who.token)
            else:
                client.login(who.username, who.password)
        except BaseException:
            _shut(client)
            raise
        return client


class _Protocol(imaplib.IMAP4):
    """The protocol of the library, with a bound on the bytes and the time of the answer to one command."""

    file: Any
    n_bytes, begun = 0, 0.0

    def open(self, *where: Any, **how: Any) -> None:
        """Connect; the server sends its greeting."""
        self.n_bytes, self.begun = 0, time.monotonic()
        super().open(*where, **how)

    def send(self, data: Any) -> None:
        """Send a command or a part of it."""
        self.n_bytes, self.begun = 0, time.monotonic()
        super().send(data)

    def readline(self) -> bytes:
        """Return the next line with its end."""
        line = bytearray()
        while not line.endswith(b"\n") and (n_there := len(self.file.peek())):
            line += self._counted(self.file.readline(n_there))
        return bytes(line)

    def read(self, size: int) -> bytes:
        """Return so many bytes."""
        data = bytearray()
        while len(data) < size and (more := self.file.read1(min(size - len(data), _CHUNK))):
            data += self._counted(more)
        return bytes(data)

    def _counted(self, more: bytes) -> bytes:
        self.n_bytes += len(more)
        if self.n_bytes > MOST_BYTES:
            raise ValueError
        if time.monotonic() > self.begun + (self.sock.gettimeout() or 0.0) + self.n_bytes / SLOWEST:
            raise TimeoutError
        return more


class _EncryptedProtocol(_Protocol, imaplib.IMAP4_SSL):
    """The same, encrypted from the first byte on."""


class Client(IMAPClient):  # type: ignore[misc]
    """The library's client, through the protocol with bounds."""

    def _create_IMAP4(self) -> _Protocol:  # noqa: N802 (the library's)
        how, timeout_s = (self.host, self.port), self._timeout.connect
        if self.ssl:
            return _EncryptedProtocol(*how, ssl_context=self.ssl_context, timeout=timeout_s)
        return _Protocol(*how, timeout=timeout_s)


def _shut(client: Any) -> None:
    """Close a connection without the protocol's sign-off, which would wait for a response too."""
    with suppress(Exception):
        client.shutdown()


def _translated(error: Exception) -> PhiscanError:
    """Return phiscan's error for the library's; without its message, which may quote what was sent."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return RefusedError(FailReason.IO_ERROR, f"its certificate is not valid: {error.verify_message}")
    if isinstance(error, UnicodeError):
        return RefusedError(FailReason.IO_ERROR, "its name is not ASCII")
    if not isinstance(error, IMAPClientError) or isinstance(error, IMAPClientAbortError):
        cause = getattr(error, "strerror", None) or type(error).__name__
        is_gone = isinstance(error, OSError | IMAPClientAbortError)  # else the answer is damaged
        return UnansweredError(f"no answer from the server ({cause})", is_gone=is_gone)
    code = found[1] if (found := _CODE.search(str(error))) else ""
    if code in _TEMPORARY:
        return UnansweredError(f"the server said {code}", is_gone=False)
    otherwise = (
        _SIGNED_OUT if isinstance(error, LoginError) else (FailReason.IO_ERROR, "refused by the server")
    )
    return RefusedError(*_REFUSED.get(code, otherwise))


def _owner(name: bytes, others: Iterable[tuple[bytes, str]], user: str) -> str:
    """Return the user of a mailbox: in the namespaces of other users, the next part of its name."""
    for prefix, delimiter in others:
        if prefix and name.startswith(prefix):
            return name[len(prefix) :].split(delimiter.encode())[0].decode("utf-8", "replace")
    return user


def path_of(name: bytes, delimiter: bytes | None) -> str:
    """Return the place of a mailbox, its parts decoded; one that is no valid modified UTF-7 as it is.

    >>> path_of(b"INBOX.&AOk-t&AOk-.a/b", b"."), path_of(b"50%.&bad", b".")
    ('INBOX/été/a%2Fb', '50%25/%26bad')
    """
    return "/".join(map(_shown, name.split(delimiter) if delimiter else [name]))


def _shown(part: bytes) -> str:
    with suppress(UnicodeError, ValueError):
        text = decode(part)
        if encode(text) == part:
            return escaped(text)
    return escaped(part.decode("ascii", "surrogateescape")).replace("&", "%26")


def readers_of(rights: Iterable[tuple[bytes, bytes]], owner: str) -> tuple[str, ...]:
    """Return who may read a mailbox from its access control list; those excluded are "not ...".

    >>> readers_of([(b"anyone", b"lr"), (b"$staff", b"lrs"), (b"-bo", b"r"), (b"eve", b"l")], "ann")
    ('everyone', 'group staff', 'not user bo')
    """
    readers = []
    for identifier, letters in rights:
        who = identifier.decode("utf-8", "replace")
        denied = "not " if who.startswith("-") else ""
        who = who.removeprefix("-").removeprefix("user=")
        name = _GROUP.sub("", who, count=1) if _GROUP.match(who) else ""
        name = f"group {name}" if name else f"user {owner if who in {'owner', '#owner'} else who}"
        if b"r" in letters:
            readers.append(denied + _NOBODY.get(who, name))
    return tuple(dict.fromkeys(readers))
