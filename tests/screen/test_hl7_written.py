"""HL7 v2 messages with separators of a sender's own, within the lines of logs, and the segments of a site."""

import pytest

from phiscan.formats.hl7_encoding import as_standard
from phiscan.formats.hl7_free_text import passages
from phiscan.model import Document
from phiscan.screen.recognizers.messages.hl7 import hl7_findings

STANDARD = (
    "MSH|^~\\&|LIS|WEST GENERAL|ADT|HUB|20240131083000||ORU^R01|Q7718204|P|2.4\r"
    "PID|1||7718204^^^WG^MR||Wolak^Ewa||19810917|F|||12 Fern Rd^^Ajax^ON^L1T2K4\r"
    "NTE|1||crit to Dr Ali, wife Anneke\r"
)


def found(text: str) -> list[tuple[str, str]]:
    return [(f.entity_type.value, f.span.of(text)) for f in hl7_findings(Document(text, (), "text/plain"))]


@pytest.mark.parametrize(
    "own", ["#*~\\&", "|$%~&", "!^~\\&", "^|~\\&", "*^~\\&", "|~^\\&", "%$#@!", "~|^\\&", "|*+=&"]
)
def test_reads_any_separators(own: str) -> None:
    text = STANDARD.translate(str.maketrans("|^~\\&", own))
    assert as_standard(text) == STANDARD
    assert [(kind, value.translate(str.maketrans(own, "|^~\\&"))) for kind, value in found(text)] == found(
        STANDARD
    )


@pytest.mark.parametrize(
    "before",
    ["2024-01-31 08:30 DEBUG in: ", "<VT>", 'payload="', "\x0b", "[rx] ", "\n", "> ", "msg='", "(", "\t"],
)
def test_reads_a_message_behind_what_a_log_writes(before: str) -> None:
    text = before + STANDARD
    assert len(as_standard(text)) == len(text)
    assert found(text) == found(STANDARD)


def test_gives_plain_signs_another_place() -> None:
    assert as_standard("MSH#*~\\&#LAB\rNTE#1##a|b^c\rno segment # here") == (
        "MSH|^~\\&|LAB\rNTE|1||a#b*c\rno segment # here"
    )


@pytest.mark.parametrize(
    "text", ["MSH is short", "the MSH-10", "MSH====", "MSH|----|", "XMSH|^~\\&|A", "MSH: a, b"]
)
def test_leaves_other_text(text: str) -> None:
    assert as_standard(text) == text


def test_reads_what_a_site_made_up() -> None:
    text = STANDARD + "ZMF|MD|Abitbol Josee|CLIN^X|4505550139|R-771820\r"
    assert found(text)[-2:] == [("PHONE", "4505550139"), ("OTHER_ID", "R-771820")]
    assert "Abitbol Josee" in [piece.text for passage in passages(text) for piece in passage]


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (
            "EVN|A04||||JQT^Quartey^Josephine",
            [("HEALTH_PROFESSIONAL", "Quartey^Josephine"), ("OTHER_ID", "JQT")],
        ),
        ("EVN|A04||||Quartey^Josephine", [("HEALTH_PROFESSIONAL", "Quartey^Josephine")]),
        ("MSA|AA|Q7718204", [("OTHER_ID", "Q7718204")]),
        ("MSA|AA|77", []),
    ],
)
def test_reads_accounts_of_letters_and_numbers_of_messages(
    segment: str, expected: list[tuple[str, str]]
) -> None:
    assert found(STANDARD + segment)[len(found(STANDARD)) :] == expected
