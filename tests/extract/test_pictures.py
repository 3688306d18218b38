"""Pictures within documents: found in every container, passed over by rule, read once, turned upright."""

import base64
import io
import os
import struct
import zlib
from collections.abc import Callable

import docx
import openpyxl
import pptx
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw, ImageFont

from phiscan.config import Limits
from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.ocr.recognition import OCR_NO_MEMORY
from phiscan.extract.office.legacy import blips
from phiscan.model import Document, FailReason
from phiscan.sandbox import programs
from tests.extract.packages import docx as word
from tests.extract.packages import epub, metafile, odt, saved, zipped

Read = Callable[..., Document]

needs_tesseract = pytest.mark.skipif(
    not ocr.languages() and "CI" not in os.environ, reason="tesseract is not installed"
)
TEXT = "Patient Lena Okafor"


def drawn(
    *, size: tuple[int, int] = (700, 200), text: str = TEXT, kind: str = "PNG", lines: int = 1
) -> bytes:
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for number in range(lines):
        line = text if number == 0 else f"{number} {text} of ward {'ABCDEFGH'[number] * number}"
        pen.text((30, 30 + 60 * number), line, fill="black", font=ImageFont.load_default(size=44))
    return saved(image, kind)


def in_word(*pictures: bytes, text: str = "") -> bytes:
    document = docx.Document()
    document.add_paragraph(text)
    for picture in pictures:
        document.add_picture(io.BytesIO(picture))
    return saved(document)


def in_slides(picture: bytes) -> bytes:
    deck = pptx.Presentation()
    for _ in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_picture(io.BytesIO(picture), 0, 0)
    return saved(deck)


def in_workbook(picture: bytes) -> bytes:
    book = openpyxl.Workbook()
    book.active.add_image(SheetImage(io.BytesIO(picture)), "A1")
    return saved(book)


def in_rtf(picture: bytes) -> bytes:
    return rb"{\rtf1 text {\*\shppict{\pict\pngblip " + picture.hex().encode() + b"}}}"


def in_rtf_as_bytes(picture: bytes) -> bytes:
    return rb"{\rtf1 text {\pict\pngblip\bin%d " % len(picture) + picture + b"}}"


def in_html(picture: bytes) -> bytes:
    return b'<html><p>page</p><img src="data:image/png;base64,' + base64.b64encode(picture) + b'"></html>'


def in_mail(picture: bytes) -> bytes:
    head = b"From: a@example.org\nTo: b@example.org\nSubject: x\nContent-Type: text/html\n\n"
    return head + in_html(picture)


@pytest.mark.parametrize(
    ("make", "name", "locator"),
    [
        (in_word, "a.docx", "image1.png"),
        (in_slides, "a.pptx", "image1.png"),
        (in_workbook, "a.xlsx", "image1.png"),
        (lambda picture: odt(parts={"Pictures/1000.png": picture}), "a.odt", "1000.png"),
        (lambda picture: epub({"OPS/a.png": picture}), "a.epub", "OPS/a.png"),
        (in_rtf, "a.rtf", "picture1"),
        (in_rtf_as_bytes, "b.rtf", "picture1"),
        (in_html, "a.html", "inline1"),
        (in_mail, "a.eml", "inline1"),
    ],
)
def test_a_picture_in_a_document_is_looked_at_or_recorded_as_unread(
    read: Read,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[bytes], bytes],
    name: str,
    locator: str,
) -> None:
    data = make(drawn())
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda _image, _seconds: "words of the picture")
    document = read(data, name)
    assert document.locate(document.text.index("words of the picture")) == locator
    assert document.text.count("words of the picture") == 1
    monkeypatch.setattr(ocr, "languages", lambda: "")
    document = read(zipped({"note.txt": b"Ann Roy", name: data}), "a.zip")
    assert [(part.locator.rpartition("!/")[2], part.reason) for part in document.unread] == [
        (locator, FailReason.NEEDS_OCR)
    ]


