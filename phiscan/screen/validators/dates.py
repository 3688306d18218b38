"""Checks of dates, and of ages."""

from __future__ import annotations

import datetime as dt
import re

from phiscan.lexicon.months import MONTHS
from phiscan.screen.validators.verdicts import Verdict, digits_of, plausible

# What makes a "may" in small letters the month: a year, an ordinal, a day of the week before it.
_SURELY_MAY = re.compile(r"(?:18|19|20)\d{2}|\d(?:st|nd|rd|th)|^(?!may)[a-z]")


def numeric_date(value: str) -> Verdict:
    """Veto digits that are no day of any year from 1850 to 2100, whatever the order of day, month and year.

    >>> numeric_date("2019-02-30").value, numeric_date("31/12/99").value, numeric_date("20240214210646").value
    ('veto', 'plausible', 'plausible')
    """
    parts = [int(p) for p in re.findall(r"\d+", value)[:3]]
    if re.match(r"\d{1,2}[-/]\d{1,2}[ ,@à]", value):  # a time of day after a month and a day
        parts = parts[:2]
    if len(parts) == 1 or re.match(r"\d{8}", value):  # packed: 20240131, with or without a time of day
        text = digits_of(value)
        parts = [int(text[:4]), int(text[4:6]), int(text[6:8])]
    if len(parts) == 2:  # noqa: PLR2004 (month and day, or month and year)
        first, second = parts
        return plausible(1 <= min(first, second) <= 12 and _is_day_or_year(max(first, second)))  # noqa: PLR2004
    orders = ((0, 1, 2), (2, 0, 1), (2, 1, 0))
    return plausible(any(_is_date(parts[y], parts[m], parts[d]) for y, m, d in orders))


def date_range(value: str) -> Verdict:
    """Veto a range in figures of which either end is no day.

    >>> date_range("10/1-11/2/2017").value, date_range("10/41-11/2/2017").value
    ('plausible', 'veto')
    """
    parts = re.findall(r"\d+(?:[/.]\d+)*", value)
    return plausible(all(numeric_date(part) is not Verdict.VETO for part in parts if not part.isdecimal()))


def separated_date(value: str) -> Verdict:
    """Veto figures that are no date, or that nothing separates: a number of six or eight digits.

    >>> separated_date("07 05 1932").value, separated_date("070532").value
    ('plausible', 'veto')
    """
    return numeric_date(value) if len(re.findall(r"\d+", value)) == 3 else Verdict.VETO  # noqa: PLR2004


def _is_day_or_year(number: int) -> bool:
    return number <= 31 or 1850 <= number <= 2100  # noqa: PLR2004 (a calendar)


def _is_date(year: int, month: int, day: int) -> bool:
    if year < 100:  # noqa: PLR2004 (two digits)
        year += 2000
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return 1850 <= year <= 2100  # noqa: PLR2004 (stated in numeric_date)


def is_day(digits: str) -> bool:
    """Tell whether eight digits are a day, year first, as the fields of messages write it.

    >>> is_day("20240229"), is_day("20230229")
    (True, False)
    """
    try:
        dt.datetime.strptime(digits, "%Y%m%d")  # noqa: DTZ007 (a day on any calendar)
    except ValueError:
        return False
    return True


def written_date(value: str) -> Verdict:
    """Veto a written date whose day is beyond its month.

    A "may" in small letters needs a year or an ordinal: it is a verb far more often.

    >>> written_date("February 30, 2019").value, written_date("3 août 2021").value
    ('veto', 'plausible')
    """
    words = re.findall(r"[^\W\d_]+", value.lower())
    if re.search(r"\bmay\b", value) and not _SURELY_MAY.search(value):
        return Verdict.VETO  # "you may 5", "10 may have"
    month = next((MONTHS[word] for word in words if word in MONTHS), None)
    days = [int(n) for n in re.findall(r"(?<!\d)\d{1,2}(?!\d)", value)]
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}.get(month or 0, 31)
    return plausible(month is not None and (not days or any(1 <= day <= longest for day in days)))


def over_89(value: str) -> Verdict:
    """Veto an age of 89 or less, or beyond human life. Source: 45 CFR 164.514(b)(2)(i)(C)."""
    numbers = re.findall(r"\d+", value)
    return plausible(not numbers or 89 < int(numbers[0]) <= 125)  # noqa: PLR2004 (stated above)


def over_89_in_units(value: str) -> Verdict:
    """Veto an age in months, weeks or days that is less than 90 years, or beyond human life.

    >>> over_89_in_units("1,105 months").value, over_89_in_units("4600 semaines").value
    ('plausible', 'veto')
    """
    number, unit = re.sub(r"[^\d.]", "", value), re.search(r"[A-Za-z]", value)
    of_a_year = {"m": 12, "d": 365.25, "j": 365.25}.get(unit[0].lower() if unit else "", 365.25 / 7)
    return plausible(90 <= float(number) / of_a_year < 126)  # noqa: PLR2004 (stated above)


def birth_year_over_89(value: str) -> Verdict:
    """Veto a year of birth of somebody who would be 89 or less this year, or beyond human life.

    Two digits after an apostrophe are a year of the last century; without one they may be of this one, too.
    """
    year, today = int(value.lstrip("'’")), dt.datetime.now(dt.UTC).year  # noqa: RUF001 (as it is written)
    is_ambiguous = len(value) == 2 and year <= today % 100  # noqa: PLR2004 (digits)
    return plausible(not is_ambiguous and 89 < today - year - 1900 * (year < 100) <= 125)  # noqa: PLR2004


def year_and_month(value: str) -> Verdict:
    """Veto two years of which the second follows the first, as seasons and budgets are written.

    >>> year_and_month("2008-02").value, year_and_month("2008-09").value
    ('plausible', 'veto')
    """
    year, month = map(int, re.split(r"[-/]", value))
    return plausible((year + 1) % 100 != month)
