"""What an OOXML workbook holds beside its cells: comments, text boxes, headers, properties, objects, caches.

Source of the caches of pivot tables and linked workbooks: ECMA-376, part 1, 18.10 and 18.14.
"""

from __future__ import annotations

import html
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from phiscan.extract.office.package import Package, local_name, parse_damaged, properties_text
from phiscan.extract.office.part_values import is_said, part_values
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.spreadsheets.rows import SEPARATOR, Row, lay_out, unescaped
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


_TEXT_PARTS = ("xl/comments", "xl/threadedcomments", "xl/drawings/drawing", "xl/charts/", "xl/diagrams/data")
_HEADER_FOOTER = re.compile(rb"<(?:\w+:)?headerFooter\b[^>]*>(.*?)</(?:\w+:)?headerFooter>", re.DOTALL)
_MOST_SHEET_BYTES = 64 * 1024**2  # of a sheet in which headers and footers are looked for
_BETWEEN_TAGS = re.compile(rb">([^<]+)<")
_HEADER_CODES = re.compile(r"&(?:\"[^\"]*\"|[A-Z]|\d+)")


def read_parts(package: Package, *, cells: bool) -> bool:
    """Add what calamine leaves out; with ``cells`` the shared strings too, because it read nothing."""
    content, sink = package.content, package.sink
    found = False
    if cells:
        found = _read_cells(package, _sheets(package)) or read_binary_cells(package)
    elif lost := _unlisted(package):
        _read_cells(package, lost)
    for name in package.names:
        lowered = name.lower()
        if lowered.endswith(".xml") and lowered.startswith(_TEXT_PARTS):
            root = package.parse(name)
            if root is not None:
                text = paragraphs_text(root)
                sink.add(text, content.place(name.rpartition("/")[2].removesuffix(".xml")))
        elif (
            lowered.startswith(("xl/worksheets/", "xl/chartsheets/", "xl/dialogsheets/"))
            and lowered.endswith(".xml")
            and _is_small(package, name, "headers, footers and literals of formulas")
        ):
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
    strings: list[str] = []
    for name in package.names:
        if name.lower().endswith("sharedstrings.xml"):
            root = package.parse(name)
            if root is not None:
                strings = [_plain(item) for item in root if local_name(item) == "si"]
    found = False
    _titles(package)
    for name in sheets:
        root = package.parse(name)
        rows = (
            [
                (index, [_cell(cell, strings) for cell in row if local_name(cell) == "c"])
                for index, row in enumerate((e for e in root.iter() if local_name(e) == "row"), 1)
            ]
            if root is not None
            else []
        )
        sheet = name.rpartition("/")[2].removesuffix(".xml")
        for number, line in lay_out(rows):
            found = True
            package.sink.add(line, package.content.place(f"{sheet}!A{number}"))
    return found


def _titles(package: Package) -> None:
    """Add the titles of the sheets: a title may be a patient's name."""
    root = package.parse("xl/workbook.xml") if "xl/workbook.xml" in package.names else None
    for element in root.iter() if root is not None else ():
        if local_name(element) == "sheet" and element.get("name"):
            package.sink.add(f"Sheet: {element.get('name')}", package.content.place("sheets"))


def _plain(element: Any) -> str:
    return unescaped("".join(e.text or "" for e in element.iter() if local_name(e) == "t"))


def _cell(cell: Any, strings: list[str]) -> str:
    kind = cell.get("t", "")
    if kind == "inlineStr":
        return _plain(cell)
    value = next((e.text or "" for e in cell if local_name(e) == "v"), "")
    if kind == "s" and value.isdecimal() and int(value) < len(strings):
        return strings[int(value)]
    return value


_CELLS_BEGIN = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_FORMULA = re.compile(rb"<f(?:\s[^<>]*)?>([^<]*(?:\"|&quot;)[^<]*)<")
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_ITEM = re.compile(rb"<(?:\w+:)?si(?:\s[^<>]*)?>(.*?)</(?:\w+:)?si>", re.DOTALL)
_ONE_TEXT = re.compile(rb"<(?:\w+:)?t(?:\s[^<>]*)?>([^<]*)</(?:\w+:)?t>")
_PHONETIC = re.compile(rb"<(?:\w+:)?rPh\b.*?</(?:\w+:)?rPh>", re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>")
_NUMBERED = re.compile(r"&#(?:[xX]([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")
_NAMES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))  # the last one last
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


def _unescaped(value: str) -> str:
    """Return a text of XML without its references: its five names, and numbers (many in some workbooks)."""
    if "&" not in value:
        return value
    if "&#" in value:
        value = _NUMBERED.sub(_character, value)
    for name, char in _NAMES:
        value = value.replace(name, char)
    return value


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code <= sys.maxunicode else ""


