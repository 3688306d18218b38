"""Further places where text was lost: transports, parts of packages, ends of pictures, seven-bit codes."""

import base64
import binascii
import gzip
import io
import json
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]
PATIENT = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
NOTE = f"{PATIENT} Seen again in spring by the same team, nothing new to say. " * 3
HEAD = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: visit\r\nMIME-Version: 1.0\r\n"
SIGNED = bytes.fromhex("06092a864886f70d010702")
DATA = bytes.fromhex("06092a864886f70d010701")


def der(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    length = bytes([len(body)]) if len(body) < 128 else b"\x81" + bytes([len(body)])
    return bytes([tag]) + length + body


def signed() -> bytes:
    """An opaque-signed message without a signature."""
    inner = der(0x04, b"Content-Type: text/plain\r\n\r\n" + PATIENT.encode())
    contents = der(0x30, DATA, der(0xA0, inner))
    return der(0x30, SIGNED, der(0xA0, der(0x30, der(2, b"\1"), der(0x31), contents, der(0x31))))


def packets() -> bytes:
    """A compressed OpenPGP packet with a text."""
    literal = b"\xcb\xff" + struct.pack(">I", 7 + len(PATIENT)) + b"b\x01x" + bytes(4) + PATIENT.encode()
    packed = zlib.compress(literal)
    return b"\xc8\xff" + struct.pack(">I", 1 + len(packed)) + b"\x02" + packed


def uuencoded(data: bytes) -> bytes:
    return b"".join(binascii.b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45))


def yenc(data: bytes) -> bytes:
    coded = b"".join(
        b"=" + bytes([(code + 106) % 256])
        if (code + 42) % 256 in (0, 10, 13, 61)
        else bytes([(code + 42) % 256])
        for code in data
    )
    head = b"=ybegin part=1 total=1 line=128 size=%d name=note.txt\r\n=ypart begin=1 end=%d\r\n"
    return head % (len(data), len(data)) + coded + b"\r\n=yend size=%d\r\n" % len(data)


def picture(kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (300, 200), 255).save(stream, kind, **options)
    return stream.getvalue()


PLACES: dict[str, bytes] = {
    "part.eml": HEAD + b"\r\nHello\r\n" + yenc(NOTE.encode()),
    "capitals.eml": HEAD
    + b"Content-Transfer-Encoding:\tBASE64 ;\r\n\r\n"
    + base64.encodebytes(PATIENT.encode()),
    "undeclared.eml": HEAD + b"\r\n" + base64.encodebytes(NOTE.encode()),
    "mark.eml": b"\xef\xbb\xbf" + HEAD + b"\r\n" + PATIENT.encode(),
    "no_end.eml": HEAD + b"\r\nbegin 644 a.txt\r\n" + uuencoded(NOTE.encode()),
    "no_boundary.eml": HEAD
    + b"Content-Type: multipart/mixed\r\n\r\n--x\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + base64.encodebytes(NOTE.encode()),
    "uuencoded.txt": b"see below\n\nbegin 600 note.txt\n" + uuencoded(NOTE.encode()) + b"`\nend\n",
    "hexadecimal.txt": b"see below\n"
    + b"\n".join(NOTE.encode().hex().encode()[at : at + 64] for at in range(0, 2 * len(NOTE), 64)),
    "packed.txt": b"see below\n" + base64.encodebytes(gzip.compress((NOTE * 3).encode())),
    "address_alphabet.txt": b"see below\n" + base64.urlsafe_b64encode((NOTE + "ÿþ?>~").encode()),
    "hexadecimal.json": json.dumps({"note": NOTE.encode().hex()}).encode(),
    "signed.p7m": signed(),
    "signed.txt": b"-----BEGIN PKCS7-----\n" + base64.encodebytes(signed()) + b"-----END PKCS7-----\n",
    "octets.eml": HEAD
    + b'Content-Type: application/octet-stream; name="smime.p7m"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    + base64.encodebytes(signed()),
    "packets.pgp": packets(),
    "after.jpg": picture("JPEG") + PATIENT.encode(),
    "after.png": picture("PNG") + b"\n" + PATIENT.encode(),
    "archive_after.png": picture("PNG") + zipped({"a.txt": PATIENT}),
    "card.vcf": b"BEGIN:VCARD\r\nVERSION:2.1\r\nN:Roy;Ann\r\nNOTE;ENCODING=BASE64:"
    + base64.b64encode(PATIENT.encode())
    + b"\r\n\r\nEND:VCARD\r\n",
}


