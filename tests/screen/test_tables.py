import pytest

from phiscan.screen.table_columns import Tables
from tests.screen.whole import found

ROWS = (
    "Last name | First name | Born | MRN\n"
    "Last name: Quill | First name: Zorb | Born: 1972-11-30 | MRN: 00431299\n"
    "Last name: Zhao | MRN: 00431301\n"
)


def test_takes_no_label_for_a_name_where_each_row_carries_its_header() -> None:
    assert {value for kind, value in found(ROWS) if kind == "PERSON"} == {"Quill", "Zorb", "Zhao"}


@pytest.mark.parametrize(
    ("text", "head", "cells"),
    [
        (ROWS, "First name", ["Zorb"]),
        (ROWS, "Last name", ["Quill"]),
        # A list that is merely aligned below its heads.
        (
            (
                "tel              who                   card\n"
                "506 555-0102     Alcide R.             102 884 317   yes\n"
                "506-555-0138     Harpreet S., no card\n"
                "506 555 0151     Rose H.   96 y.       100 043 771\n"
            ),
            "card",
            ["102 884 317", "100 043 771"],
        ),
        # Other delimiters in a cell end no table.
        (
            'file no,remarks,ward\n4471,,4B\n5082,seen; called; sent home; back,4B\n6113,"a, b",5C\n',
            "file no",
            ["4471", "5082", "6113"],
        ),
        # Two spaces in prose make no column.
        (
            "seen by  her\nin clinic on a day of rain\nand no more than that was said  about it\n",
            "seen by",
            None,
        ),
        # Numbers of goods are nobody's; lots beside patients are read.
        ("Part no.  Description  Bin\n8015-44  8015-44  8015-44\n", "no.", []),
        ("Code  Lot  Péremption  Qté\n8015-44  8015-44  8015-44  8015-44\n", "Lot", []),
        ("Account  Description  Budget  Actual\n8015-44  8015-44  8015-44  8015-44\n", "Account", []),
        ("Patient  Lot  Qty\nRoy A  44718  1\n", "Lot", ["44718"]),
    ],
)
def test_cells_below_a_head_are_the_values_behind_its_label(
    text: str, head: str, cells: list[str] | None
) -> None:
    start = text.index(head)
    found = Tables(text).column(start, start + len(head))
    assert (found and [text[low:high] for low, high in found]) == cells