def unused_strings(data: bytes, text: str) -> list[str]:
    """Return the shared strings of a workbook that are in no cell any more, by comparison with its text."""
    parts = text.replace("\n", SEPARATOR).split(SEPARATOR)
    shown = {*parts, *(part.partition(": ")[2] for part in parts)}
    found: dict[str, None] = {}
    for item in _ITEM.findall(data):
        plain = _ONE_TEXT.fullmatch(item)
        raw = plain[1] if plain else _TAG.sub(b"", _PHONETIC.sub(b"", item))
        value = _unescaped(raw.decode("utf-8", "replace")).strip()
        if value not in shown and is_said(value):
            found[" ".join(value.split())] = None
    budget = _MOST_COMPARED // max(len(text), 1)
    squeezed = " ".join(text.split()) if found else ""
    return [value for number, value in enumerate(found) if number > budget or value not in squeezed]


# Cells of a binary workbook (XLSB) read by hand, where calamine cannot: a sheet that reaches too far.
# Source: [MS-XLSB] 2.1.4 (records), 2.4 (cells, shared strings).

SHEET = re.compile(r"xl/worksheets/[^/]*\.bin$", re.IGNORECASE)
_ROW, _SHARED_ITEM = 0, 19
_RK, _BOOLEAN, _REAL, _STRING, _SHARED = 2, 4, 5, 6, 7
_FORMULA_STRING, _FORMULA_REAL = 8, 9
_CELLS = range(1, 12)
_BLANK = 1
_AT_VALUE = 8  # after the column and the style


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield ``(kind, body)`` of each record; a damaged stream ends early."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at, 2)
        size, at = _number(data, at, 4)
        yield kind, data[at : at + size]
        at += size


def _number(data: bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    value = 0
    for place in range(most):
        if at >= len(data):
            return value, at
        value |= (data[at] & 0x7F) << 7 * place
        at += 1
        if not data[at - 1] & 0x80:
            break
    return value, at


def extent(data: bytes) -> tuple[int, int, int]:
    """Return the last row, the last column and the number of cells with a value of one sheet."""
    last_row = last_column = n_cells = row = 0
    for kind, body in records(data):
        if kind == _ROW and len(body) >= 4:  # noqa: PLR2004 (a number)
            row = struct.unpack_from("<I", body)[0]
        elif kind in _CELLS and kind != _BLANK and len(body) >= _AT_VALUE:
            n_cells += 1
            last_row = max(last_row, row + 1)
            last_column = max(last_column, struct.unpack_from("<I", body)[0] + 1)
    return last_row, last_column, n_cells


def read_binary_cells(package: Package) -> bool:
    """Add the cells of every sheet, a row to a segment; tell whether there was any."""
    strings: list[str] = []
    for name in package.names:
        if name.lower() == "xl/sharedstrings.bin":
            strings = [_wide(body, 1) for kind, body in records(package.read(name)) if kind == _SHARED_ITEM]
    found = False
    for name in package.names:
        if not SHEET.match(name):
            continue
        place = name.rpartition("/")[2].removesuffix(".bin")
        with package.sink.part(package.content.place(place)):
            for number, line in lay_out(_rows(package.read(name), strings)):
                found = True
                package.sink.add(line, package.content.place(f"{place}!A{number}"))
    return found


def _rows(data: bytes, strings: list[str]) -> Iterator[Row]:
    cells: list[str] = []
    number = 1
    for kind, body in records(data):
        if kind == _ROW and len(body) >= 4:  # noqa: PLR2004 (a number)
            if cells:
                yield number, cells
            number, cells = struct.unpack_from("<I", body)[0] + 1, []
        elif kind in _CELLS and len(body) > _AT_VALUE:
            cells.append(_cell_value(kind, body, strings))
    if cells:
        yield number, cells


def _cell_value(kind: int, body: bytes, strings: list[str]) -> str:
    try:
        if kind in (_STRING, _FORMULA_STRING):
            return _wide(body, _AT_VALUE)
        if kind == _SHARED:
            return strings[int(struct.unpack_from("<I", body, _AT_VALUE)[0])]
        if kind in (_REAL, _FORMULA_REAL):
            return _shown(float(struct.unpack_from("<d", body, _AT_VALUE)[0]))
        if kind == _RK:
            return _shown(_packed(struct.unpack_from("<I", body, _AT_VALUE)[0]))
    except (struct.error, IndexError):
        return ""
    return str(bool(body[_AT_VALUE])) if kind == _BOOLEAN else ""


def _packed(value: int) -> float:
    """Return a number packed into 30 bits: a whole one, or the head of a real one; perhaps in hundredths."""
    whole = value >> 2
    if value & 2:
        number = float(whole - (1 << 30) if whole & 1 << 29 else whole)
    else:
        number = float(struct.unpack("<d", struct.pack("<Q", whole << 34))[0])
    return number / 100 if value & 1 else number


def _shown(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)  # noqa: PLR2004 (exact)


def _wide(body: bytes, at: int) -> str:
    n_chars = int(struct.unpack_from("<I", body, at)[0]) if len(body) >= at + 4 else 0
    return bytes(body[at + 4 : at + 4 + 2 * n_chars]).decode("utf-16-le", "replace")


# How far the sheets of a workbook reach: calamine sets aside room for every cell up to the last one.
# Two cells in opposite corners of a sheet take 512 GiB, and the process aborts before any text is read.

# A cell with content: one that has only a format takes no room.
_CELL = re.compile(
    rb"<(?:\w+:)?c\s[^>]{0,200}?\br\s*=\s*[\"']([A-Za-z]{1,3})([0-9]{1,7})[\"'][^>]{0,200}(?<!/)>"
)
# Row and cell tags of an OpenDocument table.
_TABLE_TAG = re.compile(rb"<(?:\w+:)?(table-row|table-cell|covered-table-cell|table)(?=[\s/>])([^<>]*)>")
_ROWS_REPEATED = re.compile(rb"number-rows-repeated\s*=\s*[\"'](\d{1,9})")
_COLUMNS_REPEATED = re.compile(rb"number-columns-repeated\s*=\s*[\"'](\d{1,9})")
LARGE_BYTES = 96 * 1024**2  # of all sheets, unpacked: a larger workbook is not loaded by calamine
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_MOST_BYTES = 256 * 1024**2  # of a part that are looked at
_CHUNK_BYTES = 1024**2
_OVERLAP_BYTES = 512
_USUAL_AREA = 2_000_000  # any sheet may be as empty as it likes up to here (64 MiB)
_MOST_AREA = 40_000_000  # 1.2 GiB; a worker has two
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    ValueError,
    EOFError,
    RuntimeError,
    NotImplementedError,
)
_EMPTIEST = 20  # cells of area for each cell with a value


