"""Values in the XML parts of a zipped document, found in the bytes alone: no parser, no list of elements."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import IO
from urllib.parse import unquote_to_bytes

import re2

from phiscan.extract.core.content import CHUNK_BYTES, Content
from phiscan.extract.core.package_parts import PackageParts
from phiscan.extract.residue.markup_values import markup_values, missing_pieces
from phiscan.extract.residue.prose import ShownWords, Value

_PARTS_OF_STYLE = re.compile(
    r"styles|theme|fontTable|webSettings|Content_Types|_xmlsignatures|calcChain"
    r"|presProps|viewProps|tableStyles|diagrams/(?:layout|quickStyle|colors)|^META-INF|thumbnail"
    r"|/chart(?:style|colors)|^Configurations2|metadata\.xml|slideLayouts|slideMasters|sheetMetadata",
    re.IGNORECASE,
)
_MARKUP = (".xml", ".vml", ".rels", ".fpage", ".xhtml", ".html", ".htm", ".ncx", ".opf")
_CELLS = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_PAGE_TEXT = re.compile(rb"<[^<>]*>")
_LITERAL = re.compile(r'"((?:[^"]|"")+)"')
_LINK = re2.compile(rb"<[^<>]*\bTargetMode=.External.[^<>]*>")
_FILLED_BY_PROGRAMS = re.compile(r"^docProps/|(?:^|/)(?:meta|settings)\.xml$", re.IGNORECASE)
# Texts and literals of formulas of three words or more within the cells.
_CELL_TEXT = re2.compile(rb">([^<> ]* [^<> ]* [^<>]*)<")
_OF_TEXT = (b"<f", b":f", b"t>", b'="str"', b'="d"')  # formulas, inline texts, results that are texts
_CODED_TEXT = re.compile(rb">([^<>%]*+(?:%(?!20)[^<>%]*+)*+%20[^<>]*+)<")
_MOST_BYTES = 16 * 1024**2  # of one part
_MOST_ALL_BYTES = 64 * 1024**2
_SHARED_STRINGS = "sharedstrings.xml"


def package_values(
    content: Content, parts: PackageParts | None, shown: ShownWords
) -> Iterator[tuple[str, Value]]:
    """Yield part and value for what looks like a text in the markup of a package, of cells those of words.

    A tuple is a name, a list one text in pieces. What the package's reader unpacked is in ``parts``. Of a
    part that is larger than the limit only the first bytes are looked at.
    """
    try:
        parts = parts or PackageParts(zipfile.ZipFile(content.open()))
        left = _MOST_ALL_BYTES
        for info in parts.archive.infolist():
            name = info.filename
            is_looked_at = left > 0 and (name == "styles.xml" or not _is_style(name))
            if not name.lower().endswith(_MARKUP) or not is_looked_at or info.flag_bits & 1:
                continue
            data = parts.get(name)
            if data is None:
                with parts.archive.open(info) as stream:
                    data = _bounded(stream)
            left -= len(data)
            yield from ((name, value) for value in _values(name, data[:_MOST_BYTES], shown))
    except Exception:  # noqa: BLE001 (a damaged package; its reader says what is wrong)
        return


@lru_cache(maxsize=4096)
def _is_style(name: str) -> bool:
    return _PARTS_OF_STYLE.search(name) is not None


def _bounded(stream: IO[bytes]) -> bytes:
    pieces = []
    n_bytes = 0
    while n_bytes < _MOST_BYTES and (piece := stream.read(CHUNK_BYTES)):
        pieces.append(piece)
        n_bytes += len(piece)
    return b"".join(pieces)


def _values(name: str, data: bytes, shown: ShownWords) -> Iterator[Value]:
    if b"\0" in data[:8]:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    begin = _CELLS.search(data) if _CELLS_END in data else None
    is_table = begin is not None or name.lower().endswith(_SHARED_STRINGS)
    if begin is not None:
        end = max(data.rfind(_CELLS_END), begin.start())
        cells = data[begin.start() : end]
        data = data[: begin.start()] + data[end:]
        coded = (unquote_to_bytes(raw) for raw in _CODED_TEXT.findall(cells)) if b"%20" in cells else ()
        has_texts = any(mark in cells for mark in _OF_TEXT)
        for raw in dict.fromkeys(chain(_CELL_TEXT.findall(cells) if has_texts else (), coded)):
            value = html.unescape(raw.decode("utf-8", "replace"))
            yield " ".join(_LITERAL.findall(value)) if '"' in value else value
    if name.endswith(".rels"):
        data = b"\n".join(_LINK.findall(data)) if b"External" in data else b""
    if name == "styles.xml":  # of OpenDocument, with the headers and footers of pages
        data = _PAGE_TEXT.sub(b"<>", data)
    has_pieces = not is_table and not _FILLED_BY_PROGRAMS.search(name)
    found = markup_values(data, shown, has_pieces=has_pieces, has_texts=not name.endswith("/settings.xml"))
    yield from found.texts
    yield from found.names if name != "styles.xml" else ()
    yield from missing_pieces(found.shorts, shown)
