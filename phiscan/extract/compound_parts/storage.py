"""A storage within a compound file as a compound file of its own, for the reader of its application.

Source: [MS-CFB] 2.2 (header), 2.3 (sectors), 2.6 (directory entries).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

_SECTOR, _MINI_SECTOR, _CUTOFF = 512, 64, 4096
_END, _FREE, _TABLE, _NONE = -2, -1, -3, -1
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER_TABLES = 109  # sectors of the table that the header itself can name
_MOST_ENTRIES, _MOST_DEPTH = 2_000, 16
_MOST_BYTES = (_HEADER_TABLES - 1) * _SECTOR // 4 * _SECTOR  # that the table in the header reaches
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_Path = tuple[str, ...]
_Children = dict[_Path, list[_Path]]
_POOLS = re.compile(r"(?:ObjectPool/[^/]+|MBD[0-9A-F]{8})", re.IGNORECASE)
_READ_APART = frozenset({"Package", "CONTENTS"})  # by the reader of the file around the object


@dataclass(slots=True)
class _Entry:
    """One directory entry."""

    name: str
    kind: int
    data: bytes = field(default=b"", repr=False)
    child: int = _NONE
    left: int = _NONE
    right: int = _NONE
    start: int = _END


def embedded_storages(ole: Any, content: Content, sink: Sink) -> Iterator[Content]:
    """Yield the objects that other applications put into an opened DOC or XLS, as compound files."""
    number = 0
    below = _children(ole)
    for path, entries in below.items():
        names = [entry[-1] for entry in entries]
        if not _POOLS.fullmatch("/".join(path)) or _READ_APART.intersection(names):
            continue
        number += 1
        name = f"embedded{number}"
        try:
            sink.take_member()
            data = storage_file(ole, path, below)
            sink.spend(len(data))
        except ExtractError as error:
            sink.fail(content.place(name), FailReason(error.reason), error.detail)
        except (OSError, ValueError):
            sink.fail(content.place(name), FailReason.CORRUPT, "damaged object of another application")
        else:
            yield content.member(name, data)


def _children(ole: Any) -> _Children:
    """Return what each storage of an opened file holds."""
    below: _Children = {}
    for entry in ole.listdir(streams=True, storages=True):
        below.setdefault(tuple(entry[:-1]), []).append(tuple(entry))
    return below


def storage_file(ole: Any, path: _Path, below: _Children | None = None) -> bytes:
    """Return the storage at ``path`` as a compound file, by copying its streams.

    ``below`` lists what each storage holds.

    Raises:
        ExtractError: too_large, or nested_too_deep.
    """
    entries = [_Entry("Root Entry", _ROOT)]
    _gather(ole, _children(ole) if below is None else below, path, entries, 0)
    if sum(len(entry.data) for entry in entries) > _MOST_BYTES:
        raise ExtractError(FailReason.TOO_LARGE, f"an embedded object of more than {_MOST_BYTES} bytes")
    return _written(entries)


def native_file(data: bytes) -> bytes:
    """Return the data of a packager's object as the compound file in which other documents keep it."""
    stream = len(data).to_bytes(4, "little") + data
    return _written([_Entry("Root Entry", _ROOT, child=1), _Entry("\x01Ole10Native", _STREAM, stream)])


def _gather(ole: Any, below: _Children, path: _Path, entries: list[_Entry], parent: int) -> None:
    """Append the entries below a storage, and link them as a balanced tree."""
    if len(path) > _MOST_DEPTH:
        raise ExtractError(FailReason.NESTED_TOO_DEEP, "storages within storages")
    children = []
    for entry in below.get(path, ()):
        if len(entries) > _MOST_ENTRIES:
            raise ExtractError(FailReason.TOO_LARGE, f"more than {_MOST_ENTRIES} streams")
        is_storage = ole.get_type(list(entry)) == _STORAGE
        children.append(len(entries))
        entries.append(_Entry(entry[-1], _STORAGE if is_storage else _STREAM))
        if is_storage:
            _gather(ole, below, entry, entries, children[-1])
        else:
            entries[children[-1]].data = bytes(ole.openstream(list(entry)).read())
    children.sort(key=lambda index: (len(entries[index].name), entries[index].name.upper()))
    entries[parent].child = _tree(entries, children)


def _tree(entries: list[_Entry], children: list[int]) -> int:
    if not children:
        return _NONE
    middle = len(children) // 2
    root = children[middle]
    entries[root].left = _tree(entries, children[:middle])
    entries[root].right = _tree(entries, children[middle + 1 :])
    return root


class _Sectors:
    """Sectors of one size with their table of successors."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.pieces: list[bytes] = []
        self.table: list[int] = []

    def put(self, data: bytes) -> int:
        """Append a stream; return its first sector."""
        if not data:
            return _END
        start = len(self.table)
        n_sectors = -(-len(data) // self.n_bytes)
        self.pieces.append(data.ljust(n_sectors * self.n_bytes, b"\0"))
        self.table += [*range(start + 1, start + n_sectors), _END]
        return start


def _numbers(values: list[int]) -> bytes:
    data = struct.pack(f"<{len(values)}i", *values)
    return data + b"\xff" * (-len(data) % _SECTOR)


def _written(entries: list[_Entry]) -> bytes:
    sectors, minis = _Sectors(_SECTOR), _Sectors(_MINI_SECTOR)
    for entry in entries[1:]:
        if entry.kind == _STREAM:
            entry.start = (sectors if len(entry.data) >= _CUTOFF else minis).put(entry.data)
    entries[0].data = b"".join(minis.pieces)
    entries[0].start = sectors.put(entries[0].data)
    mini_table = _numbers(minis.table)
    mini_start = sectors.put(mini_table)
    directory_start = sectors.put(_directory(entries))
    n_tables = 1
    while len(sectors.table) + n_tables > n_tables * (_SECTOR // 4):
        n_tables += 1
    first = len(sectors.table)
    table = _numbers([*sectors.table, *[_TABLE] * n_tables])
    places = [*range(first, first + n_tables), *[_FREE] * (_HEADER_TABLES - n_tables)]
    header = _MAGIC + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack(
        "<II2iIiIiI",
        0,
        n_tables,
        directory_start,
        0,
        _CUTOFF,
        mini_start,
        len(mini_table) // _SECTOR,
        _END,
        0,
    )
    return b"".join([header, struct.pack(f"<{_HEADER_TABLES}i", *places), *sectors.pieces, table])


def _directory(entries: list[_Entry]) -> bytes:
    packed = []
    for entry in entries:
        name = entry.name.encode("utf-16-le", "replace")[:62] + b"\0\0"
        links = struct.pack("<64sHBB3i", name, len(name), entry.kind, 1, entry.left, entry.right, entry.child)
        packed.append(links + bytes(36) + struct.pack("<iQ", entry.start, len(entry.data)))
    free = struct.pack("<64xHBB3i48x", 0, 0, 0, _NONE, _NONE, _NONE)
    return b"".join([*packed, *[free] * (-len(packed) % 4)])
