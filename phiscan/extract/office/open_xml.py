"""Word documents: the whole package walked, so that nothing a reader sees is lost."""

from __future__ import annotations

import re

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package, local_name, parse_damaged, properties_text
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.model import FailReason

# Parts with text, in the order in which they are read; the body is found by exclusion of the others.
_PARTS = (
    "header",
    "document",
    "footnotes",
    "endnotes",
    "footer",
    "comments",
    "glossary",
    "diagrams/data",
    "charts/",
)
_NO_TEXT = (
    "styles",
    "settings",
    "fonttable",
    "theme",
    "websettings",
    "numbering",
    "people",
    "_rels",
    "stylesw",
)


def read_word(content: Content, sink: Sink) -> None:
    """Add the body, headers, notes, comments, text boxes, tracked changes, properties, embedded files."""
    package = Package(content, sink)
    parts = [name for name in package.names if _has_text(name)]
    if not parts:
        raise ExtractError(FailReason.CORRUPT, "no document part")
    for name in sorted(parts, key=_order):
        root = package.parse(name)
        if root is not None:
            place = name.rpartition("/")[2].removesuffix(".xml")
            sink.add(paragraphs_text(root), content.place("body" if place == "document" else place))
    sink.add(properties_text(package), content.place("properties"))
    for member in package.members():
        sink.read_member(member)


def _has_text(name: str) -> bool:
    lowered = name.lower()
    if not lowered.startswith("word/") or not lowered.endswith(".xml"):
        return False
    return not any(part in lowered for part in _NO_TEXT)


def _order(name: str) -> tuple[int, str]:
    lowered = name.lower()
    rank = next((index for index, part in enumerate(_PARTS) if f"/{part}" in lowered), 1)
    return rank, name


# PowerPoint presentations: slides in order, notes, comments, masters, diagrams, embedded files.

# Part folder and how its place is called; a layout's text is a prompt that nobody has filled in.
_FOLDERS = (
    ("ppt/slides/slide", "slide"),
    ("ppt/notesslides/notesslide", "notes"),
    ("ppt/comments/", "comment"),
    ("ppt/diagrams/data", "diagram"),
    ("ppt/charts/chart", "chart"),
    ("ppt/slidemasters/slidemaster", "master"),
    ("ppt/slidelayouts/slidelayout", "layout"),
    ("ppt/handoutmasters/", "handout"),
    ("ppt/notesmasters/", "notesmaster"),
    ("ppt/commentauthors", "authors"),
)
_NUMBER = re.compile(r"(\d+)\.xml$")


def read_slides(content: Content, sink: Sink) -> None:
    """Add one segment per slide ``#slide3``, then everything else."""
    package = Package(content, sink)
    parts = [(*_place(name), name) for name in package.names]
    wanted = sorted(part for part in parts if part[0] < len(_FOLDERS))
    if not wanted:
        raise ExtractError(FailReason.CORRUPT, "no presentation part")
    for rank, number, name in wanted:
        root = package.parse(name)
        if root is not None:
            place = f"{_FOLDERS[rank][1]}{number or ''}"
            text = paragraphs_text(root)
            if place == "authors":
                text = "\n".join(element.get("name", "") for element in root)
            sink.add(text, content.place(place))
    sink.add(properties_text(package), content.place("properties"))
    for member in package.members():
        sink.read_member(member)


def _place(name: str) -> tuple[int, int]:
    """Return the rank of a part's folder and the number in its name."""
    lowered = name.lower()
    rank = next(
        (index for index, (folder, _) in enumerate(_FOLDERS) if lowered.startswith(folder)), len(_FOLDERS)
    )
    number = _NUMBER.search(lowered)
    if not lowered.endswith(".xml"):
        rank = len(_FOLDERS)
    return rank, int(number.group(1)) if number else 0


# EPUB books: the chapters as web pages, and the metadata.

_PAGES = (".xhtml", ".html", ".htm", ".xml")


def read_book(content: Content, sink: Sink) -> None:
    """Add one segment per page, in the order of the package."""
    package = Package(content, sink)
    for name in package.names:
        lowered = name.lower()
        if not lowered.endswith((*_PAGES, ".opf", ".ncx")) or lowered.startswith("meta-inf/"):
            continue
        try:
            data = package.read(name)
        except ExtractError as error:
            sink.fail(content.place(name), FailReason(error.reason), error.detail)
            continue
        if lowered.endswith((".opf", ".ncx")):
            sink.add(_metadata(data), content.place("properties"))
        else:
            html = decode(data)[0]
            sink.add(html_text(html), content.place(name.rpartition("/")[2]))
            read_inline_files(html, content, sink)
    for member in package.members():
        sink.read_member(member)


def _metadata(data: bytes) -> str:
    """Return the Dublin Core fields and the titles of the table of contents."""
    root, damage = parse_damaged(data)
    if root is None:
        return ""
    lines = [
        f"{local_name(element)}: {' '.join(element.text.split())}"
        for element in root.iter()
        if isinstance(element.tag, str) and element.text and element.text.strip()
    ]
    if damage is not None:
        lines.append(decode(data)[0])
    return "\n".join(lines)
