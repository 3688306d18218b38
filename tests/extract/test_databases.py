"""Databases and recordings: rows and fields, what SQLite keeps besides, kinds that are named."""

import base64
import gzip
import shutil
import sqlite3
import struct
import urllib.parse
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document, FailReason

Read = Callable[..., Document]


def database(*statements: str) -> bytes:
    with sqlite3.connect(":memory:") as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return connection.serialize()


def table(rows: list[tuple[str, str, str]], deleted: int = 0) -> bytes:
    fields = (("LASTNAME", "C", 12), ("BORN", "D", 8), ("MRN", "N", 10))
    described = b"".join(
        name.encode().ljust(11, b"\0") + kind.encode() + bytes(4) + bytes([size]) + bytes(15)
        for name, kind, size in fields
    )
    head = struct.pack("<4BIHH20x", 3, 126, 11, 2, len(rows), 32 + len(described) + 1, 31)
    body = b"".join(
        (b"*" if number < deleted else b" ")
        + last.encode("cp1252").ljust(12)
        + born.encode().ljust(8)
        + mrn.encode().rjust(10)
        for number, (last, born, mrn) in enumerate(rows)
    )
    return head + described + b"\r" + body + b"\x1a"


def recording(patient: str = "40718823 F 14-MAR-1951 Okafor,Lena") -> bytes:
    head = f"{'0':<8}{patient:<80}{'Startdate 02-NOV-2026 EEG-5512 R.Tech NK1':<80}02.11.2609.30.00{'768':<8}{'EDF+C':<44}"  # noqa: E501
    head += f"{'1':<8}{'1':<8}{'2':<4}"
    signals = "".join(
        f"{first:<{size}}{second:<{size}}"
        for first, second, size in (
            ("EEG Fp1", "EDF Annotations", 16),
            ("AgAgCl", "", 80),
            ("uV", "", 8),
            ("-1", "-1", 8),
            ("1", "1", 8),
            ("-32768", "-32768", 8),
            ("32767", "32767", 8),
            ("", "", 80),
            ("8", "60", 8),
            ("", "", 32),
        )
    )
    notes = b"+0\x14\x14\0+12.5\x1530\x14seizure, given lorazepam\x14\0"
    return (head + signals).encode() + bytes(16) + notes.ljust(120, b"\0")


def test_rows_of_sqlite_stand_behind_their_columns(read: Read) -> None:
    data = database(
        'CREATE TABLE "pat ""x""" (last_name TEXT, hospitalNumber INTEGER, note BLOB)',
        'INSERT INTO "pat ""x""" VALUES (\'Okafor\', 40718823, NULL)',
        'INSERT INTO "pat ""x""" VALUES (\'Roy\', 1, CAST(\'Patient: Marc Delisle was seen\' AS BLOB))',
        "CREATE VIEW bad AS SELECT * FROM absent",
    )
    document = read(data, "clinic.db")
    assert "last name: Okafor | hospital Number: 40718823" in document.text
    assert "Marc Delisle" in document.text
    assert not document.unread


def test_records_of_dbase_stand_behind_their_fields(read: Read) -> None:
    document = read(
        table([("Okafor", "19510314", "40718823"), ("Côté", "19480202", "51120934")], deleted=1), "p.dbf"
    )
    assert "(deleted) | Lastname: Okafor | Born: 1951-03-14 | Mrn: 40718823" in document.text
    assert "Lastname: Côté" in document.text
    assert not document.unread
    cut = read(table([("Okafor", "19510314", "40718823")] * 9)[:-60], "p.dbf")
    assert [part.reason for part in cut.unread] == [FailReason.CORRUPT]


def test_the_header_of_a_recording_is_a_form(read: Read) -> None:
    text = read(recording(), "eeg.edf").text
    for wanted in (
        "Patient ID: 40718823",
        "Sex: F",
        "Date of birth: 14-MAR-1951",
        "Patient name: Lena Okafor",
        "lorazepam",
    ):
        assert wanted in text
    assert "Patient: Okafor Lena 1951" in read(recording("Okafor Lena 1951"), "eeg.edf").text


@pytest.mark.parametrize(
    ("head", "detail"),
    [
        (bytes(7) + b"**ACE**", "ACE archive"),
        (b"SIT!\0", "StuffIt archive"),
        (b"MSWIM\0\0\0", "Windows disk image (WIM)"),
        (b"hsqs", "compressed file system (SquashFS)"),
        (b"EVF\t\r\n\xff\0", "EnCase disk image (E01)"),
        (b"\x60\xea\x2b\0", "ARJ archive"),
        (b"LUKS\xba\xbe\0\1", "disk encrypted with LUKS"),
        (b"\xeb\x58\x90-FVE-FS-", "disk encrypted with BitLocker"),
        (b"TAPE\0\0\3\0", "SQL Server backup"),
        (b"PAR1", "Parquet table: damaged; export it to CSV"),
    ],
)
def test_a_kind_that_nobody_opens_is_named(read: Read, head: bytes, detail: str) -> None:
    with pytest.raises(ExtractError) as caught:
        read(head + bytes(600), "a.bin")
    assert caught.value.detail == detail


