import io
from collections.abc import Callable

import pypdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdf.annotations import Text
from reportlab.lib.pagesizes import letter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.pdf import page_pictures as pdf_pictures
from phiscan.extract.pdf import reader
from phiscan.extract.pdf.words import is_garbage
from phiscan.model import Document, FailReason
from tests.extract.packages import saved
from tests.extract.pdf_bytes import Pdf

Read = Callable[..., Document]


def pdf_bytes(*pages: str, form: bool = False) -> bytes:
    page = canvas.Canvas("", pagesize=letter)
    page.setAuthor("Dr. Meta")
    for text in pages:
        page.drawString(72, 700, text)
        if form:
            page.acroForm.textfield(
                name="health_card", value="1234567890", x=72, y=600, tooltip="Health card"
            )
        page.showPage()
    return page.getpdfdata()


def picture() -> Image.Image:
    image = Image.new("L", (1200, 300), 255)
    ImageDraw.Draw(image).text((60, 100), "Patient Lena Okafor", fill=0, font=ImageFont.load_default(size=64))
    return image


def scanned_pdf() -> bytes:
    return saved(picture().convert("RGB"), "PDF")


def test_each_page_is_a_segment(read: Read) -> None:
    document = read(pdf_bytes("first Ann Roy", "second Lena Okafor"), "a.pdf")
    assert document.locate(document.text.index("Ann Roy")) == "#p1"
    assert document.locate(document.text.index("Lena Okafor")) == "#p2"
    assert "Author: Dr. Meta" in document.text


def test_of_very_many_pages_the_first_and_a_spread_of_the_others_are_read(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_PAGES", 20)
    monkeypatch.setattr(reader, "_FIRST_PAGES", 10)
    document = read(
        pdf_bytes(*(f"This is page number {number} of the report" for number in range(60))), "a.pdf"
    )
    pages = [int(part.locator[2:]) for part in document.segments if part.locator[2:].isdecimal()]
    assert pages == [*range(1, 11), *range(11, 61, 5)]
    assert [part.detail for part in document.unread] == ["not read: 40 of 60 pages, spread after page 10"]
    assert document.n_chars_unread > 1_000


def test_filled_form_fields_are_read_with_their_labels(read: Read) -> None:
    document = read(pdf_bytes("form", form=True), "f.pdf")
    assert "Health card: 1234567890" in document.text
    assert document.locate(document.text.index("1234567890")) == "#p1/form"


def test_annotations_and_attachments_are_read(read: Read) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_bytes("page words")))
    writer.add_annotation(0, Text(text="note about Ann", rect=(10, 10, 50, 50)))
    writer.add_attachment("list.csv", b"Name,City,Phone\nLena Okafor,Ajax,1\nBo Li,York,2\n")
    document = read(saved(writer), "a.pdf")
    assert document.locate(document.text.index("note about Ann")) == "#p1/notes"
    assert document.locate(document.text.index("Lena Okafor")) == "list.csv#row2"


def test_the_words_of_a_turned_table_head_stay_apart(read: Read) -> None:
    page = canvas.Canvas("", pagesize=letter)
    for number in range(12):
        page.drawString(72, 580 - 14 * number, "1 77 Ann Roy, of the ward, was re-" if number else LINE)
    page.drawString(72, 412, "ferred home")
    page.setFont("Helvetica", 7)
    for number, head in enumerate(["No", "ID", "Name", "Phone"]):
        page.saveState()
        page.translate(100 + 11.4 * number, 600)
        page.rotate(90)
        page.drawString(0, 0, head)
        page.restoreState()
    text = read(page.getpdfdata(), "a.pdf").text
    assert "No ID Name Phone" in text
    assert "was referred home" in text


