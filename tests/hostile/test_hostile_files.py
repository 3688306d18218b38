"""Hostile files: each costs one file, ends in its recorded outcome, and takes little time and memory."""

import base64
import gzip
import io
import os
import socket
import stat
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract, extract_bytes
from phiscan.model import FailReason, SourceFile
from tests.extract.packages import zipped
from tests.extract.pdf_bytes import Pdf
from tests.hostile.test_hostile_share import dicom_with_a_gigabyte_element
from tests.waiting import wait_until

SMALL = Limits(member_bytes=32 * 1024**2, member_count=200, depth=4, ratio=100, file_bytes=16 * 1024**2)

# A gzip file that unpacks to itself, for ever. Source of the idea: Cox (2010), Zip Files All The Way Down.
QUINE = base64.b64decode(
    b"H4sICAAAAAAA/2EAABEA7v8fiwgIAAAAAAD/YQAAEQDu/4IJwAUAAAUA+v+CCcAFAAAFAPr/AAUA+v8AFADr/4IJwAUA"
    b"AAUA+v8ABQD6/wAUAOv/QoghxAAAFADr/0KIIcQAABQA6/9CiCHEAAAUAOv/QoghxAAAFADr/0KIIcQAAAAA//8AAAD/"
    b"/wARAO7/QoghxAAAAAD//wAAAP//ABEA7v+DCcAFABpoUlrGAAAAAAAAAIMJwAUAGmhSWsYAAAAAAAAA"
)


def crawled(path: Path) -> SourceFile:
    return SourceFile.of(os.fsencode(path.parent), os.fsencode(path.name), path.lstat())


def reason(data: bytes, name: str, limits: Limits = SMALL) -> str:
    with pytest.raises(ExtractError) as caught:
        extract_bytes(data, name, limits)
    return caught.value.reason


def test_flat_zip_bomb_is_too_large() -> None:
    assert reason(zipped({"bomb.txt": b" " * 64 * 1024**2}), "bomb.zip") == FailReason.TOO_LARGE


def test_nested_zip_bomb_is_too_large_or_too_deep() -> None:
    data = b"0" * 1024**2
    for _ in range(8):
        data = zipped({f"{number}.zip": data for number in range(4)})
    assert reason(data, "nested.zip") in (FailReason.TOO_LARGE, FailReason.NESTED_TOO_DEEP)


def test_the_members_share_one_budget() -> None:
    # Digits that are no document once they are decoded.
    members = {f"{n}.txt": b"".join(b"%04x" % (i * 40503 % 65521) for i in range(2**17)) for n in range(12)}
    document = extract_bytes(zipped(members), "many.zip", replace(SMALL, member_bytes=4 * 1024**2))
    assert len(document.segments) == 8
    assert {part.reason for part in document.unread} == {FailReason.TOO_LARGE}
    assert len(document.unread) == 4


def test_too_many_members_are_too_large() -> None:
    members = {f"{number}.txt": b"word" for number in range(500)}
    document = extract_bytes(zipped(members), "many.zip", SMALL)
    assert len(document.segments) == SMALL.member_count
    assert document.unread[-1].reason == FailReason.TOO_LARGE


def test_gzip_bomb_is_too_large() -> None:
    assert reason(gzip.compress(b"\0" * 64 * 1024**2), "bomb.gz") == FailReason.TOO_LARGE


def test_a_compressed_file_within_itself_stops_at_the_depth() -> None:
    data = b"words"
    for _ in range(20):
        data = gzip.compress(data)
    assert reason(data, "deep.gz") == FailReason.NESTED_TOO_DEEP


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_file_that_unpacks_to_itself_stops_at_the_depth(*, wrapped: bool) -> None:
    assert gzip.decompress(QUINE) == QUINE
    if wrapped:
        document = extract_bytes(zipped({"q.gz": QUINE, "note.txt": b"Ann Roy"}), "q.zip", SMALL)
        assert document.text == "Ann Roy\n"
        assert [part.reason for part in document.unread] == [FailReason.NESTED_TOO_DEEP]
    else:
        assert reason(QUINE, "q.gz") == FailReason.NESTED_TOO_DEEP


def test_an_archive_whose_member_is_the_archive_is_one_outcome() -> None:
    header = struct.Struct("<4s5H3I2H")
    n_bytes = 50 * (header.size + 5) + 51 + 22
    data = b""
    while len(data) < n_bytes - 73:
        behind = n_bytes - len(data) - header.size - 5  # the next header begins the same archive again
        data += header.pack(b"PK\3\4", 20, 0, 0, 0, 0, 0, behind, behind, 5, 0) + b"a.zip"
    size = n_bytes - header.size - 5
    data += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, size, size, 5, *[0] * 6) + b"a.zip"
    data += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 51, len(data) - 51, 0)
    assert zipfile.ZipFile(io.BytesIO(data)).namelist() == ["a.zip"]
    assert reason(data, "a.zip") in (FailReason.CORRUPT, FailReason.NESTED_TOO_DEEP)


