"""Messages as many programs write them: broken headers, messages encoded as a whole, files within pages."""

# ruff: noqa: E501, UP031 (a case is read best on one line, as its program writes it)

import base64
import binascii
import gzip
import quopri
from collections.abc import Callable

import pytest

from phiscan.extract.transport.decoding import from_binhex
from phiscan.model import Document

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
LONG = (P + " Seen again in spring by the same team, nothing new to say. ") * 3
H = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: visit\r\nMIME-Version: 1.0\r\n"
DIGITS = "!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr"


def b64(data: bytes | str) -> bytes:
    return base64.encodebytes(data if isinstance(data, bytes) else data.encode())


def word(text: str) -> str:
    return f"=?utf-8?B?{base64.b64encode(text.encode()).decode()}?="


def binhex(name: bytes, data: bytes) -> bytes:
    head = bytes([len(name)]) + name + b"\0TEXTttxt\0\0" + len(data).to_bytes(4, "big") + bytes(6)
    raw = (head + data + bytes(4)).replace(b"\x90", b"\x90\0")
    bits = "".join(format(code, "08b") for code in raw)
    bits += "0" * (-len(bits) % 6)
    digits = ":" + "".join(DIGITS[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6)) + ":"
    lines = "\r\n".join(digits[at : at + 64] for at in range(0, len(digits), 64))
    return b"(This file must be converted with BinHex 4.0)\r\n\r\n" + lines.encode() + b"\r\n"


