"""Checks on a matched value: check digits, numbering plans, calendars; each may veto a match or confirm it.

The arithmetic is python-stdnum's and phonenumbers' wherever they have it. What they lack (formats of some
Canadian health cards, the United States Medicare number, VIN, NPI prefix, DEA) is written here, each with its
source. A check returns CONFIRM when passing it is evidence, PLAUSIBLE when it only fails to object, VETO
when no such value was ever issued.
"""

from __future__ import annotations

import datetime as dt
import importlib
import ipaddress
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

_NANP = re.compile(
    r"\(?([2-9]\d{2})\)?[-. ]{0,2}([2-9]\d{2})[-. ]?\d{4}"
)  # a plain one: dear to read each anew
_SAME_PLACE = 16  # values: several rules check the same number, and the plans of a continent are dear
CONFIRM_RATE = 0.6  # the share of the remaining doubt that a confirmed check digit takes away
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan janv january janvier",
            "feb fev fév february février fevrier févr fevr",
            "mar mars march",
            "apr avr april avril",
            "may mai",
            "jun juin june",
            "jul juil july juillet",
            "aug aou aoû août aout august",
            "sep sept september septembre",
            "oct october octobre",
            "nov november novembre",
            "dec déc december décembre decembre",
        ),
        start=1,
    )
    for name in names.split()
}
# What makes a "may" in small letters the month: a year, an ordinal, a day of the week before it.
_SURELY_MAY = re.compile(r"(?:18|19|20)\d{2}|\d(?:st|nd|rd|th)|^(?!may)[a-z]")
_DIGIT = re.compile(r"\d")
_FULL_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")


class Verdict(StrEnum):
    """What a check says of a value."""

    CONFIRM = "confirm"
    PLAUSIBLE = "plausible"
    VETO = "veto"


Check = Callable[[str], Verdict]


def _digits(value: str) -> str:
    return value if value.isdecimal() else "".join(c for c in value if c.isdecimal())


def _alnum(value: str) -> str:
    return (value if value.isalnum() else "".join(c for c in value if c.isalnum())).upper()


def _stdnum(module: str, value: str, **options: Any) -> bool:
    checker = importlib.import_module(f"stdnum.{module}")
    return bool(checker.is_valid(value, **options))


def _confirm(ok: bool) -> Verdict:
    return Verdict.CONFIRM if ok else Verdict.VETO


def _plausible(ok: bool) -> Verdict:
    return Verdict.PLAUSIBLE if ok else Verdict.VETO


def ssn(value: str) -> Verdict:
    """Veto a US Social Security number of an area, group or serial that was never issued.

    Areas 9xx are not vetoed: the tax numbers of people without an SSN (ITIN) and most synthetic patients use
    them, and a leak of either matters.

    >>> ssn("123-45-6788").value, ssn("666-12-3456").value, ssn("078-05-1120").value
    ('plausible', 'veto', 'veto')
    """
    digits = _digits(value)
    if (
        len(set(digits)) == 1
        or digits.startswith(("000", "666"))
        or digits[3:5] == "00"
        or digits[5:] == "0000"
    ):
        return Verdict.VETO
    if digits.startswith("9"):
        return Verdict.PLAUSIBLE
    return _plausible(_stdnum("us.ssn", digits) or digits in {"123456789", "111223333"})


def sin(value: str) -> Verdict:
    """Confirm a Canadian Social Insurance Number by its check digit.

    Numbers that begin with 0 are not issued, but stand in forms and examples (046 454 286): plausible.
    """
    digits = _digits(value)
    if digits.startswith("0") and luhn(digits) is Verdict.CONFIRM:
        return Verdict.PLAUSIBLE
    return _confirm(_stdnum("ca.sin", digits))


def soft_sin(value: str) -> Verdict:
    """Confirm a Social Insurance Number without a veto: behind its label a misread digit is still a leak."""
    return Verdict.CONFIRM if sin(value) is Verdict.CONFIRM else Verdict.PLAUSIBLE


def luhn(value: str) -> Verdict:
    """Confirm a number whose last digit is a Luhn check digit.

    >>> luhn("4111 1111 1111 1111").value, luhn("4111 1111 1111 1112").value
    ('confirm', 'veto')
    """
    digits = _digits(value)
    return _confirm(len(set(digits)) > 1 and _stdnum("luhn", digits))


