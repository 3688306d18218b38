"""Lotus 1-2-3 and Quattro Pro workbooks of DOS: cells as rows with their heads.

Each record is a kind, a length and a body. Numbers are written in full: a converter that rounds them loses
hospital numbers. Source: the worksheet file format published by Lotus (1986), and its records of release 3.
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import read_strings
from phiscan.extract.databases.records import cell_text
from phiscan.extract.spreadsheets.rows import lay_out
from phiscan.model import FailReason

_END = 0x01
_HEAD_BYTES = 4
_MOST_CELLS = 2_000_000
_PREFIXES = "'\"^\\|"  # how a label is aligned
_EXPONENT_BIAS, _WHOLE_BITS = 16383, 63
# Of SMALLNUM: what a number is multiplied with, or divided by.
_SCALES = (5000.0, 500.0, 1 / 20, 1 / 200, 1 / 2000, 1 / 20_000, 1 / 16, 1 / 64)

Cell = tuple[int, int, int, str]  # sheet, row, column, text


class LotusExtractor:
    """Read WKS, WK1, WK3, WK4, WQ1."""

    media_types = frozenset({"application/vnd.lotus-1-2-3", "application/x-quattro-pro"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per row, ``#sheet1!A2``; a damaged end is recorded.

        Raises:
            ExtractError: unsupported; there is neither a cell nor a run of text in it.
        """
        sheets: defaultdict[int, defaultdict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        is_whole = False
        for number, cell in enumerate(_cells(content.data)):
            if cell is None:
                is_whole = True
                break
            if number > _MOST_CELLS:
                break
            sheet, row, column, text = cell
            sheets[sheet][row][column] = text
        for sheet, rows in sorted(sheets.items()):
            laid = lay_out((row + 1, _in_order(cells)) for row, cells in sorted(rows.items()))
            for number, line in laid:
                sink.add(line, content.place(f"sheet{sheet + 1}!A{number}"))
        if not sheets:
            read_strings(content, "application/vnd.lotus-1-2-3", sink, "no cell that can be read")
        elif not is_whole:
            sink.fail(content.locator, FailReason.CORRUPT, "cut short")


def _in_order(cells: dict[int, str]) -> list[str]:
    """Return the cells of a row with the empty ones between them."""
    return [cells.get(column, "") for column in range(max(cells) + 1)]


def _cells(data: bytes) -> Iterator[Cell | None]:
    """Yield the cells that hold anything, then None where the file ends as it should."""
    at = 0
    while at + _HEAD_BYTES <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        at += _HEAD_BYTES
        if at + length > len(data):
            return
        if kind == _END:
            yield None
            return
        read = _READERS.get(kind)
        try:
            cell = read(data[at : at + length]) if read else None
        except (struct.error, IndexError, OverflowError):
            cell = None
        if cell is not None and cell[3]:
            yield cell
        at += length


def _label(text: bytes) -> str:
    shown = decode(text.partition(b"\0")[0])[0]
    return shown[1:].strip() if shown[:1] and shown[0] in _PREFIXES else shown.strip()


def _old(convert: Callable[[bytes], str]) -> Callable[[bytes], Cell]:
    """Return the reader of a cell of release 1 and 2: format, column, row, value."""

    def read(body: bytes) -> Cell:
        column, row = struct.unpack_from("<HH", body, 1)
        return 0, row, column & 0xFF, convert(body[5:])

    return read


def _new(convert: Callable[[bytes], str]) -> Callable[[bytes], Cell]:
    """Return the reader of a cell of release 3: row, sheet, column, value."""

    def read(body: bytes) -> Cell:
        row, sheet, column = struct.unpack_from("<HBB", body)
        return sheet, row, column, convert(body[4:])

    return read


def _double(body: bytes) -> str:
    return cell_text(struct.unpack_from("<d", body)[0])


def _integer(body: bytes) -> str:
    return str(struct.unpack_from("<h", body)[0])


def _formula(body: bytes) -> str:
    """Return the value that a formula came to; one that came to a text is followed by a record of its own."""
    value = struct.unpack_from("<d", body)[0]
    return cell_text(value) if math.isfinite(value) else ""


def _extended(body: bytes) -> str:
    """Return a number of ten bytes."""
    whole, sign_and_exponent = struct.unpack_from("<QH", body)
    if not whole or sign_and_exponent & 0x7FFF == 0x7FFF:  # noqa: PLR2004 (not a number: a text, or an error)
        return ""
    value = math.ldexp(whole, (sign_and_exponent & 0x7FFF) - _EXPONENT_BIAS - _WHOLE_BITS)
    return cell_text(-value if sign_and_exponent & 0x8000 else value)


def _small(body: bytes) -> str:
    """Return a number of two bytes: a whole one, or one with a scale."""
    packed = struct.unpack_from("<h", body)[0]
    value = packed >> 1
    return cell_text(float(value) if not packed & 1 else (value >> 3) * _SCALES[value & 7])


def _four_bytes(body: bytes) -> str:
    """Return a number of four bytes: a whole one, its sign, and a power of ten."""
    packed = struct.unpack_from("<I", body)[0]
    value, factor = float(packed >> 6), 10.0 ** (packed & 0x0F)
    value = value / factor if packed & 0x10 else value * factor
    return cell_text(-value if packed & 0x20 else value)


_READERS: dict[int, Callable[[bytes], Cell]] = {
    0x0D: _old(_integer),
    0x0E: _old(_double),
    0x0F: _old(_label),
    0x10: _old(_formula),
    0x33: _old(_label),  # the text that a formula came to
    0x16: _new(_label),
    0x17: _new(_extended),
    0x18: _new(_small),
    0x19: _new(_extended),
    0x1A: _new(_label),
    0x25: _new(_four_bytes),
    0x27: _new(_double),
    0x28: _new(_double),
}
