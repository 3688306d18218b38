"""Mail in the forms that broke other programs: boundaries, character sets, encoded words, fields, bodies."""

# ruff: noqa: E501, RUF001 (a case is read best on one line; signs of other scripts)

import base64
import quopri
import struct
from collections.abc import Callable

import pytest

from phiscan.model import Document
from tests.extract.compound_files import Tree, compound, word_97
from tests.extract.test_transport import uuencoded

Read = Callable[..., Document]
P = "Patient Lena Okafor, born 1951-03-14, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "1951-03-14", "40718823", "heart failure")
RAW = P.encode()
DIGITS = base64.encodebytes(RAW)
H = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: visit\r\nMIME-Version: 1.0\r\n"
PLAIN = b"Content-Type: text/plain\r\n\r\n"
FILE = b'Content-Type: text/plain; name="n.txt"\r\nContent-Transfer-Encoding: base64\r\n\r\n' + DIGITS


def parts(*bodies: bytes, before: bytes = b"") -> bytes:
    head = H + b'Content-Type: multipart/mixed; boundary="XX"\r\n\r\n' + before
    return head + b"".join(b"--XX\r\n" + body + b"\r\n" for body in bodies) + b"--XX--\r\n"


def encoded(encoding: bytes, body: bytes) -> bytes:
    return H + b"Content-Type: text/plain\r\nContent-Transfer-Encoding: " + encoding + b"\r\n\r\n" + body


def page(body: bytes, kind: bytes = b"html") -> bytes:
    return H + b"Content-Type: text/" + kind + b"\r\n\r\n" + body


def message(text: str, charset: str, codec: str) -> bytes:
    return H + f"Content-Type: text/plain; charset={charset}\r\n\r\n".encode() + text.encode(codec)


def outlook(**values: bytes | Tree) -> bytes:
    """Return an Outlook message with properties named after number and type."""
    named = {f"__substg1.0_{key[1:]}": value for key, value in values.items() if key.startswith("p")}
    return compound({"__properties_version1.0": bytes(32), **named, **values.get("further", {})})  # type: ignore[dict-item]


def attached(**values: bytes | Tree) -> Tree:
    named = {f"__substg1.0_{key[1:]}": value for key, value in values.items()}
    return {"__attach_version1.0_#00000000": {"__properties_version1.0": bytes(8), **named}}


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def rich(text: bytes) -> bytes:
    return struct.pack("<IIII", len(text) + 12, len(text), 0x414C454D, 0) + text


