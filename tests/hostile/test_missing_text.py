"""The search of hostile bytes for missing text ends in time in proportion to the bytes, or to a bound."""

import io
import random
import zipfile
import zlib

import pytest

from phiscan.config import Limits
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.missing_text import add_missing
from phiscan.extract.registry import dispatch

N = 100_000
# Beginnings of what a search looks for, without an end.
REPEATED = (
    b'="%20',
    b"='a b ",
    b'="a_b_c ',
    b">a%20",
    b"<style>",
    b"<![CDATA[",
    b'"\\"',
    b"{\\fonttbl",
    b"{\\rtf{\\*",
    b"\\'4",
    b"\\u12 ",
    b"=?utf-8?B?",
    b"name*0*=a;",
    b"\n\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
    b"<</Type /EmbeddedFile>>stream\n",
    b"<</Length 3>>stream\n(",
    b"BT (a) Tj ",
    b"<4c656e61",
    b"x" * 40 + b"\0",
    "aé".encode("latin-1"),
    b"a\x82",
    b" \t \t",
    b"From a b ",
)
KINDS = {
    "a.txt": "text/plain",
    "a.eml": "message/rfc822",
    "a.html": "text/html",
    "a.json": "application/json",
    "a.rtf": "application/rtf",
    "a.pdf": "application/pdf",
    "a.doc": "application/msword",
    "a.png": "image/png",
}


def listed(data: bytes, name: str, media_type: str) -> int:
    sink = Sink(Limits(), dispatch=dispatch)
    add_missing(Content(data, name), media_type, sink, (0, 0))
    return len(sink.unread)


@pytest.mark.parametrize("name", KINDS)
def test_beginnings_without_an_end_are_searched_to_the_end(name: str) -> None:
    for mark in REPEATED:
        assert listed(mark * (N // len(mark)), name, KINDS[name]) < 100


def package(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_beginnings_without_an_end_in_a_package() -> None:
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    for mark in REPEATED:
        data = package({"word/document.xml": mark * (N // len(mark)), "word/x.bin": mark * 99})
        assert listed(data, "a.docx", word) < 100


def test_streams_in_chunks_of_a_picture_are_unpacked_in_bounds() -> None:
    bomb = zlib.compress(b"41" * 600_000)
    chunk = len(bomb).to_bytes(4, "big") + b"prVt" + bomb + bytes(4)
    assert listed(b"\x89PNG\r\n\x1a\n" + chunk * 70, "a.png", "image/png") < 100


@pytest.mark.parametrize("name", KINDS)
def test_mixed_bytes_give_no_error(name: str) -> None:
    chance = random.Random(name)
    data = b"".join(
        chance.choice(REPEATED) * chance.randint(1, 9) + chance.randbytes(9) for _ in range(2_000)
    )
    assert listed(data, name, KINDS[name]) < 1_000
