"""Caches of pivot tables and of linked workbooks: records after their field names.

Source: ECMA-376, part 1, 18.10 (pivot tables) and 18.14 (external links).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from phiscan.extract.office.package import Package, local_name
from phiscan.extract.spreadsheets.rows import SEPARATOR, lay_out
from phiscan.model import FailReason

_DEFINITION = re.compile(r"xl/pivotcache/pivotcachedefinition(\d*)\.xml", re.IGNORECASE)
_LINK = re.compile(r"xl/externallinks/externallink\d*\.xml", re.IGNORECASE)
_MIDNIGHT = "T00:00:00"
_MOST_RECORDS = 1_000_000


def read_caches(package: Package) -> None:
    """Add the records of every pivot cache, ``#pivot1``, and the cached cells of linked workbooks."""
    by_name = {name.lower(): name for name in package.names}
    for name in package.names:
        if match := _DEFINITION.fullmatch(name):
            records = by_name.get(f"xl/pivotcache/pivotcacherecords{match[1]}.xml")
            _read_pivot(package, name, records, match[1] or "1")
        elif _LINK.fullmatch(name):
            _read_link(package, name)


def _read_pivot(package: Package, definition: str, records: str | None, number: str) -> None:
    root = package.parse(definition)
    if root is None:
        return
    names: list[str] = []
    shared: list[list[str]] = []
    for field in root.iter():
        if local_name(field) == "cacheField":
            names.append(" ".join(field.get("name", "").split()))
            items = next((child for child in field if local_name(child) == "sharedItems"), None)
            shared.append([] if items is None else [_value(item) for item in items])
    place = package.content.place(f"pivot{number}")
    table = package.parse(records) if records is not None else None
    if table is not None and len(table) > _MOST_RECORDS:
        said = f"records {_MOST_RECORDS + 1} to {len(table)} are not read"
        package.sink.fail(place, FailReason.TOO_LARGE, said)
    used: list[set[int]] = [set() for _ in names]
    lines = [] if table is None else list(_lines(table, names, shared, used))
    unused = [
        f"{name}: {value}"
        for name, values, seen in zip(names, shared, used, strict=True)
        for index, value in enumerate(values)
        if value and index not in seen
    ]
    package.sink.add(SEPARATOR.join(names), place)
    package.sink.add("\n".join([*lines, *unused]), place)


def _lines(table: Any, names: list[str], shared: list[list[str]], used: list[set[int]]) -> Iterator[str]:
    for count, record in enumerate(table):
        if count >= _MOST_RECORDS:
            return
        if local_name(record) != "r":
            continue
        parts = []
        for index, (name, item) in enumerate(zip(names, record, strict=False)):
            value = _value(item)
            if local_name(item) == "x" and value.isdecimal():
                at = int(value)
                used[index].add(at)
                value = shared[index][at] if at < len(shared[index]) else ""
            if value:
                parts.append(f"{name}: {value}" if name else value)
        if parts:
            yield SEPARATOR.join(parts)


def _value(item: Any) -> str:
    return " ".join(item.get("v", "").removesuffix(_MIDNIGHT).split())


def _read_link(package: Package, name: str) -> None:
    root = package.parse(name)
    for sheet in root.iter() if root is not None else ():
        if local_name(sheet) not in ("sheetData", "ddeItem"):
            continue
        rows = [
            (number, ["".join(cell.itertext()) for cell in row if local_name(cell) == "cell"])
            for number, row in enumerate(sheet, 1)
        ]
        lines = "\n".join(line for _, line in lay_out(rows))
        package.sink.add(lines, package.content.place(name.rpartition("/")[2].removesuffix(".xml")))
