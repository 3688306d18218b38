"""Crawl an SMB share that is not mounted, through smbprotocol: ``smb://server[:port]/share/folder``.

Every file is opened read-only with full sharing, so that a scan locks no user out. Each thread has its own
connections to the server. Source: [MS-ERREF] 2.3.1 NTSTATUS values; [MS-DTYP] 2.4.6 SECURITY_DESCRIPTOR,
2.4.5 ACL, 2.4.4 ACE, 2.4.2 SID, 2.4.2.4 well-known SIDs.
"""

from __future__ import annotations

import logging
import re
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import Crawled, RefusedError, UnansweredError, optional
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason, SkipReason, SourceFile, within_64_bits

# The libraries log to standard error what they also raise as exceptions, including paths.
for _name in ("smbprotocol", "smbclient", "spnego"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

_IS_FOLDER, _IS_REPARSE_POINT = 0x10, 0x400  # file attributes
_LINKS = frozenset({0xA000000C, 0xA0000003})  # reparse tags: symbolic link, mount point (junction)
_ATTRIBUTES = 0x0080
_READ = 0x0001 | _ATTRIBUTES  # the requested rights: data and attributes,
_READ_CONTROL = 0x00020000  # and the security descriptor, where it is granted
_ACCESS_DENIED = 0xC0000022
_SECURITY = 3  # kind of question: the security descriptor,
_OWNER_AND_DACL = 0x1 | 0x4  # these parts of it
_SECURITY_BYTES = 65_536
_RANGE_BYTES = 1024**2  # of a file; the library requests it in parts as large as the server allows
_WITH_FILE_NUMBERS = 38  # kind of listing: FileIdFullDirectoryInformation
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PORT = 445
_WATCH_INTERVAL_S = 0.5
_Cache = dict[str, Any]  # the library's: server and port -> connection
_FORBIDDEN = {
    0xC0000022: "access denied",
    0xC0000061: "privilege not held",
    0xC000006D: "wrong user name or password",
    0xC000006E: "account restriction",
    0xC000006F: "not at this hour",
    0xC0000071: "password expired",
    0xC0000072: "account disabled",
    0xC0000193: "account expired",
    0xC0000224: "password must be changed",
    0xC0000234: "account locked out",
}
_VANISHED = (0xC000000F, 0xC0000034, 0xC000003A, 0xC0000056, 0xC0000123, 0xC0000225)
_REPLACED = (0xC00000BA, 0xC0000103, 0x8000002D)  # it has become a folder, no folder, or a link
_OTHER = (FailReason.CHANGED, "not the file that was crawled")
_IN_USE = (FailReason.IO_ERROR, "in use by a program that prevents reading")
_REFUSED = {
    **{status: (FailReason.NO_PERMISSION, detail) for status, detail in _FORBIDDEN.items()},
    **dict.fromkeys(_VANISHED, (FailReason.CHANGED, "vanished before it was read")),
    **dict.fromkeys(_REPLACED, _OTHER),
    **dict.fromkeys((0xC0000043, 0xC0000054), _IN_USE),
    **dict.fromkeys((0xC00000BE, 0xC00000CC), (FailReason.IO_ERROR, "no such share on this server")),
}
# The connection, the session or the share was lost; a new connection may help.
_CONNECTION_LOST = frozenset(
    {0xC00000B5, 0xC00000C4, 0xC00000C9, 0xC0000203, 0xC000020C, 0xC000020D, 0xC000023A, 0xC000035C}
)

_HEADER = struct.Struct("<BBHIIII")
_ACL = struct.Struct("<BBHHH")
_ACE = struct.Struct("<BBHI")  # type, flags, size, mask
_DACL_PRESENT = 0x0004
_INHERIT_ONLY = 0x08  # for objects created in a folder, not for the folder itself
_ALLOWED, _DENIED, _ALLOWED_CALLBACK = 0, 1, 9
MAY_READ = 0x00000001 | 0x10000000 | 0x80000000  # read data; generic all; generic read
MAY_TRAVERSE = 0x00000020 | 0x10000000 | 0x20000000  # traverse; generic all; generic execute
_WELL_KNOWN = {
    "S-1-1-0": "everyone",
    "S-1-3-0": "user CREATOR OWNER",
    "S-1-3-1": "group CREATOR GROUP",
    "S-1-3-4": "user OWNER RIGHTS",
    "S-1-5-2": "group NETWORK",
    "S-1-5-4": "group INTERACTIVE",
    "S-1-5-7": "user ANONYMOUS LOGON",
    "S-1-5-11": "group Authenticated Users",
    "S-1-5-18": "user SYSTEM",
    "S-1-5-19": "user LOCAL SERVICE",
    "S-1-5-20": "user NETWORK SERVICE",
    "S-1-5-32-544": "group Administrators",
    "S-1-5-32-545": "group Users",
    "S-1-5-32-546": "group Guests",
    "S-1-5-32-551": "group Backup Operators",
}
# The last part of a SID of a domain, where it is the same in every domain.
_OF_DOMAIN = {
    "500": "user Administrator",
    "501": "user Guest",
    "512": "group Domain Admins",
    "513": "group Domain Users",
    "514": "group Domain Guests",
    "515": "group Domain Computers",
}
_DOMAIN_SID = re.compile(r"(S-1-5-21-\d+-\d+-\d+)-(\d+)")
_UNIX_SID = re.compile(r"S-1-22-([12])-(\d+)")


class SmbShare(FolderShare):
    """One root on an SMB server."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        with optional("smb://", "smbprotocol", "smb"):
            import smbclient  # noqa: F401, PLC0415 (an optional part, and slow to load)
        super().__init__(root, settings)
        if not self.location.path:
            raise InputError(self.shown, "expected smb://SERVER/SHARE or a folder in it")
        self._unc = "\\\\" + "\\".join((self.location.host, *self.location.path))
        self._connections = _Connections(settings, self.credentials, self.location.port)

    def check(self) -> None:
        """Sign in and open the root folder; see ``ServerShare``."""
        with self._opened(b"", "dir"):
            pass

    def close(self) -> None:
        """Close all connections; threads that still wait get no response."""
        super().close()
        self._connections.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file at a position; see ``ServerShare``."""
        with self._opened(source.path, "file") as stream:
            _compare(stream.fd, source)
            owner, readers = access_of(_ask_security(stream.fd))
            self._connections.answered()

            def fetch(start: int) -> bytes:
                stream.seek(start)
                data: bytes = stream.read(_RANGE_BYTES)
                self._connections.answered()
                return data

            def verify() -> None:
                """Close the file, which returns its size and times again, and compare them."""
                stream.fd.close(get_attributes=True)
                _compare(stream.fd, source)

            yield RangeFile(replace(source, owner=owner, readers=readers), fetch, offset, verify=verify)

    def who_may_enter(self, folder: bytes) -> tuple[str, ...]:
        """Return who may go through a folder to what is in it; nothing where the server does not say.

        Raises:
            RefusedError, UnansweredError: it cannot be opened.
        """
        with self._opened(folder, "dir", _ATTRIBUTES | _READ_CONTROL) as stream:
            return access_of(_ask_security(stream.fd), MAY_TRAVERSE)[1]

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the entries of a folder; see ``FolderShare``."""
        entries = []
        with self._opened(folder, "dir") as stream:
            for info in stream.query_directory("*", _WITH_FILE_NUMBERS):
                self._connections.answered()
                # Windows allows lone surrogates in names.
                name = info["file_name"].get_value().decode("utf-16-le", "surrogatepass")
                if name not in {".", ".."}:
                    entries.append(self._entry(folder, name.encode("utf-8", "surrogatepass"), info))
        return entries

    def _entry(self, folder: bytes, name: bytes, info: Any) -> Crawled:
        attributes = info["file_attributes"].get_value()
        # For a reparse point, the field for the size of extended attributes holds its tag.
        is_link = bool(attributes & _IS_REPARSE_POINT) and info["ea_size"].get_value() in _LINKS
        path = folder + b"/" + name if folder else name
        size, number = info["end_of_file"].get_value(), info["file_id"].get_value()
        written, changed = (_nanoseconds(info[f"{one}_time"].get_value()) for one in ("last_write", "change"))
        source = SourceFile(self.root, path, size, written, changed, number, 0)
        skip = SkipReason.SYMLINK if is_link else None
        return Crawled(source, is_folder=bool(attributes & _IS_FOLDER) and not is_link, skip=skip)

    @contextmanager
    def _opened(self, path: bytes, file_type: str, rights: int = _READ) -> Iterator[Any]:
        """Open a path below the root, and close it; errors of the library are translated."""
        parts = path.decode("utf-8", "surrogatepass").split("/") if path else []
        with _translating(self._connections), self._connections.watched():
            stream = self._open_shared("\\".join((self._unc, *parts)), file_type, rights)
            try:
                yield stream
            finally:
                with suppress(Exception):  # a connection that broke has closed it
                    stream.close()

    def _open_shared(self, unc: str, file_type: str, rights: int) -> Any:
        from smbclient import open_file  # noqa: PLC0415 (an optional part, and slow to load)

        how = {"mode": "rb", "buffering": 0, "share_access": "rwd", "file_type": file_type}
        how |= self._connections.arguments()
        try:
            wanted = rights if file_type == "dir" else rights | _READ_CONTROL
            return open_file(unc, desired_access=wanted, **how)
        except OSError as error:
            if file_type == "dir" or getattr(error, "ntstatus", None) != _ACCESS_DENIED:
                raise
        return open_file(unc, desired_access=rights, **how)


class _Connections:
    """The connections of the library, with a watchdog for calls without response.

    The library waits for a response indefinitely. If a call takes longer than ``timeout_s``, the connections
    of its thread are closed, which ends it with an error.
    """

    def __init__(self, settings: SharesTable, credentials: Credentials, port: int) -> None:
        self._settings = settings
        self._credentials = credentials
        self._port = port or _PORT
        self._local = threading.local()
        self._lock = threading.Lock()
        self._caches: list[_Cache] = []
        self._deadlines: dict[int, tuple[float, _Cache]] = {}
        self._closed = threading.Event()
        self._knows_domain = False
        threading.Thread(target=self._watch_deadlines, name="smb-watch", daemon=True).start()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that the library needs for a connection of this thread."""
        self._load_namespaces()
        who = self._credentials
        return {
            "username": who.username or None,
            "password": who.password or None,
            "port": self._port,
            "encrypt": True if self._settings.smb_encrypt == "required" else None,
            "auth_protocol": self._settings.smb_auth,
            "connection_timeout": max(1, int(self._settings.timeout_s)),
            "connection_cache": self._cache(),
        }

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Close this thread's connections if its calls are not answered in time."""
        self.answered()
        try:
            yield
        finally:
            self._deadlines.pop(threading.get_ident(), None)

    def answered(self) -> None:
        """Restart the timeout after a response."""
        deadline = time.monotonic() + self._settings.timeout_s
        self._deadlines[threading.get_ident()] = (deadline, self._cache())

    def drop(self) -> None:
        """Discard this thread's connections; the next call opens new ones."""
        _close_sockets(self._cache())

    def close(self) -> None:
        """Close the connections of all threads."""
        self._closed.set()
        with self._lock:
            for cache in self._caches:
                _close_sockets(cache)

    def _cache(self) -> _Cache:
        cache: _Cache | None = getattr(self._local, "cache", None)
        if cache is None:
            cache = self._local.cache = {}
            with self._lock:
                self._caches.append(cache)
        return cache

    def _watch_deadlines(self) -> None:
        while not self._closed.wait(_WATCH_INTERVAL_S):
            now = time.monotonic()
            for deadline, cache in list(self._deadlines.values()):
                if now > deadline:
                    _close_sockets(cache)

    def _load_namespaces(self) -> None:
        """Query the domain controller for the namespaces of the domain, once."""
        with self._lock:
            if self._settings.smb_domain_controller and not self._knows_domain:
                from smbclient import ClientConfig  # noqa: PLC0415 (an optional part)

                ClientConfig(
                    username=self._credentials.username or None,
                    password=self._credentials.password or None,
                    domain_controller=self._settings.smb_domain_controller,
                )
                self._knows_domain = True


def _close_sockets(cache: _Cache) -> None:
    """Close the sockets without the protocol's sign-off, which would wait for a response too."""
    for name in list(cache):
        connection = cache.pop(name, None)
        with suppress(Exception):
            connection.transport.close()


@contextmanager
def _translating(connections: _Connections) -> Iterator[None]:
    """Translate every error of the library to phiscan's; a broken connection is dropped."""
    try:
        yield
    except PhiscanError:
        raise
    except UnicodeError:
        raise RefusedError(FailReason.IO_ERROR, "its name is not Unicode") from None
    except Exception as error:  # noqa: BLE001 (sockets, codecs and the library's own: all mean no answer)
        status = _status(error)
        if status is None or status in _CONNECTION_LOST:
            connections.drop()
        raise _translated(error, status) from None


def _status(error: Exception) -> int | None:
    found = (getattr(error, name, None) for name in ("ntstatus", "status"))
    return next((value for value in found if isinstance(value, int)), None)


def _cause(error: Exception) -> str:
    """Return the system's message for a failed connection, or only the kind of error."""
    original = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return getattr(original, "strerror", None) or type(error).__name__


def _translated(error: Exception, status: int | None) -> PhiscanError:
    """Return phiscan's error for the library's; without its message, which may quote its input."""
    if status is None:
        if type(error).__name__ == "SMBAuthenticationError":
            return RefusedError(FailReason.NO_PERMISSION, "wrong user name or password")
        return UnansweredError(f"no answer from the server ({_cause(error)})", is_gone=True)
    if status in _REFUSED:
        return RefusedError(*_REFUSED[status])
    return UnansweredError(f"NTSTATUS {status:#010x}", is_gone=status in _CONNECTION_LOST)


def _compare(opened: Any, source: SourceFile) -> None:
    state = (opened.end_of_file, _nanoseconds(opened.last_write_time), _nanoseconds(opened.change_time))
    if state != (source.size, source.mtime_ns, source.ctime_ns) or opened.file_attributes & _IS_FOLDER:
        raise RefusedError(*_OTHER)


def _nanoseconds(moment: datetime) -> int:
    """Return nanoseconds since 1970 of a time of the library, which has microseconds.

    >>> _nanoseconds(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
    1000005000
    """
    return within_64_bits((moment.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND * 1000)


def _ask_security(opened: Any) -> bytes:
    """Query the security descriptor; empty if the server refuses."""
    from smbprotocol.exceptions import SMBResponseException  # noqa: PLC0415 (an optional part)
    from smbprotocol.open import SMB2QueryInfoRequest, SMB2QueryInfoResponse  # noqa: PLC0415

    request = SMB2QueryInfoRequest()
    request["info_type"] = _SECURITY
    request["additional_information"] = _OWNER_AND_DACL
    request["output_buffer_length"] = _SECURITY_BYTES
    request["file_id"] = opened.file_id
    tree = opened.tree_connect
    try:
        sent = opened.connection.send(request, sid=tree.session.session_id, tid=tree.tree_connect_id)
        answer = SMB2QueryInfoResponse()
        answer.unpack(opened.connection.receive(sent)["data"].get_value())
    except SMBResponseException:
        return b""
    buffer: bytes = answer["buffer"].get_value()
    return buffer


def access_of(descriptor: bytes, right: int = MAY_READ) -> tuple[str, tuple[str, ...]]:
    """Return the owner, and who has a right, of a self-relative security descriptor.

    Readers are "everyone", "user NAME", "group NAME", or "account SID" where the name is not known; denied
    accounts are "not ...", before the accounts that they precede. A damaged descriptor yields no names.
    """
    try:
        _, _, control, owner_at, _, _, dacl_at = _HEADER.unpack_from(descriptor)
        owner = name_of(sid_of(descriptor, owner_at)) if owner_at else ""
        if not control & _DACL_PRESENT or not dacl_at:
            return _bare(owner), ("everyone",)  # no access control list: everyone may read
        return _bare(owner), tuple(dict.fromkeys(_readers(descriptor, dacl_at, right)))
    except struct.error:
        return "", ()


def _readers(descriptor: bytes, at: int, right: int) -> Iterator[str]:
    n_entries = _ACL.unpack_from(descriptor, at)[3]
    at += _ACL.size
    for _ in range(n_entries):
        kind, flags, size, mask = _ACE.unpack_from(descriptor, at)
        if size < _ACE.size:
            break
        if mask & right and not flags & _INHERIT_ONLY:
            if kind in {_ALLOWED, _ALLOWED_CALLBACK}:
                yield name_of(sid_of(descriptor, at + _ACE.size))
            elif kind == _DENIED:
                yield f"not {name_of(sid_of(descriptor, at + _ACE.size))}"
        at += size


def sid_of(data: bytes, at: int = 0) -> str:
    """Return the text of a binary SID."""
    revision, n_parts = struct.unpack_from("<BB", data, at)
    authority = int.from_bytes(data[at + 2 : at + 8], "big")
    parts = struct.unpack_from(f"<{n_parts}I", data, at + 8)
    return "-".join(("S", str(revision), str(authority), *map(str, parts)))


def name_of(sid: str) -> str:
    """Return the display name of an account; a group of a domain with its domain, as others have it, too.

    >>> name_of("S-1-1-0"), name_of("S-1-22-2-100"), name_of("S-1-5-21-1-2-3-513")
    ('everyone', 'group gid 100', 'group Domain Users (S-1-5-21-1-2-3)')
    >>> name_of("S-1-5-21-1-2-3-1104")
    'account S-1-5-21-1-2-3-1104'
    """
    if sid in _WELL_KNOWN:
        return _WELL_KNOWN[sid]
    unix = _UNIX_SID.fullmatch(sid)
    if unix:
        kind, number = unix.groups()
        return f"user uid {number}" if kind == "1" else f"group gid {number}"
    domain, rid = found.groups() if (found := _DOMAIN_SID.fullmatch(sid)) else ("", "")
    name = _OF_DOMAIN.get(rid, f"account {sid}")
    return f"{name} ({domain})" if name.startswith("group ") else name


def _bare(owner: str) -> str:
    """Return the owner without the kind of account.

    >>> _bare("group Administrators"), _bare("account S-1-5-21-1-2-3-1104")
    ('Administrators', 'S-1-5-21-1-2-3-1104')
    """
    kind, _, name = owner.partition(" ")
    return name if kind in {"user", "group", "account"} else owner
