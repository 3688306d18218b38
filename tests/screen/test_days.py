"""Days in their forms, through the whole screener: a word before a day hides none of it."""

import pytest

from tests.screen.whole import values

DAYS = ("DATE", "DATE_OF_BIRTH")


@pytest.mark.parametrize(
    "before", ["labs", "Bx", "hier", "RNI le", "reporté au", "due", "moved to the", "fall"]
)
@pytest.mark.parametrize("day", ["4/2/24", "12/5/2023", "12.05.2024", "2024-04-02", "5th of March 2024"])
def test_a_word_before_a_day_hides_none_of_it(before: str, day: str) -> None:
    assert values(f"{before} {day}, ok\n", *DAYS) == [day]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("03/05 0800 Lasix 40 mg PO   KS", ["03/05"]),
        ("MRI 3/4 clear", ["3/4"]),
        ("no falls since Thanksgiving.", ["Thanksgiving"]),
        ("INR le 12. Elle va bien", ["le 12"]),
        ("DOB: 1962 03 14", ["1962 03 14"]),
        ("née le 14 mars 62", ["14 mars 62"]),
        ("Strength 4/5, pain 6/10, murmur 2/6", []),
        ("Open Mon-Fri 9-5, Sat 10-2", []),
        ("Clinic closed on Christmas Day", []),
        ("BiPAP 14/7, Benicar 20/5, PHQ-9: 11/27", []),
        ("Merry Christmas to all", []),
        ("le 811, option 2", []),
    ],
)
def test_finds_days_as_notes_have_them_and_leaves_scores_hours_and_wishes(text: str, days: list[str]) -> None:
    assert values(text, *DAYS) == days
