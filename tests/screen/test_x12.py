"""X12 interchanges: parties, addresses, numbers by their qualifiers, days; as sent and as extracted."""

import pytest

from phiscan.model import Document, PiiBit
from phiscan.screen.recognizers.messages.x12 import x12_findings

ENVELOPE = (
    "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240115*1253*^*00501"
    "*000000905*1*P*:~"
)
START = "ST*837*0021~"


def found(text: str) -> list[tuple[str, str]]:
    findings = x12_findings(Document(text, (), "text/plain"))
    return [(f.entity_type.value, f.span.of(text)) for f in findings]


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ("NM1*IL*1*WOLAK*EWA*K**JR*MI*JS00111223~N3*12 ELM CRT*APT 4~N4*LAVAL*QC*H7V1A1~DMG*D8*19430501*F~", [
            ("PERSON", "WOLAK*EWA*K**JR"), ("HEALTH_PLAN", "JS00111223"),
            ("STREET_ADDRESS", "12 ELM CRT*APT 4"), ("LOCATION", "LAVAL*QC*H7V1A1"),
            ("DATE_OF_BIRTH", "19430501")]),
        ("NM1*QC*1*NGUYEN*ANH~NM1*03*1*NGUYEN*LAN****34*123456789~NM1*74*1*NGUYEN~", [
            ("PERSON", "NGUYEN*ANH"), ("PERSON", "NGUYEN*LAN"), ("SSN", "123456789"), ("PERSON", "NGUYEN")]),
        ("NM1*82*1*ALI*NGOZI****XX*1744029111~NM1*DN*1*OKAFOR*PETER~NM1*77*2*WEST CLINIC*****XX*1999~", [
            ("HEALTH_PROFESSIONAL", "ALI*NGOZI"), ("LICENSE", "1744029111"),
            ("HEALTH_PROFESSIONAL", "OKAFOR*PETER"), ("ORGANIZATION", "WEST CLINIC"), ("LICENSE", "1999")]),
        ("NM1*PR*2*KEY MUTUAL*****PI*84488~N1*PE*FIRST GROUP*FI*777667755~", [
            ("ORGANIZATION", "KEY MUTUAL"), ("ORGANIZATION", "FIRST GROUP"), ("OTHER_ID", "777667755")]),
        ("NM1*41*2*BILLCO*****46*TG23~PER*IC*JERRY LACHANCE*TE*3055552222*FX*3055552223*EM*j@b.example~", [
            ("ORGANIZATION", "BILLCO"), ("HEALTH_PROFESSIONAL", "JERRY LACHANCE"), ("PHONE", "3055552222"),
            ("FAX", "3055552223"), ("EMAIL", "j@b.example")]),
        ("PER*IC*BILLING DEPT*TE*3055551234*EX*231~PER*CX**TE*800~", [("PHONE", "3055551234")]),
        ("NM1*IL*1*ROY*ANN~PER*IP*LUC ROY*HP*7172343334~", [
            ("PERSON", "ROY*ANN"), ("PERSON", "LUC ROY"), ("PHONE", "7172343334")]),
        ("CLM*26463774*100~REF*EA*M44821~REF*SY*123456789~REF*1L*GRP778~REF*0B*MD12345~REF*87*4~", [
            ("ACCOUNT", "26463774"), ("MRN", "M44821"), ("SSN", "123456789"), ("HEALTH_PLAN", "GRP778"),
            ("LICENSE", "MD12345")]),
        ("DTP*434*RD8*20240101-20240105~DTP*435*DT*202401011023~DTP*472*D8*20241340~HI*BH:11:D8:20231230~", [
            ("DATE", "20240101"), ("DATE", "20240105"), ("DATE", "202401011023"), ("DATE", "20231230")]),
        ("CLP*77-22*1*211366.97*138018.4**12*1199324~SBR*P**2222-SJ*ACME PLUMBING*****CI~", [
            ("ACCOUNT", "77-22"), ("OTHER_ID", "1199324"), ("HEALTH_PLAN", "2222-SJ"),
            ("ORGANIZATION", "ACME PLUMBING")]),
        ("LX*1~SV1*HC:99213*40*UN*1***1~HL*3*2*23*0~PRV*BI*PXC*203BF0100Y~LIN**N4*01234567891~", []),
    ],
)  # fmt: skip
def test_reads_the_elements_of_a_segment(segments: str, expected: list[tuple[str, str]]) -> None:
    assert found(START + segments) == expected


def test_separators_are_those_of_the_envelope() -> None:
    sent = f"{ENVELOPE}{START}NM1*QC*1*ROY*ANN~HI*BH:11:D8:20231230~"
    expected = [("DATE", "240115"), ("PERSON", "ROY*ANN"), ("DATE", "20231230")]
    assert found(sent) == found(sent.replace("~", "~\r\n")) == expected
    other = sent.replace("*", "|").replace("~", "\n").replace(":", ">")
    assert found(other) == [(kind, value.replace("*", "|")) for kind, value in expected]
    shown = "\n".join(segment.replace("*", " | ") for segment in sent.split("~"))
    assert found(shown) == [(kind, value.replace("*", " | ")) for kind, value in expected]


def test_says_which_element_and_which_qualifier() -> None:
    text = START + "NM1*IL*1**EWA****MI*77-12345~"
    name, number = x12_findings(Document(text, (), "text/plain"))
    assert (name.span.of(text), name.bits) == ("EWA", frozenset({PiiBit.FIRST_NAME}))
    assert [reason.detail for reason in (*name.reasons, *number.reasons)] == ["NM104 IL", "NM109 MI"]


@pytest.mark.parametrize(
    "segments",
    ["NM1*SMITHSON*1*Roy*Ann~", "NM1*SMITHSON*2*West Clinic~", "N1*SMITHSON*West Clinic~",
     "PER*ANNROY4165550199*Ann Roy~"],
)  # fmt: skip
def test_no_text_of_the_document_is_a_reason(segments: str) -> None:
    (finding,) = x12_findings(Document(START + segments, (), "text/plain"))
    assert [reason.detail for reason in finding.reasons] in (["NM103"], ["N102"], ["PER02"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ISA",
        "ISA*",
        "ISA-10-year plan, ISA*00*",
        "NM1*",
        "NM1*IL~",
        "ST*837*",
        "the ISA (savings) and N1*PR*Key",
    ],
)
def test_leaves_what_is_no_interchange(text: str) -> None:
    assert found(text) == []
