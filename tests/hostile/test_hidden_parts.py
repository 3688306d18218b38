"""Hostile wrappers, objects and records: truncated, bombs and loops end in their recorded outcome."""

import sqlite3
import struct
import zlib
from contextlib import suppress

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from phiscan.model import Document, FailReason
from tests.extract.packages import WNS, docx, xlsx, zipped
from tests.extract.pdf_bytes import Pdf
from tests.extract.test_databases import database, recording, table
from tests.extract.test_transport import (
    NOTE,
    cms_indefinite,
    packet,
    tnef,
    uuencoded,
)


def read(data: bytes, name: str, limits: Limits | None = None) -> Document:
    return extract_bytes(data, name, limits or Limits())


@pytest.mark.parametrize("n_bytes", range(0, 260, 13))
def test_no_cut_wrapper_is_a_crash(n_bytes: int) -> None:
    for data, name in (
        (tnef((1, 0x00069003, struct.pack("<I", 2**31) + b"\x1f\0\x37\0" * 9)), "winmail.dat"),
        (cms_indefinite(NOTE), "a.p7m"),
        (packet(8, b"\1" + NOTE), "a.pgp"),
        (uuencoded(NOTE), "a.txt"),
    ):
        with suppress(ExtractError):
            read(data[:n_bytes], name, Limits(member_bytes=10_000_000))


def test_bombs_within_wrappers_meet_the_limits() -> None:
    bomb = packet(8, b"\2" + zlib.compress(b"0" * 64 * 1024**2, 9))
    for _ in range(12):
        bomb = packet(8, b"\0" + bomb)
    with pytest.raises(ExtractError) as caught:
        read(bomb, "a.pgp")
    assert caught.value.reason == FailReason.NESTED_TOO_DEEP
    with pytest.raises(ExtractError) as caught:
        read(packet(8, b"\2" + zlib.compress(b"0" * 64 * 1024**2, 9)), "a.pgp")
    assert caught.value.reason == FailReason.TOO_LARGE


def test_damaged_databases_end_in_their_outcome() -> None:
    whole = database(
        "CREATE TABLE a (b TEXT)",
        *(f"INSERT INTO a VALUES ('Okafor {number}')" for number in range(500)),  # noqa: S608
    )
    looped = bytearray(whole)
    looped[100 : 100 + 12] = whole[100:112][::-1]
    for data, name in (
        (whole, "a.db"),
        (bytes(looped), "a.db"),
        (table([("Roy", "1", "2")] * 50), "a.dbf"),
        (recording(), "a.edf"),
    ):
        for cut in range(16, len(data), max(len(data) // 12, 1)):
            with suppress(ExtractError):
                read(data[:cut], name)
    cyclic = database("CREATE TABLE a (b TEXT)", "INSERT INTO a VALUES ('Okafor')").replace(
        b"CREATE TABLE a (b TEXT)", b"CREATE TABLE a (b TEXD)"
    )
    assert "Okafor" in read(cyclic, "a.db").text


def test_a_bomb_in_a_cell_meets_the_limits() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE a (name TEXT, file BLOB)")
        connection.execute("INSERT INTO a VALUES ('Okafor', ?)", (zipped({"bomb.txt": b" " * 64 * 1024**2}),))
        connection.commit()
        document = read(connection.serialize(), "a.db")
    assert "Okafor" in document.text
    assert FailReason.TOO_LARGE in {part.reason for part in document.unread}


@pytest.mark.slow
def test_hostile_objects_cost_little() -> None:
    bomb = zlib.compress(b"BT (a) Tj ET " * 4_000_000, 9)
    streams = b"".join(
        b"%d 0 obj\n<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n"
        % (number, len(bomb), bomb)
        for number in range(100, 130)
    )
    loops = b"startxref\n9\n%%EOF\n" * 500 + b"(((((((((" * 20_000 + b"<<" * 20_000 + b"\\" * 20_000
    document = read(Pdf().data() + streams + loops, "a.pdf")
    assert "Parking is free" in document.text
    for cut in range(200, 1400, 150):
        try:
            read(Pdf().data()[:cut] + streams[:5000], "a.pdf")
        except ExtractError as error:
            assert error.reason  # noqa: PT017


def test_values_of_hostile_packages_cost_little() -> None:
    many = "".join(
        f'<w:docVar w:name="v{number}" w:val="Okafor {number} of the ward"/>' for number in range(150_000)
    )
    document = read(docx(parts={"word/settings.xml": f"<w:settings {WNS}>{many}</w:settings>"}), "a.docx")
    assert "Okafor 7 of the ward" in document.text
    fields = "".join(f'<cacheField name="f{number}"><sharedItems/></cacheField>' for number in range(2000))
    record = "<r>" + '<x v="999999999"/>' * 2000 + "</r>"
    caches = {
        "xl/pivotCache/pivotCacheDefinition1.xml": f"<a><cacheFields>{fields}</cacheFields></a>",
        "xl/pivotCache/pivotCacheRecords1.xml": f"<a>{record * 50}<r/><r><x/></r></a>",
    }
    assert "f1999" in read(xlsx(parts=caches), "a.xlsx").text


@pytest.mark.parametrize(
    "data",
    [
        b"<svg>" + b"<text>" * 200 + b"Okafor" + b"</text>" * 200 + b"</svg>",
        b"<svg>" + b"<text x='1' y='1'>O</text>" * 50_000 + b"</svg>",
        b'<Workbook><Worksheet><Table><Row Index="9999999"><Cell Index="9999999"><Data>Okafor</Data></Cell></Row></Table>'  # noqa: E501, ISC004
        b"</Worksheet></Workbook>",
        b'<office:document xmlns:office="o" xmlns:t="t"><office:spreadsheet><t:table><t:table-row>'  # noqa: ISC004
        b'<t:table-cell t:number-columns-repeated="99999999">Okafor</t:table-cell></t:table-row></t:table>'
        b"</office:spreadsheet></office:document>",
    ],
    ids=["texts in texts", "glyphs", "far cells", "repeated cells"],
)
def test_hostile_dialects_of_xml_are_read(data: bytes) -> None:
    assert "O" in read(data, "a.xml").text
