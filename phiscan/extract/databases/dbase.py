"""dBase, FoxPro and Clipper tables: every record after its field names, deleted ones too; files of memos.

Source: dBase III to V and Visual FoxPro file structures.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise, pair
from phiscan.extract.spreadsheets.rows import SEPARATOR
from phiscan.model import FailReason

_MEMO_HEAD_BYTES = _BLOCK_BYTES = 512
_FOXPRO_TEXT, _FOXPRO_HEAD = 1, 8
_DBASE4_MARK = b"\xff\xff\x08\0"
_MOST_FOXPRO = 16_384
_MEMO_END = b"\x1a"


def read_memos(content: Content, sink: Sink) -> None:
    """Add each memo, ``#memo3``; their texts share one code page."""
    memos = list(_memos(content.data))
    encoding = decode(b"\n".join(memos))[1]
    for number, memo in enumerate(memos, 1):
        sink.add(memo.decode(encoding, "replace"), content.place(f"memo{number}"))


def is_memo_file(data: bytes) -> bool:
    """Tell a memo file by its head, padded with NULs, and the head of its first memo.

    >>> is_memo_file(bytes(1024))
    False
    """
    return bool(_kind(data)) and next(_memos(data), None) is not None


def _kind(data: bytes) -> str:
    if len(data) <= _MEMO_HEAD_BYTES + _FOXPRO_HEAD or any(data[24:_MEMO_HEAD_BYTES]):
        return ""
    n_blocks, unused, size = struct.unpack_from(">IHH", data)
    if n_blocks and not unused and 0 < size <= _MOST_FOXPRO and _is_foxpro(data, size):
        return "FoxPro"
    n_blocks = int.from_bytes(data[:4], "little")
    if not 1 < n_blocks <= len(data) // _BLOCK_BYTES + 1:
        return ""
    if data.startswith(_DBASE4_MARK, _MEMO_HEAD_BYTES):
        return "dBase IV"
    text = data[_MEMO_HEAD_BYTES : data.find(_MEMO_END, _MEMO_HEAD_BYTES)]
    return "dBase III" if len(text) > 1 and _is_text(text) and data[16] in (0, 3) else ""


