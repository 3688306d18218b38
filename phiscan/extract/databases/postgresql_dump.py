"""Dumps of PostgreSQL in its own format (``pg_dump -Fc``): rows of tables after the names of their columns.

After the list of what is in it, the data of each table follows in pieces, each with its length before it.
"""

from __future__ import annotations

import re

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.labels import humanise
from phiscan.extract.core.unsupported import strings
from phiscan.extract.spreadsheets.rows import add_rows
from phiscan.model import FailReason

_COPY = re.compile(rb"COPY ([^\s(]{1,200}) \(([^)]{0,100000})\) FROM stdin;")
_DATA, _BLOBS = 1, 3
_INT_BYTES_AT, _FORMAT_AT, _CUSTOM = 8, 10, 1
_HEAD_BYTES = 11
_MOST_PIECES = 2_000_000
_MOST_COLUMNS = 1_664  # of a table of PostgreSQL
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}


def read_postgres_dump(content: Content, sink: Sink) -> None:
    """Add the definitions, ``#schema``, and the rows in blocks, ``#table2/row201``."""
    data = content.data
    start, blocks = _blocks(data)
    sink.add("\n".join(strings(data[:start])), content.place("schema"))
    is_custom = len(data) > _HEAD_BYTES and data[_FORMAT_AT] == _CUSTOM
    if start == len(data) and is_custom and _COPY.search(data):
        sink.fail(content.locator, FailReason.CORRUPT, "the data of the tables is damaged or cut")
        return
    tables = [
        (name.decode("utf-8", "replace"), _labels(columns)) for name, columns in _COPY.findall(data[:start])
    ]
    for number, packed in enumerate(blocks, 1):
        table = tables[number - 1] if number <= len(tables) else ("", [])
        place = f"table{number}"
        with sink.part(content.place(place)):
            _read_table(packed, table, content, sink, place)


def _labels(columns: bytes) -> list[str]:
    return [humanise(column.strip(' "')) for column in columns.decode("utf-8", "replace").split(",")]


def _read_table(
    packed: bytes, table: tuple[str, list[str]], content: Content, sink: Sink, place: str
) -> None:
    if packed[:1] == b"\x78":
        packed = sink.inflate(packed)
    elif packed.startswith((b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")):  # Zstandard, LZ4
        sink.add_member(content, f"{place}.dat", packed)
        return
    name, labels = table
    sink.add(f"Table: {name}", content.place(place))
    lines = packed.decode("utf-8", "replace").split("\n")
    rows = [_cells(line) for line in lines if line not in ("", "\\.")]
    is_known = all(len(row) == len(labels) for row in rows)
    add_rows(rows, labels if is_known else [""] * _MOST_COLUMNS, content, sink, within=f"{place}/")


def _cells(row: str) -> list[str]:
    cells = row.split("\t")
    return [
        "" if cell == "\\N" else _ESCAPE.sub(lambda one: _ESCAPES.get(one[1], one[1]), cell) for cell in cells
    ]


def _blocks(data: bytes) -> tuple[int, list[bytes]]:
    """Return where the blocks begin that follow each other up to the end, and the joined pieces of each."""
    at = data.find(b"\1\0", _HEAD_BYTES)
    n_left = _MOST_PIECES  # that are looked at in all, so that no file takes more time than its size
    while at >= 0 and n_left > 0:
        found: list[list[slice]] = []
        end: int | None = at
        while end is not None and end < len(data) and n_left > 0:
            pieces, end = _pieces(data, end)
            found.append(pieces)
            n_left -= len(pieces) + 1
        if end == len(data):
            return at, [b"".join(data[piece] for piece in pieces) for pieces in found]
        at = data.find(b"\1\0", at + 1)
    return len(data), []


def _pieces(data: bytes, at: int) -> tuple[list[slice], int | None]:
    """Return the offsets of a block's pieces, and its end; None where it is no block."""
    number, at = _integer(data, at + 1) if data[at] in (_DATA, _BLOBS) else (None, at)
    pieces: list[slice] = []
    while number is not None:
        size, at = _integer(data, at)
        if size == 0:
            return pieces, at
        if size is None or size < 0 or at + size > len(data):
            break
        pieces.append(slice(at, at + size))
        at += size
    return pieces, None


def _integer(data: bytes, at: int) -> tuple[int | None, int]:
    """Read a number: its sign, then its bytes, the lowest first."""
    size = data[_INT_BYTES_AT]
    if size not in (2, 4, 8) or at + 1 + size > len(data) or data[at] > 1:
        return None, at
    value = int.from_bytes(data[at + 1 : at + 1 + size], "little")
    return (-value if data[at] else value), at + 1 + size
