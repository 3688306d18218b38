"""RAR, CAB, AR, CPIO, LHA and XAR archives, and compress and LZ4 files, through libarchive."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.archives.rar_headers import RAR_MARK, rar_headers
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

_VOLUME = "one volume of a RAR archive in several files; unpack all of them and scan what they hold"
_RAR = "application/vnd.rar"
RAW = frozenset({"application/x-compress", "application/x-lzip", "application/x-lz4", "application/x-lzma"})


class OtherArchiveExtractor:
    """Read the members of archives for which Python has no reader."""

    media_types = RAW | {
        _RAR,
        "application/vnd.ms-cab-compressed",
        "application/x-archive",
        "application/x-cpio",
        "application/x-lha",
        "application/x-xar",
    }

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every member; a damaged archive gives the members up to the damage.

        Raises:
            ExtractError: unsupported (libarchive is missing), encrypted, corrupt or too_large.
        """
        from phiscan.extract.core.file_type import sniff  # noqa: PLC0415 (circular only in name)

        media_type = sniff(content.data, content.name)
        raw = media_type in RAW
        # A program that unpacks it may lie before it.
        start = max(content.data.find(RAR_MARK), 0) if media_type == _RAR else 0
        data = content.data[start:]
        headers = rar_headers(data)
        if headers.is_encrypted:
            raise ExtractError(FailReason.ENCRYPTED)
        n_read, n_segments = 0, sink.n_segments
        try:
            for entry in libarchive.entries(data, sink.passwords, raw=raw):
                sink.take_member()
                n_read += 1
                if entry.name in headers.encrypted:
                    sink.fail(content.member(entry.name, b"").locator, FailReason.ENCRYPTED)
                else:
                    _read(entry, content, sink, raw=raw)
        except ExtractError as error:
            if n_read == 0 and not headers.is_volume:
                raise
            sink.fail(content.locator, FailReason(error.reason), error.detail)
        if headers.is_volume:
            sink.fail(content.place("volume"), FailReason.UNSUPPORTED, _VOLUME)
            if not sink.segments_since(n_segments):
                raise ExtractError(FailReason.UNSUPPORTED, _VOLUME)


def _read(entry: libarchive.Entry, content: Content, sink: Sink, *, raw: bool) -> None:
    name = content.name.rpartition("/")[2].rpartition(".")[0] or "content" if raw else entry.name
    member = content.member(name.replace("\\", "/").replace("\0", ""), b"")
    if entry.is_encrypted:  # the library decrypts ZIP alone
        sink.fail(member.locator, FailReason.ENCRYPTED)
        return
    try:
        data = sink.unpack(entry.stream, len(content.data))
    except ExtractError as error:
        sink.fail(member.locator, FailReason(error.reason), error.detail)
        return
    if entry.stream.damaged:
        sink.fail(member.locator, FailReason.CORRUPT, "damaged compressed data")
    if data:
        sink.read_member(content.member(member.name, data))
