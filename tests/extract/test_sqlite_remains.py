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

Read = Callable[..., Document]
P = "Patient: Lena Okafor, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
LONG = (P + " Seen again in spring by the same team, nothing new to say. ") * 3
CASES: dict[str, bytes] = {}


def sq(*statements: str | tuple[str, tuple[object, ...]], pragma: str = "") -> bytes:
    database = sqlite3.connect(":memory:")
    if pragma:
        database.execute(pragma)
    for statement in statements:
        if isinstance(statement, tuple):
            database.execute(*statement)
        else:
            database.execute(statement)
    database.commit()
    return database.serialize()


def deleted(n_rows: int) -> bytes:
    """Rows of which all but ten are deleted."""
    database = sqlite3.connect(":memory:")
    database.execute("pragma secure_delete=off")
    database.execute("create table t(a integer primary key, b)")
    for number in range(2 * n_rows):
        text = P if number == n_rows else f"some other line of text number {number}"
        database.execute("insert into t values(?, ?)", (number, text))
    database.commit()
    database.execute("delete from t where a >= 10")
    database.commit()
    return database.serialize()


CASES |= {
    "rawdeflate.db": sq(
        "create table t(a, b)", ("insert into t values(1, ?)", (zlib.compress(LONG.encode())[2:-4],))
    ),
    "gzip.db": sq("create table t(a, b)", ("insert into t values(1, ?)", (gzip.compress(P.encode()),))),
    "lz4hdr_zlib.db": sq(
        "create table t(a, b)",
        ("insert into t values(1, ?)", (struct.pack(">I", len(LONG)) + zlib.compress(LONG.encode()),)),
    ),
    "zlib_fast.db": sq(
        "create table t(a, b)", ("insert into t values(1, ?)", (zlib.compress(LONG.encode(), 1),))
    ),
    "schema_default.db": sq(
        "create table t(a default '" + P + "', b)",
        "insert into t(b) values(1)",
        "create view v as select '" + P + "'",
    ),
    "utf16blob.db": sq("create table t(a)", ("insert into t values(?)", (P.encode("utf-16-le"),))),
    "fts.db": sq("create virtual table f using fts5(b)", ("insert into f values(?)", (P,))),
    "nul.db": sq("create table t(a)", ("insert into t values(?)", ("x\0" + P,))),
    "percent.db": sq(
        "create table t(url)", ("insert into t values(?)", ("https://x/?q=" + urllib.parse.quote(P),))
    ),
    "b64cell.db": sq(
        "create table t(a)", ("insert into t values(?)", (base64.b64encode(P.encode()).decode(),))
    ),
    "short_blobs.db": sq(
        "create table t(a, b, c)",
        ("insert into t values(?, ?, ?)", (b"Lena Okafor", b"MRN 40718823", b"asthma, severe")),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_database_keeps_is_read(read: Read, name: str) -> None:
    document = read(CASES[name], name)
    others = {"short_blobs.db": (*WORDS[:2], "asthma, severe")}
    for word in others.get(name, WORDS):
        assert word in document.text


def test_damaged_pages_give_no_other_error(read: Read) -> None:
    whole = deleted(300)
    for at in range(0, 4200, 140):
        data = bytearray(whole)
        data[at : at + 40] = bytes(range(200, 240))
        with suppress(ExtractError):  # any other exception fails the test
            read(bytes(data), "a.db")
