"""Names that files are named for, and file names that hold none."""

from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, Segment
from phiscan.screen.recognizers.person.file_names import OwnNameRecognizer, filed_names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Attachments: Tremblay_Marie_results.pdf (2 MB)", "Tremblay_Marie"),
        (r"C:\scans\OKAFOR_NGOZI_20240311.pdf", "OKAFOR_NGOZI"),
        ('doc="Okoro_C_facesheet_11.docx"', "Okoro_C"),
        ("/export/ct/SAULTEAUX_JOYCE_20231103/IM000", "SAULTEAUX_JOYCE"),
        ("see JohnSmith_labs.xlsx", "JohnSmith"),
        ("smith_john_mri.dcm", "smith_john"),
        ("consent-Marie-Tremblay.pdf", "Marie-Tremblay"),
    ],
)
def test_finds_the_name_in_the_name_of_a_file(text: str, name: str) -> None:
    assert [f.span.of(text) for f in filed_names(text, load_gazetteer())] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "user_name_list.csv", "test_data.txt", "Mark_Read.pdf", "/North_Dakota/Center", "south_africa.html",
        "e6_jmulti_cis_ir.txt", "Annual_Report_June.pdf", "max_value.json", "Tremblay_Marie",
        "a.pdf", "_.pdf", "/wiki/Main_Page/",
    ],
)  # fmt: skip
def test_finds_none_in_other_names(text: str) -> None:
    assert not list(filed_names(text, load_gazetteer()))


def own_names(name: str, locator: str = FILE_NAME) -> list[str]:
    text = f"see the report\n{name}\n"
    segments = (Segment("", 0, 14), Segment(locator, 15, 15 + len(name)))
    found = OwnNameRecognizer(load_gazetteer()).recognize(Document(text, segments, "text/plain"))
    return [finding.span.of(text) for finding in found]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tremblay Marie echo.pdf", "Tremblay Marie"),
        ("Nguyen, T - ortho referral.wpd", "Nguyen, T"),
        ("Ken.Wong.referral", "Ken.Wong"),
        ("Okafor consult 2023.pdf", "Okafor"),
        ("lettre gagnon 2022-03-01.docx", "gagnon"),
        ("Okafor Chidimma echo.pdf", "Okafor Chidimma"),
        ("Tremblay.pdf", "Tremblay"),
    ],
)
def test_finds_the_name_in_what_the_file_itself_is_called(name: str, expected: str) -> None:
    assert own_names(name) == [expected]
    assert own_names(name, f"scans.zip!/{name}{FILE_NAME}") == [expected]
    assert own_names(name, FOLDER_NAME) == [expected]
    assert not own_names(name, "#body")


@pytest.mark.parametrize(
    "name",
    [
        "Annual Report 2023.docx",
        "London report.pdf",
        "Parkinson letter.pdf",
        "Echo and MRI.pdf",
        "2023.pdf",
        "x",
        "a.b",
    ],
)
def test_finds_none_in_what_other_files_are_called(name: str) -> None:
    assert not own_names(name)
