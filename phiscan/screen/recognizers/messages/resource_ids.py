"""Numbers of CDA documents and FHIR resources: who assigned them says what they are.

Source: HL7 CDA R2 (II: root and extension), the registry of HL7 object identifiers, FHIR R4 (Resource.id,
Reference.reference). Namespaces of provinces: Canada Health Infoway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from phiscan.model import Document, EntityType, Finding, Reason, Span, bits_of
from phiscan.screen.recognizer import CaseVariant, Cost

SCORE = 0.9
SOURCE = "resource"
_ID = re.compile(
    r"<(?:[A-Za-z]\w{0,20}:)?(?:id|setId)\s(?=[^<>]{0,300}?\broot\s?=\s?\"(?P<root>[\d.]{3,80})\")"
    r"[^<>]{0,300}?\bextension\s?=\s?\"(?P<number>[^\"<>]{2,64})\""
)
_PATIENT = re.compile(
    r"<(?:\w{1,20}:)?patientRole\b[^<>]{0,200}>(?:\s{0,40}<(?:\w{1,20}:)?id\b[^<>]{0,400}>){0,12}\s{0,40}\Z"
)
_BEFORE = 4_000  # characters from the patient's role to the last of its numbers
_TYPES = (
    "Patient|Practitioner|RelatedPerson|Encounter|Person|Appointment|Coverage|Observation|Condition|DiagnosticReport"
    "|ServiceRequest|MedicationRequest|Specimen|Device|DocumentReference|Claim|EpisodeOfCare|Procedure|Immunization"
    "|AllergyIntolerance|CarePlan"
)
_REFERENCE = re.compile(
    rf"\"(?:reference|fullUrl)\"\s?:\s?\"[^\"\s]{{0,200}}?(?:{_TYPES}|PractitionerRole)/(?P<number>[\w.-]{{1,64}})\""
)
_RESOURCE = re.compile(
    rf"\"resourceType\"\s?:\s?\"(?:{_TYPES}|Bundle)\"\s{{0,3}},\s{{0,40}}\"id\"\s?:\s?\"(?P<number>[\w.-]{{1,64}})\""
)
_MIN_CHARS = 3
_OIDS: Mapping[str, EntityType] = MappingProxyType({
    "2.16.840.1.113883.4.1": EntityType.SSN,
    "2.16.840.1.113883.4.6": EntityType.LICENSE,  # NPI
    "2.16.840.1.113883.4.814": EntityType.LICENSE,  # DEA
    "2.16.840.1.113883.4.572": EntityType.HEALTH_PLAN,  # Medicare
    "2.16.840.1.113883.4.927": EntityType.HEALTH_PLAN,  # Medicare, MBI
    **dict.fromkeys(  # British Columbia to the Northwest Territories
        (f"2.16.840.1.113883.4.{number}" for number in (44, 45, 47, 49, 50, 53, 55, 56, 57, 58, 59, 60, 61)),
        EntityType.HEALTH_CARD,
    ),
})  # fmt: skip


class ResourceRecognizer:
    """Find the numbers of CDA documents and of FHIR resources."""

    name: ClassVar = "messages.resource_ids"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        text = document.text
        if "extension" in text and "root" in text:
            for match in _ID.finditer(text):
                kind = _OIDS.get(match["root"])
                if kind is None:
                    before = text[max(0, match.start() - _BEFORE) : match.start()]
                    role = before.rfind("patientRole")
                    is_patient = role >= 0 and _PATIENT.search(before, max(0, role - 30)) is not None
                    kind = EntityType.MRN if is_patient else EntityType.OTHER_ID
                yield from _found(kind, match, "extension")
        if '"resourceType"' in text:
            for pattern in (_REFERENCE, _RESOURCE):
                for match in pattern.finditer(text):
                    yield from _found(EntityType.OTHER_ID, match, "id")


def _found(kind: EntityType, match: re.Match[str], where: str) -> Iterator[Finding]:
    number = match["number"]
    if len(number) >= _MIN_CHARS and any(map(str.isdecimal, number)):
        span = Span(*match.span("number"))
        yield Finding(span, kind, SOURCE, SCORE, bits_of(kind), (Reason("label", where, SCORE),))
