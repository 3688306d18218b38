"""Numbers among the words of a cell: found below their header, but no parts of dates, and none in remarks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.model import Document
from phiscan.screen.rules.compiled import joined_cells
from phiscan.screen.rules.recognizer import MAX_CELL_CHARS, numbers
from tests.screen.whole import rules


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

    found = {f.span.of(text) for f in rules().recognize(Document(text, (), ""))}

    assert {"APD 6120", "CHTR 482"} <= found
    assert not any("tabs" in value or value in {"4400", "3100"} for value in found)


@given(st.lists(st.text(alphabet="019A- /\0x", min_size=1, max_size=12), min_size=8, max_size=20))
def test_many_cells_in_one_match_are_what_each_is_by_itself(cells: list[str]) -> None:
    text, places = "", []
    for cell in cells:
        places.append((len(text), len(text) + len(cell)))
        text += f"{cell}\t"
    for compiled in rules().rules:
        if compiled.rule.id in {"record.mrn.1", "date.iso.1", "ca.sin.1", "license.labelled.1"}:
            expected = [compiled.fills(text, *place) for place in places]
            assert compiled.filled(text, places, joined_cells(text, places)) == expected


def test_many_cells_may_hold_what_is_a_value_only_at_its_end() -> None:
    text = "3 mai 23\t" * 8
    places = [(start, start + 8) for start in range(0, len(text), 9)]
    short = next(one for one in rules().rules if one.rule.id == "date.written_fr.2")
    assert short.filled(text, places, joined_cells(text, places)) == [True] * 8
