import codecs
from collections.abc import Callable

import pytest
from blake3 import blake3

from phiscan.config import Limits
from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]

TEXT = "Patiente: Zoé Tremblay-Côté, née à Québec, 12 février\nTéléphone: 418-555-0100\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("cp1252"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
        TEXT.encode("utf-32-le"),
    ],
    ids=[
        "utf8",
        "utf8-mark",
        "cp1252",
        "utf16-mark",
        "utf16le",
        "utf16be",
        "utf16be-mark",
        "utf32-mark",
        "utf32le",
    ],
)
def test_reads_text_in_every_encoding(read: Read, data: bytes) -> None:
    document = read(data, "note.txt")
    assert document.text.replace("\ufeff", "").strip() == TEXT.strip()
    assert document.media_type == "text/plain"


def test_keeps_utf8_that_is_cut_within_a_character(read: Read) -> None:
    assert read("Montréal é".encode()[:-1], "note.txt").text.startswith("Montréal")


def test_locates_every_segment_in_the_text(read: Read) -> None:
    document = read(b"a;b;c\n1;2;3\n4;5;6\n7;8;9\n", "t.csv")
    assert document.locate(0) == document.segments[0].locator
    for segment in document.segments:
        assert document.text[segment.start : segment.end].strip()
        assert document.locate(segment.start) == segment.locator


def test_the_locator_of_a_plain_file_is_empty(read: Read) -> None:
    assert read(b"just a line", "a.txt").segments[0].locator == ""


def test_cuts_text_over_the_limit_and_says_so(read: Read) -> None:
    document = read(b"x" * 1000, "a.txt", Limits(text_chars=100))
    assert len(document.text) <= 100
    assert [part.reason for part in document.unread] == [FailReason.TOO_LARGE]


def test_hashes_the_content(read: Read) -> None:
    assert read(b"content", "a.txt").content_hash == blake3(b"content").hexdigest()


def test_records_a_name_that_promises_something_else(read: Read) -> None:
    document = read(zipped({"note.txt": "hidden"}), "holiday.jpg")
    assert document.media_type == "application/zip"
    assert document.declared_type == "image/jpeg"
    assert "hidden" in document.text
