"""X12 and EDIFACT: parties, addresses, numbers by their qualifiers, days, free text, separators."""

import pytest

from phiscan.formats.segments import passages
from phiscan.model import Document, PiiBit
from phiscan.screen.recognizers.messages.segments import segment_findings

ENVELOPE = (
    "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240115*1253*^*00501"
    "*000000905*1*P*:~"
)
START = "ST*837*0021~"


HEAD = "UNB+UNOC:3+WEST LAB:14+GP88210+240719:1544+BR0077182'"


def found(text: str, head: str = "") -> list[tuple[str, str]]:
    """Return the types and values of the findings after a head, in text order."""
    findings = segment_findings(Document(head + text, (), "text/plain"))
    ordered = sorted(findings, key=lambda one: one.span)
    return [(f.entity_type.value, f.span.of(head + text)) for f in ordered if f.span.start >= len(head)]


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
    name, number = segment_findings(Document(text, (), "text/plain"))
    assert (name.span.of(text), name.bits) == ("EWA", frozenset({PiiBit.FIRST_NAME}))
    assert [reason.detail for reason in (*name.reasons, *number.reasons)] == ["NM104 IL", "NM109 MI"]


@pytest.mark.parametrize(
    "segments",
    ["NM1*SMITHSON*1*Roy*Ann~", "NM1*SMITHSON*2*West Clinic~", "N1*SMITHSON*West Clinic~",
     "PER*ANNROY4165550199*Ann Roy~"],
)  # fmt: skip
def test_no_text_of_the_document_is_a_reason(segments: str) -> None:
    (finding,) = segment_findings(Document(START + segments, (), "text/plain"))
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


def test_reads_the_envelope() -> None:
    assert found(HEAD) == [
        ("ORGANIZATION", "WEST LAB"), ("OTHER_ID", "GP88210"), ("DATE", "240719"), ("OTHER_ID", "BR0077182"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("BGM+LSR+RPT24-118820'", [("OTHER_ID", "RPT24-118820")]),
        ("RFF+ROI:GP240719-31'", [("OTHER_ID", "GP240719-31")]),
        ("DTM+329:19341209:102'", [("DATE_OF_BIRTH", "19341209")]),
        ("DTM+SCO:202407191544:203'", [("DATE", "202407191544")]),
        ("DTM+137:240719:101'", [("DATE", "240719")]),
        ("PNA+PAT+9434765919:NHI+++SU:WOLAK+FO:EWA+TI:MRS'", [
            ("HEALTH_CARD", "9434765919"), ("PERSON", "WOLAK"), ("PERSON", "EWA")]),
        ("PNA+PAT+0044188+++SU:D?'AMOURS'", [("MRN", "0044188"), ("PERSON", "D?'AMOURS")]),
        ("NAD+MR+G9217744:901++ASANTE K'", [("LICENSE", "G9217744"), ("HEALTH_PROFESSIONAL", "ASANTE K")]),
        ("NAD+PO+40771::DNB++DUGUAY:LISE'", [("LICENSE", "40771"), ("HEALTH_PROFESSIONAL", "DUGUAY:LISE")]),
        ("NAD+PO++WILLOWBANK SURGERY'", [("ORGANIZATION", "WILLOWBANK SURGERY")]),
        ("NAD+PAT++FERN COTTAGE:FORE ST::ST KEVERNE:TR12 6ND'", [
            ("STREET_ADDRESS", "FERN COTTAGE:FORE ST::ST KEVERNE:TR12 6ND")]),
        ("NAD+SLA+++WEST LAB+18 RUE DU QUAI+CARAQUET+NB+E1W1B6'", [
            ("ORGANIZATION", "WEST LAB"), ("STREET_ADDRESS", "18 RUE DU QUAI"), ("LOCATION", "CARAQUET"),
            ("LOCATION", "NB"), ("POSTAL_CODE", "E1W1B6")]),
        ("ADR+1+1:44 CHEMIN DU LAC+BAS-CARAQUET+E1W5B7'", [
            ("STREET_ADDRESS", "44 CHEMIN DU LAC"), ("LOCATION", "BAS-CARAQUET"), ("POSTAL_CODE", "E1W5B7")]),
        ("COM+5065550137:TE'COM+a@b.example:EM'COM+77:TE'", [
            ("PHONE", "5065550137"), ("EMAIL", "a@b.example")]),
        ("CTA+IC+:Lise Duguay'", [("HEALTH_PROFESSIONAL", "Lise Duguay")]),
        ("UNT+17+1'UNZ+1+BR0077182'", [("OTHER_ID", "BR0077182")]),
        ("UNH+1+MEDRPT:D:93A'", []),
        ("PDI+1'", []),
        ("INV+MQ+2345-7:LN::GLUCOSE'", []),
        ("RSL+NV+7?.9+:HI+MMOL/L'", []),
        ("S06+06'", []),
        ("SPC+TSP+:::BLOOD'", []),
        ("DTM+329:UNKNOWN:102'", []),
        ("NAD+PO'", []),
        ("PNA+PAT'", []),
        ("RFF+ROI'", []),
        ("+++'", []),
    ],
)  # fmt: skip
def test_reads_a_segment_and_leaves_codes(segment: str, expected: list[tuple[str, str]]) -> None:
    assert found(segment, HEAD) == expected


def test_reads_other_separators() -> None:
    text = "UNA*^.! ~UNB^UNOC*3^WEST LAB^EAST GP^240719*1544^77182~PNA^PAT^44188^^^SU*WO!^LAK~"
    assert found(text)[-2:] == [("MRN", "44188"), ("PERSON", "WO!^LAK")]


def test_gives_the_free_text_as_it_is_meant() -> None:
    text = f"received:\n{HEAD}FTX+RIT+++Appel?: la fille:Gisele'UNZ+1+77'\ndone by Ewa"
    assert ["".join(piece.text for piece in passage) for passage in passages(text)] == [
        "received:\n", "Appel: la fille\nGisele", "\ndone by Ewa",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["UNB is short", "the UNB+ segment", "UNB+UNOC", HEAD[:30]])
def test_bears_what_is_none_or_cut_off(text: str) -> None:
    assert len(found(text)) <= 1


def test_reads_as_text_what_was_cut_off_within_a_segment() -> None:
    assert found("PNA+NOK++++SU:GAGNON+FO:LUC", HEAD) == []
    text = f"{HEAD}UNH+1'PNA+NOK++++SU:GAGNON+FO:LUC"
    assert [piece.text for passage in passages(text) for piece in passage] == ["PNA+NOK++++SU:GAGNON+FO:LUC"]


@pytest.mark.parametrize(("release", "expected"), [("!", "why? D^Amours"), (" ", "why? D!"), ("?", "why D!")])
def test_reads_free_text_by_its_own_release_character(release: str, expected: str) -> None:
    text = f"UNA*^.{release} ~UNB^UNOC*3^LAB^GP^240719*1544^77182~FTX^A^^^why? D!^Amours~UNZ^1^77182~"
    assert ["".join(piece.text for piece in passage) for passage in passages(text)] == [expected]
