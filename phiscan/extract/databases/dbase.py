"""dBase, FoxPro and Clipper tables: every record after its field names, deleted ones too; EDF recordings.

Source: dBase III to V and Visual FoxPro file structures.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import accumulate, pairwise

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise, pair
from phiscan.extract.spreadsheets.rows import add_rows
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
_CODE_PAGES |= {0x57: "cp1252", 0xC8: "cp1250", 0xC9: "cp1251", 0x13: "cp932", 0x4D: "gbk", 0x6B: "cp857"}
_SAMPLE_RECORDS = 2_000  # whose texts show the code page
Field = tuple[str, str, int]  # name, kind, length


def read_dbase(content: Content, sink: Sink) -> None:
    """Add the records, ``#row1``; a memo that lies in another file is recorded as unread.

    Raises:
        ExtractError: corrupt.
    """
    data = content.data
    n_rows, head, size = struct.unpack_from("<IHH", data, 4)
    fields = _fields(data, head)
    if not fields or not size:
        raise ExtractError(FailReason.CORRUPT, "no fields")
    n_whole = min(n_rows, (len(data) - head) // size)
    records = [data[head + size * number : head + size * (number + 1)] for number in range(n_whole)]
    cells = (_cells(record, fields) for record in records[:_SAMPLE_RECORDS])
    texts = [
        raw for row in cells for raw, (_, kind, _) in zip(row, fields, strict=True) if kind == "C" and raw
    ]
    encoding = _CODE_PAGES.get(data[29]) or decode(b"\n".join(texts))[1]
    rows = (
        ["(deleted)" if record[0] == _DELETED else "", *_values(record, fields, encoding)]
        for record in records
    )
    add_rows(rows, ["", *(name for name, _, _ in fields)], content, sink)
    if n_whole < n_rows:
        sink.fail(content.place(f"row{n_whole + 1}"), FailReason.CORRUPT, "cut short")
    if any(kind in _MEMO for _, kind, _ in fields):
        sink.fail(content.place("memo"), FailReason.UNSUPPORTED, "memo fields lie in another file")


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


def _fields(data: bytes, head: int) -> list[Field]:
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


def _cells(record: bytes, fields: list[Field]) -> list[bytes]:
    """Return the bytes of each field of a record."""
    ends = [*accumulate((length for _, _, length in fields), initial=1)]
    return [record[at:end].strip(b" \0") for at, end in pairwise(ends)]


def _values(record: bytes, fields: list[Field], encoding: str) -> Iterator[str]:
    for raw, (_, kind, _) in zip(_cells(record, fields), fields, strict=True):
        is_text = kind not in _MEMO and (kind not in _BINARY or raw.isascii())
        value = raw.decode(encoding, "replace") if is_text else ""
        if kind == "D" and len(value) == 8 and value.isdecimal():  # noqa: PLR2004 (20260131)
            value = f"{value[:4]}-{value[4:6]}-{value[6:]}"
        yield value


# EDF, EDF+ and BDF recordings (EEG, sleep, ECG): the header as a form, and the annotations.
# Source: Kemp et al. 1992 (EDF), Kemp and Olivan 2003 (EDF+).

_EDF_HEAD_BYTES = 256  # of the recording, and of each signal
_PATIENT = ("Patient ID", "Sex", "Date of birth", "Patient name")
_HEAD = re.compile(rb"(?:0       |\xffBIOSEMI)[ -~]{160}\d\d\.\d\d\.\d\d\d\d\.\d\d\.\d\d\d{1,5} {3,7}")
_ONSET = re.compile(rb"[+-]\d[\d.]*(?:\x15[\d.]*)?\x14([^\x00]{0,4000}?)\x14?\x00")
_MOST_BYTES = 64 * 1024**2


def read_edf(content: Content, sink: Sink) -> None:
    """Add ``#header`` and ``#annotations``; samples are no text."""
    data = content.data
    end = _EDF_HEAD_BYTES * (1 + int(data[252:256].strip() if data[252:256].strip().isdigit() else 0))
    parts = data[8:88].decode("latin-1").split()
    lines = [pair("Patient", " ".join(parts))]
    if len(parts) >= len(_PATIENT):
        family, _, given = parts[3].partition(",")
        parts[3] = f"{given} {family}"
        lines = [
            pair(label, part.replace("_", " ").strip()) for label, part in zip(_PATIENT, parts, strict=False)
        ]
    described = (data[88:168], data[168:176], data[176:184], data[256:end])
    lines += [" ".join(text.decode("latin-1").replace("_", " ").split()) for text in described]
    sink.add("\n".join(lines), content.place("header"))
    found = (match[1].decode("utf-8", "replace") for match in _ONSET.finditer(data, end, end + _MOST_BYTES))
    texts = (text.replace("\x14", "\n").strip() for text in found)
    sink.add(
        "\n".join(text for text in texts if text.replace("\n", "").isprintable()),
        content.place("annotations"),
    )
    if (n_rest := len(data) - end - _MOST_BYTES) > 0:
        said = f"annotations in the last {n_rest} bytes are not read"
        sink.fail(content.place("annotations"), FailReason.TOO_LARGE, said)
    elif n_rest < -_MOST_BYTES:
        sink.fail(content.place("signals"), FailReason.CORRUPT, "cut short")


def is_edf(head: bytes) -> bool:
    """Tell a recording by its version, and by the date and time at their places in the header."""
    return _HEAD.match(head) is not None
