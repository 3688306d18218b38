"""Archives and compressed files: streamed within the budget, never unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib

from phiscan.errors import ExtractError
from phiscan.extract.content import ByteStream, Content, Sink
from phiscan.model import FailReason

_STREAM_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


class ZipExtractor:
    """Read the members of a ZIP file."""

    media_types = frozenset({"application/zip"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every member; an encrypted one is tried with the operator's passwords."""
        try:
            archive = zipfile.ZipFile(io.BytesIO(content.data))
        except (zipfile.BadZipFile, *_STREAM_ERRORS) as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
        sink.add(archive.comment.decode("utf-8", "replace"), content.place("comment"))
        for info in archive.infolist():
            if info.is_dir():
                continue
            sink.take_member()
            member = content.member(_clean_name(info.filename), b"")
            try:
                data = _read_zip_member(archive, info, sink)
            except ExtractError as error:
                sink.fail(member.locator, FailReason(error.reason), error.detail)
            else:
                sink.read_member(content.member(member.name, data))


def _read_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, sink: Sink) -> bytes:
    encrypted = bool(info.flag_bits & 1)
    for password in sink.passwords if encrypted else ("",):
        try:
            with archive.open(info, pwd=password.encode() or None) as stream:
                return sink.unpack(stream, info.compress_size)
        except NotImplementedError:
            raise ExtractError(
                FailReason.ENCRYPTED if encrypted else FailReason.UNSUPPORTED,
                f"ZIP compression method {info.compress_type}",
            ) from None
        except (zipfile.BadZipFile, *_STREAM_ERRORS) as error:
            if not encrypted:
                raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
    raise ExtractError(FailReason.ENCRYPTED)


class TarExtractor:
    """Read the members of a TAR file; links and devices have no content of their own."""

    media_types = frozenset({"application/x-tar"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every regular member."""
        try:
            with tarfile.open(fileobj=io.BytesIO(content.data), mode="r:") as archive:
                for info in archive:
                    if not info.isreg():
                        continue
                    sink.take_member()
                    stream = archive.extractfile(info)
                    if stream is not None:
                        data = sink.unpack(stream, info.size)
                        sink.read_member(content.member(_clean_name(info.name), data))
        except (tarfile.TarError, *_STREAM_ERRORS) as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None


class CompressedExtractor:
    """Read gzip, bzip2 and xz: one member, named as the file without its ending."""

    media_types = frozenset({"application/gzip", "application/x-bzip2", "application/x-xz"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Unpack the stream; what is unpacked before an error is read all the same."""
        sink.take_member()
        try:
            data = sink.unpack(_decompressor(content.data), len(content.data))
        except _STREAM_ERRORS as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
        sink.read_member(content.member(_inner_name(content.name), data))


def _decompressor(data: bytes) -> ByteStream:
    stream = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)
    return bz2.BZ2File(stream) if data.startswith(b"BZh") else lzma.LZMAFile(stream)


def _inner_name(name: str) -> str:
    """Return the name without the ending of the compression.

    >>> _inner_name("notes.txt.gz"), _inner_name("backup.tgz"), _inner_name("x")
    ('notes.txt', 'backup.tar', 'x')
    """
    base = name.rpartition("/")[2]
    stem, dot, ending = base.rpartition(".")
    if not dot:
        return base
    return stem + (".tar" if ending.lower() in ("tgz", "tbz", "tbz2", "txz") else "")


def _clean_name(name: str) -> str:
    """A member's name as a locator shows it; nothing is ever written under it, so ``..`` does no harm."""
    return name.replace("\\", "/").replace("\0", "")