def soft_luhn(value: str) -> Verdict:
    """Confirm by a Luhn check digit, without a veto: for numbers that older series issued without one."""
    return Verdict.CONFIRM if luhn(value) is Verdict.CONFIRM else Verdict.PLAUSIBLE


def iban(value: str) -> Verdict:
    """Confirm an international bank account number."""
    return _confirm(_stdnum("iban", _alnum(value), check_country=False))


def bc_phn(value: str) -> Verdict:
    """Confirm a British Columbia Personal Health Number."""
    return _confirm(_stdnum("ca.bc_phn", _digits(value)))


def ramq(value: str) -> Verdict:
    """Veto a Quebec health insurance number whose birth date (month + 50 for women) is no date.

    Source: Régie de l'assurance maladie du Québec, composition of the number: three letters of the last name,
    one of the first, year, month, day, sequence.

    >>> ramq("TREM 8551 1412").value, ramq("TREM 8533 1412").value
    ('confirm', 'veto')
    """
    digits = _digits(value)
    month, day = int(digits[2:4]), int(digits[4:6])
    return _confirm((1 <= month <= 12 or 51 <= month <= 62) and 1 <= day <= 31)  # noqa: PLR2004 (a calendar)


def mbi(value: str) -> Verdict:
    """Confirm the alternating letters and digits of a Medicare Beneficiary Identifier (no S, L, O, I, B, Z).

    Source: Centers for Medicare & Medicaid Services, "Understanding the MBI Format".

    >>> mbi("1EG4-TE5-MK73").value, mbi("1EG4TE5MB73").value
    ('confirm', 'veto')
    """
    letter, either = "AC-HJKMNP-RT-Y", "AC-HJKMNP-RT-Y0-9"
    pattern = rf"[1-9][{letter}][{either}]\d[{letter}][{either}]\d[{letter}]{{2}}\d\d"
    return _confirm(re.fullmatch(pattern, _alnum(value)) is not None)


def npi(value: str) -> Verdict:
    """Confirm a US National Provider Identifier: Luhn over 80840 + the ten digits.

    Source: 45 CFR 162.406 and ISO/IEC 7812.

    >>> npi("1234567893").value, npi("1234567890").value
    ('confirm', 'veto')
    """
    digits = _digits(value)
    return _confirm(digits[0] in "12" and _stdnum("luhn", "80840" + digits))


def dea(value: str) -> Verdict:
    """Confirm a DEA registration number by its check digit.

    Source: US Drug Enforcement Administration: (d1+d3+d5) + 2(d2+d4+d6), last digit = d7.

    >>> dea("AB1234563").value, dea("AB1234567").value
    ('confirm', 'veto')
    """
    d = [int(c) for c in value[-7:]]
    return _confirm((d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6])


def vin(value: str) -> Verdict:
    """Confirm a vehicle identification number by its check digit (position 9).

    Source: 49 CFR 565.15(c).

    >>> vin("1HGCM82633A004352").value, vin("1HGCM82633A004353").value
    ('confirm', 'veto')
    """
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    text = _alnum(value)
    numbers = [int(c) if c.isdecimal() else values.get(c, -1) for c in text]
    if -1 in numbers or len(text) != len(weights):
        return Verdict.VETO
    remainder = sum(n * w for n, w in zip(numbers, weights, strict=True)) % 11
    return _confirm(text[8] == "0123456789X"[remainder])


@lru_cache(maxsize=_SAME_PLACE)
def _phone_number(value: str) -> Any:
    """Return a number as phonenumbers reads it, None where it reads none."""
    phonenumbers = importlib.import_module("phonenumbers")
    try:
        return phonenumbers.parse(value, "CA")
    except phonenumbers.NumberParseException:
        return None


@lru_cache(maxsize=_SAME_PLACE)
def phone(value: str) -> Verdict:
    """Confirm a North American or international number that could be in service; never veto.

    Numbers such as 555-0199 are not in service but stand in texts as phone numbers all the same.
    """
    nanp = _NANP.fullmatch(value)
    if nanp:
        confirmed = _exchange_in_service(nanp[1] + nanp[2])
    else:
        number = _phone_number(value)
        confirmed = number is not None and importlib.import_module("phonenumbers").is_valid_number(number)
    return Verdict.CONFIRM if confirmed else Verdict.PLAUSIBLE


