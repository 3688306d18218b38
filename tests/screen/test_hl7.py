"""HL7 v2 messages: the fields of identifiers, time stamps, numbers by their type or who assigned them."""

import pytest

from phiscan.model import Document
from phiscan.screen.recognizers.messages.hl7 import hl7_findings

HEAD = "MSH|^~\\&|APP|NORTH_SHORE_GEN|LAB|CITY LAB|20240131083000-0500||ORU^R01|77|P|2.5\n"


def found(segment: str) -> list[tuple[str, str]]:
    text = HEAD + segment
    findings = hl7_findings(Document(text, (), "text/plain"))
    return [(f.entity_type.value, f.span.of(text)) for f in findings if f.span.start >= len(HEAD)]


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
    findings = hl7_findings(Document(HEAD, (), "text/plain"))
    assert [(f.entity_type.value, f.span.of(HEAD)) for f in findings] == [
        ("ORGANIZATION", "NORTH_SHORE_GEN"), ("ORGANIZATION", "CITY LAB"), ("DATE", "20240131083000-0500"),
    ]  # fmt: skip
