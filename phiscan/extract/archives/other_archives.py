"""RAR, CAB, AR, CPIO, LHA and XAR archives and compress by libarchive; optical discs by pycdlib."""

from __future__ import annotations

import io
from typing import Any

import py7zr
import rarfile
from py7zr.exceptions import CrcError
from py7zr.io import Py7zIO, WriterFactory

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.core.content import Content, Meter, Sink, TextFullError, clean_name, mishap
from phiscan.extract.core.file_type import sniff
from phiscan.model import FailReason

_RAR_MARK = b"Rar!\x1a\x07"


def rar_after_program(data: bytes) -> bool:
    """Tell whether a RAR archive begins behind a program that unpacks it."""
    return data.startswith((b"MZ", b"\0\0")) and rarfile.is_rarfile_sfx(io.BytesIO(data))


_MAX_FOLDERS = 10_000


def read_disc_image(content: Content, sink: Sink) -> None:
    """Read every file, under the longest names that the image has.

    Raises:
        ExtractError: corrupt or too_large.
    """
    import pycdlib  # noqa: PLC0415 (heavy)

    image = pycdlib.PyCdlib()
    try:
        image.open_fp(content.open())
    except Exception as error:  # noqa: BLE001 (pycdlib fails on damage in many ways)
        raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
    try:
        _read_files(image, content, sink)
    finally:
        image.close()


def _read_files(image: Any, content: Content, sink: Sink) -> None:
    names = (
        (image.has_udf(), "udf_path"),
        (image.has_joliet(), "joliet_path"),
        (image.has_rock_ridge(), "rr_path"),
        (True, "iso_path"),
    )
    kind = next(kind for present, kind in names if present)
    for n_folders, (folder, _, files) in enumerate(image.walk(**{kind: "/"}), 1):
        if n_folders > _MAX_FOLDERS:
            raise ExtractError(FailReason.TOO_LARGE, f"more than {_MAX_FOLDERS} folders")
        for file in files:
            sink.take_member()
            path = f"{folder.rstrip('/')}/{file}"
            shown = path.strip("/").partition(";")[0] if kind == "iso_path" else path.strip("/")
            member = content.member(shown, b"")
            data = None  # of a link or a device, which the library refuses
            with sink.part(member.locator, Exception), image.open_file_from_iso(**{kind: path}) as stream:
                data = sink.unpack(stream, content.n_bytes)
            if data is not None:
                sink.read_member(content.member(member.name, data))


_VOLUME = "one volume of a RAR archive in several files; unpack all of them and scan what they hold"
_RAR = "application/vnd.rar"
RAW = frozenset({"application/x-compress", "application/x-lzip", "application/x-lzma"})


OTHER_ARCHIVE_TYPES = RAW | {
    _RAR,
    "application/vnd.ms-cab-compressed",
    "application/x-archive",
    "application/x-cpio",
    "application/x-lha",
    "application/x-xar",
}


def read_other_archive(content: Content, sink: Sink) -> None:
    """Read every member; a damaged archive gives the members up to the damage.

    Raises:
        ExtractError: unsupported (libarchive is missing), encrypted, corrupt or too_large.
    """
    media_type = sniff(content.data, content.name)
    raw = media_type in RAW
    # A program that unpacks it may lie before it.
    data = content.data[max(content.data.find(_RAR_MARK), 0) :] if media_type == _RAR else content.data
    is_volume, encrypted = _rar_headers(data) if media_type == _RAR else (False, frozenset())
    n_read, n_segments = 0, sink.n_segments
    try:
        for entry in libarchive.entries(data, sink.passwords, raw=raw):
            sink.take_member()
            n_read += 1
            entry.is_encrypted = entry.is_encrypted or entry.name in encrypted
            _read(entry, content, sink, raw=raw)
    except ExtractError as error:
        if n_read == 0 and not is_volume:
            raise
        sink.fail(content.locator, FailReason(error.reason), error.detail)
    if is_volume:
        sink.fail(content.place("volume"), FailReason.UNSUPPORTED, _VOLUME)
        if not sink.segments[n_segments:]:
            raise ExtractError(FailReason.UNSUPPORTED, _VOLUME)


def _rar_headers(data: bytes) -> tuple[bool, frozenset[str]]:
    """Return whether an archive is one of several volumes, and the names of its encrypted members.

    libarchive reports neither for the newer format.

    Raises:
        ExtractError: encrypted, with the names of its members.
    """
    main: list[Any] = []
    try:
        archive = rarfile.RarFile(io.BytesIO(data), part_only=True, info_callback=main.append)
    except (rarfile.Error, OSError, ValueError):
        return False, frozenset()
    if archive.needs_password() and not archive.infolist():
        raise ExtractError(FailReason.ENCRYPTED)
    is_volume = any(
        block.type == rarfile.RAR_BLOCK_MAIN and block.flags & rarfile.RAR_MAIN_VOLUME for block in main
    )
    return is_volume, frozenset(info.filename for info in archive.infolist() if info.needs_password())