@pytest.mark.parametrize("size", [(32, 32), (190, 80), (1600, 12), (900, 900)])
def test_icons_rules_and_patches_are_passed_over(
    read: Read, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    picture = drawn(size=size, text="")
    assert not read(zipped({"note.txt": b"Ann Roy", "a.docx": in_word(picture)}), "a.zip").unread


def test_the_same_picture_is_read_once_per_file(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda image, _seconds: seen.append(image.size) or "words")
    members = {f"{number}.docx": in_word(drawn()) for number in range(4)}
    read(zipped(members | {"logo.png": drawn()}), "a.zip")
    assert seen == [(700, 200)]


def test_all_pictures_of_a_file_share_one_budget(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda _image, _seconds: "words")
    document = read(in_word(drawn(), drawn(text="other"), text="See below."), "a.docx", Limits(ocr_s=0.1))
    assert {(part.locator, part.reason) for part in document.unread} == {
        ("image1.png", FailReason.TIMED_OUT),
        ("image2.png", FailReason.TIMED_OUT),
    }


@needs_tesseract
def test_a_scan_pasted_into_a_word_file_is_read(read: Read) -> None:
    document = read(in_word(drawn()), "a.docx")
    assert TEXT in document.text


@needs_tesseract
def test_ink_on_a_transparent_ground_is_read(read: Read) -> None:
    image = Image.new("RGBA", (700, 200), (0, 0, 0, 0))
    ImageDraw.Draw(image).text((30, 60), TEXT, fill=(0, 0, 0, 255), font=ImageFont.load_default(size=44))
    assert TEXT in read(saved(image, "PNG"), "a.png").text


@needs_tesseract
@pytest.mark.parametrize("degrees", [180, -11])
def test_a_turned_or_slanted_page_is_read(read: Read, degrees: int) -> None:
    page = Image.open(io.BytesIO(drawn(size=(900, 500), lines=6)))
    data = saved(page.rotate(degrees, expand=True, fillcolor="white"), "PNG")
    assert read(data, "a.png").text.count("Okafor") == 6


@pytest.mark.slow
@needs_tesseract
def test_only_a_page_with_doubtful_words_is_asked_for_its_orientation(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[str] = []
    run = programs.run

    def noted(job: str, *arguments: object, **values: str) -> object:
        jobs.append(job)
        return run(job, *arguments, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(programs, "run", noted)
    page = Image.open(io.BytesIO(drawn(size=(900, 500), lines=6)))
    for degrees, expected in ((0, ["ocr"]), (90, ["ocr", "orientation"]), (270, ["ocr", "orientation"])):
        jobs.clear()
        data = saved(page.rotate(degrees, expand=True), "PNG")
        assert read(data, "a.png").text.count("Okafor") == 6
        assert [job for job in jobs if job != "languages"][:2] == expected


def test_exif_gps_iptc_and_xmp_are_read(read: Read) -> None:
    image = Image.new("RGB", (20, 20))
    exif = Image.Exif()
    exif[0x010E] = "chart of Lena Okafor"
    exif[0x9C9D] = "Dr. Roy".encode("utf-16-le")
    inner = exif.get_ifd(0x8769)
    inner[0x9286] = b"ASCII\0\0\0bed 12"
    inner[0xA431] = "SN4411"
    gps = exif.get_ifd(0x8825)
    gps[1], gps[2], gps[3], gps[4] = "N", (45.0, 30.0, 0.0), "W", (73.0, 34.0, 12.0)
    stream = io.BytesIO()
    image.save(
        stream,
        "JPEG",
        exif=exif,
        comment=b"left knee",
        xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>"
        b"<dc xmlns='http://purl.org/dc/elements/1.1/'><creator>Nurse May</creator></dc></x:xmpmeta>",
    )
    sets = b"\x1c\x02\x78\0\x06ward 7\x1c\x02\x50\0\x03Ann"
    resource = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(sets)) + sets
    data = stream.getvalue()
    data = data[:2] + b"\xff\xed" + struct.pack(">H", len(resource) + 2) + resource + data[2:]
    document = read(zipped({"note.txt": b"words", "a.jpg": data}), "a.zip")
    for line in (
        "Description: chart of Lena Okafor",
        "Author: Dr. Roy",
        "User comment: bed 12",
        "Device serial number: SN4411",
        "GPS position: 45.50000, -73.57000",
        "Caption: ward 7",
        "By-line: Ann",
        "comment: left knee",
        "creator: Nurse May",
    ):
        assert line in document.text, line


def test_the_pictures_of_legacy_office_files_are_found() -> None:
    png, jpeg = drawn(), drawn(kind="JPEG")
    drawing = metafile("Lena Okafor")
    packed = zlib.compress(drawing)

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HHI", 0x06E0, kind, len(body)) + body

    stream = (
        b"noise" * 50
        + record(0xF01E, bytes(17) + png)
        + record(0xF01D, bytes(33) + jpeg)
        + record(0xF01A, bytes(16) + bytes(34) + packed)
        + record(0xF01F, bytes(17) + bitmap()[14:])
        + b"\xe0\x06\x1e\xf0\xff\xff\xff\x7f"  # says more than there is
    )
    assert list(blips(stream, zlib.decompress)) == [png, jpeg, drawing, bitmap()]


def bitmap() -> bytes:
    return saved(Image.new("L", (8, 8), 90), "BMP")


def test_the_texts_of_a_metafile_are_read(read: Read) -> None:
    assert read(metafile("Lena Okafor"), "a.emf").text == "Lena Okafor\n"


def test_a_bitmap_in_a_metafile_is_a_picture_of_its_own(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda _image, _seconds: "words")
    bits = drawn(kind="BMP")[14:]
    record = bytes(16 + 24) + struct.pack("<IIII", 80, 40, 120, len(bits) - 40) + bytes(16) + bits
    data = metafile("table")[:88] + struct.pack("<II", 81, 8 + len(record)) + record
    document = read(data, "a.emf")
    assert document.locate(document.text.index("words")) == "bitmap1"


def test_texts_of_an_old_metafile_are_read(read: Read) -> None:
    words = b"Lena Okafor."
    record = struct.pack("<hhHH", 20, 10, len(words), 0) + words
    data = b"\x01\0\x09\0\0\x03" + bytes(12) + struct.pack("<IH", 3 + len(record) // 2, 0x0A32) + record
    assert read(data, "a.wmf").text == "Lena Okafor.\n"


def test_files_that_somebody_put_into_a_package_are_read(read: Read) -> None:
    form = "<form><patient>Bo Li</patient></form>"
    parts = {"patients.txt": "Lena Okafor", "customXml/item7.xml": form, "word/fonts/font1.odttf": "no text"}
    document = read(word(parts=parts), "a.docx")
    assert document.locate(document.text.index("Lena Okafor")) == "patients.txt"
    assert document.locate(document.text.index("Bo Li")) == "customXml/item7.xml"
    assert not document.unread


def test_how_word_cites_is_nobodys_name(read: Read) -> None:
    sources = (
        '<b:Sources xmlns:b="http://schemas.openxmlformats.org/officeDocument/2006/bibliography"'
        ' SelectedStyle="/APA.XSL" StyleName="APA"><b:Source><b:Author>Bo Li</b:Author></b:Source>'
        "</b:Sources>"
    )
    document = read(word(parts={"customXml/item9.xml": sources}), "a.docx")
    assert document.locate(document.text.index("Bo Li")) == "customXml/item9.xml"
    assert "APA" not in document.text


@pytest.mark.parametrize(
    ("status", "reason", "detail"),
    [
        (-11, FailReason.CRASHED, "OCR ended by SIGSEGV"),
        (-9, FailReason.OUT_OF_MEMORY, OCR_NO_MEMORY),
    ],
)
@needs_tesseract
def test_reading_that_fails_is_one_unread_page_with_its_reason(
    read: Read, monkeypatch: pytest.MonkeyPatch, status: int, reason: FailReason, detail: str
) -> None:
    pages = [Image.open(io.BytesIO(drawn(text=f"Lena Okafor page {number}"))) for number in range(2)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    n_readings = 0

    def fail_once(job: str, *arguments: object, **values: str) -> programs.Finished:
        nonlocal n_readings
        n_readings += 1
        if n_readings == 1:
            return programs.Finished(status, b"")
        return run(job, *arguments, **values)  # type: ignore[arg-type]

    run = programs.run
    monkeypatch.setattr(programs, "run", fail_once)
    document = read(data, "a.tif", Limits(ocr_s=300))
    assert [(part.locator, part.reason, part.detail) for part in document.unread] == [("#p1", reason, detail)]
    assert "page 1" in document.text
