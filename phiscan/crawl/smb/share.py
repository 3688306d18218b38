"""Crawl an SMB share that is not mounted, through smbprotocol: ``smb://server[:port]/share/folder``.

Every file is opened read-only with full sharing, so that a scan locks no user out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import OpenFile
from phiscan.crawl.share_errors import RefusedError
from phiscan.crawl.smb.connections import Connections, require_library
from phiscan.crawl.smb.security_descriptor import MAY_TRAVERSE, access_of
from phiscan.crawl.smb.status import translate
from phiscan.crawl.walk import Entry
from phiscan.errors import InputError
from phiscan.model import FailReason, SkipReason, SourceFile, within_64_bits

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


class SmbShare(FolderShare):
    """One root on an SMB server."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        require_library()
        super().__init__(root, settings)
        if not self.location.path:
            raise InputError(self.shown, "expected smb://SERVER/SHARE or a folder in it")
        self._unc = "\\\\" + "\\".join((self.location.host, *self.location.path))
        self._connections = Connections(settings, self.credentials, self.location.port)

    def check(self) -> None:
        """Sign in and open the root folder; see ``ServerShare``."""
        with self._opened(b"", "dir"):
            pass

    def close(self) -> None:
        """Close all connections; threads that still wait get no response."""
        super().close()
        self._connections.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled file at a position; see ``RemoteShare``."""
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

    def list_folder(self, folder: bytes) -> list[Entry]:
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

    def _entry(self, folder: bytes, name: bytes, info: Any) -> Entry:
        attributes = info["file_attributes"].get_value()
        # For a reparse point, the field for the size of extended attributes holds its tag.
        is_link = bool(attributes & _IS_REPARSE_POINT) and info["ea_size"].get_value() in _LINKS
        path = folder + b"/" + name if folder else name
        size, number = info["end_of_file"].get_value(), info["file_id"].get_value()
        written, changed = (_nanoseconds(info[f"{one}_time"].get_value()) for one in ("last_write", "change"))
        source = SourceFile(self.root, path, size, written, changed, number, 0)
        skip = SkipReason.SYMLINK if is_link else None
        return Entry(source, is_folder=bool(attributes & _IS_FOLDER) and not is_link, skip=skip)

    @contextmanager
    def _opened(self, path: bytes, file_type: str, rights: int = _READ) -> Iterator[Any]:
        """Open a path below the root, and close it; errors of the library are translated."""
        parts = path.decode("utf-8", "surrogatepass").split("/") if path else []
        with translate(self._connections.drop), self._connections.watched():
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
        if file_type == "dir":
            return open_file(unc, desired_access=rights, **how)
        try:
            return open_file(unc, desired_access=_READ | _READ_CONTROL, **how)
        except OSError as error:
            if getattr(error, "ntstatus", None) != _ACCESS_DENIED:
                raise
        return open_file(unc, desired_access=_READ, **how)


def _compare(opened: Any, source: SourceFile) -> None:
    state = (opened.end_of_file, _nanoseconds(opened.last_write_time), _nanoseconds(opened.change_time))
    if state != (source.size, source.mtime_ns, source.ctime_ns) or opened.file_attributes & _IS_FOLDER:
        raise RefusedError(FailReason.CHANGED, "not the file that was crawled")


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
