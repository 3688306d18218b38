"""Workbooks through python-calamine: XLSX, XLSM, XLSB, XLS, ODS; hidden sheets and comments too."""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import IO, Any

from lxml import etree

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import decrypted, is_cut, open_ole, properties_text
from phiscan.extract.office.legacy import hidden_parts, picture_members
from phiscan.extract.office.package import Package, local_name
from phiscan.extract.spreadsheets.rows import Row, lay_out, unescaped
from phiscan.extract.spreadsheets.workbook_parts import extent_of, sheet_parts
from phiscan.model import FailReason

_CALAMINE = ("python_calamine", "python_calamine._python_calamine", "pyo3_runtime")
_TRIAL_ROWS = 500  # from which the text of a sheet is estimated
_BLOCK_ROWS = 1_000
_FILL = 0.9  # of the text budget
_UNTITLED = re.compile(r"(?:Sheet|Feuil|Tabelle|Hoja)\s?\d*", re.IGNORECASE)


def read_workbook(content: Content, sink: Sink) -> None:
    """Add one segment per row, ``sheet1!A7``; then what else the package holds.

    A sheet is located by its number: its title may be a patient's name, and locators are stored.
    """
    n_pieces = sink.n_pieces
    extent = extent_of(content.open()) if content.data.startswith(b"PK") else "usual"
    if extent == "large":
        read_sheets(content, sink)
        _rest(content, sink, n_pieces)
        return
    if extent == "out of proportion":
        _rest(content, sink, n_pieces, missing="a sheet reaches far beyond its cells")
        return
    try:
        workbook = _open(content)
    except BaseException as error:
        if not _is_damage(error):
            raise
        if not content.data.startswith(b"PK") and is_encrypted_workbook(content.data):
            data = decrypted(content.data, sink.passwords)
            read_workbook(replace(content, data=data), sink)
            return
        _rest(content, sink, n_pieces, missing=_said(error))
        return
    for index, name in enumerate(workbook.sheet_names, 1):
        place = f"sheet{index}"
        if not _UNTITLED.fullmatch(name):
            sink.add(f"Sheet: {name}", content.place(place))
        try:
            _read_sheet(workbook.get_sheet_by_name(name), content, place, sink)
        except BaseException as error:
            if not _is_damage(error):
                raise
            sink.fail(content.place(place), FailReason.CORRUPT, _said(error))
    _rest(content, sink, n_pieces)


def _rest(content: Content, sink: Sink, n_pieces: int, missing: str = "") -> None:
    """Read what calamine leaves out, because it knows cells only; all of it, when it read nothing."""
    if content.data.startswith(b"PK"):
        from phiscan.extract.office.opendocument import read_sheet_parts  # noqa: PLC0415 (lxml)
        from phiscan.extract.spreadsheets.workbook_parts import read_parts  # noqa: PLC0415 (lxml)

        package = Package(content, sink)
        read = read_sheet_parts if "content.xml" in package.names else read_parts
        if read(package, cells=bool(missing)) or not missing:
            return
    elif not missing:
        with open_ole(content.data) as ole:
            read_biff_notes(ole, content, sink)
            sink.add(properties_text(ole), content.place("properties"))
            if is_cut(ole):
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            pictures = list(picture_members(ole, content, sink))
            members = hidden_parts(ole, content, sink, n_pieces)
        for member in chain(members, pictures):
            sink.read_member(member)
        return
    raise ExtractError(FailReason.CORRUPT, missing)


def _open(content: Content) -> Any:
    """Open a workbook.

    Raises:
        ExtractError: encrypted.
        BaseException: see ``_is_damage``.
    """
    import python_calamine as calamine  # noqa: PLC0415 (heavy)

    try:
        return calamine.CalamineWorkbook.from_filelike(content.open())
    except calamine.PasswordError:
        if content.data.startswith(b"PK") or not is_encrypted_workbook(content.data):
            raise ExtractError(FailReason.ENCRYPTED) from None
        raise


def _is_damage(error: BaseException) -> bool:
    """Tell what calamine makes of a damaged file; a panic of its Rust code is no Exception."""
    return isinstance(error, OSError | ValueError) or type(error).__module__ in _CALAMINE


def _said(error: BaseException) -> str:
    return "damaged workbook" if isinstance(error, OSError | ValueError) else kind_of(error)