SPLIT = b"Patient Lena \\b Oka\\b0 for, born 1951-03-14, MRN 407{}18823, congestive heart failure"
SEE = wide("See the formatted text")
CASES = {
    "mailbox_of_returns.mbox": b"".join(b"From a@b Mon Mar  4 10:00:00 2024\nFrom: a@b.c\n\n" + x for x in (b"hi\n\n", RAW)).replace(b"\n", b"\r"),
    "sentence.mbox": b"From a@b Mon Mar  4 10:00:00 2024\nFrom: a@b.c\n\nhi\n\nFrom the clinic: " + RAW + b"\n\nbye\n",
    "noise.eml": encoded(b"base64", b"!!" + DIGITS[:30] + b"*-*" + DIGITS[30:]),
    "signature_after_digits.eml": encoded(b"base64", base64.encodebytes(b"Hello world, how are you?") + b"\r\n-- \r\nFor " + RAW),
    "not_encoded.eml": encoded(b"base64", P.replace(",", "").replace(".", "").replace("-", "").encode()).replace(b"19510314", b"1951-03-14"),
    "returns.eml": encoded(b"quoted-printable", b"Patient Lena Oka=\rfor, born 1951-=\r03-14, MRN 407=\r18823, heart failure"),
    "quoted.eml": H + b"\r\n" + b"\r\n".join(b"> " + line for line in uuencoded(RAW * 2).splitlines()),
    "indented.eml": H + b"\r\n" + b"\r\n".join(b"    " + line for line in uuencoded(RAW * 2).splitlines()),
    "first_line.eml": b"\t" + RAW + b"\r\n" + H + b"\r\nhi",
    "from_within.eml": H + b"From " + RAW + b"\r\nX-a: b\r\n\r\nhi",
    "nameless.eml": H + b": " + RAW + b"\r\nX-a: b\r\n\r\nhi",
    "nameless_part.eml": parts(b"Content-Type: text/plain\r\n: " + RAW + b"\r\n\r\nhi"),
    "pasted.eml": page(b"See:\r\n\r\nFrom: a@b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nPatient Lena Oka=\r\nfor, born 1951-03-14, MRN 407=\r\n18823, heart failure", b"plain"),
    "parameter.vcf": b"BEGIN:VCARD\r\nFN;X-DOB=1951-03-14:Lena Okafor\r\nNOTE:MRN 40718823, heart failure\r\nEND:VCARD",
    "page.ics": b"BEGIN:VCALENDAR\r\nX-ALT-DESC;FMTTYPE=text/html:<p>Lena Oka<b>for</b>\\, 1951-03-14\\, 40718823\\, heart failure</p>\r\nEND:VCALENDAR",
    "style.eml": page(b"<style>p::before{content:'" + RAW + b"'}</style>x"),
    "style_part.eml": parts(b"Content-Type: text/css\r\n\r\np::after{content:'" + RAW + b"'}"),
    "open_style.eml": page(b"<head><style>p{}<body><p>" + RAW + b"</p></body>"),
    "instruction.eml": page(b"<body><?php echo '" + RAW + b"'; ?>x"),
    "soft_marks.eml": page("<p>Patient Le\u200bna Ok\u00adafor, born 1951-03-14, MRN 4071\u200b8823, heart failure".encode(), b"html; charset=utf-8"),
    "page_as_text.eml": page(b"<html>Patient <b>Lena</b> Oka<b>for</b>, born 1951-03-14, MRN 40718823, heart failure</html>", b"plain"),
    "other_page.eml": page(b"<p>Patient Lena Oka<b>for</b>, born 1951-03-14, MRN 40718823, heart failure</p>", b"x-amp-html"),
    "cut_line.eml": H + b"\r\n" + b"x" * 1200 + b" Patient Lena Oka!\r\n for, born 1951-03-14, MRN 40718823, heart failure",
    "note.vnt": b"BEGIN:VNOTE\r\nBODY;ENCODING=QUOTED-PRINTABLE:" + quopri.encodestring(RAW.replace(b"-", b"=2D"))[:-1].replace(b"=3D", b"=") + b"\r\nEND:VNOTE",
    "formatted.msg": outlook(p1000001F=SEE, p10090102=rich(b"{\\rtf1\\ansi " + SPLIT + b"}")),
    "page.msg": outlook(p1000001F=SEE, p10130102=b"<p>" + RAW + b"</p>"),
    "several_values.msg": outlook(**{"p8005101F-00000000": wide(P)}),
    "binary_value.msg": outlook(p80070102=RAW),
    "object.msg": outlook(further=attached(p3701000D=word_97(P + "\r"))),
    "broken_word.rtf": b"{\\rtf1\\ansi " + SPLIT + b"}",
    "list_text.rtf": b"{\\rtf1{\\listtext " + RAW + b"\\tab}x}",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_text_in_a_broken_form_is_read(read: Read, name: str) -> None:
    shown = " ".join(read(CASES[name], name).text.split())
    for word in WORDS:
        assert word in shown


FRENCH = "Patiente Léna Okafor née 1951-03-14, MRN 40718823, très gênée"
CZECH = "Pacient Žofie Šťastná 1951-03-14"
CHINESE, JAPANESE, KOREAN = (
    "患者 王小明 慢性心力衰竭，需要复诊 朱镕基",
    "患者 山田花子 心不全",
    "환자 김민수 심부전 똠방",
)


@pytest.mark.parametrize(
    ("text", "charset", "codec"),
    [
        (FRENCH, "iso-8859-1", "utf-8"),
        (FRENCH, "us-ascii", "utf-7"),
        (FRENCH, "utf-16", "utf-8"),
        (f"“{FRENCH}” – €", "iso-8859-1", "cp1252"),
        (FRENCH, "x-unknown", "cp1252"),
        (FRENCH, "latin-\xe9", "utf-8"),
        (CZECH, "'windows-1250'", "cp1250"),
        (CZECH, "windows-1250 (Central Europe)", "cp1250"),
        (CHINESE, "gb2312", "gbk"),
        (JAPANESE, "iso-2022-jp", "iso2022_jp_ext"),
        (JAPANESE, "us-ascii", "iso2022_jp_ext"),
        (JAPANESE + " ｶﾅ", "iso-2022-jp", "iso2022_jp_ext"),
        (JAPANESE, "x-sjis", "cp932"),
        (KOREAN, "ks_c_5601-1987", "cp949"),
        ("מטופל לנה כהן", "iso-8859-8-i", "iso8859-8"),
    ],
)
def test_a_body_is_read_by_its_real_character_set(read: Read, text: str, charset: str, codec: str) -> None:
    assert text in read(message(text, charset, codec), "a.eml").text


def test_a_contact_is_read_by_its_character_set(read: Read) -> None:
    name = "".join(f"={code:02X}" for code in "Лена Окафор".encode("cp1251"))
    card = f"BEGIN:VCARD\r\nFN;CHARSET=windows-1251;ENCODING=QUOTED-PRINTABLE:{name}\r\nEND:VCARD"
    assert "Лена Окафор" in read(card.encode(), "a.vcf").text


@pytest.mark.parametrize(
    "field",
    [
        "Léna Okafor".encode(),
        "Léna Okafor".encode("cp1252"),
        b"=?utf-8?B?TMM=?= =?utf-8?B?qW5hIE9rYWZvcg==?=",
        b"=?utf-8?Q?L=C3?= =?utf-8?Q?=A9na_Okafor?=",
        b"=?utf-8?Q?L=C3=\r\n A9na_Okafor?=",
        b"=?utf-8?Q?L=C3=A9na Okafor?=",
        b"=?utf-8*en?q?L=c3=a9na_Okafor?=",
        b"=?utf-8?Q?L=C3=A9na_Okafor",
        b"=?utf-8?B?PT91dGYtOD9RP0w9QzM9QTluYV9Pa2Fmb3I/PQ==?=",
        b"x\r\n \r\n\tL\xc3\xa9na\r\n\tOkafor",
    ],
)
def test_a_field_is_decoded_however_it_is_written(read: Read, field: bytes) -> None:
    assert "Léna Okafor" in read(H.replace(b"visit", field) + b"\r\nhi", "a.eml").text


def test_a_raw_field_is_read_by_the_character_set_of_the_body(read: Read) -> None:
    data = message(CHINESE, "gb2312", "gbk").replace(b"visit", "王小明病历".encode("gbk"))
    assert "Subject: 王小明病历" in read(data, "a.eml").text


@pytest.mark.parametrize(
    "head",
    [
        b'Content-Type: application/x-a; name="L\xc3\xa9na Okafor.txt"\r\nContent-Disposition: attachment; filename=a.txt',
        b"Content-Type: application/x-a\r\nContent-Disposition: attachment; filename*=foo''L%C3%A9na%20Okafor.txt",
        b"Content-Type: application/x-a\r\nContent-Disposition: attachment; filename=L\xc3\xa9na Okafor.txt",
        b"Content-Type: text/html\r\nContent-Location: file:///L%C3%A9na%20Okafor%2040718823.htm",
        b'Content-Type: text/plain; x-patient="the L\xc3\xa9na Okafor"',
    ],
)  # fmt: skip
def test_names_and_parameters_of_parts_are_read(read: Read, head: bytes) -> None:
    assert "Léna Okafor" in read(parts(head + b"\r\n\r\nhello there"), "a.eml").text


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (outlook(**{"p8005101F-00000000": wide("Okafor"), "p8005101F-00000001": wide("Lena x")}), ("Okafor", "Lena x")),
        (outlook(p8005001F=wide("Okafor-Smith"), p8006001F=wide("40718823")), ("Okafor-Smith", "40718823")),
        (outlook(further=attached(p370D001F=wide("\\\\srv\\Lena Okafor.docx"))), ("Lena Okafor.docx",)),
        (outlook(further={"__recip_version1.0_#00000000": {"__substg1.0_3A20001F": wide("Lena Okafor")}}), ("Lena Okafor",)),
    ],
)  # fmt: skip
def test_fields_of_outlook_messages_are_read(read: Read, data: bytes, wanted: tuple[str, ...]) -> None:
    text = read(data, "a.msg").text
    assert all(word in text for word in wanted)


def apple(magic: int, *entries: tuple[int, bytes]) -> bytes:
    """Return a file of Macintosh with its entries by number."""
    head = struct.pack(">II16xH", magic, 0x20000, len(entries))
    at, table, bodies = len(head) + 12 * len(entries), b"", b""
    for kind, body in entries:
        table += struct.pack(">III", kind, at + len(bodies), len(body))
        bodies += body
    return head + table + bodies


@pytest.mark.parametrize(
    "data", [apple(0x51600, (3, b"n.txt"), (1, RAW)), apple(0x51607, (9, bytes(32)), (2, bytes(20) + RAW))]
)
def test_files_of_macintosh_are_read(read: Read, data: bytes) -> None:
    document = read(data, "._n.txt")
    assert P in document.text
    assert not document.unread
    assert read(data[:-5], "._n.txt").unread


def test_a_mention_of_rtf_is_no_document(read: Read) -> None:
    program = b'MAGIC = b"{\\rtf1"\nif data.startswith(MAGIC):\n    print("yes")\n'
    document = read(program, "a.py")
    assert not document.unread
    assert "startswith" in document.text
