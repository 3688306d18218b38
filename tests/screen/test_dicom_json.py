"""DICOM headers in JSON: what their tags say, however the JSON is written; the text in them."""

import json

import pytest

from phiscan.model import Document
from phiscan.screen.recognizers.messages.dicom import is_model, model_findings, model_passages
from tests.screen.whole import screened

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
