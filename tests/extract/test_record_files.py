"""Files of records from further programs: directories, pedigrees, notebooks, contacts, calendars."""

import base64
import json
import struct
from collections.abc import Callable

import pytest

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


CARDS = """BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Tremblay;Zo=C3=A9
FN:Zoe Tremblay
item1.TEL;TYPE=CELL:416-555-0100
ADR;TYPE=HOME:;;12 Main St;Toronto;ON;M5V 2T6;Canada
BDAY:1950-01-02
NOTE:long note that goes
  on\\, behind a fold
END:VCARD
BEGIN:VCARD
FN:Bo Li
PHOTO;ENCODING=b;TYPE=TEXT:V2FyZCA3IGZvciBMZW5hIE9rYWZvcg==
END:VCARD
"""


def test_contacts_have_a_line_per_property(read: Read) -> None:
    document = read(CARDS.encode(), "people.vcf")
    for line in (
        "Name: Zoé Tremblay",
        "Phone: 416-555-0100",
        "Address: 12 Main St, Toronto, ON, M5V 2T6, Canada",
        "Date of birth: 1950-01-02",
        "Note: long note that goes on, behind a fold",
    ):
        assert line in document.text, line
    assert document.locate(document.text.index("Bo Li")) == "#entry2"
    assert document.locate(document.text.index("Ward 7")) == "file1"


def test_a_calendar_gives_people_and_places(read: Read) -> None:
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Follow-up Lena Okafor\r\n"
        'ATTENDEE;CN="Roy, Ann";ROLE=REQ-PARTICIPANT:mailto:ann@example.org\r\nLOCATION:Room 4\\, ward 7\r\n'
        "DTSTART;TZID=America/Toronto:20260102T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    document = read(text.encode(), "a.ics")
    assert document.text.split("\n")[:4] == [
        "Summary: Follow-up Lena Okafor",
        "Attendee: Roy, Ann ann@example.org",
        "Location: Room 4, ward 7",
        "Date: 20260102T090000",
    ]


def test_a_page_saved_as_mail_is_read_without_its_style_sheets(read: Read) -> None:
    mht = (
        "From: <Saved by Blink>\nSubject: Chart\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="B"\n\n'
        "--B\nContent-Type: text/html\n\n<p>Lena Okafor</p>\n"
        "--B\nContent-Type: text/css\n\np {color: red}\n--B--\n"
    )
    document = read(mht.encode(), "a.mhtml")
    assert "Lena Okafor" in document.text
    assert "color" not in document.text
