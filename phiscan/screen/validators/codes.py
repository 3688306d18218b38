"""Checks of numbers and codes without a check digit: what cannot be one."""

from __future__ import annotations

import re

from phiscan.lexicon.months import MONTHS
from phiscan.screen.validators.dates import numeric_date
from phiscan.screen.validators.verdicts import Verdict, alnum_of, digits_of, plausible

_DIGIT = re.compile(r"\d")
_FULL_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")


def has_digit(value: str) -> Verdict:
    """Veto a value without a digit: words in a place where a number was expected."""
    return plausible(_DIGIT.search(value) is not None)


def no_date(value: str) -> Verdict:
    """Veto a value that is a date: what follows a label such as ID may be the next field."""
    if _FULL_DATE.fullmatch(value):
        return Verdict.VETO if numeric_date(value) is not Verdict.VETO else Verdict.PLAUSIBLE
    return has_digit(value)


def record_number(value: str) -> Verdict:
    """Veto what cannot number a record: a date, few digits or letters, a year, one digit only ("0000").

    >>> record_number("A12345").value, record_number("2019-01-02").value, record_number("of").value
    ('plausible', 'veto', 'veto')
    """
    if value.isdecimal():  # as most cells of a column
        return plausible(len(value) >= 3 and len(set(value[3:] and value)) != 1)  # noqa: PLR2004 (stated above)
    if len(alnum_of(value)) < 3 or len(digits_of(value)) < 2:  # noqa: PLR2004 (stated above)
        return Verdict.VETO
    # "visit 4/10": of ten, or a day; a price; a version
    if re.fullmatch(r"\d{1,2}/\d{1,2}|\d{1,4}\.\d{1,2}|\d{1,2}(?:\.\d{1,2}){2,3}", value):
        return Verdict.VETO
    return no_date(value)


def record_code(value: str) -> Verdict:
    """Veto what a word such as "file" is before as well: dates, years, phones, standards, studies.

    And below "Ref" of a table of results a range from a number to a greater one.

    >>> record_code("RC-23-55107-B").value, record_code("2019-2020").value, record_code("613-555-0199").value
    ('plausible', 'veto', 'veto')
    >>> record_code("CER-22-118").value, record_code("NCT04412345").value
    ('veto', 'veto')
    >>> record_code("120-160").value, record_code("80-100").value, record_code("24-118").value
    ('veto', 'veto', 'plausible')
    """
    years = re.fullmatch(r"(?:19|20)\d{2}[-/](?:(?:19|20)?\d{2})", value)
    dated = re.fullmatch(r"\d{1,2}[-/]\d{1,2}", value) or re.fullmatch(r"\d{3}-\d{3}-\d{4}", value)
    standard = re.match(
        r"(?:GS1[- ]|(?:EAN|UPC|ISO|ICD|COVID|SARS|CPT|NDC|DIN|C[EÉ]R|H?REB|IRB|NCT|ISRCTN)[- ]?)\d"
        r"|AH-\d{2,3}$",
        value,
        re.IGNORECASE,
    )  # AH-223: a form of Quebec's health network; CER, REB, IRB, NCT and ISRCTN number studies
    return Verdict.VETO if years or dated or standard or _is_range(value) else record_number(value)


def _is_range(value: str) -> bool:
    """Tell whether two numbers are limits: of one length, or the second round and little greater."""
    low, dash, high = value.partition("-")
    if not (dash and low.isdecimal() and high.isdecimal() and len(high) <= 4 and int(low) < int(high)):  # noqa: PLR2004 (longer numbers are none)
        return False
    return len(low) == len(high) or (high.endswith("0") and int(high) <= 2 * int(low))


_MIN_GROUPED = 4  # digits, or three and letters
_PHONE = re.compile(r"[2-9]\d{2}[ .-]\d{3}[ .-]\d{4}")
_WITH_MONTH = re.compile(r"(\d{0,2})[ -]?([^\W\d_]{3,9})[ -]?\d{1,4}(?:[ -]\d{1,4})?")


def grouped_code(value: str) -> Verdict:
    """Veto of codes in groups what has too few digits, or is a day, a phone, years or a standard.

    >>> grouped_code("C 118 402 7").value, grouped_code("MAR 12 2024").value, grouped_code("AB 12").value
    ('plausible', 'veto', 'veto')
    """
    n_digits = len(digits_of(value))
    if n_digits < _MIN_GROUPED and (n_digits < _MIN_GROUPED - 1 or value.isdecimal()):
        return Verdict.VETO
    dated = _WITH_MONTH.fullmatch(value)
    if _PHONE.fullmatch(value) or (dated and dated[2].lower() in MONTHS):
        return Verdict.VETO
    if no_public_number(value) is Verdict.VETO:
        return Verdict.VETO
    return record_code(value.replace(" ", "-"))


_PUBLIC = frozenset(
    "NCT PMC PMID DOI ISBN ISSN ISO RFC ISRCTN ENSG RS GO OMIM CVE ICD CPT CAS COVID HLA NDC EAN UPC DRG"  # noqa: SIM905 (a list of words reads best as a text)
    " HCPCS".split()
)


def no_public_number(value: str) -> Verdict:
    """Veto what numbers a trial, an article, a standard or a gene, a date, and zeros only: no person's.

    >>> no_public_number("NCT01234567").value, no_public_number("U0418827").value
    ('veto', 'plausible')
    """
    letters = re.match(r"[A-Za-z]*", value)
    word = letters[0] if letters else ""
    return plausible(word not in _PUBLIC and word.lower() not in MONTHS and len(set(digits_of(value))) > 1)


def no_fraction(value: str) -> Verdict:
    """Veto a fraction of sixteenths and the like, and "24/7".

    >>> no_fraction("1/16").value, no_fraction("8/16").value, no_fraction("3/24").value
    ('veto', 'plausible', 'plausible')
    """
    first, second = map(int, value.split("/"))
    inches = second in {16, 32} and first % 2 == 1
    return plausible(not inches and (first, second) not in {(24, 7), (20, 20), (1, 20), (12, 24)})


def driver_licence(value: str) -> Verdict:
    """Veto a date, and fewer than five letters and digits: no province or state issues shorter ones.

    >>> driver_licence("123456").value, driver_licence("12").value, driver_licence("2019-01-02").value
    ('plausible', 'veto', 'veto')
    """
    return Verdict.VETO if len(alnum_of(value)) < 5 else no_date(value)  # noqa: PLR2004 (stated above)


def has_letter(value: str) -> Verdict:
    """Veto a value of digits alone."""
    return plausible(any(c.isalpha() for c in value))