@pytest.mark.parametrize("in_one", [False, True])
def test_the_values_of_an_xfa_form_are_read(read: Read, *, in_one: bool) -> None:
    fields = "<lastName>Okafor</lastName><healthCard>1234567890</healthCard>"
    data = f'<x:datasets xmlns:x="http://www.xfa.org/schema/xfa-data/1.0/"><x:data><form1>{fields}</form1></x:data></x:datasets>'
    template = "<template><field name='lastName'><caption>of nobody</caption></field></template>"
    pdf = Pdf("BT /F1 12 Tf 72 700 Td (Please wait) Tj ET")
    if in_one:
        xfa = f"{pdf.stream(f'<xdp>{template}{data}</xdp>')} 0 R"
    else:
        xfa = f"[(template) {pdf.stream(template)} 0 R (datasets) {pdf.stream(data)} 0 R]"
    pdf.set(1, f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[]/XFA {xfa}>>>>")
    document = read(pdf.data(), "x.pdf")
    assert "last Name: Okafor\nhealth Card: 1234567890" in document.text
    assert document.locate(document.text.index("Okafor")) == "#xfa"
    assert "of nobody" not in document.text


@pytest.fixture
def encrypted() -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_bytes("locked words")))
    writer.encrypt("open sesame", algorithm="AES-256")
    return saved(writer)


def test_an_encrypted_file_is_its_own_outcome(read: Read, encrypted: bytes) -> None:
    with pytest.raises(ExtractError) as caught:
        read(encrypted, "e.pdf")
    assert caught.value.reason == FailReason.ENCRYPTED


def test_a_password_of_the_list_opens_it(read: Read, encrypted: bytes) -> None:
    assert "locked words" in read(encrypted, "e.pdf", passwords=("wrong", "open sesame")).text


