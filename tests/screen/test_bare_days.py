"""Tests of unlabelled_dates: months and days in small figures where a text writes days so."""

from __future__ import annotations

import pytest

from phiscan.model import EntityType, Finding, Span
from phiscan.screen.recognizers.identifiers.dates import bare_days

ELSEWHERE = "adm 3/24/24. "


def found(text: str, *, written_so: bool = True) -> list[str]:
    """Return what is found in a text; before it stands a day with the same sign if it is ``written_so``."""
    whole = (ELSEWHERE if written_so else "") + text
    day = Finding(Span(4, 11), EntityType.DATE, "date.numeric.1", 0.8, frozenset(), ())
    return [finding.span.of(whole) for finding in bare_days(whole, [day] if written_so else [])]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Zosyn was narrowed to Rocephin 12/1. He", ["12/1"]),
        ("ID'd as Jamal Petit 8/9 by mother", ["8/9"]),
        ("Remicade 8/11 | visit 88", ["8/11"]),
        ("dr pham signed orders 4/7. npi", ["4/7"]),
        ("stress test 2/6, npo", ["2/6"]),
        ("need auth dated after 7/1. who", ["7/1"]),
        ("vue 3/4, stable", ["3/4"]),
        ("Wt 70.8 (5/1) 70.1 (5/2)", ["5/1", "5/2"]),
        ("Bed mtg 5/2: rehab", ["5/2"]),
    ],
)
def test_takes_days_of_a_text_that_writes_days_so(text: str, days: list[str]) -> None:
    assert found(text) == days


@pytest.mark.parametrize("text", ["Jamal Petit 8/9 by mother", "orders 4/7. npi", "stress test 2/6, npo"])
def test_leaves_what_may_be_a_share_in_other_texts(text: str) -> None:
    assert not found(text, written_so=False)


def test_takes_what_is_no_share_in_any_text() -> None:
    assert found("ride with Ron for 12/5, then home 7/1.", written_so=False) == ["12/5", "7/1"]
    assert not found("TA 12/8. PA 13/7. ratio 9/4, pain 7/5, BiPAP 10/5, PEEP 8/5", written_so=False)


@pytest.mark.parametrize(
    "text",
    [
        "strength 4/5, reflexes 2/4",
        "pain 6/10 after walking",
        "2/6 systolic murmur",
        "visit 4/10\n",
        "seen 4/5 strength",
        "took 1/2 tab",
        "blood cultures 3/4 bottles",
        "Saturday 2-4 and 7-9. Donations",
        "aged 7-9.",
        "in bed 5/2, then",
        "strength (4/5)",
        "Short nose 9/11\nMyopia 5/5\nWide fontanel 8/9\nCleft 3/8\n",
        "ratio given 3/4",
    ],
)
def test_leaves_shares_scores_and_ranges(text: str) -> None:
    assert not found(text)


def test_takes_the_days_of_a_flow_sheet_in_any_text() -> None:
    assert found("Date\t3/4\t3/5\t3/6\nWt\t71\t72\t71", written_so=False) == ["3/4", "3/5", "3/6"]
    assert found("| 30/4 | 1/5 | 2/5 |", written_so=False) == ["30/4", "1/5", "2/5"]


@pytest.mark.parametrize("text", ["4/5\t5/5\t4/5\n", "1/2\t1/4\t1/8\n", "3/4  3/5\n", "2/4, 3/4 and 4/4"])
def test_leaves_cells_that_are_no_days_in_order(text: str) -> None:
    assert not found(text, written_so=False)
