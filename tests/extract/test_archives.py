"""ZIP, TAR, 7-Zip, RAR and the other archives of libarchive, disc images, compressed files."""

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import lz4.frame
import py7zr
import pycdlib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.archives.compressed import zstandard
from phiscan.extract.reading import extract_bytes
from phiscan.model import Document, FailReason

Read = Callable[..., Document]

needs_libarchive = pytest.mark.skipif(
    libarchive.library() is None and "CI" not in os.environ, reason="libarchive is not installed"
)
NOTE = b"Lena Okafor, health card 1234-567-897"


def seven_zip(members: dict[str, bytes], password: str | None = None, *, hide_names: bool = False) -> bytes:
    stream = io.BytesIO()
    with py7zr.SevenZipFile(stream, "w", password=password, header_encryption=hide_names) as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return stream.getvalue()


def rar(members: dict[str, bytes], *, encrypted: bool = False) -> bytes:
    """Return a RAR 4 archive whose members are stored as they are."""

    def block(kind: int, flags: int, body: bytes) -> bytes:
        head = struct.pack("<BHH", kind, flags, 7 + len(body)) + body
        return struct.pack("<H", zlib.crc32(head) & 0xFFFF) + head

    data = b"Rar!\x1a\x07\x00" + block(0x73, 0, bytes(6))
    for name, content in members.items():
        raw = name.encode()
        fields = struct.pack(
            "<IIBIIBBHI", len(content), len(content), 3, zlib.crc32(content), 0, 20, 0x30, len(raw), 0o100644
        )
        data += block(0x74, 0x8000 | (4 if encrypted else 0), fields + raw) + content
    return data + block(0x7B, 0x4000, b"")


def cabinet(members: dict[str, bytes]) -> bytes:
    """Return a CAB file with one folder, nothing compressed."""
    joined = b"".join(members.values())
    entries, at = b"", 0
    for name, content in members.items():
        entries += struct.pack("<IIHHHH", len(content), at, 0, 0, 0, 0x20) + name.encode() + b"\0"
        at += len(content)
    n_head, n_folder = 36, 8
    data_at = n_head + n_folder + len(entries)
    block = struct.pack("<IHH", 0, len(joined), len(joined)) + joined
    size = data_at + len(block)
    head = b"MSCF" + struct.pack(
        "<IIIIIBBHHHHH", 0, size, 0, n_head + n_folder, 0, 3, 1, 1, len(members), 0, 1, 0
    )
    return head + struct.pack("<IHH", data_at, 1, 0) + entries + block


def packed(kind: str, coding: str | None = None, **options: str) -> Callable[[dict[str, bytes]], bytes]:
    """Return what makes an archive of a kind that libarchive writes."""

    def made(members: dict[str, bytes]) -> bytes:
        import libarchive as writer  # noqa: PLC0415 (fails where the library is not installed)

        stream = io.BytesIO()
        with writer.custom_writer(stream.write, kind, coding, **options) as archive:
            for name, data in members.items():
                archive.add_file_from_memory(name, len(data), data)
        return stream.getvalue()

    return made


def lha(members: dict[str, bytes]) -> bytes:
    data = b""
    for name, content in members.items():
        raw = name.encode()
        fields = b"-lh0-" + struct.pack("<IIIBBB", len(content), len(content), 0, 0x20, 0, len(raw)) + raw
        fields += struct.pack("<H", crc16(content))
        data += bytes([len(fields), sum(fields) & 0xFF]) + fields + content
    return data + b"\0"


