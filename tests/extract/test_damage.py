"""Small damage and hidden corners: nothing that a person could read is lost for it."""

import io
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from PIL import Image

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.core.content import Sink
from phiscan.extract.ocr import images as image
from phiscan.extract.office import compound_file
from phiscan.extract.office import compound_file as ole
from phiscan.extract.spreadsheets import workbook as sheet
from phiscan.extract.spreadsheets.sheet_xml import extent_of
from phiscan.model import Document, FailReason
from tests.extract.packages import docx, ods, p, saved, zipped

Read = Callable[..., Document]

FILES = Path(__file__).parents[2].parent / "shared" / "data" / "files"
NOTE = "Lena Okafor, health card 1234-567-897"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_zip_without_its_directory_is_read_member_by_member(read: Read, method: int) -> None:
    data = zipped({"a.txt": NOTE, "b.txt": "Bo Li " * 50}, method)
    document = read(data[: data.index(b"PK\x01\x02")], "a.zip")
    assert document.locate(document.text.index(NOTE)) == "a.txt"
    assert document.locate(document.text.index("Bo Li")) == "b.txt"
    assert [(part.locator, part.reason) for part in document.unread] == [("", FailReason.CORRUPT)]


def test_a_zip_cut_within_a_member_gives_the_part_before_the_cut(read: Read) -> None:
    data = zipped({"a.txt": NOTE, "b.txt": "Bo Li " * 50}, zipfile.ZIP_STORED)
    document = read(data[: data.index(b"Bo Li") + 100], "a.zip")
    assert NOTE in document.text
    assert document.text.count("Bo Li") > 10
    assert ("b.txt", "cut short") in [(part.locator, part.detail) for part in document.unread]


def test_members_that_lie_elsewhere_than_the_directory_says_are_found(read: Read) -> None:
    data = bytearray(zipped({"a.txt": NOTE, "b.txt": "Bo Li"}))
    entry = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 42, 7)
    document = read(bytes(data), "a.zip")
    assert NOTE in document.text
    assert "Bo Li" in document.text
    assert FailReason.CORRUPT in {part.reason for part in document.unread}


def test_a_word_file_without_its_directory_is_read_part_by_part(read: Read) -> None:
    data = docx(p(NOTE))
    found = read(data[: data.index(b"PK\x01\x02")], "a.docx")
    assert found.locate(found.text.index(NOTE)) == "#body"
    assert found.unread[-1].reason == FailReason.CORRUPT


def test_bytes_that_look_like_a_zip_and_hold_nothing_are_corrupt(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"PK\x03\x04" + b"\xff" * 200, "a.zip")
    assert caught.value.reason == FailReason.CORRUPT


def test_a_json_name_that_occurs_twice_keeps_both_values(read: Read) -> None:
    document = read(b'{"patient": "Ann Roy", "patient": "Lena Okafor", "n": {"a": 1, "a": 2}}', "a.json")
    assert document.text.split("\n")[:2] == ["patient: Ann Roy", "patient: Lena Okafor"]
    assert "2" in document.text
    lines = read(b'{"p": "Ann Roy", "p": "Bo Li"}\n{"p": 1}\n', "a.ndjson")
    assert "p: Ann Roy\np: Bo Li" in lines.text


def test_groups_of_an_rtf_that_no_program_shows_are_read_as_hidden(read: Read) -> None:
    data = rb"{\rtf1\ansi{\fonttbl{\f0 Calibri;}}{\stylesheet{\*\cs10 Default;}} seen {\*\mynote Lena Okafor}"
    data += (
        rb"{\field{\*\fldinst HYPERLINK mailto:roy@example.org}{\fldrslt mail}}{\info{\operator Ann May}}}"
    )
    document = read(data, "a.rtf")
    assert document.locate(document.text.index("Lena Okafor")) == "#hidden"
    assert "roy@example.org" in document.text
    assert "Ann May" in document.text
    assert "Calibri" not in document.text
    assert "Default" not in document.text


def test_comments_and_contents_of_style_sheets_are_read_as_hidden(read: Read) -> None:
    page = '<html><style>/* for Lena Okafor */ p:before {content: "Bo Li"; color: red}</style><p>x</p></html>'
    document = read(page.encode(), "a.html")
    assert document.locate(document.text.index("Lena Okafor")) == "#hidden"
    assert "Bo Li" in document.text
    assert "color" not in document.text


def far_ods() -> bytes:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    return ods(
        f'<table:table table:name="A"><table:table-row>{cell.format("Ann Roy")}</table:table-row>'
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row>'
        f'<table:table-row><table:table-cell table:number-columns-repeated="16383"/>{cell.format(NOTE)}'
        "</table:table-row></table:table>"
    )