@lru_cache(maxsize=4096)
def _exchange_in_service(exchange: str) -> bool:
    """Tell whether an area code and exchange could be in service: the last four digits never decide it."""
    phonenumbers = importlib.import_module("phonenumbers")
    number = phonenumbers.PhoneNumber(country_code=1, national_number=int(f"{exchange}2345"))
    return bool(phonenumbers.is_valid_number(number))


def possible_phone(value: str) -> Verdict:
    """Veto an international number of impossible length for its country code."""
    number = _phone_number(value)
    return _plausible(
        number is not None and importlib.import_module("phonenumbers").is_possible_number(number)
    )


def ip_address(value: str) -> Verdict:
    """Veto what is no address of internet protocol 4 or 6, and the loopback and unspecified ones."""
    try:
        address = ipaddress.ip_address(value.strip("[]").partition("%")[0])
    except ValueError:
        return Verdict.VETO
    return _plausible(not (address.is_loopback or address.is_unspecified))


def numeric_date(value: str) -> Verdict:
    """Veto digits that are no day of any year from 1850 to 2100, whatever the order of day, month and year.

    >>> numeric_date("2019-02-30").value, numeric_date("31/12/99").value, numeric_date("20240214210646").value
    ('veto', 'plausible', 'plausible')
    """
    parts = [int(p) for p in re.findall(r"\d+", value)[:3]]
    if re.match(r"\d{1,2}[-/]\d{1,2}[ ,@à]", value):  # a time of day behind a month and a day
        parts = parts[:2]
    if len(parts) == 1 or re.match(r"\d{8}", value):  # packed: 20240131, with or without a time of day
        text = _digits(value)
        parts = [int(text[:4]), int(text[4:6]), int(text[6:8])]
    if len(parts) == 2:  # noqa: PLR2004 (month and day, or month and year)
        first, second = parts
        return _plausible(1 <= min(first, second) <= 12 and _is_day_or_year(max(first, second)))  # noqa: PLR2004
    orders = ((0, 1, 2), (2, 0, 1), (2, 1, 0))
    return _plausible(any(_is_date(parts[y], parts[m], parts[d]) for y, m, d in orders))


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
    month = next((_MONTHS[word] for word in words if word in _MONTHS), None)
    days = [int(n) for n in re.findall(r"(?<!\d)\d{1,2}(?!\d)", value)]
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}.get(month or 0, 31)
    return _plausible(month is not None and (not days or any(1 <= day <= longest for day in days)))


def over_89(value: str) -> Verdict:
    """Veto an age of 89 or less, or beyond human life. Source: 45 CFR 164.514(b)(2)(i)(C)."""
    numbers = re.findall(r"\d+", value)
    return _plausible(not numbers or 89 < int(numbers[0]) <= 125)  # noqa: PLR2004 (stated above)


def mrz(value: str) -> Verdict:
    """Confirm the check digits of a passport's machine-readable zone, second line. Source: ICAO 9303-4."""
    text = re.sub(r"\s", "", value)[-44:]
    return _confirm(all(_mrz_digit(text[a:b]) == text[b] for a, b in ((0, 9), (13, 19), (21, 27))))


def _mrz_digit(text: str) -> str:
    numbers = [0 if c == "<" else int(c, 36) for c in text]
    return str(sum(n * (7, 3, 1)[i % 3] for i, n in enumerate(numbers)) % 10)


def udi(value: str) -> Verdict:
    """Confirm a unique device identifier whose GTIN (application identifier 01) has its check digit."""
    return _confirm(_stdnum("ean", _digits(value)[2:16]))


def imei(value: str) -> Verdict:
    """Confirm a mobile device's IMEI."""
    return _confirm(_stdnum("imei", _digits(value)))


def has_digit(value: str) -> Verdict:
    """Veto a value without a digit: words in a place where a number was expected."""
    return _plausible(_DIGIT.search(value) is not None)


def no_date(value: str) -> Verdict:
    """Veto a value that is a date: what follows a label such as ID may be the next field."""
    if _FULL_DATE.fullmatch(value):
        return Verdict.VETO if numeric_date(value) is not Verdict.VETO else Verdict.PLAUSIBLE
    return has_digit(value)


