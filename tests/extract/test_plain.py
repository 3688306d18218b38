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
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (b"", "cp1252"),
        (b"", "utf-16"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (b"", "utf-32-le"),
    ],
)
def test_reads_text_in_every_encoding(read: Read, mark: bytes, encoding: str) -> None:
    document = read(mark + TEXT.encode(encoding), "note.txt")
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
