"""DICOM headers, as listings of several programs and in JSON: what each tag holds; tags are nothing."""

import json

import pytest

from phiscan.model import Document, Span
from phiscan.screen.recognizers.messages.dicom import (
    is_model,
    is_tag,
    listing_findings,
    model_findings,
    model_passages,
    passages,
)
from tests.screen.whole import found, screened

DCMDUMP = """\
# Dicom-File-Format
# Used TransferSyntax: Little Endian Explicit
(0002,0002) UI =CTImageStorage                          #  26, 1 MediaStorageSOPClassUID
(0008,0020) DA [20240212]                               #   8, 1 StudyDate
(0008,0050) SH [RVH2400817]                             #  10, 1 AccessionNumber
(0008,0060) CS [CT]                                     #   2, 1 Modality
(0008,0070) LO [GE MEDICAL SYSTEMS]                     #  18, 1 Manufacturer
(0008,0090) PN [CHEN^WEI^^DR]                           #  12, 1 ReferringPhysicianName
(0008,1050) PN (no value available)                     #   0, 0 PerformingPhysicianName
(0008,1060) PN [Marsh, Helen\\OKAFOR^PETER]              #  24, 2 NameOfPhysiciansReadingStudy
(0010,0010) PN [TREMBLAY^MARIE ]                        #  16, 1 PatientName
(0010,0020) LO [0123456]                                #   8, 1 PatientID
(0010,0030) DA [19300214]                               #   8, 1 PatientBirthDate
(0010,1010) AS [093Y]                                   #   4, 1 PatientAge
(0010,1040) LO [Box 77, Nekaneet, SK]                   #  22, 1 PatientAddress
(0010,4000) LT [Came with her son Luc Tremblay]         #  30, 1 PatientComments
(0018,1000) SH [404322CT02]                             #  10, 1 DeviceSerialNumber
(0020,0010) SH [8821]                                   #   4, 1 StudyID
(0028,0010) US 512                                      #   2, 1 Rows
(7fe0,0010) OW 0000\\0000                                # 524288, 1 PixelData
"""


def test_a_listing_holds_what_its_tags_say() -> None:
    assert found(DCMDUMP) == {
        ("DATE", "20240212"), ("OTHER_ID", "RVH2400817"), ("HEALTH_PROFESSIONAL", "CHEN^WEI^^DR"),
        ("HEALTH_PROFESSIONAL", "Marsh, Helen"), ("HEALTH_PROFESSIONAL", "OKAFOR^PETER"),
        ("PERSON", "TREMBLAY^MARIE"), ("MRN", "0123456"), ("DATE_OF_BIRTH", "19300214"),
        ("AGE_OVER_89", "093Y"), ("STREET_ADDRESS", "Box 77, Nekaneet, SK"), ("PERSON", "Luc Tremblay"),
        ("DEVICE", "404322CT02"), ("OTHER_ID", "8821"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "(0010,0010) PN [ROY^ANN]  # 8,1 Patient's Name",
        "(0010, 0010) Patient's Name                      PN: 'ROY^ANN'",
        "   >(0010,0010) PN [ROY^ANN ]",
        "(0x0010,0x0010) PN Patient's Name \t VR=<PN>   VL=<0x0008>  <ROY^ANN >",
    ],
)
def test_reads_the_lines_of_several_programs(line: str) -> None:
    text = f"(0008,0060) CS [CT]\n{line}\n"
    (name,) = listing_findings(Document(text, (), "text/plain"))
    assert (name.entity_type.value, name.span.of(text)) == ("PERSON", "ROY^ANN")
    assert [reason.detail for reason in name.reasons] == ["(0010,0010)"]


@pytest.mark.parametrize(
    "line",
    ["(0010,0010) PN [ANONYMOUS]", "(0010,0010) PN []", "(0010,0010) PN [^^^]", "(0010,1010) AS [074Y]",
     "(0010,0030) DA [19301345]", "(0010,0030) DA []", "(0010,0020) LO [NONE]", "see (0010,0010) PN ROY",
     "(0010,0010) PN: ''"],
)  # fmt: skip
def test_leaves_what_names_nobody(line: str) -> None:
    assert not list(listing_findings(Document(f"(0008,0060) CS [CT]\n{line}\n", (), "")))


def test_what_stands_around_a_listing_is_read() -> None:
    text = f"Dear Mrs. Jeanne Gagnon,\nyour scan:\n{DCMDUMP}"
    assert ("PERSON", "Jeanne Gagnon") in found(text)


@pytest.mark.parametrize("tag", ["0008,1030) LO", "0032,1060) LO", "0040,0254) SH"])
def test_descriptions_are_read_for_names(tag: str) -> None:
    text = f"(0008,0060) CS [CT]\n({tag} [Came with her son Luc Tremblay]  # 30, 1 Description\n"
    assert found(text) == {("PERSON", "Luc Tremblay")}