def crc16(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


def disc(*, joliet: bool = True) -> bytes:
    image = pycdlib.PyCdlib()
    image.new(joliet=3 if joliet else None)
    more = {"joliet_path": "/patients of ward 7"} if joliet else {}
    image.add_directory("/WARD", **more)
    more = {"joliet_path": "/patients of ward 7/Lena's note.txt"} if joliet else {}
    image.add_fp(io.BytesIO(NOTE), len(NOTE), "/WARD/NOTE.TXT;1", **more)
    stream = io.BytesIO()
    image.write_fp(stream)
    image.close()
    return stream.getvalue()


TWO = {"ward/note.txt": NOTE, "b.txt": b"Bo Li"}


def test_the_members_of_a_7z_are_read(read: Read) -> None:
    document = read(seven_zip(TWO), "a.7z")
    assert document.locate(document.text.index("Lena")) == "ward/note.txt"
    assert document.locate(document.text.index("Bo Li")) == "b.txt"
    assert document.media_type == "application/x-7z-compressed"
    assert not document.unread


@pytest.mark.parametrize("hide_names", [False, True])
def test_an_encrypted_7z_opens_with_a_password_or_is_encrypted(read: Read, *, hide_names: bool) -> None:
    data = seven_zip(TWO, "secret", hide_names=hide_names)
    for passwords in ((), ("wrong",)):
        with pytest.raises(ExtractError) as caught:
            read(data, "a.7z", None, passwords)
        assert caught.value.reason == FailReason.ENCRYPTED
    assert "Lena Okafor" in read(data, "a.7z", None, ("wrong", "secret")).text


def test_a_member_of_a_7z_over_the_limit_costs_no_other(read: Read) -> None:
    data = seven_zip({"bomb.txt": bytes(4 * 1024**2), "note.txt": NOTE})
    document = read(data, "a.7z", Limits(ratio=10))
    assert "Lena Okafor" in document.text
    assert [(part.locator, part.reason) for part in document.unread] == [("bomb.txt", FailReason.TOO_LARGE)]


def test_a_cut_7z_is_corrupt(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(seven_zip(TWO)[:-10], "a.7z")
    assert caught.value.reason == FailReason.CORRUPT


@needs_libarchive
@pytest.mark.parametrize("make", [rar, cabinet, packed("ar_svr4"), packed("cpio_newc"), lha])
def test_the_members_of_other_archives_are_read(
    read: Read, make: Callable[[dict[str, bytes]], bytes]
) -> None:
    members = {"note.txt": NOTE, "b.txt": b"Bo Li"}
    document = read(make(members), "a.bin")
    assert document.locate(document.text.index("Lena")) == "note.txt"
    assert document.locate(document.text.index("Bo Li")) == "b.txt"
    assert not document.unread


@needs_libarchive
def test_an_encrypted_rar_is_encrypted(read: Read) -> None:
    with pytest.raises(ExtractError) as caught:
        read(rar({"note.txt": NOTE}, encrypted=True), "a.rar")
    assert caught.value.reason == FailReason.ENCRYPTED


@needs_libarchive
def test_a_cut_rar_gives_its_whole_members(read: Read) -> None:
    document = read(rar({"note.txt": NOTE, "b.txt": NOTE * 30})[:-500], "a.rar")
    assert document.locate(document.text.index("Lena")) == "note.txt"
    assert {part.reason for part in document.unread} == {FailReason.CORRUPT}


def test_without_libarchive_a_rar_is_unsupported(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libarchive, "library", lambda: None)
    with pytest.raises(ExtractError) as caught:
        read(rar({"note.txt": NOTE}), "a.rar")
    assert caught.value.reason == FailReason.UNSUPPORTED
    assert "libarchive" in caught.value.detail


@pytest.mark.parametrize(
    ("joliet", "path"), [(True, "patients of ward 7/Lena's note.txt"), (False, "WARD/NOTE.TXT")]
)
def test_the_files_of_a_disc_image_are_read(read: Read, *, joliet: bool, path: str) -> None:
    document = read(disc(joliet=joliet), "a.iso")
    assert document.locate(document.text.index("Lena")) == path
    assert not document.unread


def skippable(data: bytes, kind: int = 0) -> bytes:
    return bytes((0x50 + kind,)) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard().compress}
PACKERS["lz4"] = lz4.frame.compress


@pytest.mark.parametrize("ending", PACKERS)
def test_every_stream_of_a_compressed_file_is_read(read: Read, ending: str) -> None:
    pack = PACKERS[ending]
    document = read(b"".join(pack(b"line %d of Lena Okafor\n" % n) for n in range(3)), f"a.txt.{ending}")
    assert document.unread == ()
    assert all(f"line {number} of Lena Okafor" in document.text for number in range(3))
    assert {segment.locator for segment in document.segments} == {"a.txt"}


@pytest.mark.parametrize("ending", ["zst", "lz4"])
@settings(max_examples=60, deadline=None)
@given(
    frames=st.lists(st.tuples(st.binary(max_size=40), st.integers(0, 15)) | st.none(), min_size=1, max_size=8)
)
def test_skippable_frames_hide_nothing(ending: str, frames: list[tuple[bytes, int] | None]) -> None:
    """Seek tables, the sizes of pzstd and other user data, before, between and after the frames of a file."""
    pack, packed, n_frames = PACKERS[ending], b"", 0
    for frame in frames:
        n_frames += frame is None
        packed += pack(b"line %d of Lena Okafor\n" % n_frames) if frame is None else skippable(*frame)
    packed += pack(b"the last line\n")
    document = extract_bytes(packed, f"a.txt.{ending}", Limits())
    assert document.unread == ()
    assert all(f"line {number} of Lena" in document.text for number in range(1, n_frames + 1))
    assert "the last line" in document.text


def test_a_cut_skippable_frame_is_said(read: Read) -> None:
    cut = read(zstandard().compress(b"the whole") + skippable(b"a note about Lena Okafor")[:-4], "a.zst")
    assert [(part.locator, part.detail) for part in cut.unread] == [("", "the compressed data is cut short")]


@pytest.mark.parametrize(
    "options",
    [
        {"content_checksum": True, "block_checksum": True, "store_size": True},
        {"block_linked": True, "block_size": lz4.frame.BLOCKSIZE_MAX64KB},
        {"block_linked": False, "compression_level": 9},
        {"store_size": False},
    ],
)
def test_frames_of_lz4_are_read_as_far_as_they_go(read: Read, options: dict[str, Any]) -> None:
    first, filler = b"seen by Lena Okafor\n", bytes(range(97, 123)) * 9000
    packed = lz4.frame.compress(first, **options) + lz4.frame.compress(filler, **options)
    assert read(packed, "a.txt.lz4").unread == ()
    cut = read(packed[:-9], "a.txt.lz4")
    assert "Lena Okafor" in cut.text
    assert [part.detail for part in cut.unread] == ["the compressed data is cut short"]
    trailing = read(packed + b"of another program", "a.txt.lz4")
    assert "Lena Okafor" in trailing.text
    assert [part.detail for part in trailing.unread] == ["bytes after the compressed data"]


@needs_libarchive
def test_unix_compress_is_unpacked(read: Read) -> None:
    document = read(packed("raw", "compress")({"": NOTE}), "note.txt.Z")
    assert "Lena Okafor" in document.text
    assert document.segments[0].locator == "note.txt"


@needs_libarchive
def test_a_zip_in_aes_opens_with_a_password_of_the_list(read: Read) -> None:
    data = packed("zip", options="zip:encryption=aes256", passphrase="rosebud")({"note.txt": NOTE})
    assert "Lena Okafor" in read(data, "a.zip", None, ("wrong", "rosebud")).text
    with pytest.raises(ExtractError) as caught:
        read(data, "a.zip", None, ("wrong",))
    assert caught.value.reason == FailReason.ENCRYPTED


NAMES = ("Wanjiru", "Okafor", "Visser", "Tremblay")
NOTES = [f"{name}, admitted with heart failure".encode() for name in NAMES]


def zip_of(comment: str = "", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for number, note in enumerate(NOTES[:2]):
            info = zipfile.ZipInfo(f"{number}.txt")
            info.comment, info.compress_type = comment.encode(), method
            archive.writestr(info, note)
        archive.writestr("Visser/", b"")
        archive.writestr("Tremblay.txt", b"")
    return stream.getvalue()


ZIP = zip_of()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ZIP, (0, 1, 2, 3), id="empty members and folders"),
        pytest.param(zip_of(comment=NOTES[2].decode()), (0, 1, 2), id="comments of members"),
        pytest.param(ZIP.replace(b"0.txt", b"9.txt", 1), (0, 1), id="two names"),
        pytest.param(ZIP.replace(b"0.txt", b"zero/"), (0, 1), id="folder with content"),
        pytest.param(b"MZ" + bytes(3000) + ZIP, (0, 1), id="behind a program"),
        pytest.param(NOTES[2] + b"\n\0" + ZIP, (0, 1, 2), id="behind a text"),
        pytest.param(ZIP + zip_of(comment=NOTES[2].decode()), (0, 1, 2), id="two in one file"),
    ],
)
def test_all_text_of_a_zip_is_read(read: Read, data: bytes, expected: tuple[int, ...]) -> None:
    document = read(data, "a.zip")
    text = "\n".join((*document.members, document.text))
    assert [name for name in NAMES if name in text][: len(expected)] == [NAMES[number] for number in expected]


