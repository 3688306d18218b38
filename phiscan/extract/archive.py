"""ZIP archives: streamed within the budget, never unpacked to disk."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
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


def _clean_name(name: str) -> str:
    """A member's name as a locator shows it; nothing is ever written under it, so ``..`` does no harm."""
    return name.replace("\\", "/").replace("\0", "")
