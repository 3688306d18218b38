"""Files of old office programs: WordPerfect, Access (rows, files in cells, masked databases), OneNote."""

import os
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document
from phiscan.sandbox import programs
from tests.extract.access_files import INTEGER, MEMO, OLE, TEXT, Table, access_file

Read = Callable[..., Document]
needs_mdbtools = pytest.mark.skipif(shutil.which("mdb-export") is None, reason="mdbtools are not installed")


def properties(*found: tuple[int, bytes]) -> bytes:
    """A set of properties with data of their own length, after one that has none."""
    numbers = struct.pack("<I", 0x08001C03) + b"".join(struct.pack("<I", number) for number, _ in found)
    data = b"".join(struct.pack("<I", len(value)) + value for _, value in found)
    return struct.pack("<H", len(found) + 1) + numbers + data


def test_texts_and_files_of_onenote(read: Read) -> None:
    body = properties(
        (0x1C001CF3, "Ward rounds".encode("utf-16-le")), (0x1C001D75, "Anna Rossi".encode("utf-16-le"))
    )
    body += bytes(37) + properties((0x1C001C22, "Пациентка Okafor, 40718823".encode("utf-16-le")))
    body += bytes(11) + properties((0x1C003498, b"seen for heart failure"))
    file = b"Marc Delisle, prostate cancer, seen again in spring"
    body += bytes.fromhex("e716e3bd65261145a4c48d4d0b7a9eac") + struct.pack("<QIQ", len(file), 0, 0) + file
    document = read(b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d" + bytes(1016) + body, "notes.one")
    lines = document.text.split("\n")
    for line in (
        "Title: Ward rounds",
        "Author: Anna Rossi",
        "Пациентка Okafor, 40718823",
        "seen for heart failure",
    ):
        assert line in lines
    assert "Marc Delisle, prostate cancer" in document.text
    assert [segment.locator for segment in document.segments] == ["#texts", "file1"]
    assert not document.unread


@pytest.mark.skipif(shutil.which("wpd2text") is None, reason="wpd2text is not installed")
def test_wordperfect_is_read_by_its_program(read: Read) -> None:
    text = b"Patient: Lena Okafor, MRN 40718823.\nIllness treated for: heart failure."
    head = b"\xffWPC" + struct.pack("<I", 16) + bytes([1, 10, 0, 1]) + bytes(4)
    document = read(head + text, "letter.wpd")
    assert document.text.split("\n")[:2] == text.decode().split("\n")
    assert not document.unread


def access_programs(monkeypatch: pytest.MonkeyPatch, names: bytes, tables: dict[str, bytes]) -> list[str]:
    """Answer as mdb-tables and mdb-export do; return the names of the tables that are asked for."""
    asked: list[str] = []

    def run(job: str, descriptor: int | None, seconds: float, **values: str) -> programs.Finished:
        assert descriptor is not None
        assert seconds > 0
        if job == "mdb-tables":
            return programs.Finished(0, names)
        if job == "mdb-system-tables":
            return programs.Finished(0, names + b"MSysObjects\n")
        asked.append(bytes.fromhex(values["table_hex"]).decode())
        return programs.Finished(0 if asked[-1] in tables else 1, tables.get(asked[-1], b""))

    monkeypatch.setattr(programs, "run", run)
    monkeypatch.setattr(programs, "is_installed", lambda _: True)
    return asked


def test_tables_of_access_are_rows_with_their_heads(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = b'"Last name","Hospital number","Illness treated for"\n"Okafor",40718823,"heart\nfailure"\n'
    asked = access_programs(monkeypatch, "Séjours 2026\n--help\n".encode(), {"Séjours 2026": rows})
    document = read(b"\0\1\0\0Standard ACE DB\0" + bytes(4096), "wards.accdb")
    assert asked == ["Séjours 2026", "--help"]
    assert "Table: Séjours 2026" in document.text
    assert "Last name: Okafor | Hospital number: 40718823 | Illness treated for: heart" in document.text
    assert [(part.locator, part.detail) for part in document.unread] == [
        ("#table2", "mdb-export read a part of it")
    ]


def test_dates_of_access_that_mdbtools_do_not_know_are_listed(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = b'"Name","Born"\n"Okafor","1951-03-14 00:00:00"\n"Visser","1900-01-00 00:00:00"\n'
    access_programs(monkeypatch, b"Wards\n", {"Wards": rows})
    document = read(b"\0\1\0\0Standard ACE DB\0" + bytes(4096), "wards.accdb")
    assert document.text.splitlines()[-2:] == ["Name: Okafor | Born: 1951-03-14", "Name: Visser"]
    assert [part.locator for part in document.unread] == ["#table1/dates"]


@needs_mdbtools
def test_a_name_of_a_table_is_no_option() -> None:
    with Path(os.devnull).open("rb") as nothing:
        values = {"table_hex": b"--version".hex(), "binary": "hex"}
        done = programs.execute("mdb-export", values, nothing.fileno(), 10)
    assert b"mdbtools" not in done.output
    with pytest.raises(ValueError, match="one of its values"):
        programs.execute("mdb-export", {"table": "--version", "binary": "hex"}, None, 10)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"\0\1\0\0Standard Jet DB\0", "Access database: needs mdbtools, which is not installed"),
        (b"\xff\x57\x50\x43", "WordPerfect document: needs wpd2text, which is not installed"),
        (b"\x31\xbe\0\0\0\xab", "Windows Write document: needs wps2text, which is not installed"),
    ],
)
def test_without_its_program_the_file_is_named(
    read: Read, monkeypatch: pytest.MonkeyPatch, head: bytes, said: str
) -> None:
    monkeypatch.setattr(programs, "is_installed", lambda _: False)
    document = read(head + bytes(60) + b"Okafor Lena" + bytes(60), "a.bin")
    assert "Okafor Lena" in document.text
    assert document.unread[0].detail.startswith(said)


