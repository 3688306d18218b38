"""Tags of a TIFF structure, as TIFF files and EXIF blocks have it: every directory, every text, bounded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

EXIF_IFD, GPS_IFD, INTEROP_IFD, SUB_IFDS = 0x8769, 0x8825, 0xA005, 0x014A
_POINTERS = frozenset({EXIF_IFD, GPS_IFD, INTEROP_IFD, SUB_IFDS})
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 129: 1}
_MOST_IFDS, _MOST_TAGS, _MOST_POINTERS = 600, 6_000, 64
_MOST_BYTES = 4 * 1024**2  # of one value
_ENTRY = 12


@dataclass(frozen=True, slots=True)
class Tag:
    """One entry: the pointer tag of its directory (0: a page), its number, its type and its bytes."""

    directory: int
    number: int
    kind: int
    data: bytes = field(repr=False)


def tags(data: bytes) -> Iterator[Tag]:
    """Yield the entries of bytes and texts of all directories, pages first; nothing of another structure."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None or len(data) < _ENTRY:
        return
    pending = [(struct.unpack_from(f"{order}I", data, 4)[0], 0)]
    seen: set[int] = set()
    n_tags = 0
    while pending and len(seen) < _MOST_IFDS:
        at, directory = pending.pop(0)
        if at in seen or not 8 <= at <= len(data) - 2:  # noqa: PLR2004 (behind the header)
            continue
        seen.add(at)
        (n_entries,) = struct.unpack_from(f"{order}H", data, at)
        n_entries = min(n_entries, (len(data) - at - 2) // _ENTRY, _MOST_TAGS - n_tags)
        n_tags += n_entries
        for entry in range(at + 2, at + 2 + n_entries * _ENTRY, _ENTRY):
            number, kind, count = struct.unpack_from(f"{order}HHI", data, entry)
            value = _value(data, order, entry, kind, count)
            if number in _POINTERS and len(value) >= 4:  # noqa: PLR2004 (one address)
                n_addresses = min(len(value) // 4, _MOST_POINTERS)
                found = struct.unpack_from(f"{order}{n_addresses}I", value)
                pending += [(place, number) for place in found]
            elif value:
                yield Tag(directory, number, kind, value)
        end = at + 2 + n_entries * _ENTRY
        if directory in (0, SUB_IFDS) and end + 4 <= len(data):
            pending.append((struct.unpack_from(f"{order}I", data, end)[0], directory))


def _value(data: bytes, order: str, entry: int, kind: int, count: int) -> bytes:
    n_bytes = _SIZES.get(kind, 0) * count
    if not 0 < n_bytes <= _MOST_BYTES:
        return b""
    if n_bytes <= 4:  # noqa: PLR2004 (within the entry)
        return data[entry + 8 : entry + 8 + n_bytes]
    (at,) = struct.unpack_from(f"{order}I", data, entry + 8)
    return data[at : at + n_bytes]
