"""Text written in codes is read in every format: percent-encoding, escapes, dumps, short base64, RTF in fields."""

# ruff: noqa: E501, S608 (a case is read best on one line, as its program writes it)

import base64
import binascii
import gzip
import json
import textwrap
from collections.abc import Callable
from urllib.parse import quote

import pytest
import re2

from phiscan.extract.text_codes import digits, escapes
from phiscan.extract.text_codes.escapes import Code
from phiscan.extract.text_codes.recovery import coded_runs
from phiscan.model import Document

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
NOTE = P + " Seen again in spring by the same team, nothing new to say. "
LONG = NOTE * 3
RAW = LONG.encode()


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def shown(row: bytes) -> str:
    return "".join(chr(code) if 32 <= code < 127 else "." for code in row)


def xxd(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pairs = " ".join(row[pair : pair + 2].hex() for pair in range(0, len(row), 2))
        lines.append(f"{at:08x}: {pairs:39}  {shown(row)}\n")
    return "".join(lines)


def hexdump(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        halves = "  ".join(" ".join(f"{code:02x}" for code in half) for half in (row[:8], row[8:]))
        lines.append(f"{at:08x}  {halves:48}  |{shown(row)}|\n")
    return "".join(lines) + f"{len(data):08x}\n"


UU = b"".join(binascii.b2a_uu(RAW[at : at + 45]) for at in range(0, len(RAW), 45)).decode()
BASE64 = b64(LONG)
RTF = r"{\rtf1\ansi Lena Ok\b af\b0 or, 407\i 18823\i0 , congestive heart f\'61ilure}"
ARRAY = ", ".join(f"0x{code:02x}" for code in RAW)
TOKEN = base64.urlsafe_b64encode(json.dumps({"note": P}).encode()).decode().rstrip("=")
TEXTS = {
    "percent.txt": "".join(f"%{code:02X}" for code in P.encode()),
    "percent_in_log.txt": f"2024-01-01 GET /chart?note={quote(P)} 200\n",
    "form.txt": "name=Lena+Okafor&mrn=40718823&dx=congestive+heart+failure",
    "percent_double.txt": quote(quote(LONG)),
    "xxd.txt": xxd(RAW),
    "hexdumpC.txt": hexdump(RAW),
    "hexdump_gz.txt": hexdump(gzip.compress(RAW)),
    "carray.c": "unsigned char a[] = {\n" + "\n".join(textwrap.wrap(ARRAY, 72)) + "\n};\n",
    "xescape.py": 's = b"' + "".join(f"\\x{code:02x}" for code in RAW) + '"\n',
    "uescape.js": 'var s = "' + "".join(f"\\u{ord(c):04x}" for c in LONG) + '";\n',
    "charcodes.js": f"var s = String.fromCharCode({','.join(str(code) for code in RAW)});\n",
    "hex_spaced.txt": RAW.hex(" "),
    "hex_lines.txt": "\n".join(textwrap.wrap(RAW.hex(), 64)),
    "hex_sql.sql": f"INSERT INTO t VALUES (1, 0x{P.encode().hex()});\n",
    "hex_pg.sql": f"COPY t FROM stdin;\n1\t\\\\x{P.encode().hex()}\n\\.\n",
    "b64_short.txt": f"note: {b64(P)}\n",
    "b64_40wide.txt": "\n".join(textwrap.wrap(BASE64, 40)),
    "b64_gz.txt": f"see below\n{base64.encodebytes(gzip.compress(RAW * 3)).decode()}",
    "b64_address.txt": "see below\n" + base64.urlsafe_b64encode((LONG + "ÿþ?>~").encode()).decode(),
    "ldif.ldif": f"dn: cn=x\nobjectClass: person\ndescription:: {BASE64[:60]}\n"
    + textwrap.indent("\n".join(textwrap.wrap(BASE64[60:], 76)), " ")
    + "\n",
    "ldif_short.ldif": f"dn: cn=x\nobjectClass: person\ncn:: {b64('Lena Okafor')}\nuid:: {b64('40718823')}\ndescription:: {b64('congestive heart failure')}\n",
    "entities.txt": "".join(f"&#{ord(c)};" for c in P),
    "qp_few.txt": "Lena=20Okafor, MRN=2040718823, congestive=20heart=20failure=2E\n",
    "qp_mail_in_log.txt": "quoted-printable\n\nSeen today: Lena=20Okafor, 40718823\n\nnote: conges=\ntive heart fail=\nure today\n",
    "encoded_words.txt": f"11:02 mail =?UTF-8?Q?Lena_Okafor?= =?UTF-8?B?{b64(' 40718823')}?=: =?utf-8?q?congestive_heart_failure?=\n",
    "overstrike.txt": "".join(c + "\b" + c if c.isalpha() else c for c in P),
    "ansi.txt": "\x1b[1mLe\x1b[0mna Oka\x1b[31mfor\x1b[0m, 407\x1b[1m18823, conges\x1b[0mtive heart failure",
    "nulpad.dat": f"Lena Okafor{chr(0) * 10}40718823{chr(0) * 4}congestive heart failure\0\n",
    "datauri.css": f"a {{ background: url('data:text/plain;base64,{b64(P)}') }}\n",
    "jwt.txt": f"token: eyJhbGciOiJub25lIn0.{TOKEN}.\n",
    "json_in_json.json": json.dumps({"a": json.dumps({"note": json.dumps({"n": P})})}),
    "json_b64gz.json": json.dumps({"a": base64.b64encode(gzip.compress(P.encode())).decode()}),
    "json_percent.json": json.dumps({"url": f"https://x/?q={quote(P)}"}),
    "json_hex.json": json.dumps({"note": RAW.hex()}),
    "json_rtf.json": json.dumps({"note": RTF}),
    "csv_rtf.csv": f'id,note,kind,x\n1,"{RTF}",a,b\n2,b,c,d\n3,b,c,d\n',
    "xml_b64.xml": f"<r><d>{b64(P)}</d></r>",
    "hl7_hex.hl7": f"MSH|^~\\&|A|B|C|D|20240101||ORU^R01|1|P|2.5\rOBX|1|TX|N||\\X{P.encode().hex().upper()}\\||||||F\r",
    "html_href.html": '<a href="https://x.example/v?name=Lena%20Okafor&mrn=40718823&dx=congestive%20heart%20failure">view</a>',
    "html_onclick.html": f"<html><body><a onclick=\"show('{P}')\">x</a></body></html>",
    "html_b64.html": f"<html><body><p>See below</p><pre>{base64.encodebytes(RAW).decode()}</pre></body></html>",
    "html_img_src.html": '<html><body><img src="/img/Lena%20Okafor_40718823_congestive%20heart%20failure.png"></body></html>',
    "html_xmp.html": "<html><body><noframes>Lena Okafor 40718823</noframes><noscript>congestive heart failure</noscript></body></html>",
    "svg_meta.svg": "<svg xmlns='http://www.w3.org/2000/svg'><title>Lena Okafor</title><desc>40718823</desc><metadata><x>congestive heart failure</x></metadata></svg>",
    "sql_comment.sql": f"-- {P}",
    "flatopc.xml": "<?xml version='1.0'?><?mso-application progid='Word.Document'?><pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'><pkg:part pkg:name='/word/document.xml'><pkg:xmlData><w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body><w:p><w:r><w:t>Lena Oka</w:t></w:r><w:r><w:t>for, 407</w:t></w:r><w:r><w:t>18823</w:t></w:r></w:p></w:body></w:document></pkg:xmlData></pkg:part><pkg:part pkg:name='/word/media/a.txt'><pkg:binaryData>"
    + b64("congestive heart failure and nothing else to be said here, and more text to come" * 2)
    + "</pkg:binaryData></pkg:part></pkg:package>",
    "uu_nobegin.txt": f"see\n{UU}\n",
    "uu.txt": f"see below\n\nbegin 600 note.txt\n{UU}`\nend\n",
    "decimal.txt": " ".join(str(code) for code in RAW),
}
CASES = {name: text.encode() for name, text in TEXTS.items()}


@pytest.mark.parametrize("name", CASES)
def test_coded_text_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown_text = " ".join(document.text.split())
    for word in WORDS:
        assert word in shown_text
    assert not document.unread or name == "nulpad.dat"  # data of no known type


QUERIES = {
    "GET /book?name=Lena%20Okafor&reason=breast+cancer HTTP/1.1": "name: Lena Okafor | reason: breast cancer",
    "GET /a?patient=Marc+Delisle&dx=prostate+cancer HTTP/1.1": "patient: Marc Delisle | dx: prostate cancer",
    "see https://a.example/r?patient=Lena%20Okafor&note=Metformin%20for%20diabetes": "note: Metformin for diabetes",
    "https://a.example/r?nom=H%C3%A9l%C3%A8ne+C%C3%B4t%C3%A9&motif=Suivi+de+la+grippe": "nom: Hélène Côté | motif: Suivi",
    "https://a.example/r?nom=Caroline+Tremblay&motif=chimio": "nom: Caroline Tremblay | motif: chimio",
    "Referer: http://a.example/s?q=Lena+Okafor+HIV+results": "q: Lena Okafor HIV results",
    "body: patient=Lena%20Okafor&amp;dx=hepatitis%20C": "patient: Lena Okafor | dx: hepatitis C",
    "GET /p/Lena%20Okafor/dx/hepatitis%20C HTTP/1.1": "/p/Lena Okafor/dx/hepatitis C",
    "to=https%3A%2F%2Fa.example%2Fp%3Fname%3DLena%2520Okafor%26dx%3Dovarian%2520cancer": "name: Lena Okafor | dx: ovarian cancer",
    "mailto:c@a.example?subject=For%20Lena%20Okafor&body=She%20has%20gout": "subject: For Lena Okafor | body: She has gout",
    "http://a.example/#patient=Lena%20Okafor;dx=schizophrenia": "patient: Lena Okafor | dx: schizophrenia",
    "http://a.example/f?nom=L%C3%A9a+Roy;maladie=grippe": "nom: Léa Roy | maladie: grippe",
}


@pytest.mark.parametrize("text", QUERIES)
def test_addresses_of_web_requests_are_read_as_passages(read: Read, text: str) -> None:
    assert QUERIES[text] in read(f"{text}\n".encode(), "access.log").text


PLAIN = (
    "See https://example.org/wiki/Heart_failure#Treatment?lang=en&page=20 and /usr/share/doc/python3/README.Debian",
    "a1b2c3d4e5f60718293a4b5c6d7e8f90 0123456789abcdef0123456789abcdef commit of yesterday evening",
    "Values 45 67 82 91 33 48 59 61 72 88 94 35 47 58 69 70 81 92 36 44 of the first week",
    "TheQuickBrownFoxJumpsOverTheLazyDog and aVeryLongIdentifierOfSomeProgram42WithCapitals",
    "x=20, y=2C and z=3D are three lines of a table; width=100%, height=50%",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDhA7Zr1xN8k2Qe0m1gQy4N5V3kTtWw9LqzXo user@host",
    "https://a.example/?q=cancer&lang=en and https://a.example/#top?x=1;y=C++ and a?b=c+d",
    "Vitamin C+AMP-kinase and a+AMO-b; A&B; R&D; fish & chips; 100 %20s",
)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_no_code(text: str) -> None:
    assert not coded_runs(text.encode())


def test_a_label_before_a_run_is_kept(read: Read) -> None:
    data = b"id,note,kind,x\n1," + base64.b64encode(P.encode()) + b",a,b\n2,none at all,a,b\n3,none,a,b\n"
    assert f"note: {P}" in read(data, "a.csv").text


def test_codes_within_codes_are_read(read: Read) -> None:
    inner = base64.b64encode(quote(P).encode()).decode()
    assert "Lena Okafor" in read(f"x: {inner}\n".encode(), "a.txt").text


def test_a_file_in_a_dump_is_a_member(read: Read) -> None:
    document = read(hexdump(gzip.compress(LONG.encode())).encode(), "a.txt")
    assert any(part.locator.startswith("decoded") for part in document.segments)


def test_codes_are_found_among_many_segments(read: Read) -> None:
    """Hints are looked for in many segments at once: each segment with a code is found, and no other."""
    coded = {
        3: b64(P),
        1_400: quote("Amara Lindqvist, MRN 51627384, asthma"),
        2_000: "".join(f"\\x{code:02x}" for code in b"Tomasz Brandl, MRN 88120034, gout"),
    }
    rows = [
        f"{number},{coded.get(number, 'nothing to say of this visit ' * 7)}" for number in range(1, 2_001)
    ]
    text = read("\n".join(["id,note", *rows, ""]).encode(), "a.csv").text
    assert [text.count(word) for word in ("Lena Okafor", "Amara Lindqvist", "Tomasz Brandl")] == [1, 1, 1]


ALL_CODES = (
    *(*digits.LONG_CODES, *digits.SHORT_CODES, *digits.LISTED_CODES),
    *(*escapes.CODES, *digits.PROGRAM_CODES),
)


@pytest.mark.parametrize("code", ALL_CODES, ids=lambda code: code.find.__name__)
def test_each_code_is_hinted_at(code: Code) -> None:
    """A text is not searched for a code whose hint it does not match: no run may be lost by it."""
    found = [data for data in CASES.values() if any(code.find(data))]
    assert found
    assert all(re2.search(code.hint, data) for data in found)
