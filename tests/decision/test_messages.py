import pytest

from phiscan.config import MESSAGES_OF_CARE
from phiscan.decision.messages import message_of_care
from phiscan.model import Document

ORDER = (
    "MSH|^~\\&|ORD|WARD|LAB|HOSP|202401010101||ORM^O01|1|P|2.3\rPID|1||{pid}||{name}\rORC|NW|1\r"
    "OBR|1|1||1^PANEL\r"
)
CDA = "<ClinicalDocument><patientRole><patient><name><given>Lena</given></name></patient></patientRole>"
CLAIM = "ST*837*0001*005010X222A1~\nBHT*0019*00*1~\nNM1*{who}*1*OKAFOR*LENA****MI*W123~\nSE*3*0001~"


def kind(text: str, media_type: str = "text/plain", kinds: tuple[str, ...] = MESSAGES_OF_CARE) -> str:
    return message_of_care(Document(text, (), media_type), kinds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ORDER.format(pid="4071", name=""), "hl7"),
        (ORDER.format(pid="", name="BABY GIRL^OKAFOR"), "hl7"),
        (ORDER.format(pid="", name=""), ""),
        ("PID|1||4071||Okafor^Lena\r", ""),
        (CLAIM.format(who="IL"), "x12"),
        (CLAIM.format(who="41"), ""),
        (CLAIM.format(who="QC").replace("*", " | ").replace("~", ""), "x12"),
        ('{"resourceType": "Patient", "name": [{"family": "Okafor"}]}', "fhir"),
        ('{"resourceType": "Condition", "subject": {"display": "Lena Okafor"}}', "fhir"),
        ('{"resourceType": "Medication", "code": {"text": "aspirin"}}', ""),
        ("resource Type: Patient\nname: Lena Okafor\nbirth Date: 1951-03-14\n", "fhir"),
        (f"{CDA}</ClinicalDocument>", "cda"),
        ("title: Consult\nPatient name: Lena Okafor\nbirth Time: 19510314\ntitle: Problems\n", "cda"),
        ("Patient name: Lena Okafor\nseen today", ""),
    ],
)
def test_a_message_about_a_patient_is_recognized_by_its_type(text: str, expected: str) -> None:
    assert kind(text) == expected


def test_dicom_needs_a_name() -> None:
    assert kind("Patient's Name: Lena Okafor\n", "application/dicom") == "dicom"
    assert kind("Study Description: CT\n", "application/dicom") == ""
    assert kind("Patient's Name: Lena Okafor\n", "text/plain") == ""


@pytest.mark.parametrize("off", MESSAGES_OF_CARE)
def test_each_kind_can_be_switched_off(off: str) -> None:
    texts = {
        "hl7": (ORDER.format(pid="4071", name="Okafor^Lena"), "text/plain"),
        "x12": (CLAIM.format(who="IL"), "text/plain"),
        "fhir": ('{"resourceType": "Patient", "name": [{"family": "Okafor"}]}', "text/plain"),
        "cda": ("Patient name: Lena Okafor\nbirth Time: 19510314\n", "text/xml"),
        "dicom": ("Patient's Name: Lena Okafor\n", "application/dicom"),
    }
    text, media_type = texts[off]
    assert kind(text, media_type) == off
    assert kind(text, media_type, tuple(name for name in MESSAGES_OF_CARE if name != off)) == ""
