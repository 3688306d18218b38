"""Names in scanned texts are found as they were meant, with the span that they have in the text."""

import pytest

from phiscan.model import EntityType
from phiscan.screen import Screener, screen
from tests.screen.whole import plain, shipped

_NAMES = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
_SCAN = "\nTel: 4l6-555-Ol26   Fax 4l6-555-Ol27\nseen O6/lO/2O24, chart no O O 4 l 7 8 8 2\n"


def _names(text: str, screener: Screener | None = None) -> list[tuple[str, bool]]:
    findings = screen(plain(text), screener or shipped()).findings
    return [
        (f.span.of(text), any((r.kind, r.detail) == ("misread", "names") for r in f.reasons))
        for f in findings
        if f.entity_type in _NAMES
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Patient: Mu11ins, Darre1", "Mu11ins, Darre1"),
        ("Pat ient:  Beau1ieu , Fernande", "Beau1ieu , Fernande"),
        ("Patient: 0kafor, Ngozi", "0kafor, Ngozi"),
        ("Mme  Huguette  Labr ecque", "Huguette  Labr ecque"),
        ("Re: Rarnirez, J0sé", "Rarnirez, J0sé"),
        ("Dear Mr. Yel lowtail,", "Yel lowtail"),
        ("Dr. Katherine Mac Do nald", "Katherine Mac Do nald"),
    ],
)
def test_finds_a_misread_name_where_it_stands(line: str, name: str) -> None:
    found = dict(_names(line + _SCAN))
    assert any(name in value or value in name for value in found), line
    assert sum(len(value) for value in found if value in name or name in value) >= len(name) - 4, line


@pytest.mark.parametrize(
    "line", ["The odor of the ward", "grade A pples and 0ranges", "hepatitis B oth tirnes"]
)
def test_makes_no_name_of_misread_words(line: str) -> None:
    assert not [value for value, is_misread in _names(line + _SCAN) if is_misread], line


def test_is_left_out_where_names_are_not_searched() -> None:
    text = f"Patient: Mu11ins, Darre1{_SCAN}"
    assert _names(text)
    assert not _names(text, shipped().without_names())
