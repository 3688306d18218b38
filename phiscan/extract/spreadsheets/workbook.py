"""Workbooks through python-calamine: XLSX, XLSM, XLSB, XLS, ODS; hidden sheets and comments too."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from phiscan.errors import ExtractError, kind_of
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.compound_file import (
    decrypted,
    is_cut,
    open_ole,
    properties_text,
    workbook_records,
)
from phiscan.extract.office.legacy import hidden_parts, picture_members
from phiscan.extract.office.package import Package
from phiscan.extract.spreadsheets.rows import Row, cell_text, lay_out, unescaped
from phiscan.extract.spreadsheets.sheet_xml import extent_of, read_sheets
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
    n_segments = sink.n_segments
    extent = extent_of(content.open()) if content.data.startswith(b"PK") else "usual"
    if extent == "large":
        read_sheets(content, sink)
        _rest(content, sink, n_segments)
        return
    if extent == "out of proportion":
        _rest(content, sink, n_segments, missing="a sheet reaches far beyond its cells")
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
        _rest(content, sink, n_segments, missing=_said(error))
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
    _rest(content, sink, n_segments)


def _rest(content: Content, sink: Sink, n_segments: int, missing: str = "") -> None:
    """Read what calamine leaves out, because it knows cells only; all of it, when it read nothing."""
    if content.data.startswith(b"PK"):
        from phiscan.extract.office.open_xml import read_sheet_parts  # noqa: PLC0415 (lxml)
        from phiscan.extract.spreadsheets.workbook_parts import read_workbook_parts  # noqa: PLC0415 (lxml)

        package = Package(content, sink)
        read = read_sheet_parts if "content.xml" in package.names else read_workbook_parts
        if read(package, cells=bool(missing)) or not missing:
            return
    elif not missing:
        with open_ole(content.data) as ole:
            read_biff_notes(ole, content, sink)
            sink.add(properties_text(ole), content.place("properties"))
            if is_cut(ole):
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            pictures = list(picture_members(ole, content, sink))
            members = hidden_parts(ole, content, sink, n_segments)
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
        yield offset + 1, [unescaped(cell) if isinstance(cell, str) else cell_text(cell) for cell in row]


_TXO, _CONTINUE, _FILEPASS, _HEADER, _FOOTER = 0x01B6, 0x003C, 0x002F, 0x0014, 0x0015
_WITH_TEXT = frozenset({_TXO, _CONTINUE, _HEADER, _FOOTER})
_FIRST_RECORDS = 100  # the record that says so is after the first
_MAX_TEXT_BYTES = 64 * 1024


def is_encrypted_workbook(data: bytes) -> bool:
    """Tell whether the workbook stream begins an encrypted part."""
    if not data.startswith(b"\xd0\xcf\x11\xe0"):
        return False
    with open_ole(data) as ole:
        stream = ole.data("Workbook") or ole.data("Book")
    return any(kind == _FILEPASS for _, kind, _, _ in islice(workbook_records(stream), _FIRST_RECORDS))


def read_biff_notes(ole: Any, content: Content, sink: Sink) -> None:
    """Add the text of notes, text boxes, headers and footers as one segment ``#notes``."""
    lines = []
    awaited = 0  # characters that the CONTINUE record after a TXO holds
    stream = ole.data("Workbook") or ole.data("Book")
    for _, kind, start, size in workbook_records(stream):
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
