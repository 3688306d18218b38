"""Files of records from further programs: directories, pedigrees, notebooks, warehouses."""

import base64
import io
import json
import struct
import zlib
from collections.abc import Callable

import pytest

from phiscan.errors import ExtractError
from phiscan.model import Document

Read = Callable[..., Document]


def test_fields_of_dbase_without_a_code_page_are_read_together(read: Read) -> None:
    head = struct.pack("<BBBBIHH20x", 3, 126, 1, 1, 2, 65, 13) + b"NAME".ljust(11, b"\0") + b"C"
    head += bytes(4) + bytes([12]) + bytes(15) + b"\r"
    records = b"".join(b" " + name.encode("cp850").ljust(12) for name in ("Wanjiru", "Gagné Hélène"))
    assert "Name: Gagné Hélène" in read(head + records + b"\x1a", "a.dbf").text


def notebook(*cells: dict[str, object]) -> str:
    return json.dumps({"nbformat": 4, "cells": cells})


TABLE = ["<table><tr><th>name</th></tr>\n", "<tr><td>Bram Visser</td></tr></table>\n"]
TOKEN = base64.b64encode(b'{"name":"Lena Okafor","dx":"diabetes mellitus"}').decode()


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("dn: cn=Roy\ndescription: dia\n betes clinic\n", "a.ldif", "description: diabetes clinic"),
        ("0 HEAD\n0 @I1@ INDI\n1 NAME Lena /Okafor/\n", "a.ged", "1 NAME Lena Okafor"),
        ("0 HEAD\n1 NOTE heart\n2 CONC  failure\n", "a.ged", "1 NOTE heart failure"),
        (notebook({"source": ["Lena\n", "Okafor\n"]}), "a.ipynb", "source: Lena\nOkafor"),
        (notebook({"data": {"text/html": TABLE}}), "a.ipynb", "name\nBram Visser"),
        (json.dumps({"content": {"text": TOKEN}}), "a.har", "name: Lena Okafor"),
        ('esc = "Zo\\u00e9 Gagn\\u00e9"\n', "a.toml", "esc = Zoé Gagné"),
        ('name: "H\\u00e9l\\u00e8ne Gagn\\xe9"\n', "a.yaml", "name: Hélène Gagné"),
        (
            "name\x01dx\x01mrn\nOkafor\x01flu\x017\nVisser\x01gout\x018\n",
            "a.txt",
            "name: Okafor | dx: flu | mrn: 7",
        ),
    ],
)
def test_values_are_whole_and_behind_their_names(read: Read, text: str, name: str, expected: str) -> None:
    document = read(text.encode(), name)
    assert expected in document.text
    assert not document.unread


def test_the_question_heads_the_answers_where_a_row_for_the_tool_follows(read: Read) -> None:
    rows = (
        'When,Q1,Q2\nStart Date,"What is your name?","Which illness?"\n'
        '"{""ImportId"":""start""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n'
        "2026-01-01,Lena Okafor,diabetes\n2026-01-02,Bram Visser,asthma\n"
    )
    assert "What is your name?: Lena Okafor" in read(rows.encode(), "a.csv").text


def dumped(*tables: bytes, is_packed: bool) -> bytes:
    """Return what pg_dump writes: its mark, statements, and the data of each table in pieces."""
    statements = b"CREATE TABLE wards (\0COPY public.wards (last_name, note) FROM stdin;\n\0" * len(tables)
    blocks = b""
    for number, rows in enumerate(tables, 1):
        body = zlib.compress(rows) if is_packed else rows
        blocks += b"\1" + struct.pack("<BI", 0, number)
        for piece in (body[:5], body[5:]):
            blocks += struct.pack("<BI", 0, len(piece)) + piece
        blocks += bytes(5)
    return b"PGDMP\1\x0e\0\4\x08\1" + statements + blocks


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x60\xea\x2b\0", "ARJ archive"),
        (b"LUKS\xba\xbe\0\1", "disk encrypted with LUKS"),
        (b"\xeb\x58\x90-FVE-FS-", "disk encrypted with BitLocker"),
        (b"TAPE\0\0\3\0", "SQL Server backup"),
    ],
)
def test_further_kinds_are_named(read: Read, data: bytes, kind: str) -> None:
    with pytest.raises(ExtractError, match=kind):
        read(data + bytes(600), "a.bin")


def test_an_array_of_numpy_is_no_openpgp_message(read: Read) -> None:
    stream = io.BytesIO(b"\x93NUMPY\1\0v\0{'descr': '<U11', 'shape': (1,), }".ljust(128))
    document = read(stream.getvalue() + "Lena Okafor".encode("utf-32-le"), "a.npy")
    assert document.unread[0].detail.startswith("NumPy array")
