"""Names that files are named for, and file names that hold none."""

from __future__ import annotations

import pytest

from phiscan.screen.gazetteer import load_gazetteer
from phiscan.screen.name_files import filed_names


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
