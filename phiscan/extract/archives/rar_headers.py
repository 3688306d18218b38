"""What the headers of a RAR archive say: whether it is one of several volumes, and what of it is encrypted.

libarchive reports neither for the newer format.
Source: the RAR 5.0 archive format, and technote.txt of RAR 3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

RAR_MARK = b"Rar!\x1a\x07"
OLD_MARK, MARK = b"Rar!\x1a\x07\0", b"Rar!\x1a\x07\x01\0"
_MAIN, _FILE, _ENCRYPTION = 1, 2, 4
_HAS_EXTRA, _HAS_DATA, _VOLUME = 1, 2, 1
_HAS_TIME, _HAS_CHECKSUM = 2, 4
_ENCRYPTED_RECORD = 1
_OLD_MAIN, _OLD_HEADER_BYTES, _OLD_VOLUME, _OLD_ENCRYPTED = 0x73, 7, 1, 0x80
_MOST_BLOCKS = 100_000
_PROGRAM_BYTES = 1024**2


@dataclass(slots=True)
class RarHeaders:
    """Whether the archive is one of several volumes, whether its names are encrypted; encrypted members."""

    is_volume: bool = False
    is_encrypted: bool = False
    encrypted: set[str] = field(default_factory=set)


def rar_after_program(data: bytes) -> bool:
    """Return whether an archive begins behind other data: its mark, and the kind of the first block."""
    at = data.find(RAR_MARK, 0, _PROGRAM_BYTES)
    is_old = data.startswith(OLD_MARK, at) and data[at + len(OLD_MARK) + 2 :][:1] == bytes([_OLD_MAIN])
    return at > 0 and (is_old or data.startswith(MARK, at))


def rar_headers(data: bytes) -> RarHeaders:
    """Read the headers as far as they go; of anything but a RAR archive nothing.

    >>> rar_headers(b"Rar!").is_volume
    False
    """
    if data.startswith(OLD_MARK) and len(data) >= len(OLD_MARK) + _OLD_HEADER_BYTES:
        kind, flags = struct.unpack_from("<BH", data, len(OLD_MARK) + 2)
        is_main = kind == _OLD_MAIN
        return RarHeaders(is_main and bool(flags & _OLD_VOLUME), is_main and bool(flags & _OLD_ENCRYPTED))
    found = RarHeaders()
    if data.startswith(MARK):
        try:
            for kind, fields, extra in _blocks(data):
                _note(kind, fields, extra, found)
        except IndexError:  # cut within a header
            pass
    return found


def _note(kind: int, fields: bytes, extra: bytes, found: RarHeaders) -> None:
    if kind == _ENCRYPTION:
        found.is_encrypted = True
    elif kind == _MAIN:
        found.is_volume = bool(_number(fields, 0)[0] & _VOLUME)
    elif kind == _FILE:
        size, at = _number(extra, 0) if extra else (0, 0)
        while size:
            if _number(extra, at)[0] == _ENCRYPTED_RECORD:
                found.encrypted.add(_name(fields))
            at += size
            size, at = _number(extra, at) if at < len(extra) else (0, at)


def _name(fields: bytes) -> str:
    flags, at = _number(fields, 0)
    for _ in range(2):  # size, attributes
        _, at = _number(fields, at)
    at += 4 * bool(flags & _HAS_TIME) + 4 * bool(flags & _HAS_CHECKSUM)
    for _ in range(2):  # way of packing, system
        _, at = _number(fields, at)
    size, at = _number(fields, at)
    return fields[at : at + size].decode("utf-8", "replace")


def _blocks(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the kind of each block, its own fields, and its extra area."""
    at = len(MARK)
    for _ in range(_MOST_BLOCKS):
        if at + 5 > len(data):
            return
        size, start = _number(data, at + 4)
        end = start + size
        kind, here = _number(data, start)
        flags, here = _number(data, here)
        n_extra, here = _number(data, here) if flags & _HAS_EXTRA else (0, here)
        n_data, here = _number(data, here) if flags & _HAS_DATA else (0, here)
        extra_at = max(end - n_extra, here)
        yield kind, data[here:extra_at], data[extra_at:end]
        at = end + n_data


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits in each byte, the lowest first; return it and the offset after it."""
    value = 0
    for step in range(10):
        byte = data[at + step]
        value |= (byte & 0x7F) << 7 * step
        if byte < 0x80:  # noqa: PLR2004 (the last byte of a number)
            return value, at + step + 1
    raise IndexError