def _read(entry: libarchive.Entry, content: Content, sink: Sink, *, raw: bool) -> None:
    name = content.name.rpartition("/")[2].rpartition(".")[0] or "content" if raw else entry.name
    member = content.member(clean_name(name), b"")
    if entry.is_encrypted:  # the library decrypts ZIP alone
        sink.fail(member.locator, FailReason.ENCRYPTED)
        return
    with sink.part(member.locator):
        data = sink.unpack(entry, len(content.data))
        if entry.damaged:
            sink.fail(member.locator, FailReason.CORRUPT, "damaged compressed data")
        if data:
            sink.read_member(content.member(member.name, data))


# 7-Zip archives through py7zr: unpacked into the budget of the file, not to a disk, member by member.


class _Members(WriterFactory):
    """Gives a place to each member, and remembers what ended the reading."""

    def __init__(self, content: Content, sink: Sink) -> None:
        self.content = content
        self.sink = sink
        self.n_read = 0
        self.stopped: ExtractError | TextFullError | None = None

    def create(self, filename: str) -> Py7zIO:
        """Return the place for a member."""
        return _Member(self, filename)


class _Member(Py7zIO):
    """Takes the bytes of one member as they are unpacked, and reads it when it is whole."""

    def __init__(self, owner: _Members, name: str) -> None:
        self._owner = owner
        self._place = owner.content.member(clean_name(name), b"")
        self._meter: Meter | None = Meter(owner.sink, owner.content.n_bytes)
        self._n_bytes = 0

    def write(self, s: bytes | bytearray) -> int:
        """Take some more bytes; a member over the limits is passed over, up to the limit of the file."""
        self._n_bytes += len(s)
        if self._meter is not None and self._owner.stopped is None:
            try:
                self._meter.take(bytes(s))
            except ExtractError as error:
                self._owner.sink.fail(self._place.locator, FailReason(error.reason), error.detail)
                self._meter = None
        limit = self._owner.sink.limits.member_bytes
        if self._n_bytes > limit:  # what lies after it is not reached in reasonable time
            self._owner.stopped = ExtractError(FailReason.TOO_LARGE, f"a member over {limit} bytes")
            raise self._owner.stopped
        return len(s)

    def close(self) -> None:
        """Read the member."""
        meter, self._meter = self._meter, None
        if meter is None or self._owner.stopped is not None:
            return
        self._owner.n_read += 1
        sink, content = self._owner.sink, self._owner.content
        try:
            sink.add_member(content, self._place.name, meter.data())
        except (ExtractError, TextFullError) as error:
            self._owner.stopped = error
            raise

    def read(self, size: int | None = None) -> bytes:  # noqa: ARG002 (the interface's signature)
        """Return nothing: it is written only."""
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 (the interface's signature)
        """Stay where it is: it is written only."""
        return 0

    def flush(self) -> None:
        """Do nothing: no byte is held back."""

    def size(self) -> int:
        """Return the number of bytes so far."""
        return self._n_bytes


def read_seven_zip(content: Content, sink: Sink) -> None:
    """Read every member as soon as it is unpacked; what py7zr refuses goes to libarchive.

    Raises:
        ExtractError: encrypted, corrupt or too_large.
        TextFullError: the text budget is used up.
    """
    for password in (None, *sink.passwords):
        members = _Members(content, sink)
        try:
            with py7zr.SevenZipFile(content.open(), password=password) as archive:
                if password is None and archive.needs_password():
                    continue
                archive.extractall(factory=members)
        except (MemoryError, TextFullError):
            raise
        except py7zr.PasswordRequired:
            continue
        except Exception as error:  # noqa: BLE001 (it fails on damage, and on a wrong password, in many ways)
            if members.stopped is None and not _is_settled(error, password, members):
                continue
        if members.stopped is not None:
            raise members.stopped
        return
    raise ExtractError(FailReason.ENCRYPTED)


def _is_settled(error: Exception, password: str | None, members: _Members) -> bool:
    """Record what is missing, or let libarchive read it; False where another password may open the archive.

    Raises:
        ExtractError: corrupt.
    """
    content, sink = members.content, members.sink
    if members.n_read:
        damage = "wrong checksum" if isinstance(error, CrcError) else mishap(error)
        sink.fail(content.locator, FailReason.CORRUPT, damage)
    elif password is None and (libarchive.library() is None or content.stream is not None):
        raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
    elif password is None:
        read_other_archive(content, sink)
    return members.n_read > 0 or password is None
