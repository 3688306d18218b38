r"""Document to its kind of message of care: messages between health-care systems about a patient.

An order for a newborn has few health terms, and a claim has only codes. They are health information because
of their type, so they are recognized by their segments and elements.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from phiscan.config import MESSAGES_OF_CARE
from phiscan.model import Document

_LINE: Final = r"(?:^|[\r\n\v])"
# PID-3 (numbers) or PID-5 (name) is filled: the message is about a person.
_HL7_PATIENT: Final = re.compile(
    _LINE + r"PID\|(?:[^|\r\n]*\|){2}(?:[^|\r\n]+\||[^|\r\n]*\|[^|\r\n]*\|[^|\r\n]*\w)"
)
# An order, result, admission, immunization, diagnosis, claim or appointment.
_HL7_CARE: Final = re.compile(
    _LINE + r"(?:PV1|PV2|ORC|OBR|OBX|RXA|RXE|RXO|RXD|DG1|AL1|IN1|FT1|SCH|AIS|PR1|GT1|SPM|TXA)\|"
)
# The other formats, both as sent and as written by the extractors.
_X12_CARE: Final = re.compile(r"(?:^|[~\r\n])\s*ST(?:\*| \| )(?:837|835|278|834|270|271|276|277)(?:\*| \| )")
_X12_PERSON: Final = re.compile(r"[~\r\n]\s*NM1(?:\*| \| )(?:IL|QC|74)(?:\*| \| )1(?:\*| \| )\w")
_FHIR_CARE: Final = re.compile(
    r'resource ?Type"?\s*:\s*"?(?:Patient|Condition|Observation|Encounter|MedicationRequest'
    r"|MedicationStatement|Procedure|Immunization|DiagnosticReport|AllergyIntolerance|Claim|ExplanationOfBenefit|Coverage|CarePlan"
    r"|ServiceRequest|Appointment)\b"
)
_FHIR_PERSON: Final = re.compile(
    r'"(?:family|given)"\s*:|"(?:subject|patient|beneficiary)"\s*:\s*\{[^{}]*"display"'
    r"|^(?:resource )?(?:name|(?:subject|patient|beneficiary) display)(?: \w+)?: *\w",
    re.MULTILINE,
)
_CDA_PERSON: Final = re.compile(
    r"<(?:\w+:)?patient\b[\s\S]{0,2000}?<(?:\w+:)?(?:given|family)\b[^>]*>\s*\w"
    r"|^Patient name: *\w[^\n]*\n(?:[^\n]*\n){0,12}?birth Time: *\d{4}",
    re.MULTILINE,
)
_DICOM_PERSON: Final = re.compile(r"\(0010,\s?0010\)[^\n\w]{0,40}\w|\bPatient'?s? ?Name: *\w", re.IGNORECASE)
_DICOM: Final = "application/dicom"


def message_of_care(document: Document, kinds: Collection[str] = MESSAGES_OF_CARE) -> str:
    """Return the kind of health message about a patient that a document is, "" if it is none.

    HL7 v2 with a patient and an order, result, admission, immunization or claim; X12 837, 835, 278 and 834
    and the inquiries about them; FHIR resources with a patient; CDA; DICOM with a patient's name.
    """
    text = document.text
    if "hl7" in kinds and "PID|" in text and _HL7_PATIENT.search(text) and _HL7_CARE.search(text):
        return "hl7"
    # A word that every message has is looked for first: most texts have none, and that is sooner known.
    if "x12" in kinds and "NM1" in text and _X12_CARE.search(text) and _X12_PERSON.search(text):
        return "x12"
    if "fhir" in kinds and "resource" in text and _FHIR_CARE.search(text) and _FHIR_PERSON.search(text):
        return "fhir"
    if "cda" in kinds and ("patient" in text or "Patient name:" in text) and _CDA_PERSON.search(text):
        return "cda"
    if "dicom" in kinds and document.media_type == _DICOM and _DICOM_PERSON.search(text):
        return "dicom"
    return ""
