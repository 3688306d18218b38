"""Text in the files of pictures outside of their pixels, in blocks of programs and after the end."""

import io
import struct
import zipfile
import zlib

import pytest
from PIL import Image

from phiscan.config import Limits
from phiscan.extract import extract_bytes
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.ocr.images import read_image
from phiscan.extract.registry import dispatch

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


PROFILE = b"Raw profile type iptc\0\0" + zlib.compress(
    b"\niptc\n      66\n" + P.encode().hex().encode() + b"\n"
)
CASES = {
    "raw_profile.png": png(b"zTXt", PROFILE),
    "after.bmp": picture("BMP") + P.encode(),
    "after.webp": picture("WEBP") + P.encode(),
}


@pytest.mark.parametrize("name", CASES)
def test_text_outside_of_the_pixels_is_found(name: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:  # of a picture alone, metadata are no text
        archive.writestr("note.txt", "a note")
        archive.writestr(name, CASES[name])
    assert P[:-1] in extract_bytes(stream.getvalue(), "a.zip", Limits(ocr_s=0)).text


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_a_picture_without_metadata_has_no_text(kind: str) -> None:
    sink = Sink(Limits(ocr_s=0), dispatch=dispatch)
    read_image(Content(picture(kind), "a"), sink)
    assert not sink.text()
