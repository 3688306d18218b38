"""What a PDF holds beside its pages."""

import io
from collections.abc import Callable

import pypdf
import pytest
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)
from reportlab.pdfgen import canvas

from phiscan.model import Document

Read = Callable[..., Document]


def page(text: str = "Parking is free after six.") -> pypdf.PdfWriter:
    stream = io.BytesIO()
    drawn = canvas.Canvas(stream)
    drawn.drawString(50, 700, text)
    drawn.save()
    return pypdf.PdfWriter(clone_from=io.BytesIO(stream.getvalue()))


def written(writer: pypdf.PdfWriter) -> bytes:
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def text_of(value: str) -> TextStringObject:
    return TextStringObject(value)


def name_of(value: str) -> NameObject:
    return NameObject(f"/{value}")


def annotated(**entries: object) -> bytes:
    writer = page()
    box = ArrayObject(FloatObject(number) for number in (50, 600, 450, 640))
    annotation = DictionaryObject({name_of("Type"): name_of("Annot"), name_of("Rect"): box})
    annotation.update({name_of(key): value for key, value in entries.items()})
    writer.pages[0][name_of("Annots")] = ArrayObject([writer._add_object(annotation)])
    form = DictionaryObject({name_of("Fields"): writer.pages[0]["/Annots"]})
    writer._root_object[name_of("AcroForm")] = form
    return written(writer)


def test_choices_and_defaults_of_fields_are_read(read: Read) -> None:
    options = ArrayObject(text_of(name) for name in ("Lena Okafor", "Marc Delisle"))
    data = annotated(
        Subtype=name_of("Widget"),
        FT=name_of("Ch"),
        T=text_of("who"),
        Opt=options,
        V=text_of("Lena Okafor"),
        DV=text_of("Anna Rossi"),
    )
    text = read(data, "form.pdf").text
    assert "Marc Delisle" in text
    assert "Anna Rossi" in text


def test_scripts_metadata_and_alternative_texts_are_read(read: Read) -> None:
    writer = page()
    script = DictionaryObject({name_of("S"): name_of("JavaScript")})
    script[name_of("JS")] = text_of("app.alert('Call Lena Okafor today');")
    writer._root_object[name_of("OpenAction")] = writer._add_object(script)
    xmp = DecodedStreamObject()
    xmp.set_data(
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="r" xmlns:dc="d"><rdf:Description><dc:description>'  # noqa: E501
        b"Scan of Marc Delisle</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    xmp.update({name_of("Type"): name_of("Metadata"), name_of("Subtype"): name_of("XML")})
    writer._root_object[name_of("Metadata")] = writer._add_object(xmp)
    figure = DictionaryObject(
        {name_of("S"): name_of("Figure"), name_of("Alt"): text_of("photo of Anna Rossi")}
    )
    writer._root_object[name_of("StructTreeRoot")] = writer._add_object(figure)
    text = read(written(writer), "a.pdf").text
    for wanted in ("Lena Okafor", "Marc Delisle", "Anna Rossi", "Parking is free"):
        assert wanted in text


def test_text_that_no_page_refers_to_is_read(read: Read) -> None:
    writer = page()
    unused = DecodedStreamObject()
    unused.set_data(
        b"BT /F1 11 Tf 50 700 Td (Pa) Tj (tient: Lena) Tj [(Oka) -20 (for)] TJ T* (seen for heart failure) Tj ET"  # noqa: E501
    )
    writer._root_object[name_of("Unused")] = writer._add_object(unused.flate_encode())
    text = read(written(writer), "a.pdf").text
    assert "heart failure" in text
    assert "Okafor" in text


def test_a_file_on_a_page_is_a_member(read: Read) -> None:
    writer = page()
    stream = DecodedStreamObject()
    stream.set_data(b"Patient: Lena Okafor, MRN 40718823")
    stream[name_of("Type")] = name_of("EmbeddedFile")
    file = DictionaryObject({name_of("Type"): name_of("Filespec"), name_of("F"): text_of("visit.txt")})
    file[name_of("UF")] = text_of("visit.txt")
    file[name_of("EF")] = DictionaryObject({name_of("F"): writer._add_object(stream)})
    box = ArrayObject(NumberObject(number) for number in (50, 600, 70, 620))
    annotation = DictionaryObject(
        {
            name_of("Type"): name_of("Annot"),
            name_of("Subtype"): name_of("FileAttachment"),
            name_of("Rect"): box,
            name_of("FS"): writer._add_object(file),
        }
    )
    writer.pages[0][name_of("Annots")] = ArrayObject([writer._add_object(annotation)])
    document = read(written(writer), "a.pdf")
    assert document.locate(document.text.index("40718823")) == "visit.txt"


@pytest.mark.parametrize("n_bytes", [2000, 40_000])
def test_a_header_far_within_is_found(read: Read, n_bytes: int) -> None:
    before = b"From the scanner of ward four, for Lena Okafor\n" * (n_bytes // 47)
    document = read(before + written(page()), "a.pdf")
    assert document.media_type == "application/pdf"
    assert "Parking is free" in document.text
    assert "Lena Okafor" in document.text
