"""Access databases (Jet 4) of a few pages, as the program writes them: tables and long values."""

from __future__ import annotations

import struct
from dataclasses import dataclass

PAGE_BYTES = 4096
_HEADER_KEY = b"\xc7\xda\x39\x6b"
INTEGER, TEXT, OLE, MEMO = 4, 10, 11, 12
_CATALOG = (
    ("Id", INTEGER),
    ("ParentId", INTEGER),
    ("Name", TEXT),
    ("Type", INTEGER),
    ("Flags", INTEGER),
    ("LvProp", OLE),
)


@dataclass
class Table:
    """A table: its columns and its rows."""

    name: str
    columns: tuple[tuple[str, int], ...]
    rows: list[tuple[object, ...]]
    flags: int = 0


def access_file(*tables: Table, key: int = 0, version: int = 1, encryption: bytes = b"") -> bytes:
    """Return a database: its header, the catalog on page 2, then the pages of each table."""
    pages: list[bytes] = [b"", bytes(PAGE_BYTES)]
    entries = [
        (2 + 3 * number, 0, table.name, 1, table.flags, None) for number, table in enumerate(tables, 1)
    ]
    for table in (Table("MSysObjects", _CATALOG, entries), *tables):
        at = len(pages)
        rows = [_row(table.columns, row) for row in table.rows]
        pages += [_definition(table, at), _data_page(at, rows), _usage_map(at + 1)]
    pages[0] = _header(key, version, encryption)
    masked = (
        _rc4(page, struct.pack("<I", key ^ number)) if key and number else page
        for number, page in enumerate(pages)
    )
    return b"".join(masked)


def _header(key: int, version: int, encryption: bytes) -> bytes:
    page = bytearray(PAGE_BYTES)
    page[:4], page[4:19], page[0x14] = (
        b"\0\1\0\0",
        b"Standard Jet DB" if version < 2 else b"Standard ACE DB",
        version,
    )
    struct.pack_into("<HI", page, 0x3C, 1252, key)
    page[0x18 : 0x18 + 128] = _rc4(bytes(page[0x18 : 0x18 + 128]))
    page[0x299 : 0x299 + 2 + len(encryption)] = struct.pack("<H", len(encryption)) + encryption
    return bytes(page)


def _definition(table: Table, at: int) -> bytes:
    names = b"".join(struct.pack("<H", 2 * len(name)) + name.encode("utf-16-le") for name, _ in table.columns)
    columns = b""
    n_fixed = n_variable = 0
    for number, (_, kind) in enumerate(table.columns):
        is_fixed = kind == INTEGER
        size = 4 if is_fixed else 510 * (kind == TEXT)
        columns += struct.pack(
            "<BIHHHIBBIHH", kind, 0, number, n_variable, number, 0, is_fixed, 0, 0, 4 * n_fixed, size
        )
        n_fixed, n_variable = n_fixed + is_fixed, n_variable + (not is_fixed)
    head = bytearray(63)
    head[:2] = b"\2\1"
    struct.pack_into("<I", head, 8, 63 + len(columns) + len(names))
    struct.pack_into("<I", head, 16, len(table.rows))
    struct.pack_into("<BHHH", head, 40, 0x4E, len(table.columns), n_variable, len(table.columns))
    struct.pack_into("<II", head, 55, (at + 2) << 8, (at + 2) << 8)
    return (bytes(head) + columns + names).ljust(PAGE_BYTES, b"\0")


def _data_page(owner: int, rows: list[bytes]) -> bytes:
    page = bytearray(PAGE_BYTES)
    slots, end = [], PAGE_BYTES
    for row in rows:
        end -= len(row)
        page[end : end + len(row)] = row
        slots.append(end)
    struct.pack_into(f"<BBHIIH{len(slots)}H", page, 0, 1, 1, 0, owner, 0, len(slots), *slots)
    return bytes(page)


def _usage_map(page: int) -> bytes:
    return _data_page(0, [b"\0" + struct.pack("<I", 0) + (1 << page).to_bytes(64, "little")])


def _row(columns: tuple[tuple[str, int], ...], values: tuple[object, ...]) -> bytes:
    fixed = b"".join(
        struct.pack("<i", value or 0)
        for (_, kind), value in zip(columns, values, strict=True)
        if kind == INTEGER
    )
    variable = [
        _stored(kind, value) for (_, kind), value in zip(columns, values, strict=True) if kind != INTEGER
    ]
    offsets = [2 + len(fixed) + sum(map(len, variable[:number])) for number in range(len(variable) + 1)]
    present = sum((value is not None) << number for number, value in enumerate(values))
    table = struct.pack(f"<{len(offsets)}H", *reversed(offsets)) + struct.pack("<H", len(variable))
    body = struct.pack("<H", len(columns)) + fixed + b"".join(variable)
    return body + table + present.to_bytes((len(columns) + 7) // 8, "little")


def _stored(kind: int, value: object) -> bytes:
    if value is None:
        return b""
    if isinstance(value, bytes):
        raw = value
    else:
        text = str(value)
        is_short = len(text) > 2 and all(0 < ord(char) < 256 for char in text)
        raw = b"\xff\xfe" + text.encode("latin-1") if is_short else text.encode("utf-16-le")
    return raw if kind == TEXT else struct.pack("<III", len(raw) | 0x80000000, 0, 0) + raw


def _rc4(data: bytes, key: bytes = _HEADER_KEY) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % 4]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