def test_a_scan_without_ocr_needs_ocr(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    with pytest.raises(ExtractError) as caught:
        read(scanned_pdf(), "scan.pdf")
    assert caught.value.reason == FailReason.NEEDS_OCR


Place = tuple[float, float, float, float]
WHOLE_PAGE = (0.0, 0.0, 612.0, 792.0)
HALF_PAGE = (72.0, 60.0, 468.0, 300.0)
LINE = "The patient was seen on the ward, and a letter was sent to the family doctor of record."


def page_with_a_form() -> bytes:
    """Draw a small picture within a form that makes it four times as large."""
    page = canvas.Canvas("", pagesize=letter)
    page.beginForm("scan")
    page.drawInlineImage(picture().convert("RGB"), 0, 0, 120, 60)
    page.endForm()
    page.scale(4, 4)
    page.doForm("scan")
    page.scale(0.25, 0.25)
    for number in range(20):
        page.drawString(72, 740 - 14 * number, LINE)
    return page.getpdfdata()


def drawn_page(*pictures: Place, text: str = "", lines: int = 1, top: float = 0.0) -> bytes:
    """Draw pictures (left, bottom, width, height) and lines of text, the last of them at the foot."""
    page = canvas.Canvas("", pagesize=letter)
    for number, (left, bottom, width, height) in enumerate(pictures):
        # No two alike: a picture that comes again is not read again.
        image = picture().convert("RGB").resize((int(width), max(int(height) - number, 1)))
        page.drawInlineImage(image, left, bottom, width, height)
    if not pictures:
        page.line(72, 72, 300, 300)
    for number in range(lines):
        page.drawString(72, (top or 20 + 14 * (lines - 1)) - 14 * number, text)
    page.showPage()
    return page.getpdfdata()


STRIPS = [(0.0, 79.2 * number, 612.0, 79.2) for number in range(10)]
SMALL = (72.0, 700.0, 100.0, 60.0)
CARD = "Health card of the patient:"
# Pages, and whether a picture on them is one to be read.
PAGES = {
    "stamped scan": (drawn_page(WHOLE_PAGE, text="Received by fax"), True),
    "scan with a long footer": (drawn_page(WHOLE_PAGE, text=LINE, lines=5), True),
    "scan in strips": (drawn_page(*STRIPS, text=LINE, lines=5), True),
    "searchable scan": (drawn_page(WHOLE_PAGE, text=LINE, lines=54), False),
    "pasted report": (drawn_page(HALF_PAGE, text=LINE, lines=20, top=740), True),
    "report in a form": (page_with_a_form(), True),
    "logo": (drawn_page(SMALL, text=LINE, lines=40), False),
    "photographed card": (drawn_page((72.0, 500.0, 180.0, 120.0), text=CARD), True),
    "logo alone": (drawn_page(SMALL, text=CARD), False),
    "no picture": (drawn_page(text="words above a line"), False),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_beside_text_is_not_taken_for_read(
    read: Read, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    page, is_one = PAGES[name]
    expected = [("#p1/picture1", FailReason.NEEDS_OCR)] if is_one else []
    assert [(part.locator, part.reason) for part in read(page, "a.pdf").unread] == expected


def test_a_picture_with_too_many_pixels_costs_no_text(read: Read) -> None:
    page = canvas.Canvas("", pagesize=letter)
    page.drawImage(ImageReader(picture()), *WHOLE_PAGE)
    page.drawString(72, 20, "Ann Roy")
    data = page.getpdfdata()
    assert data.count(b"/Width 1200") == 1
    document = read(data.replace(b"/Width 1200", b"/Width 999000"), "a.pdf")
    assert "Ann Roy" in document.text
    assert [(part.locator, part.reason) for part in document.unread] == [
        ("#p1/picture1", FailReason.TOO_LARGE)
    ]


def turned_and_shifted(page: bytes, degrees: int) -> bytes:
    """Put a page into a form on a page that is larger, begins elsewhere and is turned."""
    writer = pypdf.PdfWriter()
    sheet = writer.add_blank_page(width=900, height=1000)
    sheet.merge_translated_page(pypdf.PdfReader(io.BytesIO(page)).pages[0], tx=100, ty=150)
    sheet.mediabox = pypdf.generic.RectangleObject((50, 100, 900, 1000))
    sheet.cropbox = sheet.mediabox
    sheet.rotate(degrees)
    return saved(writer)


@pytest.mark.parametrize("degrees", [0, 90, 270])
def test_what_is_drawn_of_a_picture_is_the_picture(
    read: Read, monkeypatch: pytest.MonkeyPatch, degrees: int
) -> None:
    drawn = []

    def look(render: Callable[[], Image.Image], *_: object) -> bool:
        drawn.append(render())
        return True

    monkeypatch.setattr(pdf_pictures, "read_picture", look)
    page = drawn_page(HALF_PAGE, text=LINE, lines=20, top=740)
    read(turned_and_shifted(page, degrees), "a.pdf")
    (image,) = drawn
    upright = image.rotate(degrees, expand=True)
    assert upright.size == pytest.approx((468 * 200 / 72, 300 * 200 / 72), abs=2)
    ink = upright.point(lambda grey: 255 * (grey < 128)).getbbox()
    expected = picture().resize(upright.size).point(lambda grey: 255 * (grey < 128)).getbbox()
    assert ink == pytest.approx(expected, abs=8)


def test_a_page_of_drawn_letters_needs_ocr(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    with pytest.raises(ExtractError) as caught:
        read(drawn_page(), "drawing.pdf")
    assert caught.value.reason == FailReason.NEEDS_OCR


@pytest.mark.skipif(not ocr.languages(), reason="tesseract is not installed")
def test_a_scan_is_read_by_ocr(read: Read) -> None:
    assert "Okafor" in read(scanned_pdf(), "scan.pdf").text


def test_ocr_stops_at_its_budget(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    with pytest.raises(ExtractError) as caught:
        read(scanned_pdf(), "scan.pdf", Limits(ocr_s=0.1))
    assert caught.value.reason == FailReason.TIMED_OUT


def test_a_damaged_file_is_corrupt(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"%PDF-1.4\nnothing of a document", "x.pdf")
    assert caught.value.reason == FailReason.CORRUPT


def test_garbage_is_told_from_text() -> None:
    assert is_garbage("\ue001\ue002\ue003 a")
    assert is_garbage("(cid:12)(cid:13)(cid:14)")
    assert not is_garbage("Patiente née à Québec 北京")
    assert not is_garbage("")