@pytest.mark.parametrize("name", PLACES)
def test_a_text_in_a_hidden_place_is_read(read: Read, name: str) -> None:
    document = read(PLACES[name], name)
    for word in WORDS:
        assert word in document.text
    assert {part.reason for part in document.unread} <= {FailReason.CORRUPT}


def test_text_after_a_picture_that_is_no_file_is_read_and_listed(read: Read) -> None:
    rest = b"\x01\x02\x00\x9f" + PATIENT.encode() + b"\x00\x01\x02\x81\x8d" * 9
    document = read(picture("JPEG", comment=b"a scan of the ward") + rest, "a.jpg")
    assert PATIENT in document.text
    assert "after the picture are not read" in document.unread[0].detail


TABLES = {
    "questions.csv": """Respondent ID,Start,What is your name?,,Which illness were you treated for?,Ward,
,,First name,Last name,Open-Ended Response,Medical,Surgical
1001,2026-01-02,Lena,Okafor,congestive heart failure,x,
1002,2026-01-03,Marc,Delisle,prostate cancer,,x
""",
    "names_and_labels.csv": """record_id,first_name,last_name,mrn
Record ID,First name,Last name,Hospital number
1,Lena,Okafor,40718823
2,Marc,Delisle,51120934
""",
    "one_record.html": """<table><tr><th>Last name</th><th>Hospital number</th></tr>
<tr><td>Okafor</td><td>40718823</td></tr></table>""",
}
ILLNESS = "Which illness were you treated for?: congestive heart failure"
RECORDS = {
    "questions.csv": f"First name: Lena | Last name: Okafor | {ILLNESS} | Ward Medical: x",
    "names_and_labels.csv": "First name: Lena | Last name: Okafor | Hospital number: 40718823",
    "one_record.html": "Last name: Okafor | Hospital number: 40718823",
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_keep_their_heads(read: Read, name: str) -> None:
    assert RECORDS[name] in read(TABLES[name].encode(), name).text


def test_a_column_without_head_does_not_make_the_first_record_a_head(read: Read) -> None:
    text = read(b"Name,Date,\n,2026-01-02,seen\nRoy,2026-01-03,seen\n", "a.csv").text
    assert "Name: Roy | Date: 2026-01-03" in text


CODES = {
    "utf-7": "Hélène Côté-Gagné, née le 14 août 1951, hospitalisée à Montréal",
    "iso2022_jp": "患者 山田太郎 様、生年月日 1951年3月14日、心不全のため入院しました。",
    "shift_jis": "患者 山田太郎 様、生年月日 1951年3月14日、心不全のため入院しました。外来で経過観察。" * 2,
    "gb18030": "患者王小明，出生日期1951年3月14日，因心力衰竭住院治疗。出院后继续门诊随访。" * 2,  # noqa: RUF001
    "cp500": "Hélène Côté-Gagné, née le 14 août 1951, hospitalisée à Montréal pour une défaillance cardiaque",
    "mac-cyrillic": "Пациентка Лена Окафор, дата рождения 14 марта 1951, сердечная недостаточность",
}


@pytest.mark.parametrize("code", CODES)
def test_a_note_in_a_code_without_a_mark_is_read(read: Read, code: str) -> None:
    assert CODES[code] in read(CODES[code].encode(code), "note.txt").text


def test_a_plus_sign_makes_no_code(read: Read) -> None:
    text = "Vitamin C+AMP-kinase and a+AMO-b were given with C+AMQ-s"
    assert read(text.encode(), "note.txt").text.strip() in (
        text,
        "Vitamin CÃkinase and aÃb were given with CÄs",
    )
