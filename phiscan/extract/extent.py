"""How far the sheets of a workbook reach: calamine sets aside room for every cell up to the last one.

Two cells in opposite corners of a sheet take 512 GiB, and the process aborts before any text is read.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import BinaryIO

# A cell with content: one that has only a format takes no room.
_CELL = re.compile(
    rb"<(?:\w+:)?c\s[^>]{0,200}?\br\s*=\s*[\"']([A-Za-z]{1,3})([0-9]{1,7})[\"'][^>]{0,200}(?<!/)>"
)
_CHUNK_BYTES = 1024**2
_OVERLAP_BYTES = 512
_USUAL_AREA = 2_000_000  # any sheet may be as empty as it likes up to here (64 MiB)
_MOST_AREA = 40_000_000  # 1.2 GiB; a worker has two
_EMPTIEST = 20  # cells of area for each cell with a value


def is_out_of_proportion(stream: BinaryIO) -> bool:
    """Tell an OOXML workbook in which some sheet reaches much farther than its cells fill."""
    try:
        with zipfile.ZipFile(stream) as archive:
            return any(
                _sheet_is(archive, info)
                for info in archive.infolist()
                if info.filename.lower().replace("\\", "/").startswith("xl/worksheets/")
            )
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, RuntimeError, NotImplementedError):
        return False  # calamine, or who reads after it, says what is wrong


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
    area = last_row * last_column
    return area > min(max(_USUAL_AREA, _EMPTIEST * n_cells), _MOST_AREA)


def _column(name: bytes) -> int:
    """Return the number of a column.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in name.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
