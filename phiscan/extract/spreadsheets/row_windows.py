"""Workbooks whose sheets are too large to be loaded: windows of rows, spread over each sheet's XML.

A sheet is unpacked as a stream and never held as a whole; rows are parsed in the windows only. Shared strings
are held up to a bound of memory; a cell whose string lies beyond it is left out.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from lxml import etree

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import local_name
from phiscan.extract.spreadsheets.rows import Row, lay_out
from phiscan.extract.spreadsheets.sheet_extent import sheet_parts
from phiscan.model import FailReason

_CHUNK_BYTES = 512 * 1024
_N_WINDOWS = 16
_MOST_STRING_CHARS = 40_000_000
_BYTES_PER_CHAR = 2.0  # of a sheet's XML for a character of its text
_FILL = 0.9
_ROW = re.compile(rb"<(?:\w+:)?row[\s>]")
_ROW_END = re.compile(rb"</(?:\w+:)?row>")
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001 (a date of a calendar, of no zone)
_MOST_SERIAL = 2_958_466  # the year 9999
_BUILT_IN_DATES = frozenset((*range(14, 23), *range(45, 48)))
_DATE_FORMAT = re.compile(r"[dy]", re.IGNORECASE)
_NO_CODE = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|\\.")
_TAGS_OF_XML = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True)


def read_sheets(content: Content, sink: Sink) -> None:
    """Add one segment per row, ``sheet1!A7``, of windows of rows spread over each sheet."""
    with zipfile.ZipFile(content.open()) as archive:
        sheets = sheet_parts(archive)
        cells = _Cells(_strings(archive), _dates(archive))
        for number, info in enumerate(sheets, 1):
            room = _FILL * sink.n_chars_left / (len(sheets) - number + 1)
            stride = max(1, math.ceil(info.file_size / (_BYTES_PER_CHAR * max(room, 1))))
            place = content.place(f"sheet{number}")
            n_chars, n_bytes = sink.n_chars, 0
            with archive.open(info) as stream:
                for rows, n_window_bytes in _windows(stream, info.file_size, stride):
                    sink.spend(n_window_bytes)
                    n_bytes += n_window_bytes
                    for row, line in lay_out(cells.rows(rows)):
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
class _Cells:
    """What the cells of all sheets refer to."""

    strings: Sequence[str]
    dates: frozenset[int]  # the cell styles that show a number as a date

    def rows(self, data: bytes) -> Iterator[Row]:
        root = etree.fromstring(b"<rows>" + data + b"</rows>", _TAGS_OF_XML)
        for index, row in enumerate(root if root is not None else (), 1):
            cells: list[str] = []
            for cell in row:
                column = _column(cell.get("r", "")) or len(cells) + 1
                cells.extend([""] * (min(column, len(cells) + 100) - 1 - len(cells)))
                cells.append(self._text(cell))
            number = row.get("r", "")
            yield int(number) if number.isdecimal() else index, cells

    def _text(self, cell: Any) -> str:
        kind = cell.get("t", "")
        if kind == "inlineStr":
            return "".join(cell.itertext())
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


def _column(place: str) -> int:
    number = 0
    for char in place:
        if not char.isalpha():
            break
        number = number * 26 + ord(char.upper()) - ord("A") + 1
    return number


def _date(serial: str) -> str:
    try:
        number = float(serial)
    except ValueError:
        return serial
    if not 1 <= number < _MOST_SERIAL:
        return serial
    moment = _EPOCH + dt.timedelta(days=number)
    return moment.date().isoformat() if number.is_integer() else moment.isoformat(" ", "seconds")


def _strings(archive: zipfile.ZipFile) -> list[str]:
    """Return the shared strings, as many as fit."""
    found: list[str] = []
    n_chars = 0
    for element in _elements(archive, "sharedstrings.xml"):
        if local_name(element) == "si":
            text = "".join(item.text or "" for item in element.iter() if local_name(item) == "t")
            found.append(text)
            n_chars += len(text)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
            if n_chars > _MOST_STRING_CHARS:
                break
    return found


def _dates(archive: zipfile.ZipFile) -> frozenset[int]:
    """Return the numbers of the cell styles that show a date."""
    formats = set(_BUILT_IN_DATES)
    styles: list[int] = []
    for element in _elements(archive, "xl/styles.xml"):
        name, number = local_name(element), element.get("numFmtId", "")
        if name == "numFmt" and _DATE_FORMAT.search(_NO_CODE.sub("", element.get("formatCode", ""))):
            formats.add(int(number) if number.isdecimal() else -1)
        elif name == "cellXfs":
            styles = [int(item.get("numFmtId") or 0) for item in element]
    return frozenset(index for index, number in enumerate(styles) if number in formats)


def _elements(archive: zipfile.ZipFile, ending: str) -> Iterator[Any]:
    for info in archive.infolist():
        if info.filename.lower().replace("\\", "/").endswith(ending):
            with archive.open(info) as stream:
                for _, element in etree.iterparse(
                    stream, recover=True, huge_tree=True, resolve_entities=False, no_network=True
                ):
                    yield element
