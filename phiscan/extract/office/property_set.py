"""The property sets of compound files: title, author, company and the like, within the bytes that are there.

Source: [MS-OLEPS] 2.21 (PropertySetStream), 2.20 (PropertySet), 2.15 (TypedPropertyValue).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SET_AT = 44  # where the offset of the first set stands
_CODE_PAGE = 1  # the property that says how the texts of a set are written
_NUMBER, _TEXT, _WIDE = 2, 30, 31
_UTF16 = 1200


def texts(stream: bytes) -> tuple[dict[int, bytes | str], int | None]:
    """Return the texts of the first set by their property number, and its code page.

    A text is bytes where the code page says how to read it. Damage costs the properties after it.
    """
    found: dict[int, bytes | str] = {}
    code_page: int | None = None
    try:
        for number, kind, at in _properties(stream):
            if kind == _NUMBER and number == _CODE_PAGE:
                code_page = struct.unpack_from("<h", stream, at)[0]
            elif kind in (_TEXT, _WIDE):
                n_units = struct.unpack_from("<I", stream, at)[0]
                raw = stream[at + 4 : at + 4 + n_units * (2 if kind == _WIDE else 1)]
                found[number] = raw.decode("utf-16-le", "replace") if kind == _WIDE else raw
    except struct.error:
        pass
    if code_page == _UTF16:
        wide = {key: value for key, value in found.items() if isinstance(value, bytes)}
        found |= {key: value.decode("utf-16-le", "replace") for key, value in wide.items()}
    return found, code_page


def _properties(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the number and the kind of each property, and where its value begins."""
    start = struct.unpack_from("<I", stream, _SET_AT)[0]
    count = struct.unpack_from("<I", stream, start + 4)[0]
    for index in range(min(count, len(stream) // 8)):
        number, offset = struct.unpack_from("<II", stream, start + 8 + 8 * index)
        kind = struct.unpack_from("<H", stream, start + offset)[0]
        yield number, kind, start + offset + 4
