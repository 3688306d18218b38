"""Compound files, Visual Basic projects and legacy office files for tests, written by hand.

Source: [MS-CFB] (through the writer of embedded storages), [MS-OVBA] 2.3.4.2, [MS-DOC] 2.5.1, [MS-XLS] 2.1.4.
"""

import struct
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

from phiscan.extract.office import storage

Tree = Mapping[str, Any]  # streams and storages by their names


def compound(tree: Tree) -> bytes:
    """Return a compound file with streams and storages by their names."""
    return storage.storage_file(_Tree(tree), ())


class _Tree:
    """What the writer asks of an opened compound file, from a mapping."""

    def __init__(self, tree: Tree) -> None:
        self._entries: dict[tuple[str, ...], bytes | None] = {}
        self._add((), tree)

    def _add(self, path: tuple[str, ...], tree: Tree) -> None:
        for name, value in tree.items():
            below = (*path, name)
            self._entries[below] = value if isinstance(value, bytes) else None
            if not isinstance(value, bytes):
                self._add(below, value)

    def listdir(self, *, streams: bool, storages: bool) -> list[list[str]]:
        return [
            list(path)
            for path, data in self._entries.items()
            if (streams and data is not None) or (storages and data is None)
        ]

    def get_type(self, path: list[str]) -> int:
        return 1 if self._entries[tuple(path)] is None else 2

    def openstream(self, path: list[str]) -> BytesIO:
        return BytesIO(self._entries[tuple(path)] or b"")


def packed(source: bytes) -> bytes:
    """Return source text as a compressed container of literal tokens."""
    out = b"\x01"
    for start in range(0, len(source), 3000):
        piece = source[start : start + 3000]
        body = b"".join(b"\0" + piece[at : at + 8] for at in range(0, len(piece), 8))
        out += struct.pack("<H", 0xB000 | (len(body) - 1)) + body
    return out


def project(name: str, source: str, *, offset: int = 700) -> Tree:
    """Return the storage of a Visual Basic project with one module."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HI", kind, len(data)) + data

    version = struct.pack("<HIIH", 0x09, 4, 1, 1)
    directory = record(0x03, struct.pack("<H", 1252)) + version + record(0x19, name.encode())
    directory += record(0x1A, name.encode()) + record(0x31, struct.pack("<I", offset))
    return {
        "VBA": {"dir": packed(directory), name: b"\xaa" * offset + packed(source.encode("cp1252"))},
        "PROJECT": b'Name="VBAProject"\r\n',
    }


def word_97(text: str, table: bytes = b"", further: bytes = b"") -> dict[str, bytes]:
    """Return the streams of a Word file: text in one piece, further strings in the table, unused bytes."""
    header = bytearray(0x600)
    struct.pack_into("<HH", header, 0, 0xA5EC, 0xC1)
    pieces = b"\x02" + struct.pack("<IIIHIH", 16, 0, len(text), 0, len(header), 0)
    struct.pack_into("<II", header, 0x1A2, 0, len(pieces))
    struct.pack_into("<i", header, 0x4C, len(text))
    body = bytes(header) + text.encode("utf-16-le") + bytes(40) + further
    return {"WordDocument": body.ljust(4096, b"\0"), "0Table": pieces + table}


def workbook_97(globals_: Iterable[tuple[int, bytes]] = (), cells: Iterable[tuple[int, bytes]] = ()) -> bytes:
    """Return the stream of a workbook with one sheet and further records in its globals or its sheet."""

    def packed_records(items: Iterable[tuple[int, bytes]]) -> bytes:
        return b"".join(struct.pack("<HH", kind, len(body)) + body for kind, body in items)

    def beginning(place: int) -> bytes:
        sheet = struct.pack("<IBBBB", place, 0, 0, 6, 0) + b"Sheet1"
        start = struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)
        return packed_records(
            [(0x809, start), (0x42, struct.pack("<H", 1200)), *globals_, (0x85, sheet), (0x0A, b"")]
        )

    room = struct.pack("<HHHHB", 0, 0, 0, 4, 0) + b"Room"
    sheet = [(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)), (0x204, room), *cells, (0x0A, b"")]
    return (beginning(len(beginning(0))) + packed_records(sheet)).ljust(4096, b"\0")


def slide_record(version: int, kind: int, body: bytes) -> bytes:
    """Return one record of a PowerPoint stream."""
    return struct.pack("<HHI", version, kind, len(body)) + body


def native(label: bytes, path: bytes, data: bytes) -> bytes:
    """Return the data of a packager's object, without the length before it."""
    names = label + b"\0" + path + b"\0" + struct.pack("<HHI", 0, 3, len(path) + 1) + path + b"\0"
    return struct.pack("<H", 2) + names + struct.pack("<I", len(data)) + data
