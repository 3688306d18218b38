"""Names in scanned texts are found as they were meant, with the span that they have in the text."""

from __future__ import annotations

import pytest

from phiscan.config import Config
from phiscan.model import Document, EntityType
from phiscan.screen import Screener, build_screener, screen

_NAMES = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
_SCAN = "\nTel: 4l6-555-Ol26   Fax 4l6-555-Ol27\nseen O6/lO/2O24, chart no O O 4 l 7 8 8 2\n"


@pytest.fixture(scope="module")
def screener() -> Screener:
    return build_screener(Config())


def _names(text: str, screener: Screener) -> list[tuple[str, bool]]:
    findings = screen(Document(text, (), ""), screener).findings
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
def test_finds_a_misread_name_where_it_stands(line: str, name: str, screener: Screener) -> None:
    found = dict(_names(line + _SCAN, screener))
    assert any(name in value or value in name for value in found), line
    assert sum(len(value) for value in found if value in name or name in value) >= len(name) - 4, line


@pytest.mark.parametrize(
    "line", ["The odor of the ward", "grade A pples and 0ranges", "hepatitis B oth tirnes"]
)
def test_makes_no_name_of_misread_words(line: str, screener: Screener) -> None:
    assert not [value for value, is_misread in _names(line + _SCAN, screener) if is_misread], line


def test_is_left_out_where_names_are_not_searched(screener: Screener) -> None:
    text = f"Patient: Mu11ins, Darre1{_SCAN}"
    assert _names(text, screener)
    assert not _names(text, screener.without_names())