def record_number(value: str) -> Verdict:
    """Veto what cannot number a record: a date, fewer than three digits or letters, or a year alone.

    >>> record_number("A12345").value, record_number("2019-01-02").value, record_number("of").value
    ('plausible', 'veto', 'veto')
    """
    if value.isdecimal():  # as most cells of a column
        return _plausible(len(value) >= 3)  # noqa: PLR2004 (stated above)
    if len(_alnum(value)) < 3 or len(_digits(value)) < 2:  # noqa: PLR2004 (stated above)
        return Verdict.VETO
    if re.fullmatch(r"\d{1,2}/\d{1,2}", value):  # "visit 4/10": the fourth of ten, or a day
        return Verdict.VETO
    return no_date(value)


def record_code(value: str) -> Verdict:
    """Veto what a word such as "file" or "claim" stands before in prose: dates, years, phones, standards.

    And below "Ref" of a table of results a range from a number to a greater one.

    >>> record_code("RC-23-55107-B").value, record_code("2019-2020").value, record_code("613-555-0199").value
    ('plausible', 'veto', 'veto')
    >>> record_code("120-160").value, record_code("80-100").value, record_code("24-118").value
    ('veto', 'veto', 'plausible')
    """
    years = re.fullmatch(r"(?:19|20)\d{2}[-/](?:(?:19|20)?\d{2})", value)
    dated = re.fullmatch(r"\d{1,2}[-/]\d{1,2}", value) or re.fullmatch(r"\d{3}-\d{3}-\d{4}", value)
    standard = re.match(
        r"(?:GS1|EAN|UPC|ISO|ICD|COVID|SARS|CPT|NDC|DIN)[- ]?\d|AH-\d{2,3}$", value, re.IGNORECASE
    )  # AH-223: a form of Quebec's health network
    return Verdict.VETO if years or dated or standard or _is_range(value) else record_number(value)


def _is_range(value: str) -> bool:
    """Tell whether two numbers are limits: of one length, or the second round and little greater."""
    low, dash, high = value.partition("-")
    if not (dash and low.isdecimal() and high.isdecimal() and len(high) <= 4 and int(low) < int(high)):  # noqa: PLR2004 (longer numbers are none)
        return False
    return len(low) == len(high) or (high.endswith("0") and int(high) <= 2 * int(low))


_PUBLIC = (
    "NCT",
    "PMC",
    "PMID",
    "DOI",
    "ISBN",
    "ISSN",
    "ISO",
    "RFC",
    "ISRCTN",
    "ENSG",
    "RS",
    "GO",
    "OMIM",
    "CVE",
    "ICD",
    "CPT",
    "CAS",
    "COVID",
    "HLA",
    "NDC",
    "EAN",
    "UPC",
    "DRG",
    "HCPCS",
)


def no_public_number(value: str) -> Verdict:
    """Veto what numbers a trial, an article, a standard or a gene, a date, and zeros only: no person's.

    >>> no_public_number("NCT01234567").value, no_public_number("U0418827").value
    ('veto', 'plausible')
    """
    letters = re.match(r"[A-Za-z]*", value)
    word = letters[0] if letters else ""
    return _plausible(word not in _PUBLIC and word.lower() not in _MONTHS and len(set(_digits(value))) > 1)


def no_fraction(value: str) -> Verdict:
    """Veto a fraction of sixteenths and the like, and "24/7".

    >>> no_fraction("1/16").value, no_fraction("8/16").value, no_fraction("3/24").value
    ('veto', 'plausible', 'plausible')
    """
    first, second = map(int, value.split("/"))
    inches = second in {16, 32} and first % 2 == 1
    return _plausible(not inches and (first, second) not in {(24, 7), (20, 20), (1, 20), (12, 24)})


def year_and_month(value: str) -> Verdict:
    """Veto two years of which the second follows the first, as seasons and budgets are written.

    >>> year_and_month("2008-02").value, year_and_month("2008-09").value
    ('plausible', 'veto')
    """
    year, month = map(int, re.split(r"[-/]", value))
    return _plausible((year + 1) % 100 != month)


def driver_licence(value: str) -> Verdict:
    """Veto a date, and fewer than five letters and digits: no province or state issues shorter ones.

    >>> driver_licence("123456").value, driver_licence("12").value, driver_licence("2019-01-02").value
    ('plausible', 'veto', 'veto')
    """
    return Verdict.VETO if len(_alnum(value)) < 5 else no_date(value)  # noqa: PLR2004 (stated above)


