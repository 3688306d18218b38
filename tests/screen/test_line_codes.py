from __future__ import annotations

import pytest

from phiscan.model import Document, EntityType
from phiscan.screen.recognizers.identifiers.device_and_insurer_numbers import LineCodeRecognizer

DEVICE, PLAN = EntityType.DEVICE, EntityType.HEALTH_PLAN


@pytest.fixture(scope="module")
def recognizer() -> LineCodeRecognizer:
    return LineCodeRecognizer()


def found(recognizer: LineCodeRecognizer, text: str) -> list[tuple[EntityType, str]]:
    findings = recognizer.recognize(Document(text, (), ""))
    return list(dict.fromkeys((finding.entity_type, finding.span.of(text)) for finding in findings))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hearing aids: Oticon More 1 R 61884417 L 61884418", [(DEVICE, "61884417"), (DEVICE, "61884418")]),
        ("ILR: LINQ II RLB884417G", [(DEVICE, "RLB884417G")]),
        ("pompe intrathécale SynchroMed II NGP118204H", [(DEVICE, "NGP118204H")]),
        ("😀 aides auditives Audéo D 2211X04K7", [(DEVICE, "2211X04K7")]),
        ("CADD Solis 1044718", [(DEVICE, "1044718")]),
        ("dialysis machine 2008T #7SDS-104471", [(DEVICE, "7SDS-104471")]),
        ("has UHC Medicare Adv 944718820 00", [(PLAN, "944718820 00")]),
        ("BCBS TX ZGP 884471882", [(PLAN, "ZGP 884471882")]),
        ("insulin pump: t:slim X2 #881204", [(DEVICE, "881204")]),
        ("La Capitale 009944 / 118204", [(PLAN, "009944"), (PLAN, "118204")]),
    ],
)
def test_finds_a_number_further_on_in_the_line(
    recognizer: LineCodeRecognizer, text: str, expected: list[tuple[EntityType, str]]
) -> None:
    assert found(recognizer, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "pacemaker checked 20240312",
        "pacemaker checked.\n1044718",
        "insulin pump. The 1044718 others",
        "insulin pump 881204",
        "CPAP 5000000 units",
        "hearing aid, call 613-555-0199",
        "CPAP since 2019-2020",
        "Aetna paid $1044718",
        "Humana 6135550199",
        "Cigna has 1044718 members",
        "a lead of 1044718",
        "the ventilators 1044718",
    ],
)
def test_leaves_days_phones_amounts_and_other_lines(recognizer: LineCodeRecognizer, text: str) -> None:
    assert found(recognizer, text) == []


def test_reads_no_line_again_for_each_word_in_it(recognizer: LineCodeRecognizer) -> None:
    text = "CPAP BiPAP CADD 1044718"
    assert len(list(recognizer.recognize(Document(text, (), "")))) == 1


def test_cuts_off_no_code_that_begins_where_its_reach_ends(recognizer: LineCodeRecognizer) -> None:
    code = "ABCDEF-ABCD-123456789X"
    assert found(recognizer, f"CPAP {'x' * 69} {code}") == [(DEVICE, code)]
