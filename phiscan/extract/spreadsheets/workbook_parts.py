"""What an OOXML workbook holds beside its cells: comments, text boxes, headers, properties, objects."""

from __future__ import annotations

import html
import re
from typing import Any

from phiscan.extract.office.package import Package, local_name, properties_text
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.office_parts.pivot_cache import read_caches
from phiscan.extract.office_parts.workbook_rest import sheet_values, unused_strings
from phiscan.extract.spreadsheets.rows import lay_out, unescaped
from phiscan.model import FailReason

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
        from phiscan.extract.spreadsheets.binary_cells import read_binary_cells  # noqa: PLC0415 (rarely needed)

        found = _read_cells(package) or read_binary_cells(package)
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


def _read_cells(package: Package) -> bool:
    """Read cells by hand from a workbook that calamine refuses."""
    strings: list[str] = []
    for name in package.names:
        if name.lower().endswith("sharedstrings.xml"):
            root = package.parse(name)
            if root is not None:
                strings = [_plain(item) for item in root if local_name(item) == "si"]
    found = False
    _titles(package)
    for name in package.names:
        lowered = name.lower()
        if lowered.startswith("xl/worksheets/") and lowered.endswith(".xml"):
            root = package.parse(name)
            if root is None:
                continue
            rows = [
                (index, [_cell(cell, strings) for cell in row if local_name(cell) == "c"])
                for index, row in enumerate((e for e in root.iter() if local_name(e) == "row"), 1)
            ]
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
