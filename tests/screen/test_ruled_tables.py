"""Listings ruled by dashes: cells that touch, hold spaces or are empty; lines that are none of them."""

import pytest

from phiscan.model import Document
from phiscan.normalize.text_view import normalized
from tests.screen.whole import screened


def meant(text: str) -> str:
    read = normalized(Document(text, (), "text/plain"))
    return text if read is None else read.document.text.removesuffix("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name   No   X\n----   ---  -\nAnn R  12   3\nBo     14\n", "Name\tNo\tX\nAnn R\t12\t3\nBo\t14\t\n"),
        ("A   B   C\n=== === ===\n  1   2   3\n\nx y z", "A\tB\tC\n  1\t  2\t  3\n\nx y z"),
        ("A   B   C\r\n--- --- ---\r\n1   2   3\r\n", "A\tB\tC\r\n1\t2\t3\r\n"),
        ("NAME AGE MRN\n---- --- ----\nROY  092 7 18\n5 or.\n", "NAME\tAGE\tMRN\nROY\t092\t7 18\n5 or.\n"),
        ("A  B  C\n-- -- --\n   2  3\n", "A\tB\tC\n\t2\t3\n"),
    ],
)  # fmt: skip
def test_cuts_at_the_rule(text: str, expected: str) -> None:
    assert meant(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "--- --- ---\n1   2   3\n", "title across\n--- --- ---\nx", "A B\n- -\n1 2\n", "a\n-----\nb",
        "x --- y -- z",
        "\n-- -- --\n", "A   B   C\n--- --- --- end\n1   2   3\n",
    ],
)  # fmt: skip
def test_leaves_other_lines(text: str) -> None:
    assert meant(text) == text


def test_finds_cells_that_touch_under_their_heads() -> None:
    text = (
        "BED   NAME             MRN      MEDICARE#   ADM     ATTEND\n"
        "----- ---------------- -------- ----------- ------- --------\n"
        "301-1 ARSENEAULT HECTO 00441882 771 820 447 11NOV24 FOWLIE B\n"
        "301-2 SAVOIE MILDRED   00441890 118 207 441 14NOV24 DOIRON\n"
        "302-1 GALLANT WM       00440077 204 418 820 17NOV24 FOWLIE B\n"
    )
    findings = screened(text).findings
    found = {(f.entity_type.value, f.span.of(text)) for f in findings}
    assert found >= {
        ("MRN", "00441882"), ("MRN", "00441890"), ("MRN", "00440077"), ("HEALTH_CARD", "771 820 447"),
        ("HEALTH_CARD", "118 207 441"), ("HEALTH_CARD", "204 418 820"), ("DATE", "11NOV24"),
    }  # fmt: skip
