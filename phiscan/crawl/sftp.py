"""Crawl an SFTP server, through asyncssh: ``sftp://server[:port]/folder``.

All threads share one connection, over which many requests are under way at a time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import posixpath
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.location import Location
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import (
    Crawled,
    RefusedError,
    UnansweredError,
    identity_number,
    is_same_file,
    optional,
)
from phiscan.errors import PhiscanError
from phiscan.model import FailReason, SkipReason, SourceFile

with optional("sftp://", "asyncssh", "sftp"):
    import asyncssh

T = TypeVar("T")
Action = Callable[[asyncssh.SFTPClient], Awaitable[T]]

_KNOWN_HOSTS = (Path("~/.ssh/known_hosts"), Path("/etc/ssh/ssh_known_hosts"))
MOST_ENTRIES = 5_000_000  # of a folder: a server could list without end
_NO_ENTRIES = frozenset({b".", b".."})
_RANGE_BYTES = 512 * 1024  # of a file; the library requests it in parts as large as the server allows
_REFUSED = (
    (asyncssh.SFTPNoSuchFile, FailReason.CHANGED, "vanished before it was read"),
    (asyncssh.SFTPPermissionDenied, FailReason.NO_PERMISSION, "access denied"),
    (asyncssh.PermissionDenied, FailReason.NO_PERMISSION, "wrong user name, password or key, or none"),
    (asyncssh.KeyExchangeFailed, FailReason.IO_ERROR, "no host key of a known kind, or no safe encryption"),
    (asyncssh.ChannelOpenError, FailReason.IO_ERROR, "the server offers no SFTP"),
    (asyncssh.SFTPError, FailReason.IO_ERROR, "the server refuses it"),
)
_LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection)

# The library logs what it also raises, with names of users and files.
logging.getLogger("asyncssh").setLevel(logging.CRITICAL + 1)


class SftpShare(FolderShare):
    """One root on an SFTP server; the event loop of its connection runs in a thread of its own.

    When nothing is heard for ``timeout_s``, the connection is dropped, and all who wait get an error.
    """

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._folder = ("/" + "/".join(self.location.path)).encode("utf-8", "surrogateescape")
        self._new_login = partial(_Login, self.location, self.credentials)
        self._client: asyncssh.SFTPClient | None = None
        self._ssh: asyncssh.SSHClientConnection | None = None
        self._is_closed, self._lock = False, threading.Lock()
        self._signing_in, self._stopped = asyncio.Lock(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        # Of requests whose connection was dropped; the action that made them gets the error.
        self._loop.set_exception_handler(lambda *_: None)
        self._hear()
        threading.Thread(target=self._serve, name="sftp", daemon=True).start()

    def close(self) -> None:
        """Close the connection; threads that still wait get no response."""
        super().close()
        with self._lock, suppress(RuntimeError):  # it was closed before
            self._is_closed = True
            self._loop.call_soon_threadsafe(self._stopped.set)

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the entries of a folder; see ``FolderShare``."""

        async def listed(client: asyncssh.SFTPClient) -> list[tuple[bytes, bytes, asyncssh.SFTPAttrs]]:
            found = []
            async for one in client.scandir(posixpath.join(self._folder, folder)):
                self._hear()
                found.append((cast("bytes", one.filename), cast("bytes", one.longname), one.attrs))
                if len(found) > MOST_ENTRIES:
                    raise RefusedError(FailReason.TOO_LARGE, f"over {MOST_ENTRIES} entries in one folder")
            return found

        base, entries = folder + b"/" if folder else b"", self._run(listed)
        return [self._entry(base + name, now, line) for name, line, now in entries if name not in _NO_ENTRIES]

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file at a position; see ``ServerShare``."""
        path, run = posixpath.join(self._folder, source.path), self._run

        async def opened(client: asyncssh.SFTPClient) -> tuple[asyncssh.SFTPClient, asyncssh.SFTPClientFile]:
            # A link would be followed, and a named pipe would wait.
            self._compare(await client.lstat(path), source)
            return client, await client.open(path, "rb")

        async def part(start: int) -> bytes:
            blocks = {}
            async for at, block in await file.read_parallel(_RANGE_BYTES, start):
                self._hear()  # each block, or a slow line would seem dead
                blocks[at] = block
            return b"".join(block for _, block in sorted(blocks.items()))

        def fetch(start: int) -> bytes:
            return run(lambda _: part(start), client)

        def verify() -> None:
            self._compare(run(lambda _: file.stat(), client), source)

        client, file = run(opened)
        try:
            yield RangeFile(source, fetch, offset, verify=verify)
        finally:
            with suppress(RefusedError, UnansweredError):  # a connection that broke has closed it
                run(lambda _: file.close(), client)

    def _entry(self, path: bytes, now: asyncssh.SFTPAttrs, line: bytes = b"") -> Crawled:
        if now.size is None or now.permissions is None:
            raise RefusedError(FailReason.IO_ERROR, "the server does not say sizes and kinds of files")
        uid, gid, mode, time_ns = now.uid or 0, now.gid or 0, now.permissions, (now.mtime or 0) * 10**9
        number, owner, readers = _access(uid, gid, mode, *_names(line, now.size, mode))
        is_folder, bits = stat.S_ISDIR(mode), stat.S_IMODE(mode)
        source = SourceFile(self.root, path, now.size, time_ns, time_ns, number, 0, bits, uid, owner, readers)
        skip = None if is_folder or stat.S_ISREG(mode) else SkipReason.NOT_REGULAR
        return Crawled(source, SkipReason.SYMLINK if stat.S_ISLNK(mode) else skip, is_folder=is_folder)

    def _compare(self, now: asyncssh.SFTPAttrs, source: SourceFile) -> None:
        entry = self._entry(source.path, now)
        if entry.is_folder or entry.skip or not is_same_file(entry.source, source):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")

    def _run(self, action: Action[T], client: asyncssh.SFTPClient | None = None) -> T:
        """Return the result of an action with a client: by default, that of the present connection."""
        try:
            with self._lock:
                if self._is_closed:
                    raise CancelledError  # noqa: TRY301 (as the action itself does, if it has begun)
                future = asyncio.run_coroutine_threadsafe(self._act(action, client), self._loop)
            return future.result()
        except CancelledError as error:
            raise _translated(error) from None

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._watch())

    async def _watch(self) -> None:
        while not self._stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), self.settings.timeout_s / 4)
            if self._loop.time() - self._heard > self.settings.timeout_s:
                self._drop()
        self._drop()

    async def _act(self, action: Action[T], client: asyncssh.SFTPClient | None) -> T:
        self._hear()
        try:
            async with asyncio.timeout(self.settings.timeout_s), self._signing_in:
                if client is None and self._client is None:
                    self._ssh = await self._new_login().connect()
                    self._client = await self._ssh.start_sftp_client(path_encoding=None)  # names as raw bytes
                client = client or cast("asyncssh.SFTPClient", self._client)
            return await action(client)
        except Exception as error:  # noqa: BLE001 (of sockets, asyncssh and damaged answers)
            translated = _translated(error)
            if client is self._client and (client is None or isinstance(translated, UnansweredError)):
                self._drop()
            raise translated from None

    def _hear(self) -> None:
        self._heard = self._loop.time()

    def _drop(self) -> None:
        if self._ssh is not None:
            self._ssh.abort()
        self._ssh = self._client = None


class _Login(asyncssh.SSHClient):
    """Checks the host key of a server, and signs in; nothing but the credentials says how."""

    def __init__(self, location: Location, who: Credentials) -> None:
        if not who.username:
            detail = "expected a user name (PHISCAN_SFTP_USERNAME, or in credentials_file)"
            raise RefusedError(FailReason.NO_PERMISSION, detail)
        self._location, self._who, self._shown = location, who, "(revoked, or not valid)"
        key_file = Path(who.key_file).expanduser()
        try:
            files = [path for path in map(Path.expanduser, _KNOWN_HOSTS) if path.exists()]
            self._known = asyncssh.read_known_hosts([str(path) for path in files])
            if who.key_file and key_file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise RefusedError(FailReason.IO_ERROR, "others may read key_file; expected mode 0600")
            keys = [asyncssh.read_private_key(key_file, who.password or None)] if who.key_file else []
        except (OSError, ValueError) as error:  # their messages may quote the file
            detail = f"key_file or known_hosts cannot be read ({type(error).__name__})"
            raise RefusedError(FailReason.IO_ERROR, detail) from None
        self._keys: list[Any] = keys

    async def connect(self) -> asyncssh.SSHClientConnection:
        """Connect and sign in.

        Raises:
            RefusedError: the host key is another one, or none is known; it is named, to be compared.
        """
        who, host, port = self._who, self._location.host, self._location.port
        how: dict[str, Any] = {"config": None, "client_keys": None, "x509_trusted_certs": None}
        password = None if who.key_file else who.password or None  # else it is the key's, not the server's
        how |= {"username": who.username, "password": password, "gss_host": None}
        how |= {"preferred_auth": "publickey,keyboard-interactive,password", "login_timeout": 0}
        # A fingerprint is that of a plain key, not of a certificate.
        trusted = {"known_hosts": ([], [], []), "server_host_key_algs": "-*cert*"}
        how |= trusted if who.host_key else {"known_hosts": self._known}
        async with asyncssh.SSHAgentClient(os.environ.get("SSH_AUTH_SOCK", "")) as agent:
            if not self._keys and not who.password:
                with suppress(ValueError):  # there is no agent
                    self._keys = list(await agent.get_keys())
            try:
                ssh = await asyncssh.connect(host, port or 22, client_factory=lambda: self, **how)
            except asyncssh.HostKeyNotVerifiable:
                is_other = any(self._known.match(host, "", port or None))
                what = "another than known_hosts has" if is_other else "not known"
                what = "another than host_key says" if who.host_key else what
                where = "put it into the credentials as host_key, or into ~/.ssh/known_hosts"
                detail = f"the server's host key {self._shown} is {what}. If that is its key, {where}"
                raise RefusedError(FailReason.IO_ERROR, detail) from None
        return ssh

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 (the library's)
        """Return whether a key that ``known_hosts`` does not have is the server's."""
        self._shown = f"{key.get_fingerprint()} ({key.get_algorithm()})"
        return key.get_fingerprint() in (one.rstrip("=") for one in self._who.host_key.split())

    validate_host_ca_key = validate_host_public_key

    def public_key_auth_requested(self) -> list[Any]:
        """Return the keys, once."""
        keys, self._keys = self._keys, []
        return keys


