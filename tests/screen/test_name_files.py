"""Names that files are named for, and file names that hold none."""

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import FILE_NAME, FOLDER_NAME, Document, Segment
from phiscan.screen.recognizers.person.file_names import OwnNameRecognizer


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
