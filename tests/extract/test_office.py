"""Office documents as their programs write them, and those under a password of the operator's list."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import docx
import pptx
import pytest
from docx.oxml import parse_xml
from msoffcrypto.format.ooxml import OOXMLFile

from phiscan.errors import ExtractError
from phiscan.model import Document, FailReason
from tests.extract import packages

Read = Callable[..., Document]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


BOX = f'<w:r xmlns:w="{W}" xmlns:v="urn:schemas-microsoft-com:vml"><w:pict><v:textbox><w:txbxContent>%s</w:txbxContent></v:textbox></w:pict></w:r>'  # noqa: E501
MARKED = (
    f'<w:ins xmlns:w="{W}" w:author="x"><w:r><w:t>inserted words</w:t></w:r></w:ins>',
    f'<w:del xmlns:w="{W}" w:author="x"><w:r><w:delText>deleted words</w:delText></w:r></w:del>',
    BOX % packages.p("boxed words"),
)


def test_reads_every_part_of_a_word_document(read: Read) -> None:
    made = docx.Document()
    body = made.add_paragraph("Body: Ann Roy was seen.")
    table = made.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Health card", "1234567890"
    made.sections[0].header.paragraphs[0].text = "Header Hospital"
    made.sections[0].footer.paragraphs[0].text = "Footer Clinic"
    made.core_properties.author = "Dr Author"
    for markup in MARKED:
        body._p.append(parse_xml(markup))
    made.add_comment(body.runs, text="comment words", author="Nurse Comment")
    document = read(packages.saved(made), "letter.docx")
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


def test_reads_an_embedded_workbook_as_a_document_of_its_own(read: Read) -> None:
    rows = "Name,City,Phone\nLena Okafor,Ajax,1\nBo Li,York,2\n"
    document = read(packages.docx(parts={"word/embeddings/list.csv": rows}), "e.docx")
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
    document = read(packages.saved(deck), "d.pptx")
    assert document.locate(document.text.index("Case of Ann Roy")) == "#slide1"
    assert document.locate(document.text.index("ask her sister")) == "#notes1"
    assert "MRN\t998877" in document.text


def test_reads_opendocument_text(read: Read) -> None:
    body = "<text:p>Ann<text:s text:c='2'/>Roy<text:tab/>seen</text:p><text:p>again</text:p>"
    creator = "<office:meta><dc:creator>Meta Person</dc:creator></office:meta>"
    meta = f"<office:document-meta {packages.ON}>{creator}</office:document-meta>"
    document = read(packages.odt(body, {"meta.xml": meta}), "a.odt")
    assert "Ann  Roy\tseen\nagain" in document.text
    assert "creator: Meta Person" in document.text


def test_names_an_encrypted_opendocument(read: Read) -> None:
    manifest = "<manifest><encryption-data/></manifest>"
    with pytest.raises(ExtractError) as caught:
        read(packages.odt(parts={"META-INF/manifest.xml": manifest}), "a.odt")
    assert caught.value.reason == "encrypted"


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
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    switches = (
        f'<Properties xmlns="{office}/extended-properties">'
        "<Company>Riverbend Clinic</Company><Words>12</Words><ScaleCrop>false</ScaleCrop>"
        "<SharedDoc>true</SharedDoc><AppVersion>14.0000</AppVersion></Properties>"
    )
    own = '<property name="Chart"><v>0048812</v></property>'
    custom = f'<Properties xmlns="{office}/custom-properties">{own}</Properties>'
    parts = {"docProps/app.xml": switches, "docProps/custom.xml": custom}
    text = read(packages.docx(parts=parts), "a.docx").text
    assert "Company: Riverbend Clinic" in text
    assert "Chart: 0048812" in text
    assert not any(word in text for word in ("ScaleCrop", "SharedDoc", "AppVersion", "Words"))


@cache
def locked(password: str) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    document.add_paragraph("Lena Okafor")
    OOXMLFile(io.BytesIO(packages.saved(document))).encrypt(password, out)
    return out.getvalue()


def test_a_password_of_the_list_opens_a_word_file(read: Read) -> None:
    document = read(locked("rosebud"), "a.docx", None, ("wrong", "rosebud"))
    assert document.locate(document.text.index("Lena Okafor")) == "#body"


@pytest.mark.parametrize("passwords", [(), ("wrong",)])
def test_without_the_password_it_is_encrypted(read: Read, passwords: tuple[str, ...]) -> None:
    with pytest.raises(ExtractError) as caught:
        read(locked("rosebud"), "a.docx", None, passwords)
    assert caught.value.reason == FailReason.ENCRYPTED
    assert "rosebud" not in f"{caught.value}"


def test_a_file_that_is_only_locked_against_changes_is_read(read: Read) -> None:
    assert "Lena Okafor" in read(locked("VelvetSweatshop"), "a.docx").text


def test_a_damaged_encrypted_file_is_an_outcome(read: Read) -> None:
    data = locked("rosebud")
    with pytest.raises(ExtractError) as caught:
        read(data[: len(data) // 2], "a.docx", None, ("rosebud",))
    assert caught.value.reason in (FailReason.ENCRYPTED, FailReason.CORRUPT, FailReason.UNSUPPORTED)


FILES = Path(__file__).parents[3] / "shared" / "data" / "files"


@pytest.mark.skipif(not FILES.is_dir(), reason="the real documents are not here")
@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("poi-a7de3ebe-protected_agile.docx", "foobaa"),
        ("tika-8d7e1ec8-testEXCEL_protected_passtika.xls", "tika"),
    ],
)
def test_real_encrypted_files_open_with_their_password(read: Read, name: str, password: str) -> None:
    data = (FILES / name).read_bytes()
    assert len(read(data, name, None, (password,)).text) > 10
