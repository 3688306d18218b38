"""Contacts and calendars."""

from collections.abc import Callable

from phiscan.model import Document

Read = Callable[..., Document]

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
