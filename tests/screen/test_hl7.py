"""HL7 v2 messages: fields of identifiers; other separators, lines of logs and the segments of a site."""

import pytest

from phiscan.formats.hl7_encoding import as_standard
from phiscan.formats.hl7_free_text import passages
from phiscan.model import Document
from phiscan.screen.recognizers.messages.hl7 import hl7_findings

HEAD = "MSH|^~\\&|APP|NORTH_SHORE_GEN|LAB|CITY LAB|20240131083000-0500||ORU^R01|77|P|2.5\n"


def found_in(text: str) -> list[tuple[str, str]]:
    return [(f.entity_type.value, f.span.of(text)) for f in hl7_findings(Document(text, (), "text/plain"))]


def found(segment: str) -> list[tuple[str, str]]:
    return found_in(HEAD + segment)[len(found_in(HEAD)) :]


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("EVN|A04|202402110742|||K4471^Ouellet^Anh", [
            ("DATE", "202402110742"), ("HEALTH_PROFESSIONAL", "Ouellet^Anh"), ("OTHER_ID", "K4471")]),
        ("EVN|A04||||EWOLAK^Wolak^Ewa", [("HEALTH_PROFESSIONAL", "Wolak^Ewa"), ("OTHER_ID", "EWOLAK")]),
        ("PD1|||West Practice^^1208476642", [("LICENSE", "1208476642"), ("ORGANIZATION", "West Practice")]),
        ("PID|1||5550001112^^^ON^^^^^^RT~88-1204^^^NSG^MR~123456782^^^SSA", [
            ("HEALTH_CARD", "5550001112"), ("HEALTH_CARD", "RT"), ("MRN", "88-1204^^^NSG^MR"),
            ("SSN", "123456782")]),
        ("PID|1||9876543217^^^^JHN^^^^BC||||19600112", [
            ("HEALTH_CARD", "9876543217"), ("DATE_OF_BIRTH", "19600112")]),
        ("PV1|1|I|4W^12^2^NSG_EAST||||1744029111^Ali^Ngozi", [
            ("ORGANIZATION", "NSG_EAST"), ("HEALTH_PROFESSIONAL", "Ali^Ngozi"), ("LICENSE", "1744029111")]),
        ("ORC|RE|R77-18|23-195-04||||||20240131|88^Wolak^Ewa", [
            ("OTHER_ID", "R77-18"), ("OTHER_ID", "23-195-04"), ("DATE", "20240131"),
            ("HEALTH_PROFESSIONAL", "Wolak^Ewa")]),
        ("OBR|1|R77-18||4537-7^ESR^LN|||20240131|||Wolak, Ewa", [
            ("OTHER_ID", "R77-18"), ("DATE", "20240131"), ("HEALTH_PROFESSIONAL", "Wolak, Ewa")]),
        ("OBX|1|NM|4537-7^ESR||61|mm/h|<15|H|||F|||20240131||ewolak", [
            ("DATE", "20240131"), ("HEALTH_PROFESSIONAL", "ewolak")]),
        ("OBX|1|XPN|1^Contact||Wolak^Ewa", [("PERSON", "Wolak^Ewa")]),
        ("IN1|1|PPO7|0448|Crossroads Mutual|||(800)555-0113^^FX||||Mill Co|20240101|20241231", [
            ("HEALTH_PLAN", "PPO7"), ("ORGANIZATION", "Crossroads Mutual"),
            ("FAX", "(800)555-0113^^FX"), ("ORGANIZATION", "Mill Co"), ("DATE", "20240101"),
            ("DATE", "20241231")]),
        ("GT1|1||Wolak^Ewa|||||19810917||||123456782||||Mill Co", [
            ("PERSON", "Wolak^Ewa"), ("DATE_OF_BIRTH", "19810917"), ("SSN", "123456782"),
            ("ORGANIZATION", "Mill Co")]),
        ("FT1|1||||||CG|96413|||||||||||C50|1744029111^Ali^Ngozi", [
            ("HEALTH_PROFESSIONAL", "Ali^Ngozi"), ("LICENSE", "1744029111")]),
        ("NK1|1|Wolak^Jan|||||||||||Mill Co|||19501231", [
            ("PERSON", "Wolak^Jan"), ("ORGANIZATION", "Mill Co"), ("DATE_OF_BIRTH", "19501231")]),
        ("OBX|1|NM|4537-7^ESR||20241331|mm/h", []),  # no day of any month
        ("OBX|1|NM|777-3^Platelets||250000", []),
        ("DG1|1||M72.0^Dupuytren contracture^I10|||A", []),
        ("EVN|A04||||SYSTEM", []),
        ("OBX|1|ST|600-7^Culture||Staphylococcus aureus", []),
        ("IN1|1|HMO|||||||||||||||||||||||||||||||||||2500.00", []),
        ("IN1|1|HMO||||||||||||||SEL", []),
        ("FT1|1||||||CG|1744029119^INJECTION^CPT", []),  # no check digit
    ],
)  # fmt: skip
def test_reads_the_fields_of_a_segment_and_leaves_results_and_codes(
    segment: str, expected: list[tuple[str, str]]
) -> None:
    assert found(segment) == expected


def test_reads_facilities_and_the_moment_of_the_message() -> None:
    assert found_in(HEAD) == [
        ("ORGANIZATION", "NORTH_SHORE_GEN"), ("ORGANIZATION", "CITY LAB"), ("DATE", "20240131083000-0500"),
    ]  # fmt: skip


STANDARD = (
    "MSH|^~\\&|LIS|WEST GENERAL|ADT|HUB|20240131083000||ORU^R01|Q7718204|P|2.4\r"
    "PID|1||7718204^^^WG^MR||Wolak^Ewa||19810917|F|||12 Fern Rd^^Ajax^ON^L1T2K4\r"
    "NTE|1||crit to Dr Ali, wife Anneke\r"
)


@pytest.mark.parametrize(
    "own", ["#*~\\&", "|$%~&", "!^~\\&", "^|~\\&", "*^~\\&", "|~^\\&", "%$#@!", "~|^\\&", "|*+=&"]
)
def test_reads_any_separators(own: str) -> None:
    text = STANDARD.translate(str.maketrans("|^~\\&", own))
    assert as_standard(text) == STANDARD
    plain = str.maketrans(own, "|^~\\&")
    assert [(kind, value.translate(plain)) for kind, value in found_in(text)] == found_in(STANDARD)


@pytest.mark.parametrize(
    "before",
    ["2024-01-31 08:30 DEBUG in: ", "<VT>", 'payload="', "\x0b", "[rx] ", "\n", "> ", "msg='", "(", "\t"],
)
def test_reads_a_message_behind_what_a_log_writes(before: str) -> None:
    text = before + STANDARD
    assert len(as_standard(text)) == len(text)
    assert found_in(text) == found_in(STANDARD)


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
    assert found_in(text)[-2:] == [("PHONE", "4505550139"), ("OTHER_ID", "R-771820")]
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
    assert found_in(STANDARD + segment)[len(found_in(STANDARD)) :] == expected
