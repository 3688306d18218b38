"""XML of a known kind of document to segments: runs joined to paragraphs, cells to rows after their heads.

Source: Microsoft Office 2003 XML reference schemas; OpenDocument 1.3, part 3, 3.1.3.1; SVG 2, chapter 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.opendocument import flowing_text
from phiscan.extract.office.package import local_attributes, local_name
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.spreadsheets.rows import Row, lay_out

_MOST_REPEATED = 1_000  # of a row or a cell
_MOST_COLUMNS = 16_384


def read_dialect(root: Any, content: Content, sink: Sink) -> bool:
    """Add the text of a document of a known kind; tell whether it is one.

    What its tables and paragraphs leave out (properties, comments, names) is left to the reader of XML.
    """
    reader = _READERS.get(local_name(root))
    if reader is None:
        return False
    n_before = sink.n_segments
    reader(root, content, sink)
    return sink.n_segments > n_before


def _read_word(root: Any, content: Content, sink: Sink) -> None:
    """Add the body of Word 2003 XML; the parts of a flat package of Word one after another."""
    if local_name(root) == "package":
        for part in root:
            name = next((value for key, value in part.attrib.items() if key.endswith("}name")), "")
            if "/word/" in name and not name.endswith(("/styles.xml", "/settings.xml", "/numbering.xml")):
                sink.add(paragraphs_text(part), content.place("body"))
        return
    sink.add(paragraphs_text(root), content.place("body"))


def _read_excel(root: Any, content: Content, sink: Sink) -> None:
    number = 0
    for sheet in root:
        if local_name(sheet) != "Worksheet":
            continue
        number += 1
        for table in (child for child in sheet if local_name(child) == "Table"):
            for row, line in lay_out(_excel_rows(table)):
                sink.add(line, content.place(f"sheet{number}!A{row}"))


def _excel_rows(table: Any) -> Iterator[Row]:
    number = 0
    for row in table:
        if local_name(row) != "Row":
            continue
        number = _index(row, number + 1)
        cells: list[str] = []
        for cell in row:
            if local_name(cell) != "Cell":
                continue
            at = min(_index(cell, len(cells) + 1), _MOST_COLUMNS)
            cells += [""] * (at - 1 - len(cells))
            texts = ("".join(child.itertext()) for child in cell if local_name(child) == "Data")
            comments = (" ".join("".join(c.itertext()).split()) for c in cell if local_name(c) == "Comment")
            cells.append(" ".join(text.removesuffix("T00:00:00.000") for text in (*texts, *comments)))
        yield number, cells


def _index(element: Any, following: int) -> int:
    value = local_attributes(element).get("Index", "")
    return int(value) if value.isdecimal() and len(value) < 8 else following  # noqa: PLR2004 (rows of any sheet)


def _read_flat(root: Any, content: Content, sink: Sink) -> None:
    """Add a flat OpenDocument: sheets as rows, everything else as flowing text."""
    sheets = [element for element in root.iter() if local_name(element) == "table"]
    is_workbook = any(local_name(element) == "spreadsheet" for element in root.iter())
    if not is_workbook:
        sink.add(flowing_text(root), content.place("body"))
        return
    for number, sheet in enumerate(sheets, 1):
        for row, line in lay_out(_flat_rows(sheet)):
            sink.add(line, content.place(f"sheet{number}!A{row}"))


def _flat_rows(sheet: Any) -> Iterator[Row]:
    number = 1
    for row in sheet.iter():
        if local_name(row) != "table-row":
            continue
        cells: list[str] = []
        for cell in row:
            if local_name(cell) in ("table-cell", "covered-table-cell"):
                repeated = local_attributes(cell).get("number-columns-repeated", "1")
                times = min(int(repeated) if repeated.isdecimal() else 1, _MOST_REPEATED)
                cells += [" ".join(flowing_text(cell).split())] * times
        yield number, cells
        repeated = local_attributes(row).get("number-rows-repeated", "1")
        number += int(repeated) if repeated.isdecimal() and len(repeated) < 8 else 1  # noqa: PLR2004


def _read_drawing(root: Any, content: Content, sink: Sink) -> None:
    """Add the texts of an SVG drawing: the pieces of each joined, and texts that go on where one ends."""
    lines: list[str] = []
    row: list[tuple[float, str]] = []  # distances and texts of one line that was taken apart
    last: tuple[float, float] | None = None  # where the last single glyph stands
    for element in root.iter():
        name = local_name(element)
        if name in ("title", "desc", "metadata"):
            lines += (_in_row(row), " ".join(" ".join(element.itertext()).split()))
            row, last = [], None
        elif name in ("text", "textPath") and local_name(element.getparent()) != "text":
            text = _drawn(element)
            at = _place(element)
            if not (row and at and last and len(text) <= _FEW_GLYPHS and _goes_on(last, at)):
                lines.append(_in_row(row))
                row = []
            row.append((at[0] if at else 0.0, text))
            last = (at[0] + _ADVANCE * max(len(text) - 1, 0), at[1]) if at else None
    lines.append(_in_row(row))
    sink.add("\n".join(line for line in lines if line), content.place("drawing"))


def _in_row(row: list[tuple[float, str]]) -> str:
    """Return the texts of one line from left to right, with blanks at wide gaps."""
    row = sorted(row, key=lambda item: item[0]) if len(row) > 1 else row
    ends = [at + _ADVANCE * max(len(text) - 1, 0) for at, text in row]
    gaps = [after - end for end, (after, _) in zip(ends, row[1:], strict=False)]
    step = min([gap for gap in gaps if gap > 0], default=_NEXT_GLYPH)
    pieces = [text for _, text in row[:1]]
    for gap, (_, text) in zip(gaps, row[1:], strict=True):
        pieces += (" " if not text or gap > _BLANK_STEPS * step else "", text)
    return "".join(pieces).replace("  ", " ")


_MOVED = re.compile(
    r"\s*(?:translate\(|matrix\(\s*1[\s,]+0[\s,]+0[\s,]+1[\s,]+)\s*(-?[\d.]+)[\s,]+(-?[\d.]+)\s*\)"
)
_FEW_GLYPHS = 3  # texts as short as these are letters of a word that was taken apart
_ADVANCE = 8.0  # units between two glyphs, about
_NEXT_GLYPH = 24.0
_BLANK_STEPS = 1.6  # a wider gap is one between words


def _goes_on(before: tuple[float, float], at: tuple[float, float]) -> bool:
    return abs(at[1] - before[1]) < 1 and 0 < abs(at[0] - before[0]) < _NEXT_GLYPH


def _place(element: Any) -> tuple[float, float] | None:
    moved = _MOVED.match(element.get("transform", "")[:200])
    try:
        if moved and not element.get("x"):
            return float(moved[1]), float(moved[2])
        return float(element.get("x", "").split()[0]), float(element.get("y", "").split()[0])
    except (ValueError, IndexError):
        return None


def _drawn(text: Any) -> str:
    """Return one text: a line where a piece begins anew on the left, nothing between the other pieces."""
    pieces: list[str] = [text.text or ""]
    row = text.get("y", "")
    for piece in text.iter():
        if piece is text or not local_name(piece):
            continue
        moved = (piece.get("y") or row) != row or piece.get("dy", "0").strip("0.empx%") not in ("", "-")
        row = piece.get("y") or row
        if moved and "".join(pieces).strip():
            pieces.append("\n")
        pieces.append(piece.text or "")
        pieces.append(piece.tail or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def _read_visio(root: Any, content: Content, sink: Sink) -> None:
    """Add the texts of the shapes of a page, the pieces of each joined."""
    texts = (" ".join("".join(text.itertext()).split()) for text in root.iter("{*}Text"))
    sink.add("\n".join(text for text in texts if text), content.place("drawing"))


def _read_fixed_page(root: Any, content: Content, sink: Sink) -> None:
    """Add the glyphs of a page (XPS), those that follow on one line joined."""
    lines: list[str] = []
    height = ""
    for glyphs in root.iter("{*}Glyphs"):
        text, at = glyphs.get("UnicodeString", "").removeprefix("{}"), glyphs.get("OriginY", "")
        if lines and at == height:
            lines[-1] += text
        else:
            lines.append(text)
        height = at
    sink.add("\n".join(line for line in lines if line.strip()), content.place("page"))


def _read_story(root: Any, content: Content, sink: Sink) -> None:
    """Add the paragraphs of a story (InDesign), their pieces joined."""
    pieces = [
        element.text or "" if local_name(element) == "Content" else "\n"
        for element in root.iter("{*}Content", "{*}Br", "{*}ParagraphStyleRange")
    ]
    sink.add("".join(pieces).strip(), content.place("story"))


def _read_paragraphs(root: Any, content: Content, sink: Sink) -> None:
    """Add the paragraphs of a text (AbiWord), their pieces joined."""
    texts = ("".join(paragraph.itertext()).strip() for paragraph in root.iter("{*}p"))
    sink.add("\n".join(text for text in texts if text), content.place("body"))


_READERS: dict[str, Callable[[Any, Content, Sink], None]] = {
    "wordDocument": _read_word,
    "package": _read_word,
    "Workbook": _read_excel,
    "document": _read_flat,
    "svg": _read_drawing,
    "PageContents": _read_visio,
    "FixedPage": _read_fixed_page,
    "Story": _read_story,
    "abiword": _read_paragraphs,
}
