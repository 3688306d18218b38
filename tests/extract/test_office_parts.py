"""Values in office packages that no page shows."""

import io
import zipfile
from collections.abc import Callable

import openpyxl
import pytest

from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
LINK = "http://schemas.openxmlformats.org/package/2006/relationships"
BODY = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>Parking is free.</w:t></w:r></w:p></w:body></w:document>'  # noqa: E501
CELLS = f'<worksheet xmlns="{SHEET}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Room</t></is></c></row></sheetData>%s</worksheet>'  # noqa: E501
WORKBOOK = f'<workbook xmlns="{SHEET}" xmlns:r="r"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets>%s</workbook>'  # noqa: E501


def word(**parts: str) -> bytes:
    named = {
        name.replace("__", "/").replace("_xml", ".xml").replace("_rels", ".rels"): text
        for name, text in parts.items()
    }
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": BODY} | named)


def workbook(sheet: str = "", book: str = "", **parts: str) -> bytes:
    relations = (
        f'<Relationships xmlns="{LINK}"><Relationship Id="rId1" Target="worksheets/sheet1.xml"'
        ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/></Relationships>'
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": WORKBOOK % book,
            "xl/_rels/workbook.xml.rels": relations,
            "xl/worksheets/sheet1.xml": CELLS % sheet,
        }
        | {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
    )


@pytest.mark.parametrize(
    "part",
    [
        {"customXml__item1_xml": "<chart><patient>Okafor</patient></chart>"},
        {"word__unheardOf_xml": '<x:a xmlns:x="x" x:whatever="seen by Lena Okafor today"/>'},
    ],
)
def test_values_of_word_files_are_read(read: Read, part: dict[str, str]) -> None:
    document = read(word(**part), "letter.docx")
    assert "Okafor" in document.text
    assert "Parking is free." in document.text
    assert not document.unread


@pytest.mark.parametrize(
    "part",
    [
        {
            "sheet": '<dataValidations count="1"><dataValidation type="list" prompt="Okafor" sqref="A1"><formula1>"a,b"</formula1></dataValidation></dataValidations>'  # noqa: E501
        },
        {
            "sheet": '<dataValidations count="1"><dataValidation type="list" sqref="A1"><formula1>"Okafor,Delisle"</formula1></dataValidation></dataValidations>'  # noqa: E501
        },
        {
            "sheet": '<autoFilter ref="A1:A9"><filterColumn colId="0"><filters><filter val="Okafor"/></filters></filterColumn></autoFilter>'  # noqa: E501
        },
        {
            "xl__externalLinks__externalLink1": "<externalLink><externalBook><sheetDataSet><sheetData><row r='1'><cell r='A1'><v>Name</v></cell><cell r='B1'><v>MRN</v></cell></row><row r='2'><cell r='A2'><v>Okafor</v></cell><cell r='B2'><v>40718823</v></cell></row></sheetData></sheetDataSet></externalBook></externalLink>"  # noqa: E501
        },
        {"book": '<definedNames><definedName name="who">"Okafor"</definedName></definedNames>'},
        {"xl__persons__person": '<personList><person displayName="Okafor" id="x"/></personList>'},
        {"xl__sharedStrings": f'<sst xmlns="{SHEET}" count="1" uniqueCount="1"><si><t>Okafor</t></si></sst>'},
    ],
    ids=["prompt", "list", "filter", "linked book", "name", "person", "unused string"],
)
def test_values_of_workbooks_are_read(read: Read, part: dict[str, str]) -> None:
    document = read(workbook(**part), "list.xlsx")
    assert "Okafor" in document.text
    assert not document.unread


def test_a_pivot_cache_is_a_table_of_records(read: Read) -> None:
    definition = (
        '<pivotCacheDefinition><cacheFields><cacheField name="Last name"><sharedItems><s v="Okafor"/><s v="Roy"/></sharedItems>'  # noqa: E501
        '</cacheField><cacheField name="MRN"><sharedItems/></cacheField></cacheFields></pivotCacheDefinition>'
    )
    records = '<pivotCacheRecords><r><x v="0"/><n v="40718823"/></r><r><x v="99"/><n v="1"/></r></pivotCacheRecords>'  # noqa: E501
    text = read(
        workbook(
            xl__pivotCache__pivotCacheDefinition1=definition, xl__pivotCache__pivotCacheRecords1=records
        ),
        "p.xlsx",
    ).text
    assert "Last name: Okafor | MRN: 40718823" in text
    assert "Last name: Roy" in text  # in no record any more


def test_tags_and_alternative_texts_of_slides_are_read(read: Read) -> None:
    slide = (
        f'<p:sld xmlns:p="{SLIDE}" xmlns:a="a"><p:sp><p:cNvPr id="2" name="Title 1" descr="scan of Lena Okafor"/>'  # noqa: E501
        "<a:p><a:r><a:t>Ok</a:t></a:r><a:r><a:t>ay, Del</a:t></a:r><a:r><a:t>isle</a:t></a:r></a:p></p:sp></p:sld>"  # noqa: E501
    )
    tags = f'<p:tagLst xmlns:p="{SLIDE}"><p:tag name="PATIENT" val="Rossi"/></p:tagLst>'
    text = read(
        zipped(
            {
                "[Content_Types].xml": "",
                "ppt/presentation.xml": "<p/>",
                "ppt/slides/slide1.xml": slide,
                "ppt/tags/tag1.xml": tags,
            }
        ),
        "s.pptx",
    ).text
    assert "Okay, Delisle" in text
    assert "scan of Lena Okafor" in text
    assert "Rossi" in text
    assert "Title 1" not in text


def test_values_that_say_how_a_document_is_drawn_are_left_out(read: Read) -> None:
    part = f'<w:hdr xmlns:w="{WORD}"><w:p><w:r><w:rPr><w:rFonts w:ascii="Times New Roman"/></w:rPr></w:r></w:p></w:hdr>'  # noqa: E501
    assert "Times" not in read(word(word__header1_xml=part), "letter.docx").text


def test_a_part_of_fields_that_is_too_large_is_said(read: Read) -> None:
    blank = " " * (33 * 1024**2)
    document = read(
        word(word__settings_xml=f"<w:settings xmlns:w='{WORD}'>{blank}</w:settings>"), "letter.docx"
    )
    assert "Parking" in document.text
    assert FailReason.TOO_LARGE in {part.reason for part in document.unread}


def test_a_sheet_that_its_workbook_does_not_list_any_more_is_read(read: Callable[..., Document]) -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "lunch"
    stream = io.BytesIO()
    workbook.save(stream)
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
        '<c r="A1" t="inlineStr"><is><t>Lena Okafor</t></is></c><c r="B1"><v>40718823</v></c>'
        "</row></sheetData></worksheet>"
    )
    with zipfile.ZipFile(stream, "a") as package:
        package.writestr("xl/worksheets/sheet9.xml", sheet)
    document = read(stream.getvalue(), "a.xlsx")
    assert "Lena Okafor | 40718823" in document.text
    assert "sheet9!A1" in {segment.locator.partition("#")[2] for segment in document.segments}
