"""Tests of line_dates: days at the beginning of lines of diaries and logs."""

from __future__ import annotations

import pytest

from phiscan.screen.recognizers.identifiers.dates import day_lines


def found(text: str) -> list[str]:
    return [finding.span.of(text) for finding in day_lines(text, [])]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("9/4  Rec'd ER records\n9/11 TCW clmt\n10/1 Veh", ["9/4", "9/11", "10/1"]),
        ("9/4 x\n9/20 y", ["9/4", "9/20"]),
        ("[10/10] pm - Plaie\n[12/10] am", []),
        ("10/10 pm - Plaie\n31/10 am", ["10/10", "31/10"]),
        ("- 12/11 - Appel\n- 14/11 - Rappel", ["12/11", "14/11"]),
        ("1. 11-6 seen\n2. 11-7 seen\n3. 11-9 read", ["11-6", "11-7", "11-9"]),
        ("10.22 Demand\n11.05 Offer", ["10.22", "11.05"]),
    ],
)
def test_takes_days_that_begin_lines(text: str, days: list[str]) -> None:
    assert found(text) == days


@pytest.mark.parametrize(
    "text",
    [
        "4/5 strength left\n5/5 strength right\n5/5 power",
        "5/5 left\n5/5 right\n5/5 both",
        "1.1 Scope\n1.2 Terms\n1.3 Fees\n2.1 Law",
        "1-1 a\n1-2 b\n1-3 c",
        "1/2 cup of sugar\n1/4 cup of milk\n3/4 tab",
        "9/4 one line\nno other",
        "9/4/2024 a\n9/5/2024 b\n9/6/2024 c",
        "13/14 a\n15/16 b\n17/18 c",
    ],
)
def test_leaves_fractions_headings_and_whole_dates(text: str) -> None:
    assert not found(text)
