"""Office packages: names that a person gave, texts in number formats, fallbacks, and words broken by revisions."""

# ruff: noqa: E501 (a case is read best on one line)

import base64
import struct
from collections.abc import Callable

import pytest

from phiscan.model import Document
from tests.extract.test_office_parts import workbook
from tests.extract.test_office_places import WNS, docx, package, zipped

Read = Callable[..., Document]
P = "Patient Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TEXT = "<w:p><w:r><w:t>%s</w:t></w:r></w:p>"
ODF = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="t" xmlns:style="s" xmlns:table="b" xmlns:draw="d"'


def opendocument(body: str) -> bytes:
    content = f"<office:document-content {ODF}><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def queries(source: str) -> str:
    """Return the part of a workbook that holds the source of its queries."""
    inner = zipped({"Config/Package.xml": "<Package/>", "Formulas/Section1.m": source})
    rest = struct.pack("<I", 2) + b"<>" + struct.pack("<I", 29) + bytes(4) + b"<LocalPackageMetadataFile/>"
    data = bytes(4) + struct.pack("<I", len(inner)) + inner + rest
    return f'<DataMashup xmlns="http://schemas.microsoft.com/DataMashup">{base64.b64encode(data).decode()}</DataMashup>'


CASES = {
    "chart_sheet.xlsx": workbook(xl__chartsheets__sheet1=f'<chartsheet xmlns="{SHEET}"><headerFooter><oddHeader>&amp;C{P}</oddHeader></headerFooter></chartsheet>'),
    "queries.xlsx": workbook(customXml__item1=queries(f'shared Q = "{P}";')),
    "fallback.docx": docx(f'<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps"/><mc:Fallback><w:pict><v:textbox><w:txbxContent>{TEXT % P}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>'),
    "drawn_diagram.pptx": package("ppt/presentation.xml", {"ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": "<p/>", "ppt/diagrams/drawing1.xml": f'<d:drawing xmlns:d="d" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>{P}</a:t></a:r></a:p></d:drawing>'}),
    "escaped.xlsx": workbook(xl__worksheets__sheet1=f'<worksheet xmlns="{SHEET}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>{P.replace("Lena Oka", "Lena_x0020_Oka")}</t></is></c></row></sheetData></worksheet>'),
}  # fmt: skip


def spreadsheet(cell: str) -> bytes:
    """Return a spreadsheet with one cell, as the reader of cells takes it."""
    names = ODF.replace('"t"', '"urn:oasis:names:tc:opendocument:xmlns:text:1.0"')
    names = names.replace('"b"', '"urn:oasis:names:tc:opendocument:xmlns:table:1.0"')
    table = f'<table:table table:name="A"><table:table-row>{cell}</table:table-row></table:table>'
    content = f"<office:document-content {names}><office:body><office:spreadsheet>{table}</office:spreadsheet></office:body></office:document-content>"
    entry = '<m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
    manifest = (
        f'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entry}</m:manifest>'
    )
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        }
    )


def metafile(text: str) -> bytes:
    """Return an EMF that draws one line of text."""
    raw = text.encode("utf-16-le")
    body = bytes(28) + struct.pack("<IIIII16xI", 0, 0, len(text), 76, 0, 0) + raw
    record = struct.pack("<II", 84, 8 + len(body)) + body
    return struct.pack("<II32s4s", 1, 108, b"", b" EMF") + bytes(64) + record + struct.pack("<II12x", 14, 20)


CASES["thumbnail.docx"] = docx(parts={"docProps/thumbnail.emf": metafile(P)})


@pytest.mark.parametrize("name", CASES)
def test_a_text_in_a_styling_part_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown = " ".join(document.text.split())
    assert all(word in shown for word in WORDS)
    assert not document.unread


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (docx("<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:del><w:r><w:delText>x</w:delText></w:r></w:del><w:r><w:t>for</w:t></w:r></w:p>"), "deleted.docx"),
        (docx('<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:instrText> XE "x" </w:instrText></w:r><w:r><w:t>for</w:t></w:r></w:p>'), "field.docx"),
        (docx('<w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:sym w:font="Arial" w:char="0066"/></w:r><w:r><w:t>or</w:t></w:r></w:p>'), "symbol.docx"),
        (docx('<w:p><w:fldChar><w:ffData><w:name w:val="Lena_Okafor"/></w:ffData></w:fldChar></w:p>'), "field_name.docx"),
        (docx(parts={"word/glossary/document.xml": f'<w:glossaryDocument {WNS}><w:name w:val="Lena Okafor"/></w:glossaryDocument>'}), "block.docx"),
        (workbook(book='<customWorkbookViews><customWorkbookView name="Lena Okafor"/></customWorkbookViews>'), "view.xlsx"),
        (workbook(xl__slicerCaches__slicerCache1='<slicerCacheDefinition xmlns="x"><i c="Lena Okafor"/></slicerCacheDefinition>'), "slicer.xlsx"),
        (opendocument('<table:table table:name="Lena Okafor"/>'), "table.odt"),
        (opendocument('<text:p><text:bookmark text:name="Lena_Okafor"/></text:p>'), "bookmark.odt"),
        (docx(parts={"word/people.xml": '<p><presenceInfo userId="S::Lena Okafor@example.org::1"/></p>'}), "people.docx"),
    ],
)  # fmt: skip
def test_a_name_is_read(read: Read, data: bytes, name: str) -> None:
    assert "Lena Okafor" in " ".join(read(data, name).text.split())


@pytest.mark.parametrize(
    "cell",
    [
        '<table:table-cell office:value-type="string"><text:p>Lena<text:tab/>Okafor</text:p></table:table-cell>',
        '<table:table-cell office:value-type="string"><text:p>Lena<text:line-break/>Okafor</text:p></table:table-cell>',
        "<table:table-cell><text:p>Lena Okafor</text:p></table:table-cell>",
    ],
)
def test_words_of_a_cell_of_opendocument_stay_apart(read: Read, cell: str) -> None:
    assert "Lena Okafor" in " ".join(read(spreadsheet(cell), "a.ods").text.split())


def test_the_date_of_a_date_control_is_read(read: Read) -> None:
    control = '<w:sdt><w:sdtPr><w:date w:fullDate="1951-03-14T00:00:00Z"/></w:sdtPr><w:sdtContent/></w:sdt>'
    assert "1951-03-14" in read(docx(control), "a.docx").text


def test_the_data_model_of_a_workbook_is_named(read: Read) -> None:
    model = b"\xff\xfe" + "STREAM_STORAGE_SIGNATURE_)!@#$%^&*(".encode("utf-16-le") + bytes(range(256)) * 9
    parts: dict[str, str | bytes] = {"xl/workbook.xml": "<workbook/>", "xl/model/item.data": model}
    document = read(package("xl/workbook.xml", parts), "a.xlsx")
    assert any("data model of Excel" in part.detail for part in document.unread)
