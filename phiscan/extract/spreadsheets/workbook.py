"""Workbooks through python-calamine: XLSX, XLSM, XLSB, XLS, ODS; hidden sheets and comments too."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.binary_pictures import picture_members
from phiscan.extract.office.compound_file import is_cut, open_ole, properties_text
from phiscan.extract.office.encryption import decrypted
from phiscan.extract.office.legacy import hidden_parts
from phiscan.extract.office.package import Package
from phiscan.extract.spreadsheets.biff_records import is_encrypted_workbook, read_biff_notes
from phiscan.extract.spreadsheets.rows import Row, lay_out, unescaped
from phiscan.extract.spreadsheets.sheet_extent import extent_of
from phiscan.model import FailReason

_CALAMINE = ("python_calamine", "python_calamine._python_calamine", "pyo3_runtime")
_TRIAL_ROWS = 500  # from which the text of a sheet is estimated
_BLOCK_ROWS = 1_000
_FILL = 0.9  # of the text budget
_UNTITLED = re.compile(r"(?:Sheet|Feuil|Tabelle|Hoja)\s?\d*", re.IGNORECASE)


class SheetExtractor:
    """Read every sheet row by row, hidden ones too."""

    media_types = frozenset({magic.XLSX, magic.XLSB, "application/vnd.ms-excel", magic.ODF + "spreadsheet"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per row, ``sheet1!A7``; then what else the package holds.

        A sheet is located by its number: its title may be a patient's name, and locators are stored.
        """
        n_pieces = sink.n_pieces
        extent = extent_of(content.open()) if content.data.startswith(b"PK") else "usual"
        if extent == "large":
            from phiscan.extract.spreadsheets.row_windows import read_sheets  # noqa: PLC0415 (lxml)

            read_sheets(content, sink)
            self._rest(content, sink, n_pieces)
            return
        if extent == "out of proportion":
            self._rest(content, sink, n_pieces, missing="a sheet reaches far beyond its cells")
            return
        try:
            workbook = _open(content)
        except BaseException as error:
            if not _is_damage(error):
                raise
            if not content.data.startswith(b"PK") and is_encrypted_workbook(content.data):
                data = decrypted(content.data, sink.passwords)
                self.extract(replace(content, data=data), sink)
                return
            self._rest(content, sink, n_pieces, missing=_said(error))
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
        self._rest(content, sink, n_pieces)

    def _rest(self, content: Content, sink: Sink, n_pieces: int, missing: str = "") -> None:
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
    return "damaged workbook" if isinstance(error, OSError | ValueError) else type(error).__name__


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