def _read_sheet(sheet: Any, content: Content, place: str, sink: Sink) -> None:
    """Add a sheet's rows; of one with more text than the budget has left, blocks spread over it."""
    lines = lay_out(_rows(sheet))
    first: list[tuple[int, str]] = []
    n_chars = 0
    for number, line in lines:
        first.append((number, line))
        if number > _TRIAL_ROWS:
            break
        n_chars += len(line) + 1
    stride = math.ceil(sheet.height * n_chars / (_TRIAL_ROWS * _FILL * max(sink.n_chars_left, 1)))
    if stride > 1 and sheet.height > _TRIAL_ROWS:
        rows = (row for row in _rows(sheet) if row[0] < _BLOCK_ROWS or row[0] // _BLOCK_ROWS % stride == 0)
        first, lines = [], lay_out(rows)
        n_unread = sheet.height - sheet.height // stride
        detail = f"not read: about {n_unread} of {sheet.height} rows, more than limits.text_chars of text"
        sink.fail(content.place(place), FailReason.SAMPLED, detail)
        sink.n_chars_unread += n_unread * n_chars // _TRIAL_ROWS
    for number, line in chain(first, lines):
        sink.add(line, content.place(f"{place}!A{number}"))


def _rows(sheet: Any) -> Iterator[Row]:
    start = sheet.start
    if start is None:
        return
    for offset, row in enumerate(sheet.iter_rows()):
        # calamine begins iter_rows at the first row of the sheet, empty rows included.
        yield offset + 1, [unescaped(cell) if isinstance(cell, str) else _text(cell) for cell in row]


def _text(value: Any) -> str:
    """Write a cell as a person sees it: whole numbers without a point, dates as dates."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)  # noqa: PLR2004
    if isinstance(value, dt.datetime):
        if value.time() == dt.time(0):
            return value.date().isoformat()
        return value.isoformat(" ")
    return str(value)


_TXO, _CONTINUE, _FILEPASS, _HEADER, _FOOTER = 0x01B6, 0x003C, 0x002F, 0x0014, 0x0015
_WITH_TEXT = frozenset({_TXO, _CONTINUE, _HEADER, _FOOTER})
_HEAD = struct.Struct("<HH")
_FIRST_RECORDS = 100  # the record that says so is after the first
_MAX_TEXT_BYTES = 64 * 1024


def is_encrypted_workbook(data: bytes) -> bool:
    """Tell whether the workbook stream begins an encrypted part."""
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        return False
    with open_ole(data) as ole:
        stream = _stream(ole)
    return any(kind == _FILEPASS for kind, _, _ in islice(_records(stream), _FIRST_RECORDS))


def read_biff_notes(ole: Any, content: Content, sink: Sink) -> None:
    """Add the text of notes, text boxes, headers and footers as one segment ``#notes``."""
    lines = []
    awaited = 0  # characters that the CONTINUE record after a TXO holds
    stream = _stream(ole)
    for kind, start, size in _records(stream):
        if kind not in _WITH_TEXT:
            continue
        body = stream[start : start + min(size, _MAX_TEXT_BYTES)]
        if kind == _TXO and len(body) >= 12:  # noqa: PLR2004 (the length is at byte 10)
            awaited = struct.unpack_from("<H", body, 10)[0]
        elif kind == _CONTINUE and awaited and body:
            lines.append(_biff_text(body[1:], awaited, wide=bool(body[0] & 1)))
            awaited = 0
        elif kind in (_HEADER, _FOOTER) and len(body) > 3:  # noqa: PLR2004 (length, then flags)
            lines.append(_biff_text(body[3:], struct.unpack_from("<H", body)[0], wide=bool(body[2] & 1)))
    sink.add("\n".join(line for line in lines if line.strip()), content.place("notes"))


def _biff_text(data: bytes, n_chars: int, *, wide: bool) -> str:
    if wide:
        return data[: 2 * n_chars].decode("utf-16-le", "replace")
    return data[:n_chars].decode("latin-1")


def _stream(ole: Any) -> bytes:
    """Return the workbook stream of an open compound file; nothing where it has none."""
    name = next((name for name in ("Workbook", "Book") if ole.exists(name)), "")
    return ole.openstream(name).read() if name else b""


def _records(stream: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, offset and size of the bodies of a stream's records; a damaged stream ends early."""
    at = 0
    last = len(stream) - _HEAD.size
    while at <= last:
        kind, size = _HEAD.unpack_from(stream, at)
        at += _HEAD.size
        yield kind, at, size
        at += size


# Workbooks whose sheets are too large to be loaded: windows of rows, spread over each sheet's XML.
# A sheet is unpacked as a stream and never held as a whole; rows are parsed in the windows only. Shared
# strings are held up to a bound of memory; a cell whose string lies beyond it is left out.

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
_TAGS_OF_XML = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True)


def read_sheets(content: Content, sink: Sink) -> None:
    """Add one segment per row, ``sheet1!A7``, of windows of rows spread over each sheet."""
    with zipfile.ZipFile(content.open()) as archive:
        sheets = sheet_parts(archive)
        cells = _Cells(_strings(archive), _dates(archive))
        for number, info in enumerate(sheets, 1):
            room = _ROW_FILL * sink.n_chars_left / (len(sheets) - number + 1)
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
