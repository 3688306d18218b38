"""What an OOXML workbook holds beside its cells: comments, text boxes, headers, properties, objects, caches.

Source of the caches of pivot tables and linked workbooks: ECMA-376, part 1, 18.10 and 18.14.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from phiscan.extract.core.unsupported import strings as runs_of_text
from phiscan.extract.office.open_xml import read_parts
from phiscan.extract.office.package import Package, properties_text
from phiscan.extract.office.part_values import is_said, part_values
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.spreadsheets.rows import SEPARATOR, lay_out
from phiscan.extract.spreadsheets.sheet_xml import CELL_PARTS, Cells
from phiscan.extract.structured.xml_parsing import local_name, parse_damaged
from phiscan.model import FailReason

_DEFINITION = re.compile(r"xl/pivotcache/pivotcachedefinition(\d*)\.xml", re.IGNORECASE)
_LINK = re.compile(r"xl/externallinks/externallink\d*\.xml", re.IGNORECASE)
_SHEET = re.compile(r"xl/worksheets/.*\.xml", re.IGNORECASE)
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


_BESIDE = (
    r"xl/(?=comments|threadedcomments|drawings/drawing|charts/|diagrams/data)(?:.*/)?([^/]*)\.xml",
    r"\1",
    paragraphs_text,
)
_HEADER_FOOTER = re.compile(rb"<(?:\w+:)?headerFooter\b[^>]*>(.*?)</(?:\w+:)?headerFooter>", re.DOTALL)
_MOST_SHEET_BYTES = 64 * 1024**2  # of a sheet in which headers and footers are looked for
_BETWEEN_TAGS = re.compile(rb">([^<]+)<")
_HEADER_CODES = re.compile(r"&(?:\"[^\"]*\"|[A-Z]|\d+)")


def read_workbook_parts(package: Package, *, cells: bool) -> bool:
    """Add what calamine leaves out; with ``cells`` the shared strings too, because it read nothing."""
    content, sink = package.content, package.sink
    found = False
    if cells:
        found = _read_cells(package, _sheets(package))
    elif lost := _unlisted(package):
        _read_cells(package, lost)
    read_parts(package, (_BESIDE,))
    for name in package.names:
        is_sheet = name.lower().startswith(("xl/worksheets/", "xl/chartsheets/", "xl/dialogsheets/"))
        is_markup = is_sheet and name.lower().endswith(".xml")
        if is_markup and _is_small(package, name, "headers, footers and literals of formulas"):
            _headers_footers(package, name)
    read_caches(package)
    for name in package.names:
        if name.lower().endswith("sharedstrings.xml") and _is_small(package, name, "texts of no cell"):
            package.values += unused_strings(package.read(name), sink.text())
    sink.add(properties_text(package), content.place("properties"))
    for member in package.members():
        sink.read_member(member)
    return found


def _is_small(package: Package, name: str, what: str) -> bool:
    """Tell a part that is searched; of a larger one record what is not read."""
    n_bytes = package.n_bytes(name)
    if n_bytes > _MOST_SHEET_BYTES:
        said = f"{what} in {n_bytes} bytes are not read"
        package.sink.fail(package.content.place(name), FailReason.TOO_LARGE, said)
    return n_bytes <= _MOST_SHEET_BYTES


def _headers_footers(package: Package, name: str) -> None:
    """Add the page headers and footers of a sheet; ``&C&"Arial"&12`` are codes for place and font."""
    data = package.read(name)
    package.values += sheet_values(data)
    for part in _HEADER_FOOTER.findall(data):
        lines = (html.unescape(text.decode("utf-8", "replace")) for text in _BETWEEN_TAGS.findall(part))
        text = "\n".join(_HEADER_CODES.sub(" ", line).strip() for line in lines)
        package.sink.add(text, package.content.place("header"))


def _sheets(package: Package) -> list[str]:
    return [name for name in package.names if _SHEET.fullmatch(name)]


def _unlisted(package: Package) -> list[str]:
    """Return the sheets that the workbook does not refer to any more."""
    listed = "xl/_rels/workbook.xml.rels"
    targets = package.read(listed) if listed in package.names else b""
    return [name for name in _sheets(package) if targets and name.rpartition("/")[2].encode() not in targets]


def _read_cells(package: Package, sheets: list[str]) -> bool:
    """Read the cells of sheets by hand: of a workbook that calamine refuses, and what none refers to."""
    found = False
    _titles(package)
    parts = {name.lower().rpartition("/")[2]: name for name in package.names}
    roots = [package.parse(parts[name]) if name in parts else None for name in CELL_PARTS]
    cells = Cells.of(*(root.iter() if root is not None else () for root in roots))
    for name in sheets:
        root = package.parse(name)
        rows = [] if root is None else cells.rows(e for e in root.iter() if local_name(e) == "row")
        sheet = name.rpartition("/")[2].removesuffix(".xml")
        for number, line in lay_out(rows):
            found = True
            package.sink.add(line, package.content.place(f"{sheet}!A{number}"))
    for name in () if sheets else package.names:
        if name.lower().endswith(".bin") and name.lower().startswith(("xl/worksheets/", "xl/sharedstrings")):
            found = True
            place = package.content.place(name.rpartition("/")[2])
            package.sink.add("\n".join(runs_of_text(package.read(name))), place)
            package.sink.fail(place, FailReason.UNSUPPORTED, "only the runs of text in its cells are read")
    return found


def _titles(package: Package) -> None:
    """Add the titles of the sheets: a title may be a patient's name."""
    root = package.parse("xl/workbook.xml") if "xl/workbook.xml" in package.names else None
    for element in root.iter() if root is not None else ():
        if local_name(element) == "sheet" and element.get("name"):
            package.sink.add(f"Sheet: {element.get('name')}", package.content.place("sheets"))


