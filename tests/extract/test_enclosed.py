import base64
import json
import zlib
from collections.abc import Callable

import pytest
from reportlab.pdfgen import canvas

from phiscan.config import Limits
from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]


def letter() -> bytes:
    page = canvas.Canvas("")
    page.drawString(72, 700, "Discharge of Lena Okafor")
    return page.getpdfdata()


def digits(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def in_lines(data: bytes) -> str:
    return base64.encodebytes(data).decode("ascii")


def cda(body: str, *, attributes: str = "") -> bytes:
    return (
        '<ClinicalDocument xmlns="urn:hl7-org:v3"><title>Discharge</title><component><nonXMLBody>'
        f'<text mediaType="application/pdf" representation="B64"{attributes}>{body}</text>'
        "</nonXMLBody></component></ClinicalDocument>"
    ).encode()


def deflated(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def attachment(data: str) -> dict[str, object]:
    return {
        "resourceType": "DocumentReference",
        "content": [{"attachment": {"contentType": "application/pdf", "data": data, "title": "Discharge"}}],
    }


def message(*values: str, kind: str = "ED") -> bytes:
    lines = ["MSH|^~\\&|LAB|GH|||202401011200||MDM^T02|1|P|2.5.1"]
    lines += [f"OBX|{number}|{kind}|PDF^Report||{value}||||||F" for number, value in enumerate(values, 1)]
    return "\r".join(lines).encode()


PDF = letter()
CARD = {
    "type": "AdaptiveCard",
    "body": [{"type": "FactSet", "facts": [{"title": "From", "value": "2026"}] * 9}],
}


NOTE = digits(b"Lena Okafor")
MARKUP = digits(b"<note>" + b"<p>Lena Okafor</p>" * 9 + b"</note>")
FHIR = f'<Binary xmlns="http://hl7.org/fhir"><contentType value="text/plain"/><data value="{NOTE}"/></Binary>'
BINARY = {"resourceType": "Binary", "contentType": "text/plain", "data": NOTE}
ADDRESS = "data:text/plain;base64," + digits(b"Lena Okafor " * 9)
# Files, and whether the document within is a PDF.
RECORDS: dict[str, tuple[str | bytes, bool]] = {
    "cda.xml": (cda(in_lines(PDF)), True),
    "deflated.xml": (cda(digits(deflated(PDF)), attributes=' compression="DF"'), True),
    "zlib.xml": (cda(digits(zlib.compress(PDF)), attributes=' compression="ZL"'), True),
    "fhir.xml": (FHIR, False),
    "attachment.json": (json.dumps(attachment(in_lines(PDF))), True),
    "binary.json": (json.dumps(BINARY), False),
    "pdf.json": (json.dumps({"report": digits(PDF)}), True),
    "markup.json": (json.dumps({"cda": MARKUP}), False),
    "address.json": (json.dumps({"url": ADDRESS}), False),
    "base64.hl7": (message("PDF^AP^PDF^Base64^" + digits(PDF)), True),
    "hex.hl7": (message("x", "^TEXT^^Hex^" + b"Lena Okafor was seen".hex()), False),
    "not_declared.hl7": (message(digits(PDF), kind="TX"), True),
    "lines.ndjson": (
        f"{json.dumps({'resourceType': 'Patient'})}\n{json.dumps(attachment(digits(PDF)))}\n",
        True,
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_document_within_a_field_is_read_as_one(read: Read, name: str) -> None:
    data, is_pdf = RECORDS[name]
    document = read(data.encode() if isinstance(data, str) else data, name)
    assert document.unread == ()
    place = "document1#p1" if is_pdf else "document1"
    place = f"line2/{place}" if name == "lines.ndjson" else place
    assert document.locate(document.text.index("Lena Okafor")) == place
    assert digits(PDF)[:60] not in document.text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (cda("Lena Okafor, seen today"), "a.xml"),
        (json.dumps(attachment(json.dumps({"text": "Lena Okafor, seen today"} | CARD))).encode(), "a.json"),
        (json.dumps(attachment("Lena Okafor, seen today")).encode(), "a.json"),
        (message("^TEXT^^Base64^Lena Okafor, seen today"), "a.hl7"),
    ],
)
def test_what_is_declared_a_document_and_is_none_stays_text(read: Read, data: bytes, name: str) -> None:
    document = read(data, name)
    assert "Lena Okafor, seen today" in document.text
    assert document.unread == ()  # all of it was read


def test_a_damaged_document_is_read_up_to_the_damage(read: Read) -> None:
    whole = digits(b"Lena Okafor was seen on the ward. " * 20)
    document = read(json.dumps(attachment(whole[:400] + "*" + whole[400:])).encode(), "a.json")
    assert document.locate(document.text.index("Lena Okafor")) == "document1"
    assert [(part.locator, part.reason) for part in document.unread] == [("document1", FailReason.CORRUPT)]


@pytest.mark.parametrize("word", ["Tremblay", "Okafor", "a3f5" * 32, "Lena" * 40, "word " * 40])
def test_words_keys_and_hashes_are_no_documents(read: Read, word: str) -> None:
    record = {"contentType": "text/plain", "data": "Tremblay", "key": word}
    document = read(json.dumps(record).encode(), "a.json")
    assert "Tremblay" in document.text
    assert word.strip() in document.text
    assert len(document.segments) == 1


def test_enclosed_documents_share_the_limits_of_the_file(read: Read) -> None:
    record = {"files": [attachment(digits(PDF)) for _ in range(5)]}
    document = read(json.dumps(record).encode(), "a.json", Limits(member_count=2))
    assert document.text.count("Lena Okafor") == 2
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}
    packed = zipped({"a.json": json.dumps(attachment(digits(PDF)))})
    inner = json.dumps({"report": digits(packed)}).encode()
    assert "Lena Okafor" in read(inner, "b.json").text
    assert [part.reason for part in read(inner, "b.json", Limits(depth=2)).unread] == [
        FailReason.NESTED_TOO_DEEP
    ]
    bomb = read(cda(digits(deflated(b" " * 64 * 1024**2)), attributes=' compression="DF"'), "a.xml")
    assert [part.reason for part in bomb.unread] == [FailReason.TOO_LARGE]


@pytest.mark.slow
def test_a_document_longer_than_the_parser_takes_is_read(read: Read) -> None:
    page = PDF + b"%" * 9_000_000
    document = read(cda(in_lines(page)), "a.xml")
    assert document.locate(document.text.index("Lena Okafor")) == "document1#p1"
    assert document.unread == ()
