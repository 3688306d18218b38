"""Mail as many programs write it: broken headers, boundaries, character sets, encoded words, bodies in codes."""

# ruff: noqa: E501, RUF001 (a case is read best on one line, as its program writes it; signs of other scripts)

import base64
import gzip
import quopri
import struct
from collections.abc import Callable
from urllib.parse import quote

import pytest

from phiscan.extract.transport.decoding import from_binhex
from phiscan.model import Document
from tests.extract.compound_files import Tree, compound, word_97
from tests.extract.test_transport import cms, uuencoded

Read = Callable[..., Document]
P = "Patient Lena Okafor, born 1951-03-14, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "1951-03-14", "40718823", "heart failure")
LONG = (P + " Seen again in spring by the same team, nothing new to say. ") * 3
RAW = P.encode()
H = "From: a@example.org\nTo: b@example.org\nSubject: visit\nMIME-Version: 1.0\n"
BINHEX_DIGITS = "!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr"


def b64(data: bytes | str) -> str:
    return base64.encodebytes(data if isinstance(data, bytes) else data.encode()).decode()


def qp(text: str) -> str:
    return quopri.encodestring(text.encode()).decode()


def word(text: str) -> str:
    return f"=?utf-8?B?{base64.b64encode(text.encode()).decode()}?="


def binhex(name: bytes, data: bytes) -> str:
    head = bytes([len(name)]) + name + b"\0TEXTttxt\0\0" + len(data).to_bytes(4, "big") + bytes(6)
    raw = (head + data + bytes(4)).replace(b"\x90", b"\x90\0")
    bits = "".join(format(code, "08b") for code in raw)
    bits += "0" * (-len(bits) % 6)
    digits = ":" + "".join(BINHEX_DIGITS[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6)) + ":"
    lines = "\n".join(digits[at : at + 64] for at in range(0, len(digits), 64))
    return f"(This file must be converted with BinHex 4.0)\n\n{lines}\n"


def sent(text: str) -> bytes:
    """Return a message with further fields and a body, with the ends of lines of the network."""
    return (H + text).replace("\n", "\r\n").encode()


def parts(*bodies: str) -> str:
    """Return the type of a message in parts, and the parts."""
    joined = "".join(f"--XX\n{body}\n" for body in bodies)
    return f'Content-Type: multipart/mixed; boundary="XX"\n\n{joined}--XX--\n'