def test_a_good_member_beside_a_bomb_is_read() -> None:
    document = extract_bytes(
        zipped({"bomb.txt": b" " * 64 * 1024**2, "note.txt": b"Ann Roy"}), "mixed.zip", SMALL
    )
    assert "Ann Roy" in document.text
    assert [(part.locator, part.reason) for part in document.unread] == [("bomb.txt", FailReason.TOO_LARGE)]


def test_entity_bomb_expands_nothing() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    xml = f'<!DOCTYPE r [<!ENTITY e0 "boom">{entities}]><r a="&e11;"><name>Ann Roy</name><b>&e11;</b></r>'
    started = time.process_time()
    document = extract_bytes(xml.encode(), "bomb.xml", SMALL)
    assert len(document.text) < 100_000
    assert time.process_time() - started < 10


def test_external_entities_are_not_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("TOP-SECRET")
    xml = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]><r><name>Ann</name><b>&x;</b></r>'
    assert "TOP-SECRET" not in extract_bytes(xml.encode(), "xxe.xml", SMALL).text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "deep.json"),
        (b"<a>" * 10_000 + b"Ann" + b"</a>" * 10_000, "deep.xml"),
        (b"<html>" + b"<div>" * 10_000 + b"Ann" + b"</div>" * 10_000, "deep.html"),
        (rb"{\rtf1 " + b"{" * 100_000 + b"Ann" + b"}" * 100_000 + b"}", "deep.rtf"),
        (
            b"From: a@b.ca\nTo: c@d.ca\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
            + b"--b\n" * 5_000,
            "deep.eml",
        ),
    ],
    ids=["json", "xml", "html", "rtf", "eml"],
)
def test_deep_nesting_ends_in_an_outcome(data: bytes, name: str) -> None:
    started = time.process_time()
    try:
        extract_bytes(data, name, SMALL)
    except ExtractError as error:
        assert error.reason in set(FailReason)  # noqa: PT017 (either outcome is fine)
    assert time.process_time() - started < 20


def nested_tables(n_tables: int) -> bytes:
    """Return a Word document with tables within tables, 60 deep, with text at each level."""
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = "<w:p><w:r><w:t>Ann Roy</w:t></w:r></w:p>"
    nested = f"<w:tbl><w:tr><w:tc>{text}" * 60 + text + "</w:tc></w:tr></w:tbl>" * 60
    main = f'<w:document xmlns:w="{w}"><w:body>{nested * n_tables}</w:body></w:document>'
    return zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": main.encode()})


def test_tables_within_tables_take_time_in_proportion() -> None:
    def seconds(n_tables: int) -> float:
        data = nested_tables(n_tables)
        started = time.process_time()
        document = extract_bytes(data, "nested.docx", replace(SMALL, ratio=1_000))
        assert document.text.count("Ann Roy") >= 60 * n_tables
        return time.process_time() - started

    ratios = (seconds(320) / max(seconds(80), 0.05) for _ in range(5))  # linear is 4, quadratic 16
    assert any(ratio < 12 for ratio in ratios)


def test_path_traversal_names_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = extract_bytes(
        zipped({"../../evil.txt": b"Ann Roy", "/etc/evil2.txt": b"Lena"}), "t.zip", SMALL
    )
    assert {segment.locator for segment in document.segments} == {"../../evil.txt", "/etc/evil2.txt"}
    assert list(tmp_path.iterdir()) == []


def test_links_and_devices_in_a_tar_are_not_followed() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
        good = tarfile.TarInfo("note.txt")
        good.size = 7
        archive.addfile(good, io.BytesIO(b"Ann Roy"))
    document = extract_bytes(stream.getvalue(), "t.tar", SMALL)
    # Their names and targets are text; nothing at the target is read.
    assert document.text.split() == ["link", "/etc/passwd", "device", "Ann", "Roy"]


