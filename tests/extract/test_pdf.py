import io
from collections.abc import Callable

import pypdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdf.annotations import Text
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen import canvas

from phiscan.errors import ExtractError
from phiscan.extract import ocr
from phiscan.extract.garbage import is_garbage
from phiscan.model import Document, FailReason

Read = Callable[..., Document]


def pdf_bytes(*pages: str, form: bool = False) -> bytes:
    stream = io.BytesIO()
    page = canvas.Canvas(stream, pagesize=letter)
    page.setAuthor("Dr. Meta")
    for text in pages:
        page.drawString(72, 700, text)
        if form:
            page.acroForm.textfield(
                name="health_card", value="1234567890", x=72, y=600, tooltip="Health card"
            )
        page.showPage()
    page.save()
    return stream.getvalue()


def picture() -> Image.Image:
    image = Image.new("L", (1200, 300), 255)
    ImageDraw.Draw(image).text((60, 100), "Patient Lena Okafor", fill=0, font=ImageFont.load_default(size=64))
    return image


def scanned_pdf() -> bytes:
    stream = io.BytesIO()
    picture().convert("RGB").save(stream, "PDF")
    return stream.getvalue()


def test_each_page_is_a_segment(read: Read) -> None:
    document = read(pdf_bytes("first Ann Roy", "second Lena Okafor"), "a.pdf")
    assert document.locate(document.text.index("Ann Roy")) == "#p1"
    assert document.locate(document.text.index("Lena Okafor")) == "#p2"
    assert "Author: Dr. Meta" in document.text


def test_filled_form_fields_are_read_with_their_labels(read: Read) -> None:
    document = read(pdf_bytes("form", form=True), "f.pdf")
    assert "Health card: 1234567890" in document.text
    assert document.locate(document.text.index("1234567890")) == "#p1/form"


def test_annotations_and_attachments_are_read(read: Read) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_bytes("page words")))
    writer.add_annotation(0, Text(text="note about Ann", rect=(10, 10, 50, 50)))
    writer.add_attachment("list.csv", b"Name,City,Phone\nLena Okafor,Ajax,1\nBo Li,York,2\n")
    stream = io.BytesIO()
    writer.write(stream)
    document = read(stream.getvalue(), "a.pdf")
    assert document.locate(document.text.index("note about Ann")) == "#p1/notes"
    assert document.locate(document.text.index("Lena Okafor")) == "list.csv#row2"


@pytest.mark.parametrize("in_one", [False, True])
def test_the_values_of_an_xfa_form_are_read(read: Read, *, in_one: bool) -> None:
    data = (
        b'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1><patient>'
        b"<lastName>Okafor</lastName><healthCard>1234567890</healthCard></patient></form1></xfa:data>"
        b"</xfa:datasets>"
    )
    template = b"<template><field name='lastName'><caption>of nobody</caption></field></template>"
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_bytes("Please wait")))
    packets = [(b"template", template), (b"datasets", data)]
    if in_one:
        whole = b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">' + template + data + b"</xdp:xdp>"
        xfa: pypdf.generic.PdfObject = stream_object(writer, whole)
    else:
        xfa = pypdf.generic.ArrayObject(
            item
            for name, packet in packets
            for item in (pypdf.generic.TextStringObject(name.decode()), stream_object(writer, packet))
        )
    form = pypdf.generic.DictionaryObject(
        {
            pypdf.generic.NameObject("/Fields"): pypdf.generic.ArrayObject(),
            pypdf.generic.NameObject("/XFA"): xfa,
        }
    )
    writer.root_object[pypdf.generic.NameObject("/AcroForm")] = form
    stream = io.BytesIO()
    writer.write(stream)
    document = read(stream.getvalue(), "x.pdf")
    assert "last Name: Okafor\nhealth Card: 1234567890" in document.text
    assert document.locate(document.text.index("Okafor")) == "#xfa"
    assert "of nobody" not in document.text


def stream_object(writer: pypdf.PdfWriter, data: bytes) -> pypdf.generic.PdfObject:
    packet = pypdf.generic.StreamObject()
    packet.set_data(data)
    return writer._add_object(packet)


@pytest.fixture
def encrypted() -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_bytes("locked words")))
    writer.encrypt("open sesame", algorithm="AES-256")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


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


def test_a_picture_without_ocr_needs_ocr(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    stream = io.BytesIO()
    picture().save(stream, "PNG")
    with pytest.raises(ExtractError) as caught:
        read(stream.getvalue(), "scan.png")
    assert caught.value.reason == FailReason.NEEDS_OCR


def drawn_page(*, scan: bool, text: str = "") -> bytes:
    stream = io.BytesIO()
    page = canvas.Canvas(stream, pagesize=letter)
    if scan:
        page.drawInlineImage(picture().convert("RGB").resize((612, 792)), 0, 0, 612, 792)
    else:
        page.line(72, 72, 300, 300)
    page.drawString(72, 20, text)
    page.showPage()
    page.save()
    return stream.getvalue()


@pytest.mark.parametrize(
    ("page", "n_unread"),
    [
        (drawn_page(scan=True, text="Received by fax"), 1),
        (drawn_page(scan=True, text="A searchable scan has all its words. " * 10), 0),
        (drawn_page(scan=False, text="words above a line"), 0),
    ],
)
def test_a_scan_with_a_stamp_is_not_taken_for_read(
    read: Read, monkeypatch: pytest.MonkeyPatch, page: bytes, n_unread: int
) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    assert [part.reason for part in read(page, "a.pdf").unread] == [FailReason.NEEDS_OCR] * n_unread


def test_a_page_of_drawn_letters_needs_ocr(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    with pytest.raises(ExtractError) as caught:
        read(drawn_page(scan=False), "drawing.pdf")
    assert caught.value.reason == FailReason.NEEDS_OCR


@pytest.mark.skipif(not ocr.languages(), reason="tesseract is not installed")
def test_a_scan_is_read_by_ocr(read: Read) -> None:
    assert "Okafor" in read(scanned_pdf(), "scan.pdf").text
    stream = io.BytesIO()
    picture().save(stream, "TIFF", save_all=True, append_images=[picture()])
    document = read(stream.getvalue(), "scan.tiff")
    assert document.text.count("Okafor") == 2
    assert document.locate(document.text.rindex("Okafor")) == "#p2"


def test_ocr_stops_at_its_budget(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    from phiscan.config import Limits  # noqa: PLC0415

    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    with pytest.raises(ExtractError) as caught:
        read(scanned_pdf(), "scan.pdf", Limits(ocr_s=0.0))
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
