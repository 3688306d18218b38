"""A limit that cuts text is never silent: each one, made small, leaves an entry of what is not read."""

import io
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest
from PIL import Image

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from tests.extract import (
    test_column_files,
    test_databases,
    test_office_places,
    test_old_programs,
    test_pdf,
    test_text_codes,
)
from tests.extract.compound_files import slide_record
from tests.extract.packages import metafile, saved
from tests.extract.test_office_places import pivot
from tests.extract.test_transport import cms_indefinite, packet

NOTE = "Lena Okafor was admitted with congestive heart failure yesterday"


def code() -> bytes:
    zxingcpp = pytest.importorskip("zxingcpp")
    drawn = Image.fromarray(zxingcpp.create_barcode(NOTE, zxingcpp.BarcodeFormat.QRCode).to_image(scale=4))
    page = Image.new("L", (drawn.width + 80, drawn.height + 80), 255)
    page.paste(drawn, (40, 40))
    return saved(page, "PNG")


def revised() -> bytes:
    data = test_pdf.pdf_bytes("Parking is free after six.")
    for note in ("first", "second"):
        writer = pypdf.PdfWriter(io.BytesIO(data), incremental=True)
        writer.add_metadata({"/Note": note})
        data = saved(writer)
    return data


DATABASE = test_databases.database(
    "create table visits(note)",
    f"insert into visits values ('{NOTE}, seen again in spring')",  # noqa: S608
    "create table others(note)",
)


def frames() -> bytes:
    pages = [Image.new("L", (300, 200), shade) for shade in (0, 90, 180)]
    return saved(pages[0], "GIF", save_all=True, append_images=pages[1:])


def one_note() -> bytes:
    text = test_old_programs.properties((0x1C001C22, NOTE.encode("utf-16-le")))
    return b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d" + bytes(1016) + text * 2


TWO_PACKETS = packet(8, b"\0" + packet(11, b"b\1x" + bytes(4) + NOTE.encode()))
CODED = b"\n\n".join(test_text_codes.CASES[name] for name in ("percent.txt", "b64_short.txt"))
ONE_PICTURE = test_pdf.drawn_page((72, 60, 300, 200), text=NOTE)
TWO_PICTURES = test_pdf.drawn_page((72, 60, 300, 200), (72, 400, 300, 200), text=NOTE)
VARIABLES, HEADER = (test_office_places.CASES[name] for name in ("d_docvars.docx", "x_header.xlsx"))
# The limit, a small value, the file, its name, and what the entry says.
BOUNDS: dict[str, tuple[object, bytes | Callable[[], bytes], str, str]] = {
    "ocr.picture_values._MOST_CODES": (0, code, "a.png", "1 of 1 codes"),
    "ocr.picture_values._MOST_PIXELS": (9, code, "a.png", "codes in more than 9 pixels"),
    "ocr.images._MAX_PAGES": (2, frames, "a.gif", "pages 3 to 3 are not read"),
    "ocr.images._MAX_RECORDS": (2, metafile(NOTE), "a.emf", "records after the first 2"),
    "pdf.objects.MOST_REVISIONS": (1, revised, "a.pdf", "1 of 2 earlier revisions"),
    "pdf.objects._MOST_PAGES": (0, revised, "a.pdf", "pages 1 to 1 are not read"),
    "pdf.objects._MOST_BYTES": (99, revised, "a.pdf", "earlier revisions in more than 99 bytes"),
    "pdf.page_pictures._MAX_IMAGES": (1, TWO_PICTURES, "a.pdf", "pictures after the first 1"),
    "pdf.page_pictures._MAX_OBJECTS": (1, ONE_PICTURE, "a.pdf", "pictures among objects 2 to"),
    "spreadsheets.workbook_parts._MOST_RECORDS": (1, pivot("<r/>", "<r/>"), "a.xlsx", "records 2 to 2 are"),
    "office.package._MOST_BYTES": (9, VARIABLES, "a.docx", "more than 9 bytes of fields"),
    "office.package._MOST_VALUES": (0, VARIABLES, "a.docx", "more than 0 values"),
    "spreadsheets.workbook_parts._MOST_SHEET_BYTES": (
        9,
        HEADER,
        "a.xlsx",
        "headers, footers and literals of",
    ),
    "spreadsheets.rows.MOST_CELL": (30, DATABASE, "a.db", "characters of long cells are not read"),
    "databases.sqlite._MOST_TABLES": (1, DATABASE, "a.db", "tables after the first 1"),
    "databases.dbase._MOST_BYTES": (20, test_databases.recording(), "a.edf", "annotations in the last"),
    "office.onenote._MOST_LISTS": (0, one_note, "a.one", "more lists of properties"),
    "office.onenote._MOST_TEXT_BYTES": (9, one_note, "a.one", "only the runs of text"),
    "transport.signed._MOST_ITEMS": (3, cms_indefinite(NOTE.encode()), "a.p7m", "more than 3 items"),
    "transport.signed._MOST_PACKETS": (1, TWO_PACKETS, "a.pgp", "packets after the first 1"),
    "text_codes.recovery._MOST_RUNS": (0, CODED, "a.txt", "more than 0 coded runs"),
}


def entries(data: bytes, name: str) -> list[str]:
    try:
        return [part.detail for part in extract_bytes(data, name, Limits()).unread]
    except ExtractError as error:
        return [error.detail]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_limit_that_cuts_text_is_listed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    value, made, file_name, said = BOUNDS[name]
    monkeypatch.setattr("phiscan.extract.ocr.recognition.languages", lambda: "eng")
    monkeypatch.setattr("phiscan.extract.ocr.recognition.picture_text", lambda *_: "words")
    data = made() if callable(made) else made
    assert not any(said in entry for entry in entries(data, file_name))
    monkeypatch.setattr(f"phiscan.extract.{name}", value)
    assert any(said in entry for entry in entries(data, file_name))


def test_labels_over_the_limit_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = test_column_files.written("study.sav", tmp_path)
    monkeypatch.setattr("phiscan.extract.databases.column_files._MOST_LABELS", 1)
    assert entries(data, "study.sav") == [
        "labels after the first 1 of a variable are read only with their rows"
    ]


def test_records_deeper_than_the_limit_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from phiscan.extract.office.compound_file import slide_records  # noqa: PLC0415

    text = NOTE.encode("utf-16-le")
    atom = slide_record(0, 0x0FA0, text)
    for _ in range(3):
        atom = slide_record(0x0F, 0x03EE, atom)
    monkeypatch.setattr("phiscan.extract.office.compound_file._MOST_DEPTH", 1)
    assert [body for _, _, _, body in slide_records(atom)] == [text]
