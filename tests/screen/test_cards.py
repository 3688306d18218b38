"""Raw contacts and calendars: names, addresses and days by their property; its name is nobody's."""

import pytest

from phiscan.model import Document
from phiscan.screen.recognizers.messages.contact_cards import card_findings
from tests.screen.whole import found

CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\n{}\r\nEND:VCARD\r\n"
CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VTIMEZONE
TZID:America/Toronto
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=America/Toronto:20240212T090000
ORGANIZER;CN=Dr Wei Chen:mailto:wchen@example.org
ATTENDEE;CUTYPE=INDIVIDUAL;CN="Tremblay, Marie: new";X-NUM-GUESTS=0:mailto:mt@example.org
ATTENDEE;PARTSTAT=NEEDS-ACTION;CN=Luc
  Gagnon:mailto:lg@example.org
ATTENDEE;CUTYPE=ROOM;CN=Madison Room:mailto:room@example.org
ATTENDEE;CN=nurse@example.org:mailto:nurse@example.org
DESCRIPTION:Bring the list of drugs\\, with her daughter Sylvie Ro
 y will come.
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("N:Tremblay;Marie;Anne;;", [("PERSON", "Tremblay;Marie;Anne")]),
        ("FN;CHARSET=UTF-8:Okafor\\, Peter", [("PERSON", "Okafor\\, Peter")]),
        ("N:Okafor;Peter;;Dr.;MD", [("HEALTH_PROFESSIONAL", "Okafor;Peter;;Dr.;MD")]),
        ('item1.ADR;TYPE="HOME;x":;;12 rue Principale;Laval;QC;H7V 1A1;', [
            ("STREET_ADDRESS", "12 rue Principale;Laval;QC;H7V 1A1")]),
        ("BDAY:1950-02-14", [("DATE_OF_BIRTH", "1950-02-14")]),
        ("BDAY;VALUE=date:19500214", [("DATE_OF_BIRTH", "19500214")]),
        ("ORG:Clinique Saint-Luc;Cardiologie", [("ORGANIZATION", "Clinique Saint-Luc")]),
        ("FN:Billing Office", []),
        ("N:;;;;", []),
        ("TITLE:Director", []),
    ],
)  # fmt: skip
def test_reads_the_properties_of_a_contact(line: str, expected: list[tuple[str, str]]) -> None:
    text = CARD.format(line)
    findings = card_findings(Document(text, (), "text/plain"))
    assert [(f.entity_type.value, f.span.of(text)) for f in findings] == expected
    assert not list(card_findings(Document(line, (), "text/plain")))


def test_a_calendar_within_other_text() -> None:
    text = f"Dear Mrs. Jeanne Gagnon,\nplease come.\n{CALENDAR}Sincerely,\nHelen Marsh\n"
    people = {one for one in found(text) if one[0] in {"PERSON", "HEALTH_PROFESSIONAL"}}
    assert people == {
        ("PERSON", "Jeanne Gagnon"), ("HEALTH_PROFESSIONAL", "Wei Chen"), ("PERSON", "Tremblay, Marie: new"),
        ("PERSON", "Luc\n  Gagnon"), ("PERSON", "Sylvie Ro\n y"), ("PERSON", "Helen Marsh"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "card",
    ["BEGIN:VCARD\nFN:Peter Okafor\n\n",
     "BEGIN:VCARD\r\nVERSION:3.0\r\nNOTE:he\r\n  called\r\nFN:Peter Okafor\r\n",
     "begin:vcard\nfn:Peter Okafor\nend:vcard\n", "BEGIN:VCARD\nFN:Peter Okafor\nPatient: came in\n"],
)  # fmt: skip
@pytest.mark.parametrize("behind", ["", CARD.format("FN:Sylvie Roy")])
def test_a_note_behind_a_card_without_an_end_is_read(card: str, behind: str) -> None:
    text = f"{card}Dear Mrs. Jeanne Gagnon,\nyou were seen with your son Luc Tremblay.\n{behind}"
    people = {value for kind, value in found(text) if kind == "PERSON"}
    assert people == {"Peter Okafor", "Jeanne Gagnon", "Luc Tremblay"} | ({"Sylvie Roy"} if behind else set())
