"""Access databases: rows, attachments, files in cells, masked and encrypted databases."""

import shutil
import struct
import zlib
from collections.abc import Callable

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document
from tests.extract.access_files import INTEGER, MEMO, OLE, TEXT, Table, access_file

Read = Callable[..., Document]
HIDDEN_SYSTEM = -2146828288
needs_mdbtools = pytest.mark.skipif(shutil.which("mdb-export") is None, reason="mdbtools are not installed")
PATIENTS = Table(
    "Patients",
    (("ID", INTEGER), ("Last name", TEXT), ("First name", TEXT), ("Notes", MEMO), ("Letter", OLE)),
    [
        (
            40718823,
            "Okafor",
            "Lena",
            "heart failure; mother of Émile",
            b"\x15\x1c" + bytes(30) + b"{\\rtf1 Bram Visser}",
        ),
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
