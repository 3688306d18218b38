"""Names before an age and a sex, on boards and in censuses."""

from __future__ import annotations

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.recognizers.person.age_and_sex import aged_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("401A SMITH, JOHN 78M CHF", ["SMITH, JOHN"]),
        ("402B O'BRIEN, MARY-KATE 91F HIP FX", ["O'BRIEN, MARY-KATE"]),
        ("404 NGUYEN T 45F DKA", ["NGUYEN T"]),
        ("bed 4 okafor n 33f abd pain; bed 5 li wei 71m sob", ["okafor n", "li wei"]),
        ("12-1  Tremblay Marie-Claude  67F  pneumonie", ["Tremblay Marie-Claude"]),
        ("Diallo O.  54 H  AVC", ["Diallo O."]),
        ("Rodriguez-Lopez, Ana, 58 yo F", ["Rodriguez-Lopez, Ana"]),
    ],
)
def test_finds_the_name(text: str, names: list[str]) -> None:
    assert [f.span.of(text) for f in aged_names(text, load_gazetteer())] == names


@pytest.mark.parametrize(
    "text",
    [
        "CHEST PAIN 45F, awaiting trop", "HIP FX 91F to OR", "temp 38 F", "a 45F with chest pain",
        "Room 12 M", "45F", "Smith 450M loan", "Smith 12 F's", "unit B 45F", "Tylenol 500 m",
    ],
)  # fmt: skip
def test_finds_none_where_no_name_stands(text: str) -> None:
    assert not list(aged_names(text, load_gazetteer()))
