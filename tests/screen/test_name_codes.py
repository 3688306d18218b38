"""What a machine wrote holds no name; people of a mail's header and with a footnote are found."""

import pytest

from phiscan.config import Config
from phiscan.model import Document, EntityType, Finding, Segment
from phiscan.screen import build_screener, screen
from phiscan.screen.filters.machine_codes import is_of_code

SCREENER = build_screener(Config())
NAMED = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
HEADER = """Received: from VI1PR0402MB3438.eurprd04.prod.example.com (2603:10a6:800:4a::11)
 by Vi Jordan.prod.example.com with Microsoft SMTP
ARC-Authentication-Results: i=1; Martin Roy; dkim=pass header.d=Marie
X-Microsoft-Antispam: BCL:5;RULEID:Gagnon;Jean Tremblay
X-Original-From: Chidi Okafor <c@example.org>
From: "Marie Tremblay" <m@example.org>
To: Paul Gagnon <p@example.org>
Content-Disposition: attachment; filename="echo.pdf"
"""


def _people(text: str) -> list[Finding]:
    document = Document(text, (Segment("#headers", 0, len(text)),), "message/rfc822")
    return [one for one in screen(document, SCREENER).findings if one.entity_type in NAMED and one.bits]


def test_the_way_of_a_mail_names_nobody_and_its_people_are_found() -> None:
    names = [one.span.of(HEADER).strip('"') for one in _people(HEADER)]
    assert names == ["Chidi Okafor", "Marie Tremblay", "Paul Gagnon"]


@pytest.mark.parametrize(
    "text",
    [
        "X-ray: Marie Tremblay, no fracture.\n",
        "X-Patient: Marie Tremblay, no fracture.\n",
        "Received: from Dr. Roy, for Marie Tremblay\n",
        "References: Marie Tremblay (friend), 613-555-0142\n",
        "Content reviewed with Marie Tremblay.\n",
        "List-Id: Friends of Marie Tremblay <marie.example.org>\n",
    ],
)
def test_a_note_that_begins_like_a_header_is_read(text: str) -> None:
    assert any("Tremblay" in one.span.of(text) for one in _people(text))


@pytest.mark.parametrize(
    "text",
    [
        "Dear Mr. XXXXXXXX,\n",
        "Patient: XXXX XXXXX, seen by Dr. XXXXX.\n",
        "From: mikel091a\n",
        "Name: LO455/LOT455\n",
        "A\tB\tC\n1\t2\t3\n",
        "A | B | C\n",
    ],
)
def test_codes_letters_and_what_was_blackened_are_nobody(text: str) -> None:
    assert _people(text) == []


@pytest.mark.parametrize(
    "text",
    ["Patient: Marie Roy2, Jean Roy3", "Mr. T came.", "Name: Marie Xu", "bed 3 mr gray, bed 4 ms phan"],
)
def test_a_name_with_a_figure_and_a_short_one_stay(text: str) -> None:
    assert _people(text)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [("Roy 14B", 0, 3), ("J. Roy", 0, 1), ("Marie A. Roy", 6, 8), ("Xiu X. Xu", 0, 3)],
)
def test_what_is_no_code(text: str, start: int, end: int) -> None:
    assert not is_of_code(text, start, end)


def test_a_name_in_a_script_that_the_tagger_never_learned_is_doubtful_without_a_label() -> None:
    text = "Россия, Республика Карелия. Сегодня пришла Мария Иванова из города.\n"
    assert _people(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "4. The best test:\n  A. oral cephalexin\n  B. Doppler ultrasound\n  C. urgent surgery\n",
        "Repletion fails because of:  A. ROMK  B. non-adherence  C. ENaC\n",
        "Men     Women\nunder 50 yr      0-15    0-20\nover 50 yr       0-20    0-30\n",
    ],
)
def test_answers_and_units_are_nobody(text: str) -> None:
    assert _people(text) == []


def test_people_with_initials_in_rows_are_no_answers() -> None:
    text = "Waiting list, asthma clinic\nA. Tremblay\nB. Gagnon\nC. Okafor\n"
    assert len(_people(text)) >= 2