def _is_foxpro(data: bytes, block: int) -> bool:
    """Tell FoxPro by the head of the first memo: its kind, and a length within the file."""
    at = -(-_MEMO_HEAD_BYTES // block) * block
    kind, size = struct.unpack_from(">II", data, at) if at + _FOXPRO_HEAD <= len(data) else (0, 0)
    text = data[at + _FOXPRO_HEAD : at + _FOXPRO_HEAD + size]
    return kind <= _FOXPRO_TEXT and 0 < size == len(text) and (kind == 0 or _is_text(text.rstrip(b"\0")))


def _is_text(data: bytes) -> bool:
    return not any(byte < ord("\t") for byte in data)


def _memos(data: bytes) -> Iterator[bytes]:
    kind = _kind(data)
    if kind == "FoxPro":
        yield from _foxpro(data, struct.unpack_from(">H", data, 6)[0])
    elif kind == "dBase IV":
        yield from _dbase4(data)
    elif kind:
        at = _MEMO_HEAD_BYTES
        while at < len(data):
            end = data.find(_MEMO_END, at)
            end = len(data) if end < 0 else end
            yield data[at:end].strip(b"\0 ")
            at = -(-max(end + 1, at + 1) // _BLOCK_BYTES) * _BLOCK_BYTES


def _foxpro(data: bytes, block: int) -> Iterator[bytes]:
    at = -(-_MEMO_HEAD_BYTES // block) * block
    while at + _FOXPRO_HEAD <= len(data):
        kind, size = struct.unpack_from(">II", data, at)
        start = at + _FOXPRO_HEAD
        if kind == _FOXPRO_TEXT and 0 < size <= len(data) - start:
            yield data[start : start + size].rstrip(b"\0 ")
            at = -(-(start + size) // block) * block
        else:
            at += block


def _dbase4(data: bytes) -> Iterator[bytes]:
    at = data.find(_DBASE4_MARK, _MEMO_HEAD_BYTES)
    while at >= 0:
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        end = max(min(at + size, len(data)), at + _FOXPRO_HEAD)
        yield data[at + _FOXPRO_HEAD : end].rstrip(_MEMO_END + b"\0")
        at = data.find(_DBASE4_MARK, end)


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


# EDF, EDF+ and BDF recordings (EEG, sleep, ECG): the header as a form, and the annotations.
# Source: Kemp et al. 1992 (EDF), Kemp and Olivan 2003 (EDF+).

_EDF_HEAD_BYTES, _SIGNAL_BYTES = 256, 256
_MOST_SIGNALS = 4096
_PATIENT = ("Patient ID", "Sex", "Date of birth", "Patient name")
_RECORDING = ("", "Date", "Administration code", "Technician", "Equipment")
_TEXTS = ((16, "Label"), (80, "Transducer"), (8, ""), (8, ""), (8, ""), (8, ""), (8, ""), (80, "Filter"))
_HEAD = re.compile(rb"(?:0       |\xffBIOSEMI)[ -~]{160}\d\d\.\d\d\.\d\d\d\d\.\d\d\.\d\d\d{1,5} {3,7}")
_ONSET = re.compile(rb"[+-]\d[\d.]*(?:\x15[\d.]*)?\x14([^\x00]{0,4000}?)\x14?\x00")
_MOST_BYTES = 64 * 1024**2


def read_edf(content: Content, sink: Sink) -> None:
    """Add ``#header`` and ``#annotations``; samples are no text.

    Raises:
        ExtractError: corrupt; the header is cut short.
    """
    data = content.data
    if len(data) < _EDF_HEAD_BYTES:
        raise ExtractError(FailReason.CORRUPT, "cut short")
    lines = [*_subfields(_field(data, 8, 80), _PATIENT), *_subfields(_field(data, 88, 80), _RECORDING)]
    lines += [pair("Date", _field(data, 168, 8)), pair("Time", _field(data, 176, 8))]
    shown = _field(data, 252, 4)
    n_signals = int(shown) if shown.isdecimal() else -1
    if not 0 <= n_signals <= _MOST_SIGNALS or len(data) < _EDF_HEAD_BYTES + n_signals * _SIGNAL_BYTES:
        sink.add("\n".join(lines), content.place("header"))
        sink.fail(content.place("signals"), FailReason.CORRUPT, "cut short")
        return
    lines += _signals(data, n_signals)
    sink.add("\n".join(dict.fromkeys(line for line in lines if line)), content.place("header"))
    if any("Annotations" in line for line in lines):
        sink.add("\n".join(_annotations(data, n_signals)), content.place("annotations"))
        if (n_rest := len(data) - _EDF_HEAD_BYTES - n_signals * _SIGNAL_BYTES - _MOST_BYTES) > 0:
            said = f"annotations in the last {n_rest} bytes are not read"
            sink.fail(content.place("annotations"), FailReason.TOO_LARGE, said)


def is_edf(head: bytes) -> bool:
    """Tell a recording by its version, and by the date and time at their places in the header."""
    return _HEAD.match(head) is not None


def _field(data: bytes, start: int, size: int) -> str:
    return data[start : start + size].decode("latin-1").strip()


def _subfields(text: str, labels: tuple[str, ...]) -> Iterator[str]:
    """Yield the subfields of EDF+ after their names; what is written in another way as it is."""
    parts = text.split()
    is_plus = len(parts) >= len(labels) - 1 and (
        parts[0] == "Startdate" or (labels is _PATIENT and len(parts) >= len(_PATIENT))
    )
    if not is_plus:
        yield pair("Patient" if labels is _PATIENT else "Recording", text)
        return
    for label, part in zip(labels, parts, strict=False):
        if not label or part == "X":
            continue
        value = part.replace("_", " ")
        if label == "Patient name" and value.count(",") == 1:
            family, given = value.split(",")
            value = f"{given.strip()} {family.strip()}"
        yield pair(label, value)
    yield " ".join(parts[len(labels) :]).replace("_", " ")


def _signals(data: bytes, n_signals: int) -> Iterator[str]:
    at = _EDF_HEAD_BYTES
    for size, label in _TEXTS:
        if label:
            values = (_field(data, at + number * size, size) for number in range(n_signals))
            yield pair(label, ", ".join(dict.fromkeys(value for value in values if value)))
        at += size * n_signals
    at += 8 * n_signals
    reserved = (_field(data, at + number * 32, 32) for number in range(n_signals))
    yield " ".join(dict.fromkeys(value for value in reserved if value))


def _annotations(data: bytes, n_signals: int) -> Iterator[str]:
    """Yield the texts of annotations, which lie among the samples after their onset."""
    body = data[_EDF_HEAD_BYTES + n_signals * _SIGNAL_BYTES :][:_MOST_BYTES]
    for match in _ONSET.finditer(body):
        text = match[1].decode("utf-8", "replace").replace("\x14", "\n").strip()
        if (text and text.isprintable()) or "\n" in text:
            yield text
