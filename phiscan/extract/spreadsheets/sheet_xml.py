"""Cells from the XML of sheets: of those that are too large to be loaded, or that no workbook lists.

A sheet is unpacked as a stream and never held as a whole; rows are parsed in windows spread over it. Shared
strings are held up to a bound of memory; a cell whose string lies beyond it is left out.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, Literal

from lxml import etree

from phiscan.extract.core.content import ZIP_DAMAGE, Content, Sink
from phiscan.extract.spreadsheets.rows import Row, lay_out, unescaped
from phiscan.extract.structured.xml_parsing import local_name
from phiscan.model import FailReason

_CHUNK_BYTES = 512 * 1024
_N_WINDOWS = 16
_MOST_STRING_CHARS = 40_000_000
_BYTES_PER_CHAR = 2.0  # of a sheet's XML for a character of its text
_ROW_FILL = 0.9
_ROW = re.compile(rb"<(?:\w+:)?row[\s>]")
_ROW_END = re.compile(rb"</(?:\w+:)?row>")
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001 (a date of a calendar, of no zone)
_MOST_SERIAL = 2_958_466  # the year 9999
_BUILT_IN_DATES = frozenset((*range(14, 23), *range(45, 48)))
_DATE_FORMAT = re.compile(r"[dy]", re.IGNORECASE)
_NO_CODE = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\.")
CELL_PARTS = ("sharedstrings.xml", "styles.xml")  # to which cells refer
_TAGS_OF_XML = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True)


def read_sheets(content: Content, sink: Sink) -> None:
    """Add one segment per row, ``sheet1!A7``, of windows of rows spread over each sheet."""
    with zipfile.ZipFile(content.open()) as archive:
        sheets = sheet_parts(archive)
        cells = Cells.of(*(_elements(archive, name) for name in CELL_PARTS))
        for number, info in enumerate(sheets, 1):
            room = _ROW_FILL * sink.n_chars_left / (len(sheets) - number + 1)
            stride = max(1, math.ceil(info.file_size / (_BYTES_PER_CHAR * max(room, 1))))
            place = content.place(f"sheet{number}")
            n_chars, n_bytes = sink.n_chars, 0
            with archive.open(info) as stream:
                for rows, n_window_bytes in _windows(stream, info.file_size, stride):
                    sink.spend(n_window_bytes)
                    n_bytes += n_window_bytes
                    root = etree.fromstring(b"<rows>" + rows + b"</rows>", _TAGS_OF_XML)
                    for row, line in lay_out(cells.rows(root if root is not None else ())):
                        sink.add(line, f"{place}!A{row}")
            if stride > 1:
                share = 100 - 100 * n_bytes // max(info.file_size, 1)
                detail = f"not read: about {share} % of its rows, more than limits.text_chars of text"
                sink.fail(place, FailReason.SAMPLED, detail)
                left = info.file_size - n_bytes
                sink.n_chars_unread += (sink.n_chars - n_chars) * left // max(n_bytes, 1)


def _windows(stream: IO[bytes], size: int, stride: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole rows of every n-th stretch of a sheet's XML after its header row, and how long it is."""
    length = max(_CHUNK_BYTES, size // (_N_WINDOWS * stride))
    header, number = b"", 0
    before = b""
    while chunk := stream.read(length):
        is_wanted = number % stride == 0
        number += 1
        if not is_wanted:
            before = b""
            continue
        data = before + chunk
        begin, end = _ROW.search(data), None
        for end in _ROW_END.finditer(data, max(0, len(data) - _CHUNK_BYTES)):  # noqa: B007 (the last one)
            pass
        if begin is None or end is None:
            before = data if stride == 1 else b""
            continue
        rows = data[begin.start() : end.end()]
        if not header:
            first = _ROW_END.search(rows)
            header = rows[: first.end()] if first else b""
            yield rows, len(chunk)
        else:
            yield header + rows, len(chunk)
        before = data[end.end() :] if stride == 1 else b""


@dataclass(frozen=True, slots=True)
class Cells:
    """What the cells of all sheets refer to."""

    strings: Sequence[str]
    dates: frozenset[int]  # the cell styles that show a number as a date

    @classmethod
    def of(cls, strings: Iterable[Any], styles: Iterable[Any]) -> Cells:
        """Take the elements of the parts of shared strings and of styles."""
        return cls(_strings(strings), _dates(styles))

    def rows(self, elements: Iterable[Any]) -> Iterator[Row]:
        """Yield number and cells of each row."""
        for index, row in enumerate(elements, 1):
            cells: list[str] = []
            for cell in row:
                column = _column(cell.get("r", "").rstrip("0123456789").encode()) or len(cells) + 1
                cells.extend([""] * (min(column, len(cells) + 100) - 1 - len(cells)))
                cells.append(self._text(cell))
            number = row.get("r", "")
            yield int(number) if number.isdecimal() else index, cells

    def _text(self, cell: Any) -> str:
        kind = cell.get("t", "")
        if kind == "inlineStr":
            return unescaped("".join(cell.itertext()))
        value = next((item.text or "" for item in cell if _tag(item) == "v"), "")
        if kind == "s":
            return self.strings[int(value)] if value.isdecimal() and int(value) < len(self.strings) else ""
        style = cell.get("s", "")
        if kind in {"", "n"} and style.isdecimal() and int(style) in self.dates:
            return _date(value)
        return value


def _tag(element: Any) -> str:
    """Return a tag without its prefix, which nothing declares in a window."""
    return str(element.tag).rpartition(":")[2].rpartition("}")[2]


def _date(serial: str) -> str:
    try:
        number = float(serial)
    except ValueError:
        return serial
    if not 1 <= number < _MOST_SERIAL:
        return serial
    moment = _EPOCH + dt.timedelta(days=number)
    return moment.date().isoformat() if number.is_integer() else moment.isoformat(" ", "seconds")


def _strings(elements: Iterable[Any]) -> list[str]:
    """Return the shared strings, as many as fit."""
    found: list[str] = []
    n_chars = 0
    for element in elements:
        if local_name(element) == "si":
            text = unescaped("".join(item.text or "" for item in element.iter() if local_name(item) == "t"))
            found.append(text)
            n_chars += len(text)
            if n_chars > _MOST_STRING_CHARS:
                break
    return found


def _dates(elements: Iterable[Any]) -> frozenset[int]:
    """Return the numbers of the cell styles that show a date."""
    formats = set(_BUILT_IN_DATES)
    styles: list[int] = []
    for element in elements:
        name, number = local_name(element), element.get("numFmtId", "")
        if name == "numFmt" and _DATE_FORMAT.search(_NO_CODE.sub("", element.get("formatCode", ""))):
            formats.add(int(number) if number.isdecimal() else -1)
        elif name == "cellXfs":
            styles = [int(item.get("numFmtId") or 0) for item in element]
    return frozenset(index for index, number in enumerate(styles) if number in formats)


def _elements(archive: zipfile.ZipFile, ending: str) -> Iterator[Any]:
    """Yield the elements of a part as they end; strings are forgotten then."""
    for info in archive.infolist():
        if info.filename.lower().endswith(ending):
            with archive.open(info) as stream:
                for _, element in etree.iterparse(
                    stream, recover=True, huge_tree=True, resolve_entities=False, no_network=True
                ):
                    yield element
                    if local_name(element) == "si":
                        element.clear()
                        while element.getprevious() is not None:
                            del element.getparent()[0]


# How far the sheets of a workbook reach: calamine sets aside room for every cell up to the last one.
# Two cells in opposite corners of a sheet take 512 GiB, and the process aborts before any text is read.

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
_OVERLAP_BYTES = 512
_USUAL_AREA = 2_000_000  # any sheet may be as empty as it likes up to here (64 MiB)
_MOST_AREA = 40_000_000  # 1.2 GiB; a worker has two
_EMPTIEST = 20  # cells of area for each cell with a value
# Record of a row of a binary workbook (XLSB), those of cells, and the one without a value, [MS-XLSB] 2.1.4.
_ROW_RECORD, _CELLS, _BLANK = 0, range(1, 12), 1
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
        if kind == _ROW_RECORD and len(body) >= 4:  # noqa: PLR2004 (a number)
            row = struct.unpack_from("<I", body)[0]
        elif kind in _CELLS and kind != _BLANK and len(body) >= _AT_VALUE:
            n_cells += 1
            last_row = max(last_row, row + 1)
            last_column = max(last_column, struct.unpack_from("<I", body)[0] + 1)
    return last_row, last_column, n_cells


def extent_of(stream: BinaryIO) -> Literal["usual", "large", "out of proportion"]:
    """Tell whether sheets unpack to more than ``LARGE_BYTES``, or one reaches far beyond its cells."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if sum(info.file_size for info in sheet_parts(archive)) > LARGE_BYTES:
                return "large"
            is_odd = any(_part_is(archive, info) for info in archive.infolist())
            return "out of proportion" if is_odd else "usual"
    except ZIP_DAMAGE:
        return "usual"  # calamine, or who reads after it, says what is wrong


def sheet_parts(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the sheets of a workbook, in the order of their numbers."""
    found = [info for info in archive.infolist() if _SHEET.fullmatch(info.filename.replace("\\", "/"))]
    return sorted(found, key=lambda info: (len(info.filename), info.filename))


def _part_is(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    name = info.filename.lower().replace("\\", "/")
    if name.startswith("xl/worksheets/"):
        if name.endswith(".bin"):
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
