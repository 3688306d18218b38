"""The members of a ZIP file whose directory is cut off or leads astray, found by their own headers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import CHUNK_BYTES, Sink

_LOCAL = b"PK\x03\x04"
_LOCAL_BYTES = 30
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZE_FOLLOWS = 1, 8
_MOST_NAME_BYTES = 4096
_RAW_DEFLATE = -15


@dataclass(frozen=True, slots=True)
class Salvaged:
    """One member: its name, what could be unpacked, and what is wrong with it ("" for nothing)."""

    name: str
    data: bytes
    damage: str
    is_encrypted: bool = False
    offset: int = 0  # of its header


def salvage(data: bytes, sink: Sink) -> Iterator[Salvaged]:
    """Yield each member that begins with a header of its own, as far as it can be unpacked.

    Raises:
        ExtractError: too_large; the budget is used up.
    """
    at = data.find(_LOCAL)
    while at >= 0:
        end = at + 4
        member = _member(data, at, sink)
        if member is not None:
            found, end = member
            if found.data or not found.name.endswith("/"):
                yield replace(found, offset=at)
        at = data.find(_LOCAL, end)


def _member(data: bytes, at: int, sink: Sink) -> tuple[Salvaged, int] | None:
    if at + _LOCAL_BYTES > len(data):
        return None
    flags, method = struct.unpack_from("<HH", data, at + 6)
    checksum, packed, _, n_name, n_extra = struct.unpack_from("<IIIHH", data, at + 14)
    if not 0 < n_name <= _MOST_NAME_BYTES:
        return None
    raw = data[at + _LOCAL_BYTES : at + _LOCAL_BYTES + n_name]
    name = decode(raw)[0]
    start = at + _LOCAL_BYTES + n_name + n_extra
    if flags & _ENCRYPTED:
        return Salvaged(name, b"", "", is_encrypted=True), max(start + packed, start)
    if method == _DEFLATED:
        return _inflated(data, start, name, sink)
    if method != _STORED:
        return Salvaged(name, b"", f"ZIP compression method {method}"), start
    stop = start + packed
    if flags & _SIZE_FOLLOWS and not packed:
        following = data.find(b"PK", start)
        stop = following if following >= 0 else len(data)
    body = data[start:stop]
    is_whole = len(body) == packed and zlib.crc32(body) == checksum
    return Salvaged(name, body, "" if is_whole or flags & _SIZE_FOLLOWS else "cut short"), stop


def _inflated(data: bytes, start: int, name: str, sink: Sink) -> tuple[Salvaged, int]:
    engine = zlib.decompressobj(_RAW_DEFLATE)
    meter = sink.meter(len(data) - start)
    at, damage = start, ""
    try:
        while not engine.eof and at < len(data):
            piece = data[at : at + 4096]
            at += len(piece)
            while piece:
                meter.take(engine.decompress(piece, CHUNK_BYTES))
                piece = engine.unconsumed_tail
    except zlib.error:
        damage = "damaged compressed data"
    if not engine.eof and not damage:
        damage = "cut short"
    return Salvaged(name, meter.data(), damage), max(at - len(engine.unused_data), start + 1)
