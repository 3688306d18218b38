"""How far the sheets of a workbook reach: calamine sets aside room for every cell up to the last one.

Two cells in opposite corners of a sheet take 512 GiB, and the process aborts before any text is read.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import BinaryIO, Literal

# A cell with content: one that has only a format takes no room.
_CELL = re.compile(
    rb"<(?:\w+:)?c\s[^>]{0,200}?\br\s*=\s*[\"']([A-Za-z]{1,3})([0-9]{1,7})[\"'][^>]{0,200}(?<!/)>"
)
# Row and cell tags of an OpenDocument table.
_TABLE_TAG = re.compile(rb"<(?:\w+:)?(table-row|table-cell|covered-table-cell|table)(?=[\s/>])([^<>]*)>")
_ROWS_REPEATED = re.compile(rb"number-rows-repeated\s*=\s*[\"'](\d{1,9})")
_COLUMNS_REPEATED = re.compile(rb"number-columns-repeated\s*=\s*[\"'](\d{1,9})")
LARGE_BYTES = 96 * 1024**2  # of all sheets, unpacked: a larger workbook is not loaded by calamine
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_MOST_BYTES = 256 * 1024**2  # of a part that are looked at
_CHUNK_BYTES = 1024**2
_OVERLAP_BYTES = 512
_USUAL_AREA = 2_000_000  # any sheet may be as empty as it likes up to here (64 MiB)
_MOST_AREA = 40_000_000  # 1.2 GiB; a worker has two
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    ValueError,
    EOFError,
    RuntimeError,
    NotImplementedError,
)
_EMPTIEST = 20  # cells of area for each cell with a value


def extent_of(stream: BinaryIO) -> Literal["usual", "large", "out of proportion"]:
    """Tell whether sheets unpack to more than ``LARGE_BYTES``, or one reaches far beyond its cells."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if sum(info.file_size for info in sheet_parts(archive)) > LARGE_BYTES:
                return "large"
            is_odd = any(_part_is(archive, info) for info in archive.infolist())
            return "out of proportion" if is_odd else "usual"
    except _DAMAGE:
        return "usual"  # calamine, or who reads after it, says what is wrong


def sheet_parts(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the sheets of a workbook, in the order of their numbers."""
    found = [info for info in archive.infolist() if _SHEET.fullmatch(info.filename.replace("\\", "/"))]
    return sorted(found, key=lambda info: (len(info.filename), info.filename))


def _part_is(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    name = info.filename.lower().replace("\\", "/")
    if name.startswith("xl/worksheets/"):
        if name.endswith(".bin"):
            from phiscan.extract.spreadsheets.binary_cells import extent  # noqa: PLC0415 (rarely needed)

            return _is_empty(*extent(_head(archive, info)))
        return _sheet_is(archive, info)
    return name == "content.xml" and _tables_are(_head(archive, info))


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        return stream.read(_MOST_BYTES)


def _is_empty(last_row: int, last_column: int, n_cells: int) -> bool:
    return last_row * last_column > min(max(_USUAL_AREA, _EMPTIEST * n_cells), _MOST_AREA)


def _tables_are(data: bytes) -> bool:
    """Follow the rows and cells of OpenDocument tables, which say how often they are repeated."""
    row = column = last_row = last_column = n_cells = 0
    row_times = 1
    for match in _TABLE_TAG.finditer(data):
        tag, attributes = match[1], match[2]
        if tag == b"table":
            row = column = last_row = last_column = n_cells = 0
            row_times = 0
        elif tag == b"table-row":
            row, column = row + row_times, 0
            row_times = _times(_ROWS_REPEATED, attributes)
        else:
            times = _times(_COLUMNS_REPEATED, attributes)
            column += times
            if b"value-type" in attributes or not attributes.endswith(b"/"):
                n_cells += times * row_times
                last_row, last_column = max(last_row, row + row_times), max(last_column, column)
                if _is_empty(last_row, last_column, n_cells):
                    return True
    return False


def _times(pattern: re.Pattern[bytes], attributes: bytes) -> int:
    found = pattern.search(attributes)
    return int(found[1]) if found else 1


def _sheet_is(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    n_cells = last_row = last_column = 0
    with archive.open(info) as stream:
        before = b""
        while chunk := stream.read(_CHUNK_BYTES):
            found = _CELL.findall(before + chunk)
            if found:
                n_cells += len(found)
                last_row = max(last_row, *(int(row) for _, row in found))
                last_column = max(last_column, *(_column(name) for name in {name for name, _ in found}))
            before = chunk[-_OVERLAP_BYTES:]
    return _is_empty(last_row, last_column, n_cells)


def _column(name: bytes) -> int:
    """Return the number of a column.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in name.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
