"""Cells of a binary workbook (XLSB) read by hand, where calamine cannot: a sheet that reaches too far.

Source: [MS-XLSB] 2.1.4 (records), 2.4 (cells, shared strings).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from phiscan.errors import ExtractError
from phiscan.extract.office.package import Package
from phiscan.extract.spreadsheets.rows import Row, lay_out
from phiscan.model import FailReason

SHEET = re.compile(r"xl/worksheets/[^/]*\.bin$", re.IGNORECASE)
_ROW, _SHARED_ITEM = 0, 19
_RK, _BOOLEAN, _REAL, _STRING, _SHARED = 2, 4, 5, 6, 7
_FORMULA_STRING, _FORMULA_REAL = 8, 9
_CELLS = range(1, 12)
_BLANK = 1
_AT_VALUE = 8  # after the column and the style


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield ``(kind, body)`` of each record; a damaged stream ends early."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at, 2)
        size, at = _number(data, at, 4)
        yield kind, data[at : at + size]
        at += size


def _number(data: bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    value = 0
    for place in range(most):
        if at >= len(data):
            return value, at
        value |= (data[at] & 0x7F) << 7 * place
        at += 1
        if not data[at - 1] & 0x80:
            break
    return value, at


def extent(data: bytes) -> tuple[int, int, int]:
    """Return the last row, the last column and the number of cells with a value of one sheet."""
    last_row = last_column = n_cells = row = 0
    for kind, body in records(data):
        if kind == _ROW and len(body) >= 4:  # noqa: PLR2004 (a number)
            row = struct.unpack_from("<I", body)[0]
        elif kind in _CELLS and kind != _BLANK and len(body) >= _AT_VALUE:
            n_cells += 1
            last_row = max(last_row, row + 1)
            last_column = max(last_column, struct.unpack_from("<I", body)[0] + 1)
    return last_row, last_column, n_cells


def read_binary_cells(package: Package) -> bool:
    """Add the cells of every sheet, a row to a segment; tell whether there was any."""
    strings: list[str] = []
    for name in package.names:
        if name.lower() == "xl/sharedstrings.bin":
            strings = [_wide(body, 1) for kind, body in records(package.read(name)) if kind == _SHARED_ITEM]
    found = False
    for name in package.names:
        if not SHEET.match(name):
            continue
        place = name.rpartition("/")[2].removesuffix(".bin")
        try:
            data = package.read(name)
        except ExtractError as error:
            package.sink.fail(package.content.place(place), FailReason(error.reason), error.detail)
            continue
        for number, line in lay_out(_rows(data, strings)):
            found = True
            package.sink.add(line, package.content.place(f"{place}!A{number}"))
    return found


def _rows(data: bytes, strings: list[str]) -> Iterator[Row]:
    cells: list[str] = []
    number = 1
    for kind, body in records(data):
        if kind == _ROW and len(body) >= 4:  # noqa: PLR2004 (a number)
            if cells:
                yield number, cells
            number, cells = struct.unpack_from("<I", body)[0] + 1, []
        elif kind in _CELLS and len(body) > _AT_VALUE:
            cells.append(_value(kind, body, strings))
    if cells:
        yield number, cells


def _value(kind: int, body: bytes, strings: list[str]) -> str:
    try:
        if kind in (_STRING, _FORMULA_STRING):
            return _wide(body, _AT_VALUE)
        if kind == _SHARED:
            return strings[int(struct.unpack_from("<I", body, _AT_VALUE)[0])]
        if kind in (_REAL, _FORMULA_REAL):
            return _shown(float(struct.unpack_from("<d", body, _AT_VALUE)[0]))
        if kind == _RK:
            return _shown(_packed(struct.unpack_from("<I", body, _AT_VALUE)[0]))
    except (struct.error, IndexError):
        return ""
    return str(bool(body[_AT_VALUE])) if kind == _BOOLEAN else ""


def _packed(value: int) -> float:
    """Return a number packed into 30 bits: a whole one, or the head of a real one; perhaps in hundredths."""
    whole = value >> 2
    if value & 2:
        number = float(whole - (1 << 30) if whole & 1 << 29 else whole)
    else:
        number = float(struct.unpack("<d", struct.pack("<Q", whole << 34))[0])
    return number / 100 if value & 1 else number


def _shown(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)  # noqa: PLR2004 (exact)


def _wide(body: bytes, at: int) -> str:
    n_chars = int(struct.unpack_from("<I", body, at)[0]) if len(body) >= at + 4 else 0
    return bytes(body[at + 4 : at + 4 + 2 * n_chars]).decode("utf-16-le", "replace")