@pytest.mark.parametrize(
    ("head", "kind", "advice"),
    [
        (b"PAR1\x15\0", "Parquet table", "export it to CSV"),
        (b"\0\1\0\0Standard Jet DB\0", "Access database", "export its tables to CSV or XLSX"),
        (b"\0\1\0\0Standard ACE DB\0", "Access database", "export its tables to CSV or XLSX"),
        (bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c"), "SAS data set", "export it to CSV"),
        (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", "SAS transport file", "export it to CSV"),
        (b"$FL2@(#) SPSS DATA FILE", "SPSS data file", "export it to CSV"),
        (b"$FL3@(#) SPSS DATA FILE", "SPSS data file", "export it to CSV"),
        (b"<stata_dta><header>", "Stata data file", "export it to CSV"),
        (b"\x72\x02\x01\x00", "Stata data file", "export it to CSV"),
        (b"\xcf\xad\x12\xfe\xc5\xfd\x74\x6f", "Outlook Express folder (DBX)", "export its messages to EML"),
        (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d", "OneNote section", "export the section to PDF or DOCX"),
        (b"\xff\x57\x50\x43", "WordPerfect document", "save it as DOCX or PDF"),
        (b"\x00\x00\x02\x00\x06\x04\x06\x00", "Lotus 1-2-3 workbook", "save it as XLSX or CSV"),
        (b"\x00\x00\x1a\x00\x02\x10\x04\x00", "Lotus 1-2-3 workbook", "save it as XLSX or CSV"),
        (b"bplist00", "binary property list", "runs of text in it are read"),
        (b"RDX3\n", "R data file", "export it to CSV"),
        (b"CDF\x01\0", "NetCDF file", "runs of text in it are read"),
        (
            b"\x93NUMPY\1\0v\0{'descr': '<U11', 'shape': (1,), }",
            "NumPy array",
            "only the runs of text in it are read",
        ),
    ],
)
def test_a_known_kind_is_named_with_what_would_help_and_its_words_are_read(
    read: Read, head: bytes, kind: str, advice: str
) -> None:
    words = b"Okafor Lena\0\1\2" + "Rossi Anna".encode("utf-16-le")
    document = read(head + bytes(64) + words + bytes(64), "a.bin")
    assert "Okafor Lena" in document.text
    assert "Rossi Anna" in document.text
    (part,) = document.unread
    assert part.reason == FailReason.UNSUPPORTED
    assert part.detail.startswith(kind)
    assert part.detail.endswith(advice)


def test_an_offline_store_of_outlook_is_named(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    head = b"!BDN" + bytes(4) + b"SO" + b"\x24\0" + bytes(600)
    with pytest.raises(ExtractError) as caught:
        read(head, "mailbox.ost")
    assert caught.value.reason == FailReason.UNSUPPORTED
    assert "OST" in caught.value.detail
    assert "export it to PST" in caught.value.detail
    with pytest.raises(ExtractError) as caught:
        read(head.replace(b"SO", b"SM"), "mailbox.pst")
    assert "OST" not in caught.value.detail


P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
LONG = (P + " Seen again in spring by the same team, nothing new to say. ") * 3


def kept(*values: object) -> bytes:
    """Return a database with one row."""
    made = sqlite3.connect(":memory:")
    made.execute(f"create table t({', '.join('abc'[: len(values)])})")
    made.execute(f"insert into t values({', '.join('?' * len(values))})", values)
    made.commit()
    return made.serialize()


def deleted(n_rows: int) -> bytes:
    """Rows of which all but ten are deleted."""
    made = sqlite3.connect(":memory:")
    made.execute("pragma secure_delete=off")
    made.execute("create table t(a integer primary key, b)")
    for number in range(2 * n_rows):
        text = P if number == n_rows else f"some other line of text number {number}"
        made.execute("insert into t values(?, ?)", (number, text))
    made.commit()
    made.execute("delete from t where a >= 10")
    made.commit()
    return made.serialize()


KEPT = {
    "zlib.db": kept(1, zlib.compress(LONG.encode())),
    "rawdeflate.db": kept(1, zlib.compress(LONG.encode())[2:-4]),
    "gzip.db": kept(1, gzip.compress(P.encode())),
    "lz4hdr_zlib.db": kept(1, struct.pack(">I", len(LONG)) + zlib.compress(LONG.encode())),
    "zlib_fast.db": kept(1, zlib.compress(LONG.encode(), 1)),
    "schema_default.db": database(f"create table t(a default '{P}', b)", "insert into t(b) values(1)"),
    "schema_view.db": database("create table t(a)", f"create view v as select '{P}'"),
    "utf16blob.db": kept(P.encode("utf-16-le")),
    "fts.db": database("create virtual table f using fts5(b)", f"insert into f values('{P}')"),
    "nul.db": kept(f"x\0{P}"),
    "percent.db": kept(f"https://x/?q={urllib.parse.quote(P)}"),
    "b64cell.db": kept(base64.b64encode(P.encode()).decode()),
    "short_blobs.db": kept(b"Lena Okafor", b"MRN 40718823", b"congestive heart failure"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_database_keeps_is_read(read: Read, name: str) -> None:
    document = read(KEPT[name], name)
    for word in WORDS:
        assert word in document.text


def test_damaged_pages_give_no_other_error(read: Read) -> None:
    whole = deleted(300)
    for at in range(0, 4200, 140):
        data = bytearray(whole)
        data[at : at + 40] = bytes(range(200, 240))
        with suppress(ExtractError):  # any other exception fails the test
            read(bytes(data), "a.db")


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_texts_of_rows_that_only_a_journal_holds_are_read(read: Read, tmp_path: Path, journal: str) -> None:
    path = tmp_path / "wards.db"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE p (name, note)")
    database.execute("INSERT INTO p VALUES ('Okafor', ?)", (P,))
    for pragma in (f"journal_mode={journal}", "wal_autocheckpoint=0", "cache_size=1", "secure_delete=1"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN")
    database.execute("UPDATE p SET name = 'Visser'")
    database.executemany("INSERT INTO p VALUES (?, ?)", [("", "x" * 900)] * 60)
    if journal == "wal":
        database.execute("COMMIT")
    log = next(file for file in tmp_path.iterdir() if file.name != path.name and "shm" not in file.name)
    document = read(log.read_bytes(), "log.bin")
    assert P in document.text
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
