"""A share full of hostile files: each ends in its recorded outcome, within its memory, and the scan ends."""

import io
import os
import resource
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import docx
import py7zr
import pycdlib
import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from phiscan.config import Limits
from phiscan.crawl import crawl
from phiscan.errors import ExtractError
from phiscan.extract import extract
from phiscan.extract.archives import libarchive
from phiscan.model import FailReason, SkipReason, SourceFile
from phiscan.sandbox.answers import Fault
from tests.crawl.fetched import NOTHING
from tests.extract.packages import zipped
from tests.extract.pdf_bytes import Pdf
from tests.handed_over import handed_over
from tests.pipeline.harness import Tool, write_share

MIB = 1024**2
MEMORY = 1024 * MIB
LIMITS = Limits(memory_bytes=MEMORY, file_bytes=64 * MIB, member_bytes=128 * MIB, time_s=30, ocr_s=5)
NOTE = b"Lena Okafor, health card 1234-567-897\n"
# What may become of a bomb: any of these is an outcome; none is silence.
REFUSED = {FailReason.TOO_LARGE, FailReason.OUT_OF_MEMORY, FailReason.CORRUPT, FailReason.TIMED_OUT}


def png_bomb() -> bytes:
    """Return a picture that says it has 60,000 x 60,000 pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(7501) * 500)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def pdf_with_a_gigabyte_stream() -> bytes:
    engine = zlib.compressobj(1)
    packed = b"".join(engine.compress(b" " * MIB) for _ in range(1024)) + engine.flush()
    pdf = Pdf()
    pdf.stream(packed, "/Filter/FlateDecode", number=4)
    return pdf.data()


def seven_zip_bomb() -> bytes:
    stream = io.BytesIO()
    with py7zr.SevenZipFile(stream, "w", filters=[{"id": py7zr.FILTER_LZMA2, "preset": 0}]) as archive:
        archive.writef(io.BytesIO(bytes(150 * MIB)), "bomb.txt")
    return stream.getvalue()


def looping_disc() -> bytes:
    """Return a disc image in which a folder lies within itself."""
    image = pycdlib.PyCdlib()
    image.new()
    image.add_directory("/LOOP")
    stream = io.BytesIO()
    image.write_fp(stream)
    image.close()
    data = bytearray(stream.getvalue())
    entry = data.index(b"LOOP") - 33
    folder = struct.unpack_from("<I", data, entry + 2)[0] * 2048
    record = bytes(data[entry : entry + data[entry]])
    at = folder + data[folder] + data[folder + data[folder]]
    data[at : at + len(record)] = record
    return bytes(data)


def dicom_with_a_gigabyte_element() -> bytes:
    syntax = b"1.2.840.10008.1.2.1\0"
    meta = struct.pack("<HH2sH", 2, 0x10, b"UI", len(syntax)) + syntax
    length = struct.pack("<HH2sHI", 2, 0, b"UL", 4, len(meta))
    name = struct.pack("<HH2sH", 0x10, 0x10, b"PN", 12) + b"Okafor^Lena "
    huge = struct.pack("<HH2sHI", 0x10, 0x4000, b"UT", 0, 2**30) + b"cut here"
    return bytes(128) + b"DICM" + length + meta + name + huge


def locked_word_file() -> bytes:
    plain, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(plain)
    OOXMLFile(plain).encrypt("rosebud", out)
    return out.getvalue()


BOMBS: dict[str, tuple[Callable[[], bytes], set[FailReason]]] = {
    "bomb.png": (png_bomb, {FailReason.TOO_LARGE}),
    "bomb.pdf": (pdf_with_a_gigabyte_stream, REFUSED | {FailReason.CRASHED}),
    "bomb.7z": (seven_zip_bomb, {FailReason.TOO_LARGE}),
    "bomb.zip": (lambda: zipped({"bomb.txt": bytes(150 * MIB)}), {FailReason.TOO_LARGE}),
    "loop.iso": (looping_disc, REFUSED),
    "huge.dcm": (dicom_with_a_gigabyte_element, REFUSED),
    "locked.docx": (locked_word_file, {FailReason.ENCRYPTED}),
    "junk.rar": (lambda: b"Rar!\x1a\x07\x01\x00" + bytes(range(256)) * 40, {FailReason.CORRUPT}),
    "junk.7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(range(256)) * 40, {FailReason.CORRUPT}),
    "junk.cab": (lambda: b"MSCF\0\0\0\0" + bytes(range(256)) * 40, {FailReason.CORRUPT}),
    "junk.iso": (lambda: bytes(0x8001) + b"CD001" + bytes(range(256)) * 40, {FailReason.CORRUPT}),
    "junk.emf": (lambda: bytes(40) + b" EMF" + bytes(range(256)) * 40, {FailReason.CORRUPT}),
}


def measured(source: SourceFile) -> tuple[list[str], str, int]:
    """Return the reasons of what could not be read, the text, and the most memory this process ever had."""
    try:
        document = extract(source, LIMITS)
    except ExtractError as error:
        reasons, text = [error.reason], ""
    else:
        reasons, text = [part.reason for part in document.unread], document.text
    return reasons, text, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.slow
def test_each_hostile_file_costs_itself_and_no_more_memory_than_allowed(tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    for name, (make, _) in BOMBS.items():
        (share / name).write_bytes(make())
        (share / f"note {name}.txt").write_bytes(NOTE)
    os.mkfifo(share / "pipe")
    (share / "loop").symlink_to(share)
    with (share / "sparse.bin").open("wb") as stream:
        stream.truncate(1024**4)
    with (share / "sparse.txt").open("wb") as stream:
        stream.write(NOTE * 5000)
        stream.truncate(1024**4)
    found = list(crawl([os.fsencode(share)], NOTHING))
    skipped = {entry.source.display: entry.skip for entry in found if entry.skip}
    assert skipped == {"pipe": SkipReason.NOT_REGULAR, "loop": SkipReason.SYMLINK}
    sources = [entry.source for entry in found if not entry.skip]
    with handed_over(1, LIMITS, sources) as sandbox:
        outcomes = {source.display: answer for source, answer in sandbox.run(measured, sources)}
        folder = sandbox._folder
        assert folder is not None
        assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert len(outcomes) == len(sources)
    for name, (_, expected_here) in BOMBS.items():
        expected = expected_here
        answer = outcomes[name]
        reasons = {answer.reason} if isinstance(answer, Fault) else {FailReason(r) for r in answer[0]}
        if name.endswith((".rar", ".cab")) and libarchive.library() is None:
            expected = {FailReason.UNSUPPORTED}
        if name in ("junk.emf", "loop.iso"):  # what is no record, or was seen already, is passed over
            assert isinstance(answer, tuple), name
            continue
        assert reasons, name
        assert reasons <= expected, (name, reasons)
        assert outcomes[f"note {name}.txt"][1].strip() == NOTE.decode().strip()
    assert set(outcomes["sparse.bin"][0]) == {FailReason.TOO_LARGE}
    assert "Lena Okafor" in outcomes["sparse.txt"][1]
    assert set(outcomes["sparse.txt"][0]) == {FailReason.SAMPLED}
    peak = max(answer[2] for answer in outcomes.values() if isinstance(answer, tuple))
    assert peak < MEMORY + 512 * MIB  # what the process had when the limit was set comes on top


def test_folders_beyond_the_depth_of_recursion_and_names_of_255_are_crawled_and_read(tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    folder = os.open(share, os.O_RDONLY)
    try:
        for number in range(1_200):  # the paths are longer than the kernel takes, too
            name = b"d" * (250 if number < 5 else 4) + b"\xff"
            os.mkdir(name, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(b"n" * 251 + b".txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
        os.write(file, NOTE)
        os.close(file)
    finally:
        os.close(folder)
    (source,) = [entry.source for entry in crawl([os.fsencode(share)], NOTHING)]
    assert len(source.absolute) > 5000
    assert "Lena Okafor" in extract(source, LIMITS).text
    subprocess.run(["rm", "-rf", str(share)], check=True)  # shutil cannot


@pytest.mark.slow
def test_a_full_disk_stops_the_scan_and_says_so(tmp_path: Path) -> None:
    tool = Tool(tmp_path / "home")
    share = write_share(tmp_path / "share", 400)
    assert tool.run("init", str(tmp_path / "home")).returncode == 0
    size = tool.database.stat().st_size
    done = subprocess.run(
        tool.command("scan", share),
        env=tool.environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size + 64 * 1024, size + 64 * 1024)),
    )
    assert done.returncode not in (0, 1, 3)
    assert "Traceback" not in done.stderr
    assert "phiscan.db" in done.stderr or "database" in done.stderr
    assert "Okafor" not in done.stderr
