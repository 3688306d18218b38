"""ZIP archives and packages of office documents made in memory, each part as its markup."""

# ruff: noqa: E501 (markup is read best on one line)

import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

Parts = Mapping[str, str | bytes]
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
EXTERNAL = ' TargetMode="External"'
# Declarations of the namespaces of Word, of workbooks, of slides and of OpenDocument.
WNS = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:o="urn:schemas-microsoft-com:office:office"'
S = f'xmlns="{SHEET}" xmlns:r="{OFFICE}"'
A = f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE}"'
_ODF_NAMES = ("office", "text", "table", "draw", "form", "style", "presentation", "script")
_ODF = "".join(
    f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name.replace("draw", "drawing")}:1.0"'
    for name in _ODF_NAMES
)
ON = f'{_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
CELL = '<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row></table:table>'


def saved(document: Any, *arguments: object, **options: object) -> bytes:
    """Return what a document, a workbook or a picture of a library saves, or writes, to a file."""
    stream = io.BytesIO()
    write = document.save if hasattr(document, "save") else document.write
    write(stream, *arguments, **options)
    return stream.getvalue()


def zipped(members: Parts, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP archive of members by their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def links(kind: str, target: str, mode: str = "") -> str:
    """Return a part with one relationship."""
    link = f'<Relationship Id="r1" Type="{OFFICE}/{kind}" Target="{target}"{mode}/>'
    return f'<Relationships xmlns="{PACKAGE}/relationships">{link}</Relationships>'


def package(main: str, parts: Parts, further: str = "") -> bytes:
    """Return an OOXML package with its main part."""
    defaults = '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    types = f'<Types xmlns="{PACKAGE}/content-types">{defaults}{further}</Types>'
    return zipped({"[Content_Types].xml": types, "_rels/.rels": links("officeDocument", main), **parts})


def p(text: str) -> str:
    """Return a paragraph of Word."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str = p("Hello there"), parts: Parts | None = None) -> bytes:
    """Return a Word document with the content of its body."""
    main = f"<w:document {WNS}><w:body>{body}</w:body></w:document>"
    return package("word/document.xml", {"word/document.xml": main, **(parts or {})})


def xlsx(data: str = "", rest: str = "", book: str = "", parts: Parts | None = None) -> bytes:
    """Return a workbook of one sheet: its rows, what follows them, and what its list of sheets is followed by."""
    kind = '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
    own = {
        "xl/workbook.xml": f"<workbook {S}>{sheets}{book}</workbook>",
        "xl/_rels/workbook.xml.rels": links("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f"<worksheet {S}><sheetData>{data}</sheetData>{rest}</worksheet>",
    }
    return package("xl/workbook.xml", {**own, **(parts or {})}, kind)


def pptx(tree: str = "<p:sp/>", parts: Parts | None = None) -> bytes:
    """Return a presentation of one slide with its shapes."""
    own = {
        "ppt/presentation.xml": f"<p:presentation {A}><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": links("slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": f"<p:sld {A}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>",
    }
    return package("ppt/presentation.xml", {**own, **(parts or {})})


def odf(kind: str, body: str = "", parts: Parts | None = None) -> bytes:
    """Return a package of OpenDocument with its type and the content of its body."""
    content = f"<office:document-content {ON}><office:body>{body}</office:body></office:document-content>"
    return zipped({"mimetype": f"application/vnd.{kind}", "content.xml": content, **(parts or {})})


def ods(body: str = CELL, parts: Parts | None = None) -> bytes:
    """Return a spreadsheet with its tables."""
    return odf("oasis.opendocument.spreadsheet", f"<office:spreadsheet>{body}</office:spreadsheet>", parts)


def odt(body: str = "<text:p>x</text:p>", parts: Parts | None = None) -> bytes:
    """Return a text document with its paragraphs."""
    return odf("oasis.opendocument.text", f"<office:text>{body}</office:text>", parts)


def epub(parts: Parts) -> bytes:
    """Return a book whose package lists no page."""
    container = "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles><rootfile full-path='c.opf'/></rootfiles></container>"
    listed = "<package xmlns='http://www.idpf.org/2007/opf'><metadata/><manifest/><spine/></package>"
    own = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "c.opf": listed}
    return zipped({**own, **parts})


def metafile(text: str) -> bytes:
    """Return an EMF that draws one line of text."""
    raw = text.encode("utf-16-le")
    fields = struct.pack("<iiII", 10, 20, len(text), 76) + bytes(24)
    body = bytes(16) + struct.pack("<Iff", 1, 1.0, 1.0) + fields + raw + bytes(-len(raw) % 4)
    head = struct.pack("<II", 1, 88) + bytes(32) + b" EMF" + bytes(44)
    return head + struct.pack("<II", 84, 8 + len(body)) + body + struct.pack("<IIIII", 14, 20, 0, 0, 20)