HIDDEN_SYSTEM = -2146828288
LETTER_IN_CELL = b"\x15\x1c" + bytes(30) + b"{\\rtf1 Bram Visser}"
PATIENTS = Table(
    "Patients",
    (("ID", INTEGER), ("Last name", TEXT), ("First name", TEXT), ("Notes", MEMO), ("Letter", OLE)),
    [
        (40718823, "Okafor", "Lena", "heart failure; mother of Émile", LETTER_IN_CELL),
        (40718824, "Петров", "Иван", "Сердечная недостаточность", None),
    ],
)
LETTER = b"Discharge letter of Miriam Falk, born 1951-03-14"
ATTACHED = struct.pack("<III", 20, 1, 8) + "txt\0".encode("utf-16-le") + LETTER
FILES = Table(
    f"f_{'0123456789ABCDEF' * 2}_Scans",
    (("FileData", OLE), ("FileName", TEXT)),
    [(struct.pack("<II", 1, len(ATTACHED)) + zlib.compress(ATTACHED), "falk.txt")],
    flags=HIDDEN_SYSTEM,
)


@needs_mdbtools
@pytest.mark.parametrize(
    "options", [{}, {"key": 0x12345678}, {"version": 2}], ids=["plain", "masked", "ACCDB"]
)
def test_rows_and_files_of_a_database_are_read(read: Read, options: dict[str, int]) -> None:
    document = read(access_file(PATIENTS, FILES, **options), "wards.mdb")
    lines = document.text.splitlines()
    assert (
        "ID: 40718823 | Last name: Okafor | First name: Lena | Notes: heart failure; mother of Émile" in lines
    )
    assert "ID: 40718824 | Last name: Петров | First name: Иван | Notes: Сердечная недостаточность" in lines
    assert "Bram Visser" in lines
    assert LETTER.decode() in lines
    assert not document.unread


def test_a_database_with_a_password_is_encrypted(read: Read) -> None:
    data = access_file(PATIENTS, version=2, encryption=b"\4\0\4\0\x40\0\0\0<encryption")
    with pytest.raises(ExtractError, match="Access database with a password"):
        read(data, "wards.accdb")