def extent_of(stream: BinaryIO) -> Literal["usual", "large", "out of proportion"]:
    """Tell whether sheets unpack to more than ``LARGE_BYTES``, or one reaches far beyond its cells."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if sum(info.file_size for info in sheet_parts(archive)) > LARGE_BYTES:
                return "large"
            is_odd = any(_part_is(archive, info) for info in archive.infolist())
            return "out of proportion" if is_odd else "usual"
    except _DAMAGE:
        return "usual"  # calamine, or who reads after it, says what is wrong


def sheet_parts(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the sheets of a workbook, in the order of their numbers."""
    found = [info for info in archive.infolist() if _SHEET.fullmatch(info.filename.replace("\\", "/"))]
    return sorted(found, key=lambda info: (len(info.filename), info.filename))


def _part_is(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    name = info.filename.lower().replace("\\", "/")
    if name.startswith("xl/worksheets/"):
        if name.endswith(".bin"):
            return _is_empty(*extent(_head(archive, info)))
        return _sheet_is(archive, info)
    return name == "content.xml" and _tables_are(_head(archive, info))


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        return stream.read(_MOST_BYTES)


def _is_empty(last_row: int, last_column: int, n_cells: int) -> bool:
    return last_row * last_column > min(max(_USUAL_AREA, _EMPTIEST * n_cells), _MOST_AREA)


def _tables_are(data: bytes) -> bool:
    """Follow the rows and cells of OpenDocument tables, which say how often they are repeated."""
    row = column = last_row = last_column = n_cells = 0
    row_times = 1
    for match in _TABLE_TAG.finditer(data):
        tag, attributes = match[1], match[2]
        if tag == b"table":
            row = column = last_row = last_column = n_cells = 0
            row_times = 0
        elif tag == b"table-row":
            row, column = row + row_times, 0
            row_times = _times(_ROWS_REPEATED, attributes)
        else:
            times = _times(_COLUMNS_REPEATED, attributes)
            column += times
            if b"value-type" in attributes or not attributes.endswith(b"/"):
                n_cells += times * row_times
                last_row, last_column = max(last_row, row + row_times), max(last_column, column)
                if _is_empty(last_row, last_column, n_cells):
                    return True
    return False


def _times(pattern: re.Pattern[bytes], attributes: bytes) -> int:
    found = pattern.search(attributes)
    return int(found[1]) if found else 1


def _sheet_is(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    n_cells = last_row = last_column = 0
    with archive.open(info) as stream:
        before = b""
        while chunk := stream.read(_CHUNK_BYTES):
            found = _CELL.findall(before + chunk)
            if found:
                n_cells += len(found)
                last_row = max(last_row, *(int(row) for _, row in found))
                last_column = max(last_column, *(_column(name) for name in {name for name, _ in found}))
            before = chunk[-_OVERLAP_BYTES:]
    return _is_empty(last_row, last_column, n_cells)


def _column(name: bytes) -> int:
    """Return the number of a column.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in name.upper():
        number = number * 26 + letter - ord("A") + 1
    return number