def has_letter(value: str) -> Verdict:
    """Veto a value of digits alone."""
    return _plausible(any(c.isalpha() for c in value))


# Words between the label of an address and its number.
_TO_ADDRESS = frozenset(
    (
        "on",
        "file",
        "is",
        "was",
        "at",
        "now",
        "new",
        "old",
        "rue",
        "apt",
        "unit",
        "box",
        "lot",
        "the",
        "au",
        "est",
    )
)


def address(value: str) -> Verdict:
    """Veto the rest of a line that cannot be an address: without a digit, or without a word.

    What is told in small letters before its first number is none either: "try side door code 4471".

    >>> address("44 the old mill").value, address("the issue").value, address("2019-01-02").value
    ('plausible', 'veto', 'veto')
    """
    before = re.findall(r"[^\W\d_]{2,}", re.split(r"\d", value, maxsplit=1)[0])
    if len(before) > 1 and all(word.islower() and word not in _TO_ADDRESS for word in before):
        return Verdict.VETO
    words = re.findall(r"[^\W\d_]{2,}", value)
    if not words or not any(c.isdecimal() for c in value[:25]):
        return Verdict.VETO
    return Verdict.PLAUSIBLE


# A year and whose doing, a day and a time of day, or a day and a month, and then a doctor's title.
_TITLE_AFTER_DATE = re.compile(
    r"(?:(?:18|19|20)\d{2} (?:under|by|with|per|via|from|to|and|par|avec|du|et)|\d{1,2} \d{4}|\d{1,2} (?:"
    + "|".join(sorted(_MONTHS, key=len, reverse=True))
    + r"))\b.{0,40}\bdr\b\.?",
    re.IGNORECASE,
)


def street(value: str) -> Verdict:
    """Veto a number and words, of which the last is a doctor's title, not Drive.

    >>> street("2022 UNDER DR.").value, street("16 Oct. Dr").value, street("2022 Ocean Dr").value
    ('veto', 'veto', 'plausible')
    """
    return _plausible(_TITLE_AFTER_DATE.fullmatch(value) is None)


_BARE_ORGANIZATION = frozenset(
    "the a an this that our your his her their my any each every some no which what local general"  # noqa: SIM905 (a list of words reads best as a text)
    " public private"
    " one united state national federal if in at for and all to as of by when whether with is".split()
)


def organization(value: str) -> Verdict:
    """Veto a name that is nothing but articles and the word for an organization: "The Company".

    >>> organization("The Company").value, organization("Acme Widgets Inc.").value
    ('veto', 'plausible')
    """
    words = [word.strip(".,").lower() for word in value.split()]
    named = [word for word in words[:-1] if word not in _BARE_ORGANIZATION]
    return _plausible(bool(named) or (len(words) == 1 and words[0] not in _BARE_ORGANIZATION))


_NO_EMPLOYER = frozenset(
    "retired unemployed self self-employed none unknown n/a na same other homemaker student disabled"  # noqa: SIM905 (a list of words reads best as a text)
    " disability full part full-time part-time yes no not patient retraité retraitée retraite aucun"
    " aucune inconnu invalide étudiant étudiante chômage medicare medicaid home self-pay private cash".split()
)


def employer(value: str) -> Verdict:
    """Veto what stands in the place of an employer or payer and is none: "Retired", "Self-pay".

    >>> employer("Retired").value, employer("Self Pay").value, employer("Acme Widgets").value
    ('veto', 'veto', 'plausible')
    """
    first = value.split(maxsplit=1)[0].strip(".,").lower()
    return Verdict.VETO if first in _NO_EMPLOYER else organization(value)


CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        ssn,
        sin,
        soft_sin,
        luhn,
        soft_luhn,
        iban,
        bc_phn,
        ramq,
        mbi,
        npi,
        dea,
        vin,
        phone,
        possible_phone,
        ip_address,
        numeric_date,
        separated_date,
        written_date,
        over_89,
        mrz,
        udi,
        imei,
        has_digit,
        no_date,
        record_number,
        record_code,
        no_public_number,
        no_fraction,
        year_and_month,
        driver_licence,
        has_letter,
        address,
        street,
        organization,
        employer,
    )
}
