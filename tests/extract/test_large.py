"""Files over the size limit: read where they lie or in windows, and what is left out is said by its range."""

import gzip
import io
import json
import mailbox
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen import canvas

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import identify
from phiscan.model import Document, FailReason, SourceFile
from tests.extract.packages import zipped

Read = Callable[..., Document]

SMALL = Limits(file_bytes=50_000, text_chars=250_000)
FIRST, LAST = "Lena Okafor of ward 7", "Zoe Tremblay of ward 9"
N_LINES = 15_000


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.reading._LOOK_BYTES", 8 * 1024)


def ranges(document: Document) -> list[tuple[int, int]]:
    found = []
    for part in document.unread:
        assert part.reason == FailReason.SAMPLED
        first, last = part.locator.removeprefix("bytes ").split("-")
        found.append((int(first), int(last)))
    return found


def covered(document: Document) -> set[tuple[int, int]]:
    spans = set()
    for segment in document.segments:
        first, last = segment.locator.partition("#")[0].removeprefix("bytes ").split("-")
        spans.add((int(first), int(last)))
    return spans


def assert_all_bytes_are_accounted_for(document: Document, size: int) -> None:
    at = 0
    for first, last in sorted(covered(document) | set(ranges(document))):
        assert first == at
        at = last + 1
    assert at == size


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_long_text_is_read_in_windows_up_to_its_end(read: Read, encoding: str) -> None:
    lines = [f"line {number} of the log, café\n" for number in range(N_LINES)]
    data = "".join([FIRST, "\n", *lines, LAST, "\n"]).encode(encoding)
    document = read(data, "a.log", SMALL)
    assert FIRST in document.text
    assert LAST in document.text
    assert "caf\u00e9" in document.text
    assert "\ufffd" not in document.text
    assert_all_bytes_are_accounted_for(document, len(data))
    assert len(ranges(document)) >= 10


def test_a_long_table_keeps_its_column_names_in_every_window(read: Read) -> None:
    rows = "".join(f"Roy,Ann,{number},Toronto\n" for number in range(N_LINES))
    data = f"Last name,First name,Health card,City\nOkafor,Lena,1,Ajax\n{rows}Tremblay,Zoe,2,Laval\n".encode()
    document = read(data, "a.csv", replace(SMALL, text_chars=1_000_000))
    assert "Last name: Okafor | First name: Lena" in document.text
    assert "Last name: Tremblay | First name: Zoe | Health card: 2 | City: Laval" in document.text
    assert document.text.count("Ann | Health card") > 1000
    assert "Ann,Roy" not in document.text
    assert_all_bytes_are_accounted_for(document, len(data))


def test_long_json_lines_are_read_by_whole_lines(read: Read) -> None:
    lines = [json.dumps({"name": "Ann Roy", "number": number}) for number in range(N_LINES)]
    data = "\n".join([json.dumps({"name": FIRST}), *lines, json.dumps({"name": LAST})]).encode()
    document = read(data, "a.ndjson", SMALL)
    assert f"name: {FIRST}" in document.text
    assert f"name: {LAST}" in document.text
    assert "{" not in document.text


def test_a_long_mailbox_is_read_by_whole_messages(read: Read, tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "box")
    for number in range(1000):
        box.add(f"From: a@example.org\nSubject: {number}\n\nseen {number}\n" + "word " * 100)
    box.flush()
    data = (tmp_path / "box").read_bytes()
    document = read(data, "a.mbox", SMALL)
    assert "seen 0\n" in document.text
    assert "seen 999\n" in document.text
    assert {part.reason for part in document.unread} == {FailReason.SAMPLED}
    assert sum("#body" in segment.locator for segment in document.segments) > 100


def note_and_noise() -> dict[str, bytes]:
    noise = bytes(range(256)) * 500
    return {"first.txt": FIRST.encode(), "noise.mp4": b"\0\0\0\x18ftyp" + noise, "last.txt": LAST.encode()}


def large_tar(mode: str = "w") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in note_and_noise().items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("make", "name"), [(lambda: zipped(note_and_noise()), "a.zip"), (large_tar, "a.tar")]
)
def test_a_large_archive_is_read_where_it_lies(read: Read, make: Callable[[], bytes], name: str) -> None:
    document = read(make(), name, SMALL)
    assert document.locate(document.text.index(FIRST)) == "first.txt"
    assert document.locate(document.text.index(LAST)) == "last.txt"
    assert [part.locator for part in document.unread] == ["noise.mp4"]


def test_a_packed_tar_larger_than_the_limit_is_read_as_it_passes_by(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.extract.archives.compressed._LARGE_BYTES", 1000)
    document = read(gzip.compress(large_tar()), "a.tar.gz", SMALL)
    assert document.locate(document.text.index(LAST)) == "a.tar!/last.txt"
    assert [part.locator for part in document.unread] == ["a.tar!/noise.mp4"]


def test_a_compressed_log_larger_than_the_limit_is_read_up_to_it(read: Read) -> None:
    data = gzip.compress("".join(f"line {number}\n" for number in range(N_LINES)).encode())
    document = read(data, "a.log.gz", SMALL)
    assert "line 100\n" in document.text
    assert document.unread[0].reason == FailReason.TOO_LARGE
    assert "cut at" in document.unread[0].detail


def test_a_large_pdf_is_read_where_it_lies(read: Read) -> None:
    page = canvas.Canvas("", pageCompression=0)
    for number in range(60):
        page.drawString(72, 700, f"page {number} {FIRST}")
        for line in range(30):
            page.drawString(72, 680 - 20 * line, "words " * 10)
        page.showPage()
    data = page.getpdfdata()
    assert len(data) > SMALL.file_bytes
    document = read(data, "a.pdf", SMALL)
    assert document.locate(document.text.index("page 59")) == "#p60"
    assert not document.unread


def test_a_large_file_of_another_kind_is_too_large(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(b"\xff\xd8\xff" + bytes(500_000), "a.jpg", SMALL)
    assert caught.value.reason == FailReason.TOO_LARGE
    assert "image/jpeg" in caught.value.detail


@pytest.mark.parametrize(("name", "limits"), [("a.txt", SMALL), ("a.csv", SMALL), ("a.pdf", Limits())])
def test_a_file_is_identified_as_it_is_read(
    name: str, limits: Limits, read: Read, as_source: Callable[[Path], SourceFile], tmp_path: Path
) -> None:
    document = read(b"name,line\n" * 20_000, name, limits)
    found = identify(as_source(tmp_path / name), limits)
    assert found == (document.content_hash, document.media_type, document.declared_type)
