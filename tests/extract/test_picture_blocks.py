"""Metadata of pictures: every block of every kind, in every encoding, and pictures beside the pixels."""

# ruff: noqa: E501 (a case is read best on one line)

import io
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from phiscan.config import Limits
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr.images import metadata_text, on_white, read_image, tags
from phiscan.extract.ocr.picture_values import blocks, comment_text, read_codes
from phiscan.extract.registry import dispatch
from phiscan.model import Document
from tests.extract.packages import saved, zipped

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
PB = P.encode()
XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description xmlns:dc='d'><dc:description>{P}</dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"
NO_XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"


def picture(kind: str, **options: object) -> bytes:
    return saved(Image.new("RGB", (300, 200), "white"), kind, **options)


PNG, JPEG = picture("PNG"), picture("JPEG")


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return PNG[:33] + body + PNG[33:]


def segment(marker: int, data: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg(*segments: bytes) -> bytes:
    return JPEG[:2] + b"".join(segments) + JPEG[2:]


def exif(tag: int, value: bytes, directory: int = 0x8769) -> bytes:
    found = Image.Exif()
    (found.get_ifd(directory) if directory else found)[tag] = value
    return picture("JPEG", exif=found)


def iptc(number: int, value: bytes) -> bytes:
    data = b"\x1c\x02" + bytes([number]) + struct.pack(">H", len(value)) + value
    return jpeg(segment(0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(data)) + data))


def tag(number: int, value: object, kind: int = 2) -> bytes:
    found = TiffImagePlugin.ImageFileDirectory_v2()
    found.tagtype[number] = kind
    found[number] = value
    return picture("TIFF", tiffinfo=found)


def more_xmp() -> bytes:
    head = b"http://ns.adobe.com/xmp/extension/\0" + b"A" * 32 + struct.pack(">I", len(XMP))
    at_each = range(0, len(XMP), 150)
    pieces = [segment(0xE1, head + struct.pack(">I", at) + XMP[at : at + 150].encode()) for at in at_each]
    return jpeg(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + NO_XMP), *reversed(pieces))


FRENCH = "Hélène Côté"
PROFILE = b"Raw profile type iptc\0\0" + zlib.compress(b"\niptc\n 66\n" + PB.hex().encode() + b"\n")
SECOND = b"Comment\0\0" + zlib.compress(b"second")
CASES = {
    "two zTXt of one name": png((b"zTXt", b"Comment\0\0" + zlib.compress(PB)), (b"zTXt", SECOND)),
    "two iTXt of one name": png(
        (b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(PB)), (b"iTXt", b"Comment\0\0\0\0\0second")
    ),
    "first of two short comments": png((b"tEXt", b"Comment\0Lena Okafor"), (b"tEXt", b"Comment\0second")),
    "UTF-16 in tEXt": png((b"tEXt", b"Comment\0" + P.encode("utf-16"))),
    "raw profile": png((b"zTXt", PROFILE)),
    "short private chunk": png((b"prVt", b"Lena Okafor 1951-03-14")),
    "compressed XMP": png((b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(XMP.encode()))),
    "first of two JPEG comments": jpeg(segment(0xFE, b"Lena Okafor"), segment(0xFE, b"second")),
    "JPEG comment in Latin-1": jpeg(segment(0xFE, FRENCH.encode("latin-1"))),
    "segment of a program": jpeg(segment(0xEF, PB)),
    "extended XMP": more_xmp(),
    "XMP in UTF-16": jpeg(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP.encode("utf-16"))),
    "IPTC in Latin-1": iptc(120, FRENCH.encode("latin-1")),
    "IPTC without a label": iptc(230, b"Lena Okafor"),
    "GPS area": exif(0x1C, b"ASCII\0\0\0Ward Seven", 0x8825),
    "maker note": exif(0x927C, b"\0\1Lena Okafor 40718823\0\2"),
    "EXIF tag without a label": exif(0xA999, b"Lena Okafor\0"),
    "description in UTF-8": exif(0x010E, FRENCH.encode(), 0),
    "short TIFF tag": tag(65000, "Lena Okafor"),
    "UTF-16 in a TIFF tag": tag(65001, P.encode("utf-16-le"), 7),
}
# What is more, or something else, than a name.
WANTED = {
    "JPEG comment in Latin-1": FRENCH,
    "extended XMP": P,
    "IPTC in Latin-1": f"Caption: {FRENCH}",
    "GPS area": "GPS area: Ward Seven",
    "description in UTF-8": f"Description: {FRENCH}",
}


@pytest.mark.parametrize("name", CASES)
def test_a_block_of_metadata_is_read(name: str) -> None:
    data = CASES[name]
    assert WANTED.get(name, "Lena Okafor") in metadata_text(Image.open(io.BytesIO(data)), data)


