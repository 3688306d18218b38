"""SQLite: compressed blobs, what is left of deleted rows, texts in definitions, and cells in codes."""

import base64
import gzip
import sqlite3
import struct
import urllib.parse
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document
from tests.extract.test_databases import database

Read = Callable[..., Document]
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


CASES = {
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


@pytest.mark.parametrize("name", CASES)
def test_what_a_database_keeps_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    for word in WORDS:
        assert word in document.text


def test_damaged_pages_give_no_other_error(read: Read) -> None:
    whole = deleted(300)
    for at in range(0, 4200, 140):
        data = bytearray(whole)
        data[at : at + 40] = bytes(range(200, 240))
        with suppress(ExtractError):  # any other exception fails the test
            read(bytes(data), "a.db")