def tar_of(*members: tuple[str, bytes, bytes], comment: str = "") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, kind, body in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = (
                kind,
                len(body),
                "../Okafor.txt" if kind == tarfile.SYMTYPE else "",
            )
            info.pax_headers = {"comment": comment} if comment else {}
            archive.addfile(info, io.BytesIO(body))
    return stream.getvalue()


def test_all_text_of_a_tar_is_read(read: Read) -> None:
    members = (
        ("Wanjiru", tarfile.DIRTYPE, b""),
        ("link", tarfile.SYMTYPE, b""),
        ("a.txt", tarfile.REGTYPE, b"note"),
    )
    document = read(tar_of(*members, comment=NOTES[2].decode()), "a.tar")
    assert [name for name in NAMES if name in document.text] == list(NAMES[:3])
    assert not document.unread


def test_raw_lzma_is_known(read: Read) -> None:
    packed = lzma.compress(NOTES[0], format=lzma.FORMAT_ALONE)
    assert NAMES[0] in read(packed, "a.lzma").text


def rar_of(*members: tuple[str, bytes, bytes], volume: bool = False, names: bool = False) -> bytes:
    """Return a RAR 5 archive of stored members, each with the extra area of its header."""

    def block(kind: int, fields: bytes, extra: bytes = b"", data: bytes = b"") -> bytes:
        flags = bool(extra) | 2 * bool(data)
        sizes = bytes([len(extra)] * bool(extra) + [len(data)] * bool(data))
        head = bytes([kind, flags]) + sizes + fields + extra
        head = bytes([len(head)]) + head
        return struct.pack("<I", zlib.crc32(head)) + head + data

    blocks = block(4, b"\0\0\x0f" + bytes(16)) if names else block(1, bytes([volume]))
    for name, note, extra in members:
        fields = bytes([4, len(note), 0]) + struct.pack("<I", zlib.crc32(note)) + bytes([0, 1, len(name)])
        blocks += block(2, fields + name.encode(), extra, note)
    return b"Rar!\x1a\x07\1\0" + blocks + block(5, b"\0")