def test_pdf_with_a_loop_of_pages_ends() -> None:
    pdf = Pdf()
    pdf.set(2, "<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2>>")
    data = pdf.data()
    started = time.process_time()
    try:
        extract_bytes(data, "loop.pdf", SMALL)
    except ExtractError as error:
        assert error.reason in set(FailReason)  # noqa: PT017 (either outcome is fine)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "name", ["a.pdf", "a.docx", "a.xlsx", "a.msg", "a.doc", "a.png", "a.rtf", "a.zip", "a.ods"]
)
@pytest.mark.parametrize(
    "magic",
    [
        b"%PDF-1.7\n",
        b"PK\x03\x04",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"\x89PNG\r\n\x1a\n",
        b"{\\rtf1",
        b"\x1f\x8b\x08",
        b"II*\0",
        b"7z\xbc\xaf\x27\x1c",
        b"\xffWPC",
    ],
)
def test_random_bytes_behind_a_magic_never_raise_anything_else(name: str, magic: bytes) -> None:
    noise = bytes((index * 7919 + len(name)) % 256 for index in range(3000))
    try:
        extract_bytes(magic + noise, name, SMALL)
    except ExtractError as error:
        assert error.reason in set(FailReason)  # noqa: PT017 (either outcome is fine)


def test_no_exception_quotes_the_document() -> None:
    canary = b"CANARY-4242-Okafor"
    for name, data in {
        "a.json": b'{"x": ' + canary,
        "a.zip": b"PK\x03\x04" + canary * 100,
        "a.pdf": b"%PDF-1.4 " + canary * 100,
        "a.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + canary * 100,
        "a.dcm": dicom_with_a_gigabyte_element() + canary,
        "a.png": b"\x89PNG\r\n\x1a\n" + canary * 10,
    }.items():
        try:
            document = extract_bytes(data, name, SMALL)
        except ExtractError as error:
            assert "CANARY" not in f"{error!r}{error}"  # noqa: PT017 (not every case raises)
            assert error.__cause__ is None  # noqa: PT017 (not every case raises)
        else:
            assert "CANARY" not in repr(document)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def _rewrite(path: Path) -> None:
    """Write other content under the old time, once the kernel's clock has ticked."""
    before, probe = path.stat(), path.with_name("probe")

    def written() -> int:
        probe.write_text("now")
        return probe.stat().st_ctime_ns

    wait_until(lambda: written() > before.st_ctime_ns, "the kernel's clock has ticked")
    path.write_text("WORDS")
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))


def _link(path: Path) -> None:
    path.rename(path.with_name("b.txt"))
    path.symlink_to("b.txt")


CHANGES = {"gone": Path.unlink, "grown": lambda path: path.write_text("more words"), "rewritten": _rewrite}


@pytest.mark.parametrize("change", [*CHANGES.values(), _link], ids=[*CHANGES, "a link"])
def test_a_file_that_is_not_the_crawled_one_is_changed(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    source = crawled(path)
    change(path)
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        extract(source, SMALL)


@pytest.mark.parametrize("make", [os.mkfifo, _socket, "/dev/zero", "/dev/full"])
def test_what_is_no_file_is_not_opened_for_ever(tmp_path: Path, make: Callable[[Path], object] | str) -> None:
    path = tmp_path / "s" if callable(make) else Path(make)
    if callable(make):
        make(path)
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        extract(crawled(path), SMALL)


def test_a_sparse_terabyte_is_too_large_at_once(tmp_path: Path) -> None:
    path = tmp_path / "sparse.txt"
    with path.open("wb") as stream:
        stream.truncate(1024**4)
    with pytest.raises(ExtractError, match=FailReason.TOO_LARGE):
        extract(crawled(path), SMALL)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    path.chmod(0)
    with pytest.raises(ExtractError, match=FailReason.NO_PERMISSION):
        extract(crawled(path), SMALL)


def test_names_that_are_not_utf8_and_long_names_are_read(tmp_path: Path) -> None:
    for name in (b"\xff\xfe patient.txt", b"n" * 251 + b".txt"):
        raw = os.fsencode(tmp_path) + b"/" + name
        descriptor = os.open(raw, os.O_CREAT | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR)
        os.write(descriptor, b"Ann Roy")
        os.close(descriptor)
        source = SourceFile.of(os.fsencode(tmp_path), name, os.lstat(raw))
        assert extract(source, SMALL).text == "Ann Roy\n"


def test_xml_over_the_parsers_limits_is_read_as_text() -> None:
    data = b"<a>" * 1000 + b"Ann Roy" + b"</a>" * 1000
    assert "Ann Roy" in extract_bytes(data, "deep.xml", SMALL).text


def test_a_huge_text_is_cut_before_it_is_decoded() -> None:
    document = extract_bytes(b"word " * 100_000, "a.txt", replace(SMALL, text_chars=1000))
    assert len(document.text) <= 1000
    assert document.unread[0].reason == FailReason.TOO_LARGE
