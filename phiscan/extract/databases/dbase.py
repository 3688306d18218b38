"""dBase, FoxPro and Clipper tables: every record after its field names, deleted ones too.

Source: dBase III to V and Visual FoxPro file structures.
"""

from __future__ import annotations

import struct

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise
from phiscan.extract.spreadsheets.rows import SEPARATOR
from phiscan.model import FailReason

_VERSIONS = frozenset(
    {0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x83, 0x8B, 0x8E, 0xCB, 0xF5, 0xFB}
)
_HEAD_BYTES, _FIELD_BYTES = 32, 32
_END = 0x0D
_DELETED = 0x2A
_MONTHS, _DAYS = 12, 31
_MEMO = frozenset("MGP")
_BINARY = frozenset("BIOY@T+0V")
_CODE_PAGES = {0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x04: "mac-roman", 0x64: "cp852", 0x65: "cp866"}
_CODE_PAGES |= {
    0x57: "cp1252",
    0xC8: "cp1250",
    0xC9: "cp1251",
    0x13: "cp932",
    0x4D: "gbk",
    0x4E: "cp949",
    0x6B: "cp857",
}
_ROWS_AT_ONCE = 200
_SAMPLE_BYTES = 256 * 1024


class DbaseExtractor:
    """Read DBF files."""

    media_types = frozenset({"application/x-dbf"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the records, ``#row1``; a memo that lies in another file is recorded as unread.

        Raises:
            ExtractError: corrupt.
        """
        data = content.data
        n_rows, head, size = struct.unpack_from("<IHH", data, 4)
        fields = _fields(data, head)
        if not fields or not size:
            raise ExtractError(FailReason.CORRUPT, "no fields")
        encoding = _CODE_PAGES.get(data[29]) or _encoding(data[head:], size, fields)
        lines: list[str] = []
        first = 1
        for number in range(1, n_rows + 1):
            start = head + (number - 1) * size
            if start + size > len(data):
                sink.fail(content.place(f"row{number}"), FailReason.CORRUPT, "cut short")
                break
            lines.append(_line(data[start : start + size], fields, encoding))
            if len(lines) == _ROWS_AT_ONCE:
                sink.add("\n".join(filter(None, lines)), content.place(f"row{first}"))
                lines, first = [], number + 1
        sink.add("\n".join(filter(None, lines)), content.place(f"row{first}"))
        if any(kind in _MEMO for _, kind, _ in fields):
            sink.fail(content.place("memo"), FailReason.UNSUPPORTED, "memo fields lie in another file")


def _encoding(records: bytes, size: int, fields: list[tuple[str, str, int]]) -> str:
    """Return the code page in which the texts of the first records are read best."""
    texts = []
    for start in range(0, min(len(records), _SAMPLE_BYTES), size):
        at = start + 1
        for _, kind, length in fields:
            if kind == "C":
                texts.append(records[at : at + length].strip(b" \0"))
            at += length
    return decode(b"\n".join(filter(None, texts)))[1]


def is_dbase(data: bytes) -> bool:
    """Tell a table by its version, date, sizes and the end of its list of fields."""
    if (
        len(data) < 2 * _HEAD_BYTES
        or data[0] not in _VERSIONS
        or not 1 <= data[2] <= _MONTHS
        or not 1 <= data[3] <= _DAYS
    ):
        return False
    head, size = struct.unpack_from("<HH", data, 8)
    if not _HEAD_BYTES < head <= len(data) or head < 65 or size < 2:  # noqa: PLR2004 (one field)
        return False
    fields = _fields(data, head)
    return bool(fields) and 1 + sum(length for _, _, length in fields) == size


def _fields(data: bytes, head: int) -> list[tuple[str, str, int]]:
    """Return name, kind and length of each field."""
    found = []
    for at in range(_HEAD_BYTES, min(head, len(data)) - _FIELD_BYTES + 1, _FIELD_BYTES):
        if data[at] == _END:
            break
        name = data[at : at + 11].partition(b"\0")[0]
        kind = chr(data[at + 11])
        length = data[at + 16] + (data[at + 17] << 8 if kind == "C" else 0)
        if not name.isascii() or not kind.isprintable():
            return []
        found.append((humanise(name.decode("ascii").capitalize()), kind, length))
    return found


def _line(record: bytes, fields: list[tuple[str, str, int]], encoding: str) -> str:
    parts = ["(deleted)"] if record[0] == _DELETED else []
    at = 1
    for name, kind, length in fields:
        raw = record[at : at + length].strip(b" \0")
        at += length
        if not raw or kind in _MEMO or (kind in _BINARY and not raw.isascii()):
            continue
        value = raw.decode(encoding, "replace")
        if kind == "D" and len(value) == 8 and value.isdecimal():  # noqa: PLR2004 (20260131)
            value = f"{value[:4]}-{value[4:6]}-{value[6:]}"
        parts.append(f"{name}: {value}")
    return SEPARATOR.join(parts)
