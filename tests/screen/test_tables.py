from __future__ import annotations

from collections.abc import Callable

from phiscan.screen.tables import Tables

Found = Callable[[str], set[tuple[str, str]]]
ROWS = (
    "Last name | First name | Born | MRN\n"
    "Last name: Quill | First name: Zorb | Born: 1972-11-30 | MRN: 00431299\n"
    "Last name: Zhao | MRN: 00431301\n"
)


def test_takes_no_label_for_a_name_where_each_row_carries_its_header(found: Found) -> None:
    assert {value for kind, value in found(ROWS) if kind == "PERSON"} == {"Quill", "Zorb", "Zhao"}


def test_cells_below_a_header_are_the_values_behind_its_label() -> None:
    start = ROWS.index("First name")
    cells = Tables(ROWS).column(start, start + len("First name"))
    assert cells is not None
    assert [ROWS[low:high] for low, high in cells] == ["Zorb"]
    cells = Tables(ROWS).column(0, len("Last name"))
    assert cells is not None
    assert [ROWS[low:high] for low, high in cells] == ["Quill"]
