"""What lies in a ZIP file outside its members: bytes that no archiver shows, but whoever opens the file."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.databases.named import strings
from phiscan.extract.residue.prose import words_of

_LOCAL_BYTES = 30  # of a member's own header, before its name and extra field
_DESCRIPTOR_BYTES = 24  # what may follow a member: its sizes and checksum
_ENTRY_BYTES = 46  # of an entry of the central directory
_EXTRA_BYTES = 4  # the head of an extra field
# Sizes, times, owners, permissions, other names, encryption, alignment.
_KNOWN_EXTRA = frozenset({0x1, 0xA, 0xD, 0x5455, 0x5855, 0x7075, 0x7855, 0x7875, 0x9901, 0xCAFE, 0xD935})
_END = b"PK\x05\x06"
_END_BYTES = 22
_ZIP64_END = b"PK\x06\x06"


def gaps(data: bytes, archive: zipfile.ZipFile) -> Iterator[bytes]:
    """Yield each stretch of bytes that belongs to no member and to no directory; NULs alone are padding."""
    at = 0
    for start, stop in sorted(_used(data, archive)):
        lost = data[at:start].strip(b"\0")
        if lost and not (lost.startswith(b"PK\x07\x08") and len(lost) <= _DESCRIPTOR_BYTES):
            yield lost
        at = max(at, stop)
    lost = data[at:].strip(b"\0")
    if lost:
        yield lost


def remarks(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the comments of an archive and of its members, and texts in extra fields of no known kind."""
    yield decode(archive.comment)[0]
    for info in archive.infolist():
        yield decode(info.comment)[0]
        at = 0
        while at + _EXTRA_BYTES <= len(info.extra):
            kind, size = struct.unpack_from("<HH", info.extra, at)
            if kind not in _KNOWN_EXTRA:
                found = strings(info.extra[at + _EXTRA_BYTES : at + _EXTRA_BYTES + size])
                yield from (text for text in found if len(words_of(text)) > 1)
            at += _EXTRA_BYTES + size


def _used(data: bytes, archive: zipfile.ZipFile) -> Iterator[tuple[int, int]]:
    for info in archive.infolist():
        start = info.header_offset
        header = data[start : start + _LOCAL_BYTES]
        if len(header) == _LOCAL_BYTES:
            n_name, n_extra = struct.unpack_from("<HH", header, 26)
            stop = start + _LOCAL_BYTES + n_name + n_extra + info.compress_size
            yield start, stop
            if info.flag_bits & 8 and not data.startswith((b"PK", b"\0"), stop):
                yield stop, stop + 12  # a descriptor without its signature
    at = archive.start_dir
    begin = at
    while data.startswith(b"PK\x01\x02", at) and len(data) >= at + _ENTRY_BYTES:
        at += _ENTRY_BYTES + sum(struct.unpack_from("<HHH", data, at + 28))
    if data.startswith(_ZIP64_END, at):
        at = max(data.find(_END, at), at)
    yield begin, at
    end = data.rfind(_END)
    if end >= 0 and len(data) >= end + _END_BYTES:
        yield end, end + _END_BYTES + struct.unpack_from("<H", data, end + 20)[0]
