"""Tests of staff_signatures: initials with a degree, who dictated and typed, accounts."""

from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import EntityType
from phiscan.screen.recognizers.person.staff_signatures import signs

PERSON, DOCTOR = EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0800 settled   JM RN", [("JM", DOCTOR)]),
        ("-- K.S., LPN", [("K.S.", DOCTOR)]),
        ("charted by TK RPN.", [("TK", DOCTOR)]),
        ("note rédigée par K.S., RPN", [("K.S.", DOCTOR)]),
        ("as per JM RN,", [("JM", DOCTOR)]),
        ("cc: Dr. Roy\nSGR/tlm\n", [("SGR", DOCTOR), ("tlm", PERSON)]),
        ("dicté, transcrit par jmb le 21 mars", [("jmb", PERSON)]),
        ("Dict. : OMD  Transc. : jmb", [("OMD", DOCTOR), ("jmb", PERSON)]),
        ("Crit phoned by smacisaac 15:16", [("smacisaac", PERSON)]),
        ("saisi par ggagnon", [("ggagnon", PERSON)]),
    ],
)
def test_finds_signs_of_staff(text: str, expected: list[tuple[str, EntityType]]) -> None:
    assert [(f.span.of(text), f.entity_type) for f in signs(text, load_gazetteer())] == expected


@pytest.mark.parametrize(
    "text",
    [
        "AM RN to call, ED RN aware",
        "4 RN, 2 LPN",
        "BP/hr\n",
        "QA/dev\nnothing else",
        "Chat transcript case 1",
        "bili transcut. 148",
        "by agreement, by amanda, par courriel",
        "typed by the clerk",
        "IV RN team",
    ],
)
def test_leaves_other_letters(text: str) -> None:
    assert not list(signs(text, load_gazetteer()))


def test_signs_identify_nobody_by_themselves() -> None:
    assert all(not finding.bits for finding in signs("transcrit par jmb", load_gazetteer()))
