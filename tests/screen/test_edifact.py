"""EDIFACT: segments of patients and parties, numbers, days, free text; other separators; what is none."""

import pytest

from phiscan.formats.edifact_segments import passages
from phiscan.model import Document
from phiscan.screen.recognizers.messages.edifact import edifact_findings

HEAD = "UNB+UNOC:3+WEST LAB:14+GP88210+240719:1544+BR0077182'"


def found(segment: str, head: str = HEAD) -> list[tuple[str, str]]:
    text = head + segment
    findings = edifact_findings(Document(text, (), "text/plain"))
    return [(f.entity_type.value, f.span.of(text)) for f in findings if f.span.start >= len(head)]


def test_reads_the_envelope() -> None:
    assert found(HEAD, "") == [
        ("OTHER_ID", "BR0077182"), ("ORGANIZATION", "WEST LAB"), ("OTHER_ID", "GP88210"), ("DATE", "240719"),
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
        ("NAD+MR+G9217744:901++ASANTE K'", [("HEALTH_PROFESSIONAL", "ASANTE K"), ("LICENSE", "G9217744")]),
        ("NAD+PO+40771::DNB++DUGUAY:LISE'", [("HEALTH_PROFESSIONAL", "DUGUAY:LISE"), ("LICENSE", "40771")]),
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
    ],
)  # fmt: skip
def test_reads_a_segment(segment: str, expected: list[tuple[str, str]]) -> None:
    assert found(segment) == expected


@pytest.mark.parametrize(
    "segment",
    ["UNH+1+MEDRPT:D:93A'", "PDI+1'", "INV+MQ+2345-7:LN::GLUCOSE'", "RSL+NV+7?.9+:HI+MMOL/L'", "S06+06'",
     "SPC+TSP+:::BLOOD'", "DTM+329:UNKNOWN:102'", "NAD+PO'", "PNA+PAT'", "RFF+ROI'", "+++'"],
)  # fmt: skip
def test_leaves_codes(segment: str) -> None:
    assert found(segment) == []


def test_reads_other_separators() -> None:
    text = "UNA*^.! ~UNB^UNOC*3^WEST LAB^EAST GP^240719*1544^77182~PNA^PAT^44188^^^SU*WO!^LAK~"
    assert found(text, "")[-2:] == [("MRN", "44188"), ("PERSON", "WO!^LAK")]


def test_gives_the_free_text_as_it_is_meant() -> None:
    text = f"received:\n{HEAD}FTX+RIT+++Appel?: la fille:Gisele'UNZ+1+77'\ndone by Ewa"
    assert ["".join(piece.text for piece in passage) for passage in passages(text)] == [
        "received:\n", "Appel: la fille\nGisele", "\ndone by Ewa",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["UNB is short", "the UNB+ segment", "UNB+UNOC", HEAD[:30]])
def test_bears_what_is_none_or_cut_off(text: str) -> None:
    assert len(found(text, "")) <= 1


def test_reads_as_text_what_was_cut_off_within_a_segment() -> None:
    assert found("PNA+NOK++++SU:GAGNON+FO:LUC") == []
    text = f"{HEAD}UNH+1'PNA+NOK++++SU:GAGNON+FO:LUC"
    assert [piece.text for passage in passages(text) for piece in passage] == ["PNA+NOK++++SU:GAGNON+FO:LUC"]


@pytest.mark.parametrize(("release", "expected"), [("!", "why? D^Amours"), (" ", "why? D!"), ("?", "why D!")])
def test_reads_free_text_by_its_own_release_character(release: str, expected: str) -> None:
    text = f"UNA*^.{release} ~UNB^UNOC*3^LAB^GP^240719*1544^77182~FTX^A^^^why? D!^Amours~UNZ^1^77182~"
    assert ["".join(piece.text for piece in passage) for passage in passages(text)] == [expected]
