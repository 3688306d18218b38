"""Numbers among the words of a cell: found below their header, but no parts of dates, and none in remarks."""

from __future__ import annotations

import pytest

from phiscan.model import Document
from phiscan.screen.cells import MAX_CELL_CHARS, numbers
from phiscan.screen.patterns import PatternRecognizer
from phiscan.screen.rule_files import load_rules


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("APD 6120 (NB)", ["APD 6120"]),
        ("learner 8830174", ["8830174"]),
        ("7JX2201 / MK8801-4", ["7JX2201", "MK8801-4"]),
        ("seen 04/05/2024", []),
        ("room 12, see note", []),
        ("8830174 " + "x" * MAX_CELL_CHARS, []),
    ],
)
def test_finds_whole_numbers_between_words(cell: str, found: list[str]) -> None:
    places = numbers(cell, 0, len(cell), lambda start, end: not cell[start:end].startswith("learner"))

    assert [cell[start:end] for start, end in places] == found


def test_takes_them_from_the_column_of_an_identifier_only() -> None:
    text = "Plate,Packs\nAPD 6120 (NB),4400 tabs (10)\nCHTR 482,3100 tabs (12)\n"

    found = {f.span.of(text) for f in PatternRecognizer(load_rules()).recognize(Document(text, (), ""))}

    assert {"APD 6120", "CHTR 482"} <= found
    assert not any("tabs" in value or value in {"4400", "3100"} for value in found)
