"""Sensitivity labels as office programs, Acrobat and Exchange store them."""

from collections.abc import Callable
from email.message import EmailMessage

import openpyxl
import pikepdf
import pytest
from openpyxl.packaging.custom import StringProperty

from phiscan.formats.sensitivity_labels import MOST_LABELS
from phiscan.model import Document
from tests.extract.packages import docx, saved

Read = Callable[..., Document]
ID = "2096f6a2-d2f7-48be-b329-b73aaa526e5d"
SITE = "cb46c030-1825-4e81-a295-151c039dbf02"
LABEL = ((ID, "Confidential - Patients"),)
PROPERTIES = {
    "Enabled": "true",
    "SetDate": "2018-11-08T21:13:16Z",
    "Method": "Privileged",
    "Name": "Confidential - Patients",
    "SiteId": SITE,
    "ContentBits": "2",
}


def fields(**changed: str) -> dict[str, str]:
    return {f"MSIP_Label_{ID}_{name}": value for name, value in (PROPERTIES | changed).items()}


def custom(given: dict[str, str]) -> str:
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    rows = "".join(
        f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="{pid}" name="{name}">'
        f"<vt:lpwstr>{value}</vt:lpwstr></property>"
        for pid, (name, value) in enumerate(given.items(), 2)
    )
    return (
        f'<?xml version="1.0"?><Properties xmlns="{office}/custom-properties" '
        f'xmlns:vt="{office}/docPropsVTypes">{rows}</Properties>'
    )


def listed(attributes: str = 'enabled="1" removed="0"') -> str:
    return (
        '<?xml version="1.0"?><clbl:labelList '
        'xmlns:clbl="http://schemas.microsoft.com/office/2020/mipLabelMetadata">'
        f'<clbl:label id="{{{ID.upper()}}}" method="Privileged" siteId="{{{SITE}}}" {attributes}/>'
        "</clbl:labelList>"
    )


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active["A1"] = "Minutes"
    for name, value in fields().items():
        book.custom_doc_props.append(StringProperty(name=name, value=value))
    return saved(book)


def pdf(*, in_xmp: bool) -> bytes:
    document = pikepdf.new()
    document.add_blank_page()
    if in_xmp:
        with document.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as metadata:
            for name, value in fields().items():
                metadata[f"{{http://ns.adobe.com/pdfx/1.3/}}{name}"] = value
    else:
        for name, value in fields().items():
            document.docinfo[f"/{name}"] = value
    return saved(document)


def message(body: str = "The minutes") -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = "Minutes"
    made["msip_labels"] = "; ".join(f"{name}={value}" for name, value in fields().items()) + ";"
    made.set_content(body)
    return made


OWN = {"docProps/custom.xml": custom(fields())}


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.docx", docx(parts=OWN), LABEL),
        ("b.docx", docx(parts={"docMetadata/LabelInfo.xml": listed()}), ((ID, ""),)),
        ("both.docx", docx(parts={"docMetadata/LabelInfo.xml": listed(), **OWN}), LABEL),
        ("a.xlsx", workbook(), LABEL),
        ("info.pdf", pdf(in_xmp=False), LABEL),
        ("xmp.pdf", pdf(in_xmp=True), LABEL),
        ("a.eml", bytes(message()), LABEL),
        # Not in force
        ("off.docx", docx(parts={"docProps/custom.xml": custom(fields(Enabled="false"))}), ()),
        ("removed.docx", docx(parts={"docMetadata/LabelInfo.xml": listed('enabled="1" removed="1"')}), ()),
        ("damaged.docx", docx(parts={"docMetadata/LabelInfo.xml": listed()[:60]}), ()),
        # The words of a text are none
        ("a.txt", "\n".join(f"{name}: {value}" for name, value in fields().items()).encode(), ()),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_the_label_of_a_file(name: str, data: bytes, expected: object, read: Read) -> None:
    assert read(data, name).labels == expected


@pytest.mark.parametrize("name", ["Amara Okafor 1961-02-03", "x" * 81, "a@hospital.example", "4471102"])
def test_a_name_that_may_be_a_value_is_left_out(name: str, read: Read) -> None:
    found = read(docx(parts={"docProps/custom.xml": custom(fields(Name=name))}), "a.docx")
    assert found.labels == ((ID, ""),)


def test_the_label_of_an_attachment_is_not_the_message_s(read: Read) -> None:
    made = EmailMessage()
    made.set_content("\n".join(f"{name}: {value}" for name, value in fields().items()))
    made.add_attachment(docx(parts=OWN), maintype="application", subtype="zip", filename="a.docx")
    found = read(bytes(made), "a.eml")
    assert "a.docx#properties" in {part.locator for part in found.segments}
    assert found.labels == ()


def test_labels_are_bounded(read: Read) -> None:
    many = {f"MSIP_Label_{number:08x}{ID[8:]}_Enabled": "true" for number in range(2 * MOST_LABELS)}
    found = read(docx(parts={"docProps/custom.xml": custom(many)}), "a.docx")
    assert len(found.labels) == MOST_LABELS
