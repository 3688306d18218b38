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


def test_cells_below_a_header_are_the_values_behind_its_label() -> None:
    start = ROWS.index("First name")
    cells = Tables(ROWS).column(start, start + len("First name"))
    assert cells is not None
    assert [ROWS[low:high] for low, high in cells] == ["Zorb"]
    cells = Tables(ROWS).column(0, len("Last name"))
    assert cells is not None
    assert [ROWS[low:high] for low, high in cells] == ["Quill"]


def test_reads_a_list_that_is_merely_aligned_below_its_heads() -> None:
    rows = (
        "tel              who                   card\n"
        "506 555-0102     Alcide R.             102 884 317   yes\n"
        "506-555-0138     Harpreet S., no card\n"
        "506 555 0151     Rose H.   96 y.       100 043 771\n"
    )
    start = rows.index("card")
    cells = Tables(rows).column(start, start + len("card"))
    assert cells is not None
    assert [rows[low:high] for low, high in cells] == ["102 884 317", "100 043 771"]


def test_other_delimiters_in_a_cell_end_no_table() -> None:
    rows = 'file no,remarks,ward\n4471,,4B\n5082,seen; called; sent home; back,4B\n6113,"a, b",5C\n'
    cells = Tables(rows).column(0, len("file no"))
    assert cells is not None
    assert [rows[low:high] for low, high in cells] == ["4471", "5082", "6113"]


def test_two_spaces_in_prose_make_no_column() -> None:
    text = "seen by  her\nin clinic on a day of rain\nand no more than that was said  about it\n"
    assert not Tables(text).column(0, len("seen by"))


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("Part no.  Description  Bin", "no."),
        ("Code  Lot  Péremption  Qté", "Lot"),
        ("Account  Description  Budget  Actual", "Account"),
    ],
)
def test_numbers_of_goods_are_nobodys(header: str, label: str) -> None:
    text = f"{header}\n" + "  ".join(["8015-44"] * len(header.split("  "))) + "\n"
    start = text.index(label)
    assert Tables(text).column(start, start + len(label)) == []


def test_lots_beside_patients_are_read() -> None:
    text = "Patient  Lot  Qty\nRoy A  44718  1\n"
    start = text.index("Lot")
    assert Tables(text).column(start, start + 3) == [(text.index("44718"), text.index("44718") + 5)]
