"""Mail transport and wrappers: every undecoded payload is read, or said."""

import base64
import binascii
import bz2
import hashlib
import marshal
import struct
import zlib
from collections.abc import Callable, Iterator

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document, FailReason

Read = Callable[..., Document]
NOTE = b"Patient: Lena Okafor, DOB 1951-03-14, MRN 40718823. Admitted with congestive heart failure.\n" * 2
HEAD = b"From: ward4@example.org\nTo: records@example.org\nSubject: as discussed\nMIME-Version: 1.0\n"
TEXT = NOTE.decode()


def uuencoded(data: bytes) -> bytes:
    lines = [binascii.b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45)]
    return b"begin 644 note.txt\n" + b"".join(lines) + b"`\nend\n"


def yencoded(data: bytes) -> bytes:
    out = bytearray()
    for byte in data:
        code = (byte + 42) % 256
        out += bytes([61, (code + 64) % 256]) if code in (0, 10, 13, 61) else bytes([code])
    head = b"=ybegin line=128 size=%d name=note.txt\r\n" % len(data)
    return head + bytes(out) + b"\r\n=yend size=%d\r\n" % len(data)


def based(data: bytes, width: int = 76) -> bytes:
    digits = base64.b64encode(data)
    return b"\n".join(digits[at : at + width] for at in range(0, len(digits), width)) + b"\n"


def length(size: int) -> bytes:
    return bytes([size]) if size < 128 else b"\x82" + struct.pack(">H", size)


def der(tag: int, body: bytes) -> bytes:
    return bytes([tag]) + length(len(body)) + body


def cms(kind: int, content: bytes) -> bytes:
    """A SignedData (2) or EnvelopedData (3) with little but its content."""
    number = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"
    inner = der(0x30, number + b"\1" + der(0xA0, der(0x04, content)))
    body = der(0x30, der(0x02, b"\1") + der(0x31, b"") + inner)
    return der(0x30, number + bytes([kind]) + der(0xA0, body))


def cms_indefinite(content: bytes) -> bytes:
    number = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07"
    parts = b"".join(der(0x04, content[at : at + 50]) for at in range(0, len(content), 50))
    octets = b"\x24\x80" + parts + b"\0\0"
    inner = b"\x30\x80" + number + b"\1" + b"\xa0\x80" + octets + b"\0\0" + b"\0\0"
    digest = der(0x31, der(0x30, der(0x04, b"certificate bytes")))
    body = der(0x02, b"\1") + der(0x31, b"") + inner + digest
    return b"\x30\x80" + number + b"\2" + b"\xa0\x80\x30\x80" + body + b"\0\0" * 3


def literal(data: bytes) -> bytes:
    body = b"t\x08note.txt\0\0\0\0" + data
    return b"\xcb\xff" + struct.pack(">I", len(body)) + body


def packet(tag: int, body: bytes) -> bytes:
    return bytes([0xC0 | tag, 0xFF]) + struct.pack(">I", len(body)) + body


def armoured(data: bytes) -> bytes:
    head, end = b"-----BEGIN PGP MESSAGE-----\nVersion: 1\n\n", b"=abcd\n-----END PGP MESSAGE-----\n"
    return head + based(data, 64) + end


def tnef(*attributes: tuple[int, int, bytes]) -> bytes:
    out = b"\x78\x9f\x3e\x22\0\0"
    for level, number, data in attributes:
        out += struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)
    return out


def encodings(declared: str) -> bytes:
    return HEAD + f"Content-Type: text/plain\nContent-Transfer-Encoding: {declared}\n\n".encode()