@pytest.mark.parametrize(
    "value",
    ["Seen [in clinic] with her son Luc Tremblay",
     "was seen and went home, " * 100 + "with her son Luc Tremblay",
     "with her son Luc Tremblay, " + "was seen and went home, " * 200],
)  # fmt: skip
@pytest.mark.parametrize(
    "line",
    [
        "(0010,4000) LT [{}]  # 30, 1 PatientComments",
        "(0010, 4000) Comments   LT: '{}'",
        "(0010,4000) LT [{}",
    ],
)
def test_a_value_runs_to_its_last_bracket(value: str, line: str) -> None:
    text = f"(0008,0060) CS [CT]\n{line.format(value)}\n(0008,0060) CS [CT]\n"
    ((piece,),) = passages(text)
    assert piece.text == text[piece.start : piece.end]
    assert piece.text.startswith(value.strip())
    assert found(text) == {("PERSON", "Luc Tremblay")}


def test_what_stands_far_from_the_start_of_its_line_is_no_tag() -> None:
    text = "(0008,0060) CS [CT]\n" + "a " * 3_000 + "Ann\n"
    start = text.index("Ann")
    assert not is_tag(text, Span(start, start + 3))
    assert is_tag(text, Span(1, 5))


HEADER = {
    "00080020": {"vr": "DA", "Value": ["20240227"]},
    "00080050": {"vr": "SH", "Value": ["RAD24-77"]},
    "00080060": {"vr": "CS", "Value": ["CT"]},
    "00080080": {"vr": "LO", "Value": ["Saugeen Imaging"]},
    "00081070": {"vr": "PN", "Value": [{"Alphabetic": "mkhumalo"}, {"Alphabetic": "Roy^Ann"}]},
    "00100010": {"vr": "PN", "Value": [{"Alphabetic": "Wolak^Ewa^^Dr"}]},
    "00100020": {"vr": "LO", "Value": ["SSI0044107"]},
    "00100030": {"vr": "DA", "Value": ["19470318"]},
    "00101010": {"vr": "AS", "Value": ["091Y"]},
    "00101020": {"vr": "DS"},
    "00181000": {"vr": "LO", "Value": ["107744"]},
    "0020000D": {"vr": "UI", "Value": ["1.3.12.2.1107.5"]},
    "001021B0": {"vr": "LT", "Value": ["seen by Dr Mbeki"]},
}
FOUND = [
    ("DATE", "20240227"), ("OTHER_ID", "RAD24-77"), ("ORGANIZATION", "Saugeen Imaging"),
    ("HEALTH_PROFESSIONAL", "mkhumalo"), ("HEALTH_PROFESSIONAL", "Roy^Ann"), ("PERSON", "Wolak^Ewa^^Dr"),
    ("MRN", "SSI0044107"), ("DATE_OF_BIRTH", "19470318"), ("AGE_OVER_89", "091Y"), ("DEVICE", "107744"),
    ("OTHER_ID", "1.3.12.2.1107.5"),
]  # fmt: skip
SORTED = {tag: dict(sorted(element.items())) for tag, element in HEADER.items()}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(HEADER), json.dumps([HEADER], indent=2), json.dumps(HEADER, separators=(",", ":")),
        json.dumps(SORTED), json.dumps(SORTED, indent=4), "GET /studies\n" + json.dumps([HEADER]),
        json.dumps({"dataset": HEADER}, indent="\t"),
    ],
)  # fmt: skip
def test_reads_the_elements(text: str) -> None:
    findings = model_findings(Document(text, (), "text/plain"))
    assert [(f.entity_type.value, f.span.of(text)) for f in findings] == FOUND
    assert ["".join(piece.text for piece in passage) for passage in model_passages(text)][:1] == [
        "seen by Dr Mbeki"
    ]


def test_finds_nothing_in_tags() -> None:
    text = json.dumps([HEADER], indent=2)
    findings = screened(text).findings
    assert {f.span.of(text) for f in findings} == {value for _, value in FOUND} | {"Mbeki"}


@pytest.mark.parametrize(
    "text",
    [
        '"00100010"',
        '{"12345678": {"code": "PN"}}',
        '{"00100010": {"vr": "PN"}}',
        '"vr": "PN"',
        "(0010,0010) PN",
    ],
)
def test_leaves_other_json(text: str) -> None:
    assert not is_model(text)
    assert not list(model_findings(Document(text, (), "text/plain")))


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ({"00100020": {"vr": "LO", "Value": ["A]778123"]}}, ("MRN", "A]778123")),
        ({"00101002": {"vr": "SQ", "Value": [{"00100020": {"vr": "LO", "Value": ["77-8123"]}}]}},
         ("MRN", "77-8123")),
        ({"00101002": {"Value": [{"00100020": {"Value": ["77-8123"], "vr": "LO"}}], "vr": "SQ"}},
         ("MRN", "77-8123")),
    ],
)  # fmt: skip
def test_reads_brackets_in_values_and_elements_in_sequences(
    element: dict[str, object], expected: tuple[str, str]
) -> None:
    text = json.dumps({"00080060": HEADER["00080060"], **element, "00080005": {"vr": "CS"}})
    findings = model_findings(Document(text, (), "text/plain"))
    assert [(f.entity_type.value, f.span.of(text)) for f in findings] == [expected]
