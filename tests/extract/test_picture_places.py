"""Text in the files of pictures outside of their pixels: chunks, segments, tags, blocks, what follows the end."""

# ruff: noqa: E501 (a case is read best on one line)

import io
import struct
import zipfile
import zlib

import pytest
from PIL import Image, TiffImagePlugin

from phiscan.config import Limits
from phiscan.extract import extract_bytes
from phiscan.extract.ocr.picture_values import picture_values

P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."


def picture(kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (300, 200), 255).save(stream, kind, **options)
    return stream.getvalue()


def png(name: bytes, data: bytes) -> bytes:
    raw = picture("PNG")
    at = raw.index(b"IEND") - 4
    chunk = struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return raw[:at] + chunk + raw[at:]


def exif(tag: int, value: bytes) -> Image.Exif:
    found = Image.Exif()
    found.get_ifd(0x8769)[tag] = value
    return found


def private_tag() -> bytes:
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[65000] = P
    return picture("TIFF", tiffinfo=tags)


def riff_chunk() -> bytes:
    raw = picture("WEBP")
    chunk = b"NOTE" + struct.pack("<I", len(P)) + P.encode() + b"\0" * (len(P) % 2)
    return raw[:4] + struct.pack("<I", len(raw) - 8 + len(chunk)) + raw[8:] + chunk


JPEG, GIF = picture("JPEG"), picture("GIF")
END = GIF.rindex(b"\x3b")
PROFILE = b"Raw profile type iptc\0\0" + zlib.compress(
    b"\niptc\n      66\n" + P.encode().hex().encode() + b"\n"
)
CASES = {
    "private_chunk.png": png(b"prVt", P.encode()),
    "packed_private_chunk.png": png(b"prVt", b"1\0" + zlib.compress(P.encode() * 2)),
    "raw_profile.png": png(b"zTXt", PROFILE),
    "comment_big_endian.jpg": picture("JPEG", exif=exif(0x9286, b"UNICODE\0" + P.encode("utf-16-be"))),
    "maker_note.jpg": picture("JPEG", exif=exif(0x927C, b"\0\1" + P.encode() + b"\0\2")),
    "private_tag.tif": private_tag(),
    "unknown_segment.jpg": JPEG[:2] + b"\xff\xe8" + struct.pack(">H", len(P) + 2) + P.encode() + JPEG[2:],
    "first_of_two_comments.jpg": JPEG[:2]
    + b"\xff\xfe"
    + struct.pack(">H", len(P) + 2)
    + P.encode()
    + b"\xff\xfe\0\x08second"
    + JPEG[2:],
    "text_block.gif": GIF[:END]
    + b"\x21\x01\x0c"
    + bytes(12)
    + bytes([len(P)])
    + P.encode()
    + b"\0"
    + GIF[END:],
    "program_block.gif": GIF[:END]
    + b"\x21\xff\x0bVENDORXX1.0"
    + bytes([len(P)])
    + P.encode()
    + b"\0"
    + GIF[END:],
    "after.gif": GIF + P.encode(),
    "after.bmp": picture("BMP") + P.encode(),
    "after.webp": picture("WEBP") + P.encode(),
    "chunk.webp": riff_chunk(),
}


@pytest.mark.parametrize("name", CASES)
def test_text_outside_of_the_pixels_is_found(name: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:  # of a picture alone, metadata are no text
        archive.writestr("note.txt", "a note")
        archive.writestr(name, CASES[name])
    assert P[:-1] in extract_bytes(stream.getvalue(), "a.zip", Limits(ocr_s=0)).text


def test_marks_of_programs_are_no_text() -> None:
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"):
        assert not list(picture_values(picture(kind)))
    assert not list(picture_values(b"\0Copyright (c) 1998 Hewlett-Packard Company and all of its offices\0"))