def bodies() -> Iterator[tuple[str, bytes]]:
    for declared in ("base64 ", "BASE64", '"base64"', "base-64", "base64;", "base64 (as sent)"):
        yield f"declared {declared!r}", encodings(declared) + based(NOTE)
    yield "no encoding declared", HEAD + b"Content-Type: text/plain\n\n" + based(NOTE)
    yield "another declared", encodings("7bit") + based(NOTE)
    yield "two chunks", encodings("base64") + based(b"Good morning.\n") + based(NOTE)
    yield "blanks within", encodings("base64") + based(NOTE).replace(b"\n", b"  \n\n")
    yield "no padding", encodings("base64") + based(NOTE).rstrip(b"=\n")
    yield "one digit too many", encodings("base64") + based(NOTE).rstrip(b"=\n")[:-3] + b"\n"
    yield "for addresses", encodings("base64") + based(NOTE).replace(b"+", b"-").replace(b"/", b"_")
    yield "uuencoded", HEAD + b"\nSee below.\n" + uuencoded(NOTE) + b"Regards\n"
    yield "uuencoded, no end", HEAD + b"\nSee below.\n" + uuencoded(NOTE).replace(b"`\nend\n", b"")
    yield "x-uuencode", encodings("x-uuencode") + uuencoded(NOTE)
    yield "begin-base64", HEAD + b"\nbegin-base64 644 note.txt\n" + based(NOTE) + b"====\n"
    yield "yEnc", HEAD + b"\n" + yencoded(NOTE)
    part = b"name=note.txt\r\n=ypart begin=1 end=%d\r\n" % len(NOTE)
    yield "yEnc, a part", HEAD + b"\n" + yencoded(NOTE).replace(b"name=note.txt\r\n", part)
    yield "quoted base64", HEAD + b"\nHe wrote:\n" + based(NOTE).replace(b"\n", b"\n> ")
    soft = (
        NOTE.replace(b"DOB", b"DOB=20=\n").replace(b"MRN 40", b"MRN=2040=\n").replace(b"with ", b"with=20=\n")
    )
    yield "quoted-printable, not declared", HEAD + b"\n" + soft
    yield "Quoted_Printable", encodings("Quoted_Printable ") + soft.replace(b"=\n", b"= \n")
    yield "byte-order mark", b"\xef\xbb\xbf" + encodings("base64") + based(NOTE)
    yield "Apple Mail", b"%d\n" % len(encodings("8bit") + NOTE) + encodings("8bit") + NOTE + b"<plist/>"
    signed = HEAD + b"Content-Type: application/pkcs7-mime; name=smime.p7m\n"
    signed += b"Content-Transfer-Encoding: base64\n\n"
    inner = b"Content-Type: text/plain\n\n" + NOTE
    yield "signed", signed + based(cms(2, inner))
    yield "signed without lengths", signed + based(cms_indefinite(inner))
    yield "PKCS7 armour", b"-----BEGIN PKCS7-----\n" + based(cms(2, NOTE)) + b"-----END PKCS7-----\n"
    yield "OpenPGP", HEAD + b"\n" + armoured(packet(8, b"\2" + zlib.compress(literal(NOTE))))
    yield "OpenPGP, bzip2", HEAD + b"\n" + armoured(packet(8, b"\3" + bz2.compress(literal(NOTE))))
    yield "OpenPGP, not compressed", armoured(literal(NOTE))


@pytest.mark.parametrize(("name", "data"), list(bodies()), ids=[name for name, _ in bodies()])
def test_a_payload_is_read_however_it_is_packed(read: Read, name: str, data: bytes) -> None:
    document = read(data, "note.txt" if "armour" in name else "mail.eml")
    wanted = TEXT.split()[:14] if name == "one digit too many" else TEXT.split()
    assert " ".join(wanted) in " ".join(document.text.split()), document.text
    assert not document.unread
    if name.startswith("yEnc"):  # without the lines of keywords
        assert document.text.partition("[yEnc: note.txt]")[2].strip() == TEXT.strip()


ENVELOPED = based(cms(3, b"x" * 99))
CIPHER = packet(1, b"\3" * 40) + packet(18, b"\1" * 200)


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: base64\n\n" + ENVELOPED,
        b"\n" + armoured(CIPHER),
        b"\nSecret:\n-----BEGIN CMS-----\n" + ENVELOPED + b"-----END CMS-----\n",
    ],
    ids=["S/MIME", "OpenPGP", "CMS armour"],
)
def test_what_is_encrypted_is_said(read: Read, body: bytes) -> None:
    document = read(HEAD + body, "mail.eml")
    assert [part.reason for part in document.unread] == [FailReason.ENCRYPTED]