@pytest.mark.parametrize("kind", ["BMP", "WEBP", "JPEG", "PNG"])
def test_what_follows_a_picture_is_read(read_bytes: Read, kind: str) -> None:
    limits = Limits(ocr_s=0)
    for after in (PB, zipped({"a.txt": P})):
        # Beside a note: of a picture alone, metadata are no text.
        data = zipped({"note.txt": "a note", "a.bin": picture(kind) + after})
        assert P[:-1] in read_bytes(data, "a.zip", limits).text
    rest = b"\x01\x02\x00\x9f" + PB + b"\x00\x01\x02\x81\x8d" * 9  # no file
    document = read_bytes(zipped({"note.txt": "a note", "a.bin": picture(kind) + rest}), "a.zip", limits)
    assert P in document.text
    assert "after the picture are not read" in document.unread[0].detail


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_a_picture_without_metadata_has_no_text(kind: str) -> None:
    sink = Sink(Limits(ocr_s=0), dispatch=dispatch)
    read_image(Content(picture(kind), "a"), sink)
    assert not sink.text()


@pytest.mark.parametrize("kind", ["AVIF", "JPEG2000", "PPM", "PCX", "QOI", "SGI", "DDS", "TGA"])
def test_rarer_formats_are_pictures(read_bytes: Read, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(
        "phiscan.extract.ocr.images.read_picture", lambda _render, place, sink, **_: sink.add("seen", place)
    )
    options = {"xmp": XMP.encode()} if kind == "AVIF" else {}
    document = read_bytes(picture(kind, **options), "a.bin")
    assert document.media_type.startswith("image/")
    assert "seen" in document.text
    assert (P in document.text) == bool(options)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"ASCII\0\0\0bed 12", "bed 12"),
        (b"UNICODE\0" + "Hélène".encode("utf-16-le"), "Hélène"),
        (b"UNICODE\0" + "Hélène".encode("utf-16-be"), "Hélène"),
        (b"UNICODE\0" + "Hélène".encode("utf-16"), "Hélène"),
        (b"UNICODE\0" + "Patiente Hélène".encode(), "Patiente Hélène"),
        (b"Unicode\0" + "Okafor".encode("utf-16-le"), "Okafor"),
        (b"UNICODE\0" + "山田太郎".encode("utf-16-be"), "山田太郎"),
        (b"JIS\0\0\0\0\0" + "山田太郎".encode("iso2022_jp"), "山田太郎"),
        (bytes(8) + "Okafor".encode("utf-16-le"), "Okafor"),
        (b"Lena Okafor, ward 7", "Lena Okafor, ward 7"),
        (b"UNICODE\0", ""),
        (b"", ""),
    ],
)
def test_an_exif_comment_is_read_in_any_encoding(raw: bytes, text: str) -> None:
    assert comment_text(raw) == text


def test_what_follows_the_first_picture_is_read_or_listed(
    read_bytes: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "phiscan.extract.ocr.images.read_picture", lambda _render, place, sink, **_: sink.add("seen", place)
    )
    assert "appended" in [
        part.locator
        for part in read_bytes(JPEG + picture("JPEG", quality=30, comment=b"two"), "a.jpg").segments
        if "#" not in part.locator
    ]
    film = read_bytes(JPEG + b"\0\0\0\x18ftypmp42" + bytes(range(128, 256)), "a.jpg")
    assert "not read" in film.unread[0].detail


def test_hostile_blocks_end() -> None:
    directory = b"II*\0\x08\0\0\0" + struct.pack("<HHHIII", 1, 0x014A, 4, 1, 8, 8)
    assert not list(tags(directory))
    many = (
        b"II*\0\x08\0\0\0" + struct.pack("<H", 0xFFFF) + struct.pack("<HHII", 0x014A, 4, 0xFFFFFFFF, 8) * 5000
    )
    bomb = png(*[(b"prVt", zlib.compress(bytes(3_000_000)))] * 20)
    assert not list(tags(many))
    for data in (
        bomb,
        JPEG[:40],
        b"\xff\xd8" + b"\xff" * 100_000,
        b"GIF89a" + b"\xff" * 100_000,
    ):
        assert len(list(blocks(data))) <= 20_000
        assert len(metadata_text(None, data)) < 100_000


def code(kind: str, text: str | bytes, *, page: bool = False) -> Image.Image:
    zxingcpp = pytest.importorskip("zxingcpp")
    made = zxingcpp.create_barcode(text, getattr(zxingcpp.BarcodeFormat, kind))
    drawn = Image.fromarray(np.asarray(made.to_image(scale=3)))
    size = (2480, 3508) if page else (drawn.width + 60, drawn.height + 60)
    image = Image.new("L", size, 255)
    image.paste(drawn, (30, 30))
    return image


@pytest.mark.parametrize(
    ("image", "text"),
    [
        (code("DataMatrix", P, page=True), P),
        (code("QRCode", P.encode("utf-16")), P),
        (code("QRCode", "https://x.example/?name=Lena%20Okafor"), "name=Lena Okafor"),
    ],
)
def test_a_code_is_read(image: Image.Image, text: str) -> None:
    sink = Sink(Limits())
    read_codes(image, "#p1", sink)
    assert text in sink.text()


@pytest.mark.parametrize("mode", ["hidden", "one brightness", "pale"])
def test_letters_that_grey_does_not_show_are_seen(mode: str) -> None:
    image = Image.new("RGB", (80, 40), (255, 0, 0) if mode == "one brightness" else (255, 255, 255))
    ink = {"hidden": (0, 0, 0), "one brightness": (0, 130, 0), "pale": (240, 240, 240)}[mode]
    image.paste(ink, (20, 10, 60, 30))
    if mode == "hidden":
        image.putalpha(0)
    low, high = on_white(image).getextrema()
    assert high - low > 100
