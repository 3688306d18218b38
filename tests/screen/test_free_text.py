"""What people wrote within messages and labels: read for names, put back to its place, codes left alone."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.formats.hl7_free_text import passages as hl7_passages
from phiscan.model import Document, EntityType, Finding, Segment, Span
from phiscan.screen import screen
from phiscan.screen.free_text import in_free_text
from phiscan.text.passages import Joined, Piece
from tests.screen.whole import found, screened, shipped

HEAD = "MSH|^~\\&|LAB|NSG|LAB|NSG|20240131083000||ORU^R01|77|P|2.5\r"
PERSON, DOCTOR = "PERSON", "HEALTH_PROFESSIONAL"


def people(text: str) -> set[tuple[str, str]]:
    return {one for one in found(text) if one[0] in {PERSON, DOCTOR}}


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ("OBX|1|FT|18842-5^Note||Seen with her son Luc Tremblay, well||||||F", {(PERSON, "Luc Tremblay")}),
        ("NTE|1|L|Discussed with Dr. Anand Patel by phone", {(DOCTOR, "Anand Patel")}),
        ("OBX|1|TX|X|1|GROSS: tan||||||F\rOBX|2|TX|X|2|Dictated by Dr. Helen Marsh\\.br\\Copy||||||F", {
            (DOCTOR, "Helen Marsh")}),
        ("OBX|1|TX|X||Prise de sang~Conjoint : Andr\\XC3A9\\ Lafleur||||||F", {
            (PERSON, "Andr\\XC3A9\\ Lafleur")}),
        ("OBX|1|TX|X||Plan as before\nSeen by Dr. Kwame Osei in clinic||||||F", {(DOCTOR, "Kwame Osei")}),
        ("OBX|1|ST|11^Discharge provider name||Daniel Davis||||||F", {(PERSON, "Daniel Davis")}),
        ("PV2|||^Pain, found at home by Mrs. Jeanne Gagnon", {(PERSON, "Jeanne Gagnon")}),
    ],
)  # fmt: skip
def test_names_in_the_text_of_a_message(segment: str, expected: set[tuple[str, str]]) -> None:
    assert people(HEAD + segment) == expected


@pytest.mark.parametrize(
    "segment",
    [
        "OBX|1|ST|5778-6^Color^LN||Amber|||N|||F",
        "OBX|1|ST|600-7^Blood culture^LN||CANDIDA ALBICANS|||A|||F",
        "OBX|1|ST|X^Drain^L||Jackson Pratt||||||F",
        "OBX|1|CE|X^Device^L||JP^Jackson Pratt^L||||||F",
        "OBX|1|NM|2345-7^Glucose^LN||5.4|mmol/L|3.9-6.1|N|||F",
        "OBX|1|SN|28-1^Ampicillin^LN||<^2|ug/mL||S|||F",
        "DG1|1||K50.9^Crohn disease^I10|Hill Stephen Ray||A",
        "RXE|1|08^Jean Roy^CVX",
    ],
)
def test_codes_and_results_are_nobody(segment: str) -> None:
    assert found(HEAD + segment) == found(HEAD)


LOG = (
    "2024-03-01 12:00:01 INFO from 10.1.2.3, operator Janice Whitfield\n{}\n"
    "2024-03-01 12:00:02 WARN could not match patient Luc Gagnon, Barrie, ON\n"
)
SENT = (
    "MSH|^~\\&|LAB|NSG\rPID|1||77-12^^^NSG^MR||WOLAK^EWA\r"
    "OBX|1|TX|X||Seen by Dr. Helen Marsh\\.br\\Copy\rOBX|2|ST|X||Amber"
)


@pytest.mark.parametrize(
    "sent", [SENT, SENT.replace("\r", "\n"), f'payload="{SENT}"'.replace("\\", "\\\\").replace("\r", "\\r")]
)
def test_messages_in_the_log_of_an_interface(sent: str) -> None:
    text = LOG.format(sent)
    assert people(text) == {
        (PERSON, "Janice Whitfield"), (PERSON, "WOLAK^EWA"), (DOCTOR, "Helen Marsh"), (PERSON, "Luc Gagnon"),
    }  # fmt: skip
    assert {("MRN", "77-12^^^NSG^MR"), ("LOCATION", "Barrie, ON")} <= found(text)
    assert "TX" not in {value for _, value in found(text)}


def test_what_is_found_stands_where_it_stood() -> None:
    text = HEAD + "NTE|1||\\H\\Roy\\N\\ \\T\\ O\\X27\\Brien~Ann\r\nNTE|2||Lee"
    joined = Joined.of(hl7_passages(text))
    assert joined.text == "Roy & O'Brien\nAnn\r\n\nLee\n"
    for read, written in (
        ("Roy", "Roy"),
        ("O'Brien", "O\\X27\\Brien"),
        ("Ann", "Ann"),
        ("Lee", "Lee"),
        ("&", "\\T\\"),
    ):
        start = joined.text.index(read)
        assert [span.of(text) for span in joined.places(Span(start, start + len(read)))] == [written]
    whole = Span(joined.text.index("Brien"), joined.text.index("Lee") + 3)
    assert [span.of(text).strip() for span in joined.places(whole)] == ["Brien", "Ann", "Lee"]


@given(values=st.lists(st.text(max_size=4), max_size=5), gaps=st.integers(0, 3))
def test_every_span_leads_back_to_the_same_characters(values: list[str], gaps: int) -> None:
    text, passages = "", []
    for value in values:
        text += "|" * gaps
        passages.append([Piece(len(text), len(text) + len(value), value)])
        text += value
    joined = Joined.of(passages)
    for start in range(len(joined.text)):
        for end in range(start + 1, len(joined.text) + 1):
            parts = [span.of(text) for span in joined.places(Span(start, end))]
            assert "".join(parts) == "".join(
                value[max(0, start - at) : max(0, end - at)]
                for at, value in zip(joined.passage_starts, values, strict=True)
            )


def test_a_document_that_a_message_carries_is_read() -> None:
    message, fields, letter = (
        HEAD + "OBR|1",
        "Patient name: X",
        "Dear Mrs. Jeanne Gagnon,\nyou were seen today.",
    )
    text = f"{message}\n{fields}\n{letter}\n"
    segments = []
    for locator, part in (("", message), ("#fields", fields), ("document1", letter)):
        start = text.index(part)
        segments.append(Segment(locator, start, start + len(part)))
    findings = screen(Document(text, tuple(segments), "application/hl7-v2"), shipped()).findings
    assert [f.span.of(text) for f in findings if f.entity_type is EntityType.PERSON] == ["Jeanne Gagnon"]


def test_the_fields_behind_a_message_are_not_read_twice() -> None:
    seen = []

    def read(document: Document) -> Iterator[Finding]:
        seen.append(document.text)
        yield from ()

    text = HEAD + "NTE|1||Call Ann\nPatient name: Ann"
    cut = text.index("Patient")
    segments = (Segment("a.hl7", 0, cut - 1), Segment("a.hl7#fields", cut, len(text)))
    list(in_free_text(Document(text, segments, ""), read))
    assert seen == ["Call Ann\n"]


LABEL = (
    "^XA^PW812^FO50,100^A0N,28,28^FDTREMBLAY, MARIE^FS^FO50,140^ADN,36,20^FDMRN: 0123456^FS\n"
    "^FO10,20,30^GB100,50,2^FS^BY2,3,60^FT50,380^BCN,,Y,N^FD>:77^FS\n"
    "^FT40,300^A0N,20,20^FD12 Rue Principale, Laval QC H7V 1A1^FS^FO20,50^FDROOM 12^FS^FO50,90^FDTube^FS\n"
    "^FO500,30^BQN,2,4^FDQA,50091472^FS^BCN,60,Y^FO1,2^FDH2509-02^FS^BEN^FD012345678905^FS^BCN^FDTUBE^FS^XZ"
)


def test_only_what_a_label_prints_is_read() -> None:
    assert found(LABEL) == {
        ("PERSON", "TREMBLAY, MARIE"),
        ("MRN", "0123456"),
        ("STREET_ADDRESS", "12 Rue Principale"),
        ("LOCATION", "Laval QC"),
        ("POSTAL_CODE", "H7V 1A1"),
        ("OTHER_ID", "50091472"),
        ("OTHER_ID", "H2509-02"),
    }


NOTE = "Dear Mrs. Jeanne Gagnon,\nyou were seen with your son Luc Tremblay.\n"
ENVELOPE = (
    "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240115*1253*^*00501"
    "*000000905*1*P*:~"
)


@pytest.mark.parametrize(
    "text",
    [
        f"ST*837*0001~\n{NOTE}",
        f"ST*837*0001\n{NOTE}SE*1*0001\n",
        f"{ENVELOPE}\n{NOTE}",
        f"{ENVELOPE}\r\nIEA*1*000000905\r\n\r\n{NOTE}",
        f"{ENVELOPE}{NOTE}~IEA*1*000000905~",
    ],
)
def test_a_note_beside_an_interchange_is_read_whole(text: str) -> None:
    assert people(text) == {(PERSON, "Jeanne Gagnon"), (PERSON, "Luc Tremblay")}


@pytest.mark.parametrize(
    "segments",
    [
        "PID|1\r",
        "PID|1\r\n\r\n",
        "OBX|1|TX|X||Stable||||||F\r",
        "OBX|1|ED|X||^PDF^^Base64^JVBERi0x\n" + "QUJD" * 19 + "\n",
    ],
)
def test_a_note_behind_the_segments_of_a_message_is_read_whole(segments: str) -> None:
    text = HEAD + segments
    assert people(text) == set()
    assert people(text + NOTE) == {(PERSON, "Jeanne Gagnon"), (PERSON, "Luc Tremblay")}


def test_the_question_of_a_value_is_a_code() -> None:
    text = f"{HEAD}OBX|123456|ABC|046 454 286||5\r"
    assert not [f for f in screened(text).findings if "046" in f.span.of(text)]


def test_a_text_without_segments_is_one_passage() -> None:
    assert [list(passage) for passage in hl7_passages("Ann Roy")] == [[Piece(0, 7, "Ann Roy")]]


PRINTED = "^XA^FO50,50^FDROOM 12^FS^FO9,9^GB100,50,2^FS^XZ"


@pytest.mark.parametrize(
    "text",
    [
        f"{PRINTED}\n{NOTE}",
        f"{PRINTED}\n{NOTE}{PRINTED}",
        f"{PRINTED}~DGR:A.GRF,64,8,\n00FF00FF00FF00FF00FF\n00FF00FF00FF00FF\n{NOTE}{PRINTED}",
        f"CT~~CD,~CC^~CT~\n{PRINTED}\nabout ~50 or 10^9\n{NOTE}",
        f"{PRINTED.removesuffix('^XZ')}\n{NOTE}",
    ],
)
def test_a_note_beside_a_label_is_read_whole(text: str) -> None:
    findings = found(f"{text}MRN: 0123456\n")
    assert findings == {(PERSON, "Jeanne Gagnon"), (PERSON, "Luc Tremblay"), ("MRN", "0123456")}