def far_xlsb() -> bytes:
    def record(kind: int, body: bytes) -> bytes:
        size = len(body)
        return bytes([kind, size & 0x7F | 0x80, size >> 7] if size > 127 else [kind, size]) + body

    def cell(column: int, text: str) -> bytes:
        return record(6, struct.pack("<III", column, 0, len(text)) + text.encode("utf-16-le"))

    sheet = record(0, struct.pack("<I", 0) + bytes(13)) + cell(0, "Ann Roy")
    sheet += record(0, struct.pack("<I", 1048575) + bytes(13)) + cell(16383, NOTE)
    types = {"[Content_Types].xml": b"<Types/>", "_rels/.rels": b"<Relationships/>"}
    return zipped(types | {"xl/workbook.bin": b"", "xl/worksheets/sheet1.bin": sheet})


@pytest.mark.parametrize(("make", "name"), [(far_ods, "a.ods"), (far_xlsb, "a.xlsb")])
def test_a_cell_in_the_last_corner_costs_no_text(read: Read, make: Callable[[], bytes], name: str) -> None:
    assert extent_of(io.BytesIO(make())) == "out of proportion"
    document = read(make(), name)
    assert "Ann Roy" in document.text
    assert NOTE in document.text


def property_stream(*properties: tuple[int, int, bytes], count: int | None = None) -> bytes:
    """Build a property set: (number, kind, value) each."""
    table, values = b"", b""
    start = 8 + 8 * len(properties)
    for number, kind, value in properties:
        table += struct.pack("<II", number, start + len(values))
        values += struct.pack("<I", kind) + value
    body = struct.pack("<II", 8 + len(table) + len(values), len(properties) if count is None else count)
    return bytes(24) + struct.pack("<I", 1) + bytes(16) + struct.pack("<I", 48) + body + table + values


def test_properties_are_read_within_the_bytes_that_are_there() -> None:
    narrow = struct.pack("<I", 8) + "Ren\u00e9e R".encode("cp1252") + b"\0"
    wide = struct.pack("<I", 4) + "Roy\0".encode("utf-16-le")
    whole = property_stream((1, 2, struct.pack("<hh", 1252, 0)), (2, 30, narrow), (4, 31, wide))
    assert compound_file.texts(whole) == ({2: "Ren\u00e9e R\0".encode("cp1252"), 4: "Roy\0"}, 1252)
    # A vector of two thousand million numbers, and as many properties: nobody counts to that.
    many = property_stream((4, 31, wide), (9, 0x1003, b"\xff\xff\xff\x7f"), count=2**32 - 1)
    assert compound_file.texts(many)[0][4] == "Roy\0"
    assert compound_file.texts(whole[:60]) == ({}, None)


def test_a_workbook_on_which_the_library_panics_is_read_from_its_parts(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        __module__ = "pyo3_runtime"

    def panic(_: object) -> None:
        raise PanicException(NOTE)

    book = openpyxl.Workbook()
    book.active.append(["Name", NOTE])
    monkeypatch.setattr(sheet, "_open", panic)
    document = read(saved(book), "a.xlsx")
    assert NOTE in document.text
    with pytest.raises(ExtractError) as caught:
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"W\0o\0r\0k\0" * 200, "a.xls")
    assert NOTE not in str(caught.value)


def test_pages_before_a_damaged_one_are_read(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [Image.new("L", (300, 100), 255) for _ in range(3)]
    data = bytearray(saved(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    at = max(data.rfind(struct.pack("<HHI", 256, kind, 1)) for kind in (3, 4))
    struct.pack_into("<H", data, at, 999)  # the last page has no width any more
    looked_at = []

    def look(render: Callable[[], Image.Image], place: str, sink: Sink) -> None:
        looked_at.append((place, render().size))
        sink.add("seen", place)

    monkeypatch.setattr(image, "read_picture", look)
    document = read(bytes(data), "a.tiff")
    assert looked_at == [("#p1", (300, 100)), ("#p2", (300, 100))]
    assert ("#p3", FailReason.CORRUPT) in [(part.locator, part.reason) for part in document.unread]


@pytest.mark.skipif(not FILES.is_dir(), reason="the real documents are not here")
@pytest.mark.parametrize("name", ["tika-74419c4b-testMSG.msg", "poi-970c3d75-numbers.ppt"])
def test_a_compound_file_that_was_cut_says_so(read: Read, name: str) -> None:
    data = (FILES / name).read_bytes()
    assert not ole.is_cut(ole.open_ole(data))
    with suppress(ExtractError):  # as good an outcome
        document = read(data[: len(data) * 9 // 10], name, replace(Limits(), ocr_s=0.0))
        assert (FailReason.CORRUPT, "cut short") in [(part.reason, part.detail) for part in document.unread]
