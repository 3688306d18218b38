"""Numbers of CDA documents by who assigned them, of FHIR resources and what refers to them."""

from __future__ import annotations

import pytest

from phiscan.model import Document
from phiscan.screen.recognizers.identifiers.system_ids import ResourceRecognizer

NPI, OWN = "2.16.840.1.113883.4.6", "2.16.840.1.113883.3.7712"


def found(text: str) -> list[tuple[str, str]]:
    findings = ResourceRecognizer().recognize(Document(text, (), "text/plain"))
    return [(f.entity_type.value, f.span.of(text)) for f in findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'<id root="{NPI}" extension="1548302286"/>', [("LICENSE", "1548302286")]),
        (f'<id extension="1548302286" root="{NPI}"/>', [("LICENSE", "1548302286")]),
        ('<cda:id root="2.16.840.1.113883.4.1" extension="431-80-2277" />', [("SSN", "431-80-2277")]),
        ('<id assigningAuthorityName="ON" root="2.16.840.1.113883.4.59" extension="5550001112"/>', [
            ("HEALTH_CARD", "5550001112")]),
        (f'<id root="{OWN}" extension="CCD-77"/>', [("OTHER_ID", "CCD-77")]),
        (f'<patientRole>\n  <id root="{OWN}" extension="OZ-771402"/>', [("MRN", "OZ-771402")]),
        (f'<patientRole a="b"><id root="1.2.3"/><id root="{OWN}" extension="771"/>', [("MRN", "771")]),
        ('"resourceType": "x", "reference": "Patient/e63wR7"', [("OTHER_ID", "e63wR7")]),
        ('"resourceType":"x","fullUrl":"https://a.example/r4/Practitioner/311"', [("OTHER_ID", "311")]),
        ('{"resourceType":"Patient","id":"48812"}', [("OTHER_ID", "48812")]),
        ('{\n  "resourceType": "Coverage",\n  "id": "cov-55"', [("OTHER_ID", "cov-55")]),
    ],
)  # fmt: skip
def test_reads_numbers(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        f'<templateId root="{OWN}" extension="2015-08-01"/>', '<id root="1.2.3"/>', '<id value="pat-0091"/>',
        f'<id root="{OWN}" extension="none"/>', '{"resourceType":"CodeSystem","id":"discharge-2"}',
        '"reference": "Patient/7712"', '{"resourceType":"Patient","id":"a"}',
    ],
)  # fmt: skip
def test_leaves_other_numbers(text: str) -> None:
    assert found(text) == []
