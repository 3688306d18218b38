"""Zipped documents: Word, PowerPoint, OpenDocument and EPUB; which parts are read, in what order, and how."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lxml import etree

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package, properties_text
from phiscan.extract.office.runs import flowing_text, paragraphs_text
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.extract.structured.xml_parsing import local_name, parse_damaged
from phiscan.model import FailReason

Row = tuple[str, str, Callable[[Any], str]]  # names of parts, their place, and what gives the text of a root
# Cells whose text the reader of cells joins without a blank, or does not give, as they declare no type.
_BROKEN_CELLS = etree.XPath(
    "//*[local-name() = 'table-cell'][*[local-name() = 'p']]"
    "[*/*[local-name() = 'tab' or local-name() = 'line-break'] or not(@*[local-name() = 'value-type'])]"
)


def _named_values(root: Any) -> str:
    lines = []
    for element in root.iter():
        text = (element.text or "").strip()
        if text and local_name(element) not in ("generator", "editing-cycles", "editing-duration"):
            label = next((v for k, v in element.attrib.items() if k.endswith("}name")), local_name(element))
            lines.append(f"{label}: {text}")
    return "\n".join(lines)


def _authors(root: Any) -> str:
    return "\n".join(element.get("name", "") for element in root)


def _noted(root: Any) -> str:
    """Return what a sheet holds beside its cells: notes and texts in shapes."""
    names = ("annotation", "custom-shape", "text-box")
    return "\n".join(flowing_text(element) for element in root.iter() if local_name(element) in names)


_WORD_PART = r"word/(?!.*(?:styles|settings|fonttable|theme|numbering|people|_rels))(?:.*/)?"
_WORD: tuple[Row, ...] = (
    (rf"{_WORD_PART}(header[^/]*)\.xml", r"\1", paragraphs_text),
    (rf"{_WORD_PART}document\.xml", "body", paragraphs_text),
    (rf"{_WORD_PART}((?:foot|end)notes[^/]*|footer[^/]*|comments[^/]*)\.xml", r"\1", paragraphs_text),
    (rf"{_WORD_PART}([^/]*)\.xml", r"\1", paragraphs_text),
)
# A layout's text is a prompt that nobody has filled in.
_SLIDES: tuple[Row, ...] = (
    (r"ppt/slides/slide(\d*)[^/]*\.xml", r"slide\1", paragraphs_text),
    (r"ppt/notesslides/notesslide(\d*)[^/]*\.xml", r"notes\1", paragraphs_text),
    (r"ppt/comments/.*?(\d*)\.xml", r"comment\1", paragraphs_text),
    (r"ppt/diagrams/data(\d*)[^/]*\.xml", r"diagram\1", paragraphs_text),
    (r"ppt/charts/chart.*?(\d*)\.xml", r"chart\1", paragraphs_text),
    (r"ppt/slidemasters/slidemaster(\d*)[^/]*\.xml", r"master\1", paragraphs_text),
    (r"ppt/slidelayouts/slidelayout(\d*)[^/]*\.xml", r"layout\1", paragraphs_text),
    (r"ppt/handoutmasters/.*?(\d*)\.xml", r"handout\1", paragraphs_text),
    (r"ppt/notesmasters/.*?(\d*)\.xml", r"notesmaster\1", paragraphs_text),
    (r"ppt/commentauthors.*\.xml", "authors", _authors),
)
_TEXT: tuple[Row, ...] = (
    (r"content\.xml", "body", flowing_text),
    (r"styles\.xml", "styles", flowing_text),
    (r"meta\.xml", "properties", _named_values),
    (r"(?!META-INF|Configurations|Thumbnails|Pictures|Basic)(.*)/content\.xml", r"\1", flowing_text),
)
_SHEETS: tuple[Row, ...] = ((r"content\.xml", "notes", _noted), *_TEXT[1:])


def read_word(content: Content, sink: Sink) -> None:
    """Add the body, headers, notes, comments, text boxes, tracked changes, properties, embedded files."""
    _read(Package(content, sink), _WORD, "no document part")


def read_slides(content: Content, sink: Sink) -> None:
    """Add one segment per slide ``#slide3``, then everything else."""
    _read(Package(content, sink), _SLIDES, "no presentation part")


def read_opendocument(content: Content, sink: Sink) -> None:
    """Add the body, headers and footers, metadata, and read embedded objects as members."""
    _read(Package(content, sink), _TEXT, "no content part")


def read_sheet_parts(package: Package, *, cells: bool) -> bool:
    """Add a spreadsheet's notes, headers, metadata and objects; with ``cells`` its whole text too."""
    root = package.parse("content.xml")
    if root is not None and not cells:
        package.values += [line for cell in _BROKEN_CELLS(root) for line in flowing_text(cell).split("\n")]
    _read(package, _TEXT if cells else _SHEETS, "no content part")
    return root is not None and cells


def _read(package: Package, table: tuple[Row, ...], missing: str) -> None:
    """Add the parts of a document by a table, then its properties and members.

    Raises:
        ExtractError: encrypted; corrupt, where none of its parts is there.
    """
    manifest = "META-INF/manifest.xml"
    if manifest in package.names and b"encryption-data" in package.read(manifest):
        raise ExtractError(FailReason.ENCRYPTED)
    if not read_parts(package, table):
        raise ExtractError(FailReason.CORRUPT, missing)
    package.sink.add(properties_text(package), package.content.place("properties"))
    for member in package.members():
        package.sink.read_member(member)


def read_parts(package: Package, table: tuple[Row, ...]) -> int:
    """Add the parts that a table names, in its order, those of one row by their number; return how many."""
    found = []
    for name in package.names:
        matches = (re.fullmatch(pattern, name, re.IGNORECASE) for pattern, _, _ in table)
        rank, match = next(((rank, match) for rank, match in enumerate(matches) if match), (0, None))
        if match is not None:
            number = re.search(r"(\d+)\.xml$", name)
            found.append((rank, int(number[1]) if number else 0, name, match.expand(table[rank][1])))
    for rank, _, name, place in sorted(found):
        root = package.parse(name)
        if root is not None:
            package.sink.add(table[rank][2](root), package.content.place(place))
    return len(found)


_PAGES = (".xhtml", ".html", ".htm", ".xml")


def read_book(content: Content, sink: Sink) -> None:
    """Add one segment per page of a book, in the order of the package, and the metadata."""
    package = Package(content, sink)
    for name in package.names:
        lowered = name.lower()
        if not lowered.endswith((*_PAGES, ".opf", ".ncx")) or lowered.startswith("meta-inf/"):
            continue
        with sink.part(content.place(name)):
            data = package.read(name)
            if lowered.endswith((".opf", ".ncx")):
                root, damage = parse_damaged(data)
                text = _named_values(root) if root is not None and damage is None else decode(data)[0]
                sink.add(text, content.place("properties"))
            else:
                html = decode(data)[0]
                sink.add(html_text(html), content.place(name.rpartition("/")[2]))
                read_inline_files(html, content, sink)
    for member in package.members():
        sink.read_member(member)
