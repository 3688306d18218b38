import io
import zipfile
from collections.abc import Callable

import docx
import pptx
import pytest
from docx.oxml import parse_xml

from phiscan.errors import ExtractError
from phiscan.model import Document

Read = Callable[..., Document]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def docx_bytes() -> bytes:
    document = docx.Document()
    document.add_paragraph("Body: Ann Roy was seen.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "Health card"
    table.cell(0, 1).text = "1234567890"
    document.sections[0].header.paragraphs[0].text = "Header Hospital"
    document.sections[0].footer.paragraphs[0].text = "Footer Clinic"
    document.core_properties.author = "Dr Author"
    paragraph = document.add_paragraph("Tracked: ")
    paragraph._p.append(
        parse_xml(f'<w:ins xmlns:w="{W}" w:author="x"><w:r><w:t>inserted words</w:t></w:r></w:ins>')
    )
    paragraph._p.append(
        parse_xml(
            f'<w:del xmlns:w="{W}" w:author="x"><w:r><w:delText>deleted words</w:delText></w:r></w:del>'
        )
    )
    paragraph._p.append(
        parse_xml(
            f'<w:r xmlns:w="{W}"><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>'
            "<w:txbxContent><w:p><w:r><w:t>boxed words</w:t></w:r></w:p></w:txbxContent>"
            "</v:textbox></v:shape></w:pict></w:r>"
        )
    )
    document.add_comment(document.paragraphs[0].runs, text="comment words", author="Nurse Comment")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def test_reads_every_part_of_a_word_document(read: Read) -> None:
    document = read(docx_bytes(), "letter.docx")
    for words in (
        "Ann Roy was seen",
        "Header Hospital",
        "Footer Clinic",
        "Dr Author",
        "inserted words",
        "deleted words",
        "boxed words",
        "comment words",
        "Health card\t1234567890",
    ):
        assert words in document.text, words
    assert document.locate(document.text.index("Ann Roy")) == "#body"
    assert document.locate(document.text.index("Header Hospital")).startswith("#header")


def test_reads_the_strict_dialect(read: Read) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("_rels/.rels", "<Relationships/>")
        package.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{STRICT}"><w:body><w:p><w:r><w:t>strict words</w:t></w:r></w:p>'
            "</w:body></w:document>",
        )
    assert "strict words" in read(stream.getvalue(), "s.docx").text


def test_reads_an_embedded_workbook_as_a_document_of_its_own(read: Read) -> None:
    stream = io.BytesIO(docx_bytes())
    with zipfile.ZipFile(stream, "a") as package:
        package.writestr("word/embeddings/list.csv", "Name,City,Phone\nLena Okafor,Ajax,1\nBo Li,York,2\n")
    document = read(stream.getvalue(), "e.docx")
    assert document.locate(document.text.index("Lena Okafor")) == "list.csv#row2"


def test_fails_on_a_damaged_package_without_any_part(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"PK\x03\x04" + bytes(26) + b"word/", "broken.docx")
    assert caught.value.reason == "corrupt"


def test_reads_slides_notes_and_tables(read: Read) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Case of Ann Roy"
    slide.notes_slide.notes_text_frame.text = "ask her sister"
    shape = slide.shapes.add_table(1, 2, 0, 0, 100, 100)
    shape.table.cell(0, 0).text = "MRN"
    shape.table.cell(0, 1).text = "998877"
    stream = io.BytesIO()
    deck.save(stream)
    document = read(stream.getvalue(), "d.pptx")
    assert document.locate(document.text.index("Case of Ann Roy")) == "#slide1"
    assert document.locate(document.text.index("ask her sister")) == "#notes1"
    assert "MRN\t998877" in document.text


def odt(body: str, mimetype: str = "application/vnd.oasis.opendocument.text") -> bytes:
    stream = io.BytesIO()
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("mimetype", mimetype)
        package.writestr(
            "content.xml",
            f"<office:document-content{names}><office:body>{body}</office:body></office:document-content>",
        )
        package.writestr(
            "meta.xml",
            f'<office:document-meta{names} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
            "<dc:creator>Meta Person</dc:creator></office:meta></office:document-meta>",
        )
    return stream.getvalue()


def test_reads_opendocument_text(read: Read) -> None:
    body = (
        "<office:text><text:p>Ann<text:s text:c='2'/>Roy<text:tab/>seen</text:p>"
        "<text:p>again</text:p></office:text>"
    )
    document = read(odt(body), "a.odt")
    assert "Ann  Roy\tseen\nagain" in document.text
    assert "creator: Meta Person" in document.text


def test_names_an_encrypted_opendocument(read: Read) -> None:
    stream = io.BytesIO(odt("<office:text/>"))
    with zipfile.ZipFile(stream, "a") as package:
        package.writestr("META-INF/manifest.xml", "<manifest><encryption-data/></manifest>")
    with pytest.raises(ExtractError) as caught:
        read(stream.getvalue(), "a.odt")
    assert caught.value.reason == "encrypted"


def test_reads_an_epub(read: Read) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
        package.writestr(
            "OEBPS/content.opf", "<package><metadata><creator>Jo Writer</creator></metadata></package>"
        )
        package.writestr("OEBPS/one.xhtml", "<html><body><p>chapter words</p></body></html>")
    document = read(stream.getvalue(), "b.epub")
    assert "chapter words" in document.text
    assert "creator: Jo Writer" in document.text


def test_reads_rtf_with_code_pages_notes_and_unicode(read: Read) -> None:
    rtf = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset238 Arial CE;}}"
        rb"{\info{\author Dr. Auteur}}{\header Clinic header\par}\f0 Montr\'e9al {\f1 \'b9} \u8364? "
        rb"{\footnote note words}{\*\generator hidden generator}\par end}"
    )
    document = read(rtf, "a.rtf")
    for words in ("Montréal", "ą", "€", "note words", "Clinic header", "author: Dr. Auteur"):
        assert words in document.text, words
    assert "hidden generator" not in document.text
    assert "?" not in document.text


def test_what_a_program_counts_and_switches_is_no_text(read: Read) -> None:
    document = docx.Document()
    document.core_properties.author = "Dr Author"
    packed = io.BytesIO()
    document.save(packed)
    switches = (
        b'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
        b"<Company>Riverbend Clinic</Company><Words>12</Words><ScaleCrop>false</ScaleCrop>"
        b"<SharedDoc>true</SharedDoc><AppVersion>14.0000</AppVersion></Properties>"
    )
    custom = (
        b'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties">'
        b'<property name="Chart"><v>0048812</v></property></Properties>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, switches if name == "docProps/app.xml" else old.read(name))
        new.writestr("docProps/custom.xml", custom)
    text = read(made.getvalue(), "a.docx").text
    assert "Dr Author" in text
    assert "Company: Riverbend Clinic" in text
    assert "Chart: 0048812" in text
    assert not any(word in text for word in ("ScaleCrop", "SharedDoc", "AppVersion", "Words"))
