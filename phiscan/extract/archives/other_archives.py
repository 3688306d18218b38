"""RAR, CAB, AR, CPIO, LHA and XAR archives, and compress and LZ4 files, through libarchive."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

RAW = frozenset({"application/x-compress", "application/x-lz4", "application/x-lzma"})


class OtherArchiveExtractor:
    """Read the members of archives for which Python has no reader."""

    media_types = RAW | {
        "application/vnd.rar",
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

        raw = sniff(content.data, content.name) in RAW
        n_read = 0
        try:
            for entry in libarchive.entries(content.data, sink.passwords, raw=raw):
                sink.take_member()
                _read(entry, content, sink, raw=raw)
                n_read += 1
        except ExtractError as error:
            if n_read == 0:
                raise
            sink.fail(content.locator, FailReason(error.reason), error.detail)


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