def test_binary_wrappers_are_told_by_their_content(read: Read) -> None:
    assert TEXT.strip() in read(cms(2, NOTE), "letter.p7m").text
    assert TEXT.strip() in read(literal(NOTE), "letter.pgp").text
    for cipher in (CIPHER, b"\xa7" + hashlib.shake_256(b"cipher").digest(400)):
        with pytest.raises(ExtractError) as caught:
            read(cipher, "letter.gpg")
        assert caught.value.reason == FailReason.ENCRYPTED


def test_a_program_with_equals_signs_is_no_quoted_printable(read: Read) -> None:
    source = b"first, second, third =\n    metadata(size = 8192, key=AB, salt=5A)\nthe_second_value =\n" * 4
    assert read(source, "arrow.cc").unread == ()


def test_a_compiled_program_is_no_message_in_a_cipher(read: Read) -> None:
    """Python 3.11 writes the same first byte as old OpenPGP data."""
    source = compile(f"note = {TEXT!r}", "note.py", "exec")
    document = read(b"\xa7\r\r\n" + bytes(12) + marshal.dumps(source), "note.cpython-311.pyc")
    assert "Lena Okafor" in document.text


def test_keys_and_signatures_are_no_text_that_was_lost(read: Read) -> None:
    key = armoured(bytes(range(256)) * 2).replace(b"MESSAGE", b"PUBLIC KEY BLOCK")
    assert not read(HEAD + b"\nMy key:\n" + key, "mail.eml").unread


def test_one_part_of_a_message_in_parts_is_said(read: Read) -> None:
    data = HEAD + b'Content-Type: message/partial; id="a"; number=2; total=3\n\n' + NOTE
    document = read(data, "mail.eml")
    assert "40718823" in document.text
    assert document.unread[0].detail.startswith("part of one message")


def test_flowed_lines_are_joined(read: Read) -> None:
    data = HEAD + b"Content-Type: text/plain; format=flowed; delsp=yes\n\nMRN 407 \n18823\n"
    assert "MRN 40718823" in read(data, "mail.eml").text


@pytest.mark.parametrize("line", [b"From a@b Mon Nov  2 09:00:00 2026\n", b"\1\1\1\1\n"])
def test_mailboxes_of_several_kinds(read: Read, line: bytes) -> None:
    """Without a blank line before From, and MMDF."""
    first, second = (encodings("base64") + based(note) for note in (NOTE, b"Second: Marc Delisle.\n"))
    between = line if line.startswith(b"From") else line * 2
    text = read(line + first + between + second + (b"" if line == between else line), "inbox.mbox").text
    assert "40718823" in text
    assert "Marc Delisle" in text


def test_winmail_gives_properties_and_long_names(read: Read) -> None:
    def text(number: int, value: str) -> bytes:
        data = value.encode("utf-16-le") + b"\0\0"
        return struct.pack("<HHII", 0x1F, number, 1, len(data)) + data + bytes(-len(data) % 4)

    properties = struct.pack("<I", 3) + text(0x0037, "Visit of Léna") + text(0x1000, TEXT)
    properties += struct.pack("<HHIIH", 0x1002, 0x8001, 0, 0, 0)  # damaged
    attachment = struct.pack("<I", 2) + text(0x3704, "VIS~1.TXT") + text(0x3707, "visit of Lena.txt")
    data = tnef(
        (1, 0x00069003, properties),
        (2, 0x00069002, bytes(14)),
        (2, 0x0006800F, b"Second: Marc Delisle"),
        (2, 0x00069005, attachment),
    )
    document = read(data, "winmail.dat")
    assert "Visit of Léna" in document.text
    assert "40718823" in document.text
    assert [part.locator for part in document.segments if "visit" in part.locator] == ["visit of Lena.txt"]


def test_damaged_wrappers_are_said(read: Read) -> None:
    whole = tnef((1, 0x00018004, b"as discussed\0"), (1, 0x0002800C, NOTE))
    document = read(whole[:-30], "winmail.dat")
    assert "Lena Okafor" in document.text
    assert [part.reason for part in document.unread] == [FailReason.CORRUPT]
    cut = read(literal(NOTE)[:60], "a.pgp")
    assert [part.reason for part in cut.unread] == [FailReason.UNSUPPORTED]