BASE64 = "Content-Transfer-Encoding: base64\n\n"
QP = "Content-Transfer-Encoding: quoted-printable\n\n"
UU = uuencoded(RAW * 2).decode()
SPLIT_QP = "Patient Lena Oka=\nfor, born 1951-=\n03-14, MRN 407=\n18823, heart failure"
PLAIN_DIGITS = P.replace(",", "").replace(".", "").replace("-", "").replace("19510314", "1951-03-14")
STATUS = f"Reporting-MTA: dns; x\r\n\r\nDiagnostic-Code: smtp; 550 {P}"
WHOLE, SHORT = f"{H}\n{LONG}", f"From: a@b.cc\nSubject: x\n\n{P}"
IN_PARTS = f"--xx\nContent-Type: text/plain\n\n{LONG}\n--xx--\n"
FORMS = {
    "html_b64.eml": f"Content-Type: text/html\n\n<html><body><pre>{b64(LONG)}</pre></body></html>",
    "html_b64_br.eml": "Content-Type: text/html\n\n<html><pre>" + b64(LONG).replace("\n", "<br>\n"),
    "html_uu.eml": f"Content-Type: text/html\n\n<pre>{UU.replace('&', '&amp;').replace('<', '&lt;')}</pre>",
    "no_boundary.eml": f"Content-Type: multipart/mixed\n\n--x\n{BASE64}{b64(LONG)}",
    "no_boundary_blank.eml": f'Content-Type: multipart/related;\n\nboundary="xx"\n\n--xx\nContent-Type: text/html\n{QP}<p>{qp(LONG)}</p>\n--xx--\n',
    "no_end.eml": f"Content-Type: multipart/mixed; boundary=xx\n\n--xx\n\nhello\n--xx\nContent-Type: text/plain; name=a.txt\n{BASE64}{b64(P)}",
    "dsn.eml": f"Content-Type: multipart/report; report-type=delivery-status; boundary=xx\n\n--xx\n\nfailed\n--xx\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nDiagnostic-Code: smtp; 550 Lena Okafor\n--xx\nContent-Type: text/rfc822-headers\n{BASE64}{b64('Subject: 1951-03-14, 40718823 heart failure')}--xx--\n",
    "dsn_status_b64.eml": f"Content-Type: multipart/report; report-type=delivery-status; boundary=xx\n\n--xx\nContent-Type: message/delivery-status\n{BASE64}{b64(STATUS)}--xx--\n",
    "dsn_headers_b64.eml": f"Content-Type: multipart/report; boundary=xx\n\n--xx\nContent-Type: message/rfc822-headers\n{BASE64}{b64(f'Subject: {P}')}--xx--\n",
    "digest.eml": f"Content-Type: multipart/digest; boundary=xx\n\n--xx\n\nFrom: c@d\nSubject: {P}\n\nbody\n--xx--\n",
    "rfc822_b64.eml": parts(f"Content-Type: message/rfc822\n{BASE64}{b64(WHOLE)}"),
    "rfc822_b64_short.eml": parts(f"Content-Type: message/rfc822\n{BASE64}{b64(SHORT)}"),
    "rfc822_qp.eml": f"Content-Type: message/rfc822\n{QP}From: a@b\nTo: c@d\n\n{P.replace(' ', '=20')}",
    "multipart_b64.eml": f"Content-Type: multipart/mixed; boundary=xx\n{BASE64}{b64(IN_PARTS)}",
    "utf16.eml": f"Content-Type: text/plain; charset=utf-16\n{BASE64}{b64(P.encode('utf-16'))}",
    "utf16_wrong.eml": f"Content-Type: text/plain; charset=utf-8\n{BASE64}{b64(P.encode('utf-16-le'))}",
    "enriched.eml": "Content-Type: text/enriched\n\n<bold>Lena</bold> Okafor, 1951-03-14, 40718823, congestive <italic>heart</italic> failure",
    "entities_html.eml": "Content-Type: text/html\n\n<p>" + "".join(f"&#{ord(c)};" for c in P),
    "external_body.eml": 'Content-Type: message/external-body; access-type=URL;\n URL*0="https://example.org/?p=Lena%20Okafor&b=1951-03-14";\n URL*1="&m=40718823&d=congestive%20heart%20failure"\n\nContent-Type: text/plain\n\n',
    "href_query.eml": f'Content-Type: text/html\n\n<a href="https://x.example/v?{quote(P)}">view</a>',
    "xhdr.eml": "X-Clinic-Note: Lena Okafor, 1951-03-14,\n 40718823, congestive\n\theart failure\nX-Spam: =?utf-8?q?no?=\n\nhi",
    "xhdr_b64.eml": f"X-Clinic-Note: {base64.b64encode(RAW).decode()}\n\nhi",
    "comments.eml": "Comments: Lena Okafor, 1951-03-14\nKeywords: 40718823\nContent-Description: congestive heart failure\n\nhi",
    "part_desc.eml": parts(
        "Content-Type: image/x-foo\nContent-Description: Lena Okafor,\n 1951-03-14, 40718823 congestive heart failure\n\nxx"
    ),
    "alt_empty_text.eml": f"Content-Type: multipart/alternative; boundary=xx\n\n--xx\nContent-Type: text/plain\n\n \n--xx\nContent-Type: text/x-amp-html\n\n<p>{P}</p>\n--xx--\n",
    "qp_lower.eml": f"{QP}Lena=20Ok=61for=2c 1951-03-14 407=\n18823=2c congestive=\n heart failure",
    "qp_few_undeclared.eml": "\nLena=20Okafor, 1951-03-14, MRN=2040718823, congestive=20heart=20failure=2E",
    "text_gz.eml": f"Content-Type: application/gzip; name=a.gz\n{BASE64}{b64(gzip.compress(RAW))}",
    "binhex.eml": f"Content-Type: application/mac-binhex40; name=a.hqx\n\n{binhex(b'note.txt', LONG.encode())}",
    "octets.eml": f'Content-Type: application/octet-stream; name="smime.p7m"\n{BASE64}{b64(cms(2, RAW))}',
    "noise.eml": f"{BASE64}!!{b64(P)[:30]}*-*{b64(P)[30:]}",
    "signature_after_digits.eml": f"{BASE64}{b64('Hello world, how are you?')}\n-- \nFor {P}",
    "not_encoded.eml": f"{BASE64}{PLAIN_DIGITS}",
    "quoted.eml": "\n" + "\n".join(f"> {line}" for line in UU.splitlines()),
    "indented.eml": "\n" + "\n".join(f"    {line}" for line in UU.splitlines()),
    "from_within.eml": f"From {P}\nX-a: b\n\nhi",
    "nameless.eml": f": {P}\nX-a: b\n\nhi",
    "nameless_part.eml": parts(f"Content-Type: text/plain\n: {P}\n\nhi"),
    "pasted.eml": f"Content-Type: text/plain\n\nSee:\n\nFrom: a@b\n{QP}{SPLIT_QP}",
    "style.eml": f"Content-Type: text/html\n\n<style>p::before{{content:'{P}'}}</style>x",
    "style_part.eml": parts(f"Content-Type: text/css\n\np::after{{content:'{P}'}}"),
    "open_style.eml": f"Content-Type: text/html\n\n<head><style>p{{}}<body><p>{P}</p></body>",
    "instruction.eml": f"Content-Type: text/html\n\n<body><?php echo '{P}'; ?>x",
    "soft_marks.eml": "Content-Type: text/html; charset=utf-8\n\n<p>Patient Le\u200bna Ok\u00adafor, born 1951-03-14, MRN 4071\u200b8823, heart failure",
    "page_as_text.eml": "Content-Type: text/plain\n\n<html>Patient <b>Lena</b> Oka<b>for</b>, born 1951-03-14, MRN 40718823, heart failure</html>",
    "other_page.eml": "Content-Type: text/x-amp-html\n\n<p>Patient Lena Oka<b>for</b>, born 1951-03-14, MRN 40718823, heart failure</p>",
    "cut_line.eml": f"\n{'x' * 1200} Patient Lena Oka!\n for, born 1951-03-14, MRN 40718823, heart failure",
}
CASES = {name: sent(text) for name, text in FORMS.items()}
CASES |= {
    "cr_only.eml": sent(BASE64 + b64(P)).replace(b"\r\n", b"\r"),
    "returns.eml": sent(QP) + SPLIT_QP.replace("\n", "\r").encode(),
    "first_line.eml": b"\t" + RAW + b"\r\n" + sent("\nhi"),
    "8bit_header.eml": sent("\nhi").replace(b"visit", "Zoé: ".encode("latin-1") + RAW),
    "utf16file.eml": sent(f"\n{P}").decode().encode("utf-16"),
}


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
CASES |= {
    "dotstuffed.mbox": b"From a Mon Jan  1 00:00:00 2024\nContent-Length: 5\nFrom: a@b\nTo: c@d\n\nhi\n\n>From " + RAW,
    "note.vcf": b"BEGIN:VCARD\r\nFN:Ann Roy\r\nNOTE;ENCODING=BASE64:" + base64.b64encode(RAW) + b"\r\n\r\nEND:VCARD\r\n",
    "mailbox_of_returns.mbox": b"".join(b"From a@b Mon Mar  4 10:00:00 2024\nFrom: a@b.c\n\n" + x for x in (b"hi\n\n", RAW)).replace(b"\n", b"\r"),
    "sentence.mbox": b"From a@b Mon Mar  4 10:00:00 2024\nFrom: a@b.c\n\nhi\n\nFrom the clinic: " + RAW + b"\n\nbye\n",
    "parameter.vcf": b"BEGIN:VCARD\r\nFN;X-DOB=1951-03-14:Lena Okafor\r\nNOTE:MRN 40718823, heart failure\r\nEND:VCARD",
    "page.ics": b"BEGIN:VCALENDAR\r\nX-ALT-DESC;FMTTYPE=text/html:<p>Lena Oka<b>for</b>\\, 1951-03-14\\, 40718823\\, heart failure</p>\r\nEND:VCALENDAR",
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
def test_a_text_in_every_form_of_a_message_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown = " ".join(document.text.split())
    for wanted in WORDS:
        assert wanted in shown
    assert not document.unread


def test_binhex_is_unpacked_and_damaged_one_gives_nothing() -> None:
    data = b"ab" + b"c" * 9 + b"\x90"
    coded = binhex(b"n", data).encode().partition(b":")[2].rpartition(b":")[0]
    assert from_binhex(coded) == ("n", data)
    assert from_binhex(b"!!!!") == ("", b"")


FRENCH = "Patiente Léna Okafor née 1951-03-14, MRN 40718823, très gênée"
CZECH = "Pacient Žofie Šťastná 1951-03-14"
CHINESE, JAPANESE = "患者 王小明 慢性心力衰竭，需要复诊 朱镕基", "患者 山田花子 心不全"
KOREAN = "환자 김민수 심부전 똠방"


@pytest.mark.parametrize(
    ("text", "charset", "codec"),
    [
        (FRENCH, "iso-8859-1", "utf-8"),
        (FRENCH, "us-ascii", "utf-7"),
        (FRENCH, "unicode-1-1-utf-7", "utf-7"),
        (FRENCH, "us-ascii", "cp1252"),
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
    data = sent(f"Content-Type: text/plain; charset={charset}\n\n") + text.encode(codec)
    assert text in read(data, "a.eml").text


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
        b'"=?utf-8?Q?L=C3=A9na_Okafor?="',
        b"Re:=?utf-8?Q?L=C3=A9na?==?utf-8?Q?_Okafor?=",
        word("for Léna Okafor").replace("=?=", "?=").encode(),
        f"{word('Léna Ok')}\r\n {word('afor')}".encode(),
        b"=?utf-8?B?PT91dGYtOD9RP0w9QzM9QTluYV9Pa2Fmb3I/PQ==?=",
        b"x\r\n \r\n\tL\xc3\xa9na\r\n\tOkafor",
    ],
)
def test_a_field_is_decoded_however_it_is_written(read: Read, field: bytes) -> None:
    assert "Léna Okafor" in read(sent("\nhi").replace(b"visit", field), "a.eml").text


def test_a_raw_field_is_read_by_the_character_set_of_the_body(read: Read) -> None:
    data = sent("Content-Type: text/plain; charset=gb2312\n\n") + CHINESE.encode("gbk")
    data = data.replace(b"visit", "王小明病历".encode("gbk"))
    assert "Subject: 王小明病历" in read(data, "a.eml").text


@pytest.mark.parametrize(
    "head",
    [
        'Content-Type: application/x-a; name="Léna Okafor.txt"\nContent-Disposition: attachment; filename=a.txt',
        'Content-Type: application/x-a; name="=?utf-8?Q?L=C3=A9na_Okafor.txt?="',
        "Content-Type: application/x-a\nContent-Disposition: attachment; filename*=foo''L%C3%A9na%20Okafor.txt",
        "Content-Type: application/x-a\nContent-Disposition: attachment;\n filename*0*=UTF-8''L%C3%A9na%20;\n filename*1*=Oka;\n filename*2=\"for.pdf\"",
        "Content-Type: application/x-a\nContent-Disposition: attachment; filename=Léna Okafor.txt",
        "Content-Type: text/html\nContent-Location: file:///L%C3%A9na%20Okafor%2040718823.htm",
        'Content-Type: text/plain; x-patient="the Léna Okafor"',
    ],
)
def test_names_and_parameters_of_parts_are_read(read: Read, head: str) -> None:
    assert "Léna Okafor" in read(sent(parts(f"{head}\n\nhello there")), "a.eml").text


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
