"""OpenDocument text, presentations and drawings; what a spreadsheet holds beside its cells."""

from __future__ import annotations

from typing import Any

from lxml import etree

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package, local_name
from phiscan.model import FailReason

_BLOCKS_TEXT = """
p h table-row list-item annotation note page header footer frame text-box
"""
_BLOCKS = frozenset(_BLOCKS_TEXT.split())
_CELLS = frozenset({"table-cell", "covered-table-cell"})
_SKIPPED = frozenset(
    {"automatic-styles", "font-face-decls", "scripts", "settings", "binary-data", "styles", "forms-config"}
)
# Cells whose text the reader of cells joins without a blank, or does not give, as they declare no type.
_BROKEN_CELLS = etree.XPath(
    "//*[local-name() = 'table-cell'][*[local-name() = 'p']]"
    "[*/*[local-name() = 'tab' or local-name() = 'line-break'] or not(@*[local-name() = 'value-type'])]"
)
_MAX_SPACES = 100


def read_opendocument(content: Content, sink: Sink) -> None:
    """Add the body, headers and footers, metadata, and read embedded objects as members."""
    package = Package(content, sink)
    if "content.xml" not in package.names:
        raise ExtractError(FailReason.CORRUPT, "no content part")
    refuse_encrypted(package)
    for part, place in (("content.xml", "body"), ("styles.xml", "styles"), ("meta.xml", "properties")):
        if part in package.names:
            root = package.parse(part)
            if root is not None:
                text = _metadata(root) if place == "properties" else flowing_text(root)
                sink.add(text, content.place(place))
    read_objects(package)


def read_sheet_parts(package: Package, *, cells: bool) -> bool:
    """Add a spreadsheet's notes, headers, metadata and objects; with ``cells`` its whole text too."""
    refuse_encrypted(package)
    content, sink = package.content, package.sink
    found = False
    for part, place in (("content.xml", "notes"), ("styles.xml", "styles"), ("meta.xml", "properties")):
        if part not in package.names:
            continue
        root = package.parse(part)
        if root is None:
            continue
        if place == "properties":
            text = _metadata(root)
        elif place == "styles" or cells:
            text = flowing_text(root)
            found = found or cells
        else:
            names = ("annotation", "custom-shape", "text-box")
            text = "\n".join(flowing_text(element) for element in root.iter() if local_name(element) in names)
            package.values += [
                line for cell in _BROKEN_CELLS(root) for line in flowing_text(cell).split("\n")
            ]
        sink.add(text, content.place(place))
    read_objects(package)
    return found


def refuse_encrypted(package: Package) -> None:
    """Raise when the manifest says that the parts are encrypted.

    Raises:
        ExtractError: encrypted.
    """
    name = "META-INF/manifest.xml"
    if name in package.names and b"encryption-data" in package.read(name):
        raise ExtractError(FailReason.ENCRYPTED)


def read_objects(package: Package) -> None:
    """Read the objects that are embedded in a document: their own content parts, and OLE or other files."""
    content, sink = package.content, package.sink
    for name in package.names:
        folder, _, part = name.rpartition("/")
        if not folder or folder.startswith(("META-INF", "Configurations", "Thumbnails", "Pictures", "Basic")):
            continue
        if part == "content.xml":
            root = package.parse(name)
            if root is not None:
                sink.add(flowing_text(root), content.place(folder))
    for member in package.members():
        sink.read_member(member)


def flowing_text(root: Any) -> str:
    """Return the text of an OpenDocument part: paragraphs on lines, cells apart by a tab; iterative."""
    pieces: list[str] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        element, leaving = stack.pop()
        name = local_name(element)
        if leaving:
            pieces.append("\t" if name in _CELLS else "\n" if name in _BLOCKS else "")
            pieces.append(element.tail or "")
            continue
        if not name or name in _SKIPPED:
            pieces.append(element.tail or "")
            continue
        if name == "s":
            pieces.append(" " * min(_integer(element), _MAX_SPACES))
        elif name in ("tab", "line-break"):
            pieces.append("\t" if name == "tab" else "\n")
        elif name in _BLOCKS and pieces and not pieces[-1].endswith(("\n", "\t")):
            pieces.append("\n")
        pieces.append(element.text or "")
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def _integer(element: Any) -> int:
    value = next((v for k, v in element.attrib.items() if k.endswith("}c")), "1")
    return int(value) if value.isdecimal() else 1


def _metadata(root: Any) -> str:
    lines = []
    for element in root.iter():
        text = (element.text or "").strip()
        if text and local_name(element) not in ("generator", "editing-cycles", "editing-duration"):
            label = next((v for k, v in element.attrib.items() if k.endswith("}name")), local_name(element))
            lines.append(f"{label}: {text}")
    return "\n".join(lines)