LOCKED = bytes([36, 1, 0, 0, 15]) + bytes(32)  # a record of one kind: encryption
PLAIN, SECRET = ("a.txt", NOTES[0], b""), ("b.txt", NOTES[1], LOCKED)


@needs_libarchive
@pytest.mark.parametrize(
    ("data", "locator", "reason"),
    [
        (rar_of(PLAIN), "", ""),
        (b"MZ" + bytes(600) + rar_of(PLAIN), "", ""),
        (rar_of(PLAIN, SECRET), "b.txt", FailReason.ENCRYPTED),
        (rar_of(PLAIN, volume=True), "#volume", FailReason.UNSUPPORTED),
    ],
    ids=["plain", "behind a program", "one encrypted", "volume"],
)
def test_what_is_missing_of_a_rar_is_listed(read: Read, data: bytes, locator: str, reason: str) -> None:
    document = read(data, "a.rar")
    assert NAMES[0] in document.text
    assert NAMES[1] not in document.text
    assert [(part.locator, part.reason) for part in document.unread] == (
        [(locator, reason)] if reason else []
    )


def test_a_rar_with_encrypted_names_is_encrypted(read: Read) -> None:
    with pytest.raises(ExtractError, match="encrypted"):
        read(rar_of(PLAIN, names=True), "a.rar")