CASES: dict[str, bytes] = {}
PAGE = "<html><body><p>See below</p><pre>%s</pre></body></html>"
CASES |= {
    "html_b64.eml": H + b"Content-Type: text/html\r\n\r\n" + (PAGE % b64(LONG).decode()).encode(),
    "html_b64_br.eml": H
    + b"Content-Type: text/html\r\n\r\n"
    + (PAGE % b64(LONG).decode().replace("\n", "<br>\n")).encode(),
    "html_uu.eml": H
    + b"Content-Type: text/html\r\n\r\n"
    + (
        PAGE
        % (
            "begin 644 a.txt\n"
            + "".join(
                binascii.b2a_uu(LONG.encode()[i : i + 45]).decode().replace("&", "&amp;").replace("<", "&lt;")
                for i in range(0, len(LONG), 45)
            )
            + "`\nend\n"
        )
    ).encode(),
    "rfc2231_name.eml": H
    + b"Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n filename*0*=UTF-8''%4C%65%6E%61%20%4F%6B%61%66%6F%72%20;\r\n filename*1*=40718823%20congestive%20heart;\r\n filename*2=\" failure.pdf\"\r\n\r\n",
    "no_boundary_blank.eml": H
    + b'Content-Type: multipart/related;\r\n\r\nboundary="xx"\r\n\r\n--xx\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>'
    + quopri.encodestring(LONG.encode())
    + b"</p>\r\n--xx--\r\n",
    "no_end.eml": H
    + b"Content-Type: multipart/mixed; boundary=xx\r\n\r\n--xx\r\n\r\nhello\r\n--xx\r\nContent-Type: text/plain; name=a.txt\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(P),
    "subject_split.eml": H.replace(
        b"Subject: visit",
        b"Subject: "
        + (
            word("Lena Ok") + "\r\n " + word("afor, 407188") + "\r\n " + word("23, congestive heart failure")
        ).encode(),
    )
    + b"\r\nhi",
    "subject_badpad.eml": H.replace(
        b"Subject: visit", b"Subject: =?utf-8?b?" + base64.b64encode(P.encode()).rstrip(b"=") + b"?="
    )
    + b"\r\nhi",
    "subject_quoted.eml": H.replace(
        b"Subject: visit", b'Subject: "=?utf-8?Q?Lena_Okafor=2C_40718823=2C_congestive_heart_failure?="'
    )
    + b"\r\nhi",
    "subject_glued.eml": H.replace(
        b"Subject: visit",
        b"Subject: Re:=?utf-8?Q?Lena_Okafor=2C_40718823?==?utf-8?Q?=2C_congestive_heart_failure?=",
    )
    + b"\r\nhi",
    "subject_blank_in.eml": H.replace(
        b"Subject: visit", b"Subject: =?utf-8?Q?Lena Okafor, 40718823, congestive heart failure=2E?="
    )
    + b"\r\nhi",
    "name_word.eml": H
    + b'Content-Type: application/octet-stream;\r\n name="'
    + word("Lena Okafor 40718823 congestive heart failure.bin").encode()
    + b'"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    + b64("x" * 20),
    "dsn.eml": H
    + b"Content-Type: multipart/report; report-type=delivery-status; boundary=xx\r\n\r\n--xx\r\n\r\nfailed\r\n--xx\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\nFinal-Recipient: rfc822; b@x\r\nDiagnostic-Code: smtp; 550 Lena Okafor\r\n--xx\r\nContent-Type: text/rfc822-headers\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64("Subject: 40718823 congestive heart failure\r\n")
    + b"--xx--\r\n",
    "dsn_status_b64.eml": H
    + b"Content-Type: multipart/report; report-type=delivery-status; boundary=xx\r\n\r\n--xx\r\n\r\nfailed\r\n--xx\r\nContent-Type: message/delivery-status\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64("Reporting-MTA: dns; x\r\n\r\nDiagnostic-Code: smtp; 550 " + P + "\r\n")
    + b"--xx--\r\n",
    "dsn_headers_b64.eml": H
    + b"Content-Type: multipart/report; boundary=xx\r\n\r\n--xx\r\nContent-Type: message/rfc822-headers\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64("Subject: " + P + "\r\n")
    + b"--xx--\r\n",
    "digest.eml": H
    + b"Content-Type: multipart/digest; boundary=xx\r\n\r\n--xx\r\n\r\nFrom: c@d\r\nSubject: "
    + P.encode()
    + b"\r\n\r\nbody\r\n--xx--\r\n",
    "rfc822_b64.eml": H
    + b"Content-Type: multipart/mixed; boundary=xx\r\n\r\n--xx\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(H + b"\r\n" + LONG.encode())
    + b"--xx--\r\n",
    "rfc822_b64_short.eml": H
    + b"Content-Type: multipart/mixed; boundary=xx\r\n\r\n--xx\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(b"From: a@b.cc\r\nSubject: x\r\n\r\n" + P.encode())
    + b"--xx--\r\n",
    "rfc822_qp.eml": H
    + b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nFrom: a@b\r\nTo: c@d\r\n\r\n"
    + quopri.encodestring(P.replace(" ", "=20").encode()).replace(b"=3D20", b"=20"),
    "multipart_b64.eml": H
    + b"Content-Type: multipart/mixed; boundary=xx\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(b"--xx\r\nContent-Type: text/plain\r\n\r\n" + LONG.encode() + b"\r\n--xx--\r\n"),
    "utf7.eml": H
    + b"Content-Type: text/plain; charset=utf-7\r\n\r\n+AEwAZQBuAGEAIABPAGsAYQBmAG8AcgAsACAANAAwADcAMQA4ADgAMgAzACwAIABjAG8AbgBnAGUAcwB0AGkAdgBlACAAaABlAGEAcgB0ACAAZgBhAGkAbAB1AHIAZQ-",
}
CASES["utf7_uni.eml"] = CASES["utf7.eml"].replace(b"charset=utf-7", b"charset=unicode-1-1-utf-7")
CASES |= {
    "utf16.eml": H
    + b"Content-Type: text/plain; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(P.encode("utf-16")),
    "utf16_wrong.eml": H
    + b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(P.encode("utf-16-le")),
    "enriched.eml": H
    + b"Content-Type: text/enriched\r\n\r\n<bold>Lena</bold> Okafor, 40718823, congestive <italic>heart</italic> failure",
    "entities_html.eml": H
    + b"Content-Type: text/html\r\n\r\n<p>"
    + "".join("&#%d;" % ord(c) for c in P).encode()
    + b"</p>",
    "cr_only.eml": (H + b"Content-Transfer-Encoding: base64\r\n\r\n" + b64(P))
    .replace(b"\r\n", b"\r")
    .replace(b"\n", b"\r"),
    "external_body.eml": H
    + b'Content-Type: message/external-body; access-type=URL;\r\n URL*0="https://example.org/?p=Lena%20Okafor";\r\n URL*1="&m=40718823&d=congestive%20heart%20failure"\r\n\r\nContent-Type: text/plain\r\n\r\n',
    "href_query.eml": H
    + b'Content-Type: text/html\r\n\r\n<a href="https://x.example/v?name=Lena%20Okafor&mrn=40718823&dx=congestive%20heart%20failure">view</a>',
    "xhdr.eml": H
    + b"X-Clinic-Note: Lena Okafor,\r\n 40718823, congestive\r\n\theart failure\r\nX-Spam: =?utf-8?q?no?=\r\n\r\nhi",
    "xhdr_b64.eml": H + b"X-Clinic-Note: " + base64.b64encode(P.encode()) + b"\r\n\r\nhi",
    "comments.eml": H
    + b"Comments: Lena Okafor\r\nKeywords: 40718823\r\nContent-Description: congestive heart failure\r\nContent-Type: text/plain\r\n\r\nhi",
    "part_desc.eml": H
    + b"Content-Type: multipart/mixed; boundary=xx\r\n\r\n--xx\r\nContent-Type: image/x-foo\r\nContent-Description: Lena Okafor,\r\n 40718823 congestive heart failure\r\n\r\nxx\r\n--xx--\r\n",
    "alt_empty_text.eml": H
    + b"Content-Type: multipart/alternative; boundary=xx\r\n\r\n--xx\r\nContent-Type: text/plain\r\n\r\n \r\n--xx\r\nContent-Type: text/x-amp-html\r\n\r\n<p>"
    + P.encode()
    + b"</p>\r\n--xx--\r\n",
    "qp_lower.eml": H
    + b"Content-Transfer-Encoding: quoted-printable\r\n\r\nLena=20Ok=61for=2c 407=\r\n18823=2c congestive=\r\n heart failure",
    "qp_few_undeclared.eml": H + b"\r\nLena=20Okafor, MRN=2040718823, congestive=20heart=20failure=2E",
    "text_gz.eml": H
    + b"Content-Type: application/gzip; name=a.gz\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    + b64(gzip.compress(P.encode())),
    "8bit_header.eml": H.replace(
        b"Subject: visit", "Subject: Héléna Lena Okafor 40718823 congestive heart failure".encode("latin-1")
    )
    + b"\r\nhi",
    "utf16file.eml": (H + b"\r\n" + P.encode()).decode().encode("utf-16"),
    "dotstuffed.mbox": b"From a Mon Jan  1 00:00:00 2024\nContent-Length: 5\nFrom: a@b\nTo: c@d\n\nhi\n\n>From "
    + P.encode()
    + b"\n",
    "binhex.eml": H
    + b"Content-Type: application/mac-binhex40; name=a.hqx\r\n\r\n"
    + binhex(b"note.txt", LONG.encode()),
}


@pytest.mark.parametrize("name", CASES)
def test_every_form_of_a_message_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    shown_text = " ".join(document.text.split())
    for wanted in WORDS:
        assert wanted in shown_text
    assert not [part for part in document.unread if "not decoded" in part.detail]


def test_repeated_bytes_of_binhex_are_unpacked() -> None:
    data = b"ab" + b"c" * 9 + b"\x90"
    coded = binhex(b"n", data).partition(b":")[2].rpartition(b":")[0]
    assert from_binhex(coded) == ("n", data)


def test_damaged_binhex_gives_nothing() -> None:
    assert from_binhex(b"!!!!") == ("", b"")
