"""Word, Excel and PowerPoint files from entries, with the same bytes every time."""

import io
import re
import zipfile
from datetime import datetime

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part as OpcPart
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt
from lxml import etree
from openpyxl import Workbook
from openpyxl.styles import Font
from pptx import Presentation

from tests.corpus.books import Entry, Part

MADE = datetime(2025, 1, 15, 9, 0, 0)  # noqa: DTZ001 (office properties have no zone)
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def fixed_zip(payload: bytes) -> bytes:
    """Write a zip anew with fixed times, so that the same content gives the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(payload)) as source, zipfile.ZipFile(target, "w") as out:
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(
                    rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>2025-01-15T09:00:00Z", data
                )
            info = zipfile.ZipInfo(name, MADE.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, data)
    return target.getvalue()


def cells(line: str) -> list[str]:
    """Split a raw table line ``| a | b |``."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def blocks(lines: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """Group raw lines into ("table" | "heading" | "bullet" | "text", lines)."""
    grouped: list[tuple[str, list[str]]] = []
    for line in lines:
        kind = (
            "table"
            if line.startswith("|")
            else "heading"
            if line.startswith("# ")
            else "bullet"
            if line.startswith("- ")
            else "text"
        )
        if kind == "table" and grouped and grouped[-1][0] == "table":
            grouped[-1][1].append(line)
        else:
            grouped.append((kind, [line]))
    return grouped


def make_docx(entry: Entry) -> bytes:
    """Write a Word file: body, header, footer, text box, footnote and comment."""
    document = Document()
    document.core_properties.author = entry.options.get("author", "")
    document.styles["Normal"].font.name = entry.options.get("font", "Calibri").replace("_", " ")
    document.styles["Normal"].font.size = Pt(int(entry.options.get("size", "11")))
    for part in entry.parts:
        if part.name == "header":
            paragraph = document.sections[0].header.paragraphs[0]
            paragraph.text = part.text
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        elif part.name == "footer":
            document.sections[0].footer.paragraphs[0].text = part.text
        elif part.name == "body":
            _docx_body(document, part)
    for part in entry.parts:
        if part.name == "textbox":
            _textbox(document, part)
        elif part.name == "comment":
            comment = document.add_comment(
                document.paragraphs[-1].runs, text=part.text, author="reviewer", initials="r"
            )
            comment._comment_elm.set(qn("w:date"), "2025-01-15T09:00:00Z")
        elif part.name == "footnote":
            _footnote(document, part)
    target = io.BytesIO()
    document.save(target)
    return fixed_zip(target.getvalue())


def _docx_body(document: Document, part: Part) -> None:
    for kind, lines in blocks(part.raw_lines):
        if kind == "table":
            rows = [cells(line) for line in lines]
            table = document.add_table(len(rows), max(map(len, rows)))
            table.style = "Table Grid"
            for row, values in zip(table.rows, rows, strict=True):
                for cell, value in zip(row.cells, values, strict=False):
                    cell.text = value
        elif kind == "heading":
            document.add_heading(lines[0][2:], level=2)
        elif kind == "bullet":
            document.add_paragraph(lines[0][2:], style="List Bullet")
        else:
            document.add_paragraph(lines[0])


def _textbox(document: Document, part: Part) -> None:
    paragraphs = "".join(
        f"<w:p><w:r><w:t>{_escape(line)}</w:t></w:r></w:p>" for line in part.text.split("\n")
    )
    xml = (
        f'<w:r {nsdecls("w")} xmlns:v="urn:schemas-microsoft-com:vml"><w:pict>'
        '<v:shape style="width:220pt;height:60pt"><v:textbox><w:txbxContent>'
        f"{paragraphs}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    document.add_paragraph()._p.append(parse_xml(xml))


def _footnote(document: Document, part: Part) -> None:
    xml = (
        f'<w:footnotes xmlns:w="{_W}">'
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
        '<w:footnote w:type="continuationSeparator" w:id="0">'
        "<w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>"
        '<w:footnote w:id="1"><w:p><w:r><w:footnoteRef/></w:r>'
        f'<w:r><w:t xml:space="preserve"> {_escape(part.text)}</w:t></w:r></w:p></w:footnote>'
        "</w:footnotes>"
    )
    footnotes = OpcPart(
        PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + etree.tostring(etree.fromstring(xml)),
        document.part.package,
    )
    document.part.relate_to(footnotes, RELATIONSHIP_TYPE.FOOTNOTES)
    reference = parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="1"/></w:r>')
    document.paragraphs[0]._p.append(reference)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def make_xlsx(entry: Entry) -> bytes:
    """Write a workbook; each part is a sheet, each table line a row."""
    book = Workbook()
    book.remove(book.active)
    for part in entry.parts:
        sheet = book.create_sheet(part.name.removeprefix("sheet ") if part.name != "body" else "Sheet1")
        for line in part.raw_lines:
            sheet.append([_value(cell) for cell in cells(line)] if line.startswith("|") else [line])
        for cell in sheet[1]:
            cell.font = Font(bold=True)
    target = io.BytesIO()
    book.save(target)
    return fixed_zip(target.getvalue())


def _value(cell: str) -> str | int | float:
    """Numbers become numbers, as a person who types into a sheet gets them; identifiers stay text."""
    if re.fullmatch(r"[1-9]\d{0,5}", cell):
        return int(cell)
    if re.fullmatch(r"[1-9]\d{0,5}\.\d{1,2}", cell):
        return float(cell)
    return cell


def make_pptx(entry: Entry) -> bytes:
    """Write slides; each part is one, its first line the title."""
    deck = Presentation()
    for part in entry.parts:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        title, *rest = part.text.split("\n")
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(rest)
    target = io.BytesIO()
    deck.save(target)
    return fixed_zip(target.getvalue())
