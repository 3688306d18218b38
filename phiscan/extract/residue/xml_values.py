"""Values in the XML parts of a zipped document, found in the bytes alone: no parser, no list of elements."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from typing import IO

from phiscan.extract.core.content import CHUNK_BYTES, Content
from phiscan.extract.core.package_parts import PackageParts

# A value between quotes or between tags with two blanks between letters.
_ATTRIBUTE = re.compile(rb'="([^"<> ]*+ [^"<> ]*+ [^"<>]*+)"')
_WORDY = re.compile(rb"[^\W\d_].* .*[^\W\d_].* .*[^\W\d_]", re.DOTALL)
_TEXT = re.compile(rb">([^<>]{12,}+)<")
_STYLE = re.compile(
    r"&[LCR]&|[A-Z]{2,}\(|"
    r"[^\W\d_][^\d]{0,60}\s\d{1,6}$|[\w-]+\s*:\s*[^;:]+;|"
    r"(?:val|sum|prod|if|mid|pin|abs|cos|sin|at2)\s|[Mm]\s?-?\d|Microsoft |\S+://"
)
_FONT_OR_STYLE = re.compile(
    rb"(?:typeface|style:name|font-name|font-name-asian|font-name-complex|ascii|hAnsi|cs|eastAsia|font-family|style|eqn|styleName|Ignorable|axis|ptType|mods|fmla)$"
)
_PARTS_OF_STYLE = re.compile(
    r"styles|theme|fontTable|webSettings|numbering\.xml|^docProps/app|Content_Types|_xmlsignatures|calcChain"
    r"|presProps|viewProps|tableStyles|diagrams/(?:layout|quickStyle|colors)|^META-INF|thumbnail|/ink/"
    r"|meta\.xml$|(?:^|/)settings\.xml$|sharedstrings|/chart(?:style|colors)|^Configurations2|metadata\.xml|slideLayouts|slideMasters|sheetMetadata",
    re.IGNORECASE,
)
_CELLS = re.compile(rb"<(?:\w+:)?sheetData\b")
_CELLS_END = b"sheetData>"
_MOST_BYTES = 16 * 1024**2  # of one part
_LOOK_BACK, _NAME_BYTES = 40, 12
_MOST_VALUES = 50_000


def package_values(content: Content, parts: PackageParts | None) -> Iterator[tuple[str, str]]:
    """Yield part and value for what looks like a text in the XML parts of a package; cells are left out.

    What the package's reader unpacked is in ``parts``.
    """
    try:
        parts = parts or PackageParts(zipfile.ZipFile(content.open()))
        for info in parts.archive.infolist():
            name = info.filename
            if not name.lower().endswith((".xml", ".vml")) or _is_style(name):
                continue
            if info.flag_bits & 1 or info.file_size > _MOST_BYTES:
                continue
            data = parts.get(name)
            if data is None:
                with parts.archive.open(info) as stream:
                    data = _bounded(stream)
            yield from ((name, value) for value in _values(data))
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


def _values(data: bytes) -> Iterator[str]:
    begin = _CELLS.search(data)
    if begin is not None:
        end = data.rfind(_CELLS_END)
        data = data[: begin.start()] + data[max(end, begin.start()) :]
    for raw in (*_attributes(data), *dict.fromkeys(_TEXT.findall(data))):
        value = html.unescape(raw.decode("utf-8", "replace"))
        if not _STYLE.match(value):
            yield value


def _attributes(data: bytes) -> list[bytes]:
    """Return the values of attributes of three words or more; the same one is looked at once."""
    found: list[bytes] = []
    seen: set[bytes] = set()
    for match in _ATTRIBUTE.finditer(data):
        start, end = match.span()
        whole = data[max(start - _NAME_BYTES, 0) : end]
        if whole in seen:
            continue
        seen.add(whole)
        if len(seen) > _MOST_VALUES:
            break
        if _WORDY.search(match[1]) and not _FONT_OR_STYLE.search(data, max(start - _LOOK_BACK, 0), start):
            found.append(match[1])
    return found