_CELLS_BEGIN = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_FORMULA = re.compile(rb"<f(?:\s[^<>]*)?>([^<]*(?:\"|&quot;)[^<]*)<")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_ITEM = re.compile(rb"<(?:\w+:)?si(?:\s[^<>]*)?>(.*?)</(?:\w+:)?si>", re.DOTALL)
_ONE_TEXT = re.compile(rb"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]*)</(?:\w+:)?t>")
_PHONETIC = re.compile(rb"<(?:\w+:)?rPh\b.*?</(?:\w+:)?rPh>", re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>")
_MOST_COMPARED = 50_000_000  # characters of text, times strings looked for in it


def sheet_values(data: bytes) -> list[str]:
    """Return the values of a sheet that are no cells, and the texts within its formulas."""
    begin = _CELLS_BEGIN.search(data)
    end = data.rfind(_CELLS_END)
    if begin is None or end < begin.start():
        rest = data
        cells = b""
    else:
        rest = data[: begin.start()] + data[end + len(_CELLS_END) :]
        cells = data[begin.start() : end]
    root, _ = parse_damaged(rest)
    found = part_values(root, rest) if root is not None else []
    return found + _literals(cells)


def _literals(cells: bytes) -> list[str]:
    found: dict[str, None] = {}
    for match in _FORMULA.finditer(cells):
        formula = html.unescape(match[1].decode("utf-8", "replace"))
        found.update(dict.fromkeys(text for text in _QUOTED.findall(formula) if is_said(text)))
    return list(found)


def unused_strings(data: bytes, text: str) -> list[str]:
    """Return the shared strings of a workbook that are in no cell any more, by comparison with its text."""
    parts = text.replace("\n", SEPARATOR).split(SEPARATOR)
    shown = {*parts, *(part.partition(": ")[2] for part in parts)}
    found: dict[str, None] = {}
    for item in _ITEM.findall(data):
        plain = _ONE_TEXT.fullmatch(item)
        raw = plain[1] if plain else _TAG.sub(b"", _PHONETIC.sub(b"", item))
        value = html.unescape(raw.decode("utf-8", "replace")).strip()
        if value not in shown and is_said(value):
            found[" ".join(value.split())] = None
    budget = _MOST_COMPARED // max(len(text), 1)
    squeezed = " ".join(text.split()) if found else ""
    return [value for number, value in enumerate(found) if number > budget or value not in squeezed]