def _translated(error: BaseException) -> PhiscanError:
    """Return the error as phiscan's; the server's own message is left out, which may name files."""
    if isinstance(error, PhiscanError):
        return error
    for kind, reason, detail in _REFUSED:
        if isinstance(error, kind) and not isinstance(error, _LOST):
            return RefusedError(reason, detail)
    return UnansweredError(f"no answer from the server ({type(error).__name__})", is_gone=True)


def _names(line: bytes, size: int, mode: int) -> tuple[str, str]:
    """Return user and group in the line of a listing, where the server lists as ``ls -l`` does.

    >>> _names(b"-rw-r-----    1 ann      domain users       12 Nov  1 10:00 a.txt", 12, 0o100640)
    ('ann', 'domain users')
    """
    rights, _, user, rest = [*line.decode("utf-8", "replace").split(None, 3), "", "", "", ""][:4]
    group, found, _ = rest.partition(f" {size} ")
    return (user, group.strip()) if found and rights[:10] == stat.filemode(mode) else ("", "")


@lru_cache(65_536)
def _access(uid: int, gid: int, mode: int, user: str, group: str) -> tuple[int, str, tuple[str, ...]]:
    """Return a number of owner and rights, the owner, and who may read by the mode bits.

    SFTP has no inodes: that number takes its place, so that new owners and rights are a change.

    >>> _access(1000, 50, 0o640, "ann", "50")[1:]
    ('ann', ('group gid 50', 'user ann'))
    """
    owner, group = (
        f"{kind} {number}" if name.isdecimal() or name in {"", "?", "-"} else name
        for kind, number, name in (("uid", uid, user), ("gid", gid, group))
    )
    rights = ((stat.S_IROTH, "everyone"), (stat.S_IRGRP, f"group {group}"), (stat.S_IRUSR, f"user {owner}"))
    readers = tuple(name for bit, name in rights if mode & bit)
    return identity_number(str(uid), str(gid), str(mode)), owner, readers
