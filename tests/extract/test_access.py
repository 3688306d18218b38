"""Access databases: attachments, files in cells, deleted rows, queries, masked and encrypted databases."""

import shutil
import struct
import zlib
from collections.abc import Callable

import pytest

from phiscan.errors import ExtractError
from phiscan.extract.databases.access_pages import unlisted_rows
from phiscan.extract.residue.prose import ShownWords
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
    [(40718825, "Wanjiru", "Grace", "counselled on 3 May", None)],
)
LETTER = b"Discharge letter of Miriam Falk, born 1951-03-14"
ATTACHED = struct.pack("<III", 20, 1, 8) + "txt\0".encode("utf-16-le") + LETTER
FILES = Table(
    f"f_{'0123456789ABCDEF' * 2}_Scans",
    (("FileData", OLE), ("FileName", TEXT)),
    [(struct.pack("<II", 1, len(ATTACHED)) + zlib.compress(ATTACHED), "falk.txt")],
    flags=HIDDEN_SYSTEM,
)
QUERIES = Table(
    "MSysQueries",
    (("Attribute", INTEGER), ("Expression", MEMO)),
    [(8, '[Last name]="Tremblay" And [First name]="Jean-Marc"')],
    flags=HIDDEN_SYSTEM,
)


@needs_mdbtools
@pytest.mark.parametrize(
    "options", [{}, {"key": 0x12345678}, {"version": 2}], ids=["plain", "masked", "ACCDB"]
)
def test_a_database_is_read_with_what_no_export_of_its_tables_shows(
    read: Read, options: dict[str, int]
) -> None:
    document = read(access_file(PATIENTS, FILES, QUERIES, **options), "wards.mdb")
    lines = document.text.splitlines()
    assert (
        "ID: 40718823 | Last name: Okafor | First name: Lena | Notes: heart failure; mother of Émile" in lines
    )
    assert "ID: 40718824 | Last name: Петров | First name: Иван | Notes: Сердечная недостаточность" in lines
    assert "Bram Visser" in lines
    assert LETTER.decode() in lines
    places = {segment.locator: document.text[segment.start : segment.end] for segment in document.segments}
    assert places["#deleted"] == "Wanjiru | Grace | counselled on 3 May"
    assert places["#system"] == QUERIES.rows[0][1]
    assert not document.unread


def test_rows_of_access_97_are_taken_apart() -> None:
    row = b"\x03" + bytes(4) + b"Wanjiru" + b"Grace at home"
    row += bytes([25, 12, 5, 2, 7])
    page = bytearray(2048)
    page[-len(row) :] = row
    struct.pack_into("<BBHIHH", page, 0, 1, 1, 0, 9, 1, (2048 - len(row)) | 0x4000)
    data = bytes(2048) + bytes(page)
    data = data[:0x18] + access_file()[0x18:0x98] + data[0x98:]
    assert list(unlisted_rows(data, (), ShownWords(""))) == [(True, "Wanjiru | Grace at home")]


def test_a_database_with_a_password_is_encrypted(read: Read) -> None:
    data = access_file(PATIENTS, version=2, encryption=b"\4\0\4\0\x40\0\0\0<encryption")
    with pytest.raises(ExtractError, match="Access database with a password"):
        read(data, "wards.accdb")
