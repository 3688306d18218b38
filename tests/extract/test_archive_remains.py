"""Text that archives and databases hold beside members and rows: comments, journals, bad pages."""

import io
import lzma
import sqlite3
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.model import Document, FailReason

Read = Callable[..., Document]
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


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_texts_of_rows_that_only_a_journal_holds_are_read(read: Read, tmp_path: Path, journal: str) -> None:
    path = tmp_path / "wards.db"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE p (name, note)")
    database.execute("INSERT INTO p VALUES ('Okafor', ?)", (NOTES[0].decode(),))
    for pragma in (f"journal_mode={journal}", "wal_autocheckpoint=0", "cache_size=1", "secure_delete=1"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN")
    database.execute("UPDATE p SET name = 'Visser'")
    database.executemany("INSERT INTO p VALUES (?, ?)", [("", "x" * 900)] * 60)
    if journal == "wal":
        database.execute("COMMIT")
    log = next(file for file in tmp_path.iterdir() if file.name != path.name and "shm" not in file.name)
    document = read(log.read_bytes(), "log.bin")
    assert NOTES[0].decode() in document.text
    assert [part.reason for part in document.unread] == [FailReason.UNSUPPORTED]
    database.close()


@pytest.mark.parametrize("damage", ["cut", "root", "leaf", "schema", "header"])
def test_texts_of_a_damaged_sqlite_database_are_read(read: Read, damage: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE p (name, note)")
    database.executemany(
        "INSERT INTO p VALUES (?, ?)", [(f"Okafor{number}", "heart failure " * 6) for number in range(99)]
    )
    database.commit()
    data = bytearray(database.serialize())
    places = {"cut": (16, b""), "root": (4096, b"\xff" * 100), "leaf": (8192, b"\xff" * 8)}
    at, bad = (places | {"schema": (100, b"\xff" * 8), "header": (16, b"\0\3")})[damage]
    data[at : at + len(bad)] = bad
    document = read(bytes(data[:-4096] if damage == "cut" else data), "wards.db")
    assert f"Okafor20{'heart failure ' * 6}".strip() in document.text.replace(" | Note: ", "")
    assert document.unread


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


@pytest.mark.skipif(libarchive.library() is None, reason="libarchive is not installed")
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
