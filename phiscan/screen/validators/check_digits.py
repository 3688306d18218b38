"""Checks of numbers that carry check digits, or that their issuer makes by a rule.

The arithmetic is python-stdnum's wherever it has it. What it lacks (formats of some Canadian health cards,
the United States Medicare number, VIN, NPI prefix, DEA) is written here, each with its source.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from phiscan.screen.validators.verdicts import Verdict, alnum_of, confirm, digits_of, plausible


def _stdnum(module: str, value: str, **options: Any) -> bool:
    checker = importlib.import_module(f"stdnum.{module}")
    return bool(checker.is_valid(value, **options))


def ssn(value: str) -> Verdict:
    """Veto a US Social Security number of an area, group or serial that was never issued.

    Areas 9xx are not vetoed: the tax numbers of people without an SSN (ITIN) and most synthetic patients use
    them, and a leak of either matters.

    >>> ssn("123-45-6788").value, ssn("666-12-3456").value, ssn("078-05-1120").value
    ('plausible', 'veto', 'veto')
    """
    digits = digits_of(value)
    if (
        len(set(digits)) == 1
        or digits.startswith(("000", "666"))
        or digits[3:5] == "00"
        or digits[5:] == "0000"
    ):
        return Verdict.VETO
    if digits.startswith("9"):
        return Verdict.PLAUSIBLE
    return plausible(_stdnum("us.ssn", digits) or digits in {"123456789", "111223333"})


def sin(value: str) -> Verdict:
    """Confirm a Canadian Social Insurance Number by its check digit.

    Numbers that begin with 0 are not issued, but stand in forms and examples (046 454 286): plausible.
    """
    digits = digits_of(value)
    if digits.startswith("0") and luhn(digits) is Verdict.CONFIRM:
        return Verdict.PLAUSIBLE
    return confirm(_stdnum("ca.sin", digits))


def soft_sin(value: str) -> Verdict:
    """Confirm a Social Insurance Number without a veto: after its label a misread digit is still a leak."""
    return Verdict.CONFIRM if sin(value) is Verdict.CONFIRM else Verdict.PLAUSIBLE


def luhn(value: str) -> Verdict:
    """Confirm a number whose last digit is a Luhn check digit.

    >>> luhn("4111 1111 1111 1111").value, luhn("4111 1111 1111 1112").value
    ('confirm', 'veto')
    """
    digits = digits_of(value)
    return confirm(len(set(digits)) > 1 and _stdnum("luhn", digits))


def soft_luhn(value: str) -> Verdict:
    """Confirm by a Luhn check digit, without a veto: for numbers that older series issued without one."""
    return Verdict.CONFIRM if luhn(value) is Verdict.CONFIRM else Verdict.PLAUSIBLE


def iban(value: str) -> Verdict:
    """Confirm an international bank account number."""
    return confirm(_stdnum("iban", alnum_of(value), check_country=False))


def bc_phn(value: str) -> Verdict:
    """Confirm a British Columbia Personal Health Number."""
    return confirm(_stdnum("ca.bc_phn", digits_of(value)))


def ramq(value: str) -> Verdict:
    """Veto a Quebec health insurance number whose birth date (month + 50 for women) is no date.

    Source: Régie de l'assurance maladie du Québec, composition of the number: three letters of the last name,
    one of the first, year, month, day, sequence.

    >>> ramq("TREM 8551 1412").value, ramq("TREM 8533 1412").value
    ('confirm', 'veto')
    """
    digits = digits_of(value)
    month, day = int(digits[2:4]), int(digits[4:6])
    return confirm((1 <= month <= 12 or 51 <= month <= 62) and 1 <= day <= 31)  # noqa: PLR2004 (a calendar)


def mbi(value: str) -> Verdict:
    """Confirm the alternating letters and digits of a Medicare Beneficiary Identifier (no S, L, O, I, B, Z).

    Source: Centers for Medicare & Medicaid Services, "Understanding the MBI Format".

    >>> mbi("1EG4-TE5-MK73").value, mbi("1EG4TE5MB73").value
    ('confirm', 'veto')
    """
    letter, either = "AC-HJKMNP-RT-Y", "AC-HJKMNP-RT-Y0-9"
    pattern = rf"[1-9][{letter}][{either}]\d[{letter}][{either}]\d[{letter}]{{2}}\d\d"
    return confirm(re.fullmatch(pattern, alnum_of(value)) is not None)


def npi(value: str) -> Verdict:
    """Confirm a US National Provider Identifier: Luhn over 80840 + the ten digits.

    Source: 45 CFR 162.406 and ISO/IEC 7812.

    >>> npi("1234567893").value, npi("1234567890").value
    ('confirm', 'veto')
    """
    digits = digits_of(value)
    return confirm(digits[0] in "12" and _stdnum("luhn", "80840" + digits))


def dea(value: str) -> Verdict:
    """Confirm a DEA registration number by its check digit.

    Source: US Drug Enforcement Administration: (d1+d3+d5) + 2(d2+d4+d6), last digit = d7.

    >>> dea("AB1234563").value, dea("AB1234567").value
    ('confirm', 'veto')
    """
    d = [int(c) for c in value[-7:]]
    return confirm((d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6])


def vin(value: str) -> Verdict:
    """Confirm a vehicle identification number by its check digit (position 9).

    Source: 49 CFR 565.15(c).

    >>> vin("1HGCM82633A004352").value, vin("1HGCM82633A004353").value
    ('confirm', 'veto')
    """
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    text = alnum_of(value)
    numbers = [int(c) if c.isdecimal() else values.get(c, -1) for c in text]
    if -1 in numbers or len(text) != len(weights):
        return Verdict.VETO
    remainder = sum(n * w for n, w in zip(numbers, weights, strict=True)) % 11
    return confirm(text[8] == "0123456789X"[remainder])


def mrz(value: str) -> Verdict:
    """Confirm the check digits of a passport's machine-readable zone, second line. Source: ICAO 9303-4."""
    text = re.sub(r"\s", "", value)[-44:]
    return confirm(all(_mrz_digit(text[a:b]) == text[b] for a, b in ((0, 9), (13, 19), (21, 27))))


def _mrz_digit(text: str) -> str:
    numbers = [0 if c == "<" else int(c, 36) for c in text]
    return str(sum(n * (7, 3, 1)[i % 3] for i, n in enumerate(numbers)) % 10)


def udi(value: str) -> Verdict:
    """Confirm a unique device identifier whose GTIN (application identifier 01) has its check digit."""
    return confirm(_stdnum("ean", digits_of(value)[2:16]))


def imei(value: str) -> Verdict:
    """Confirm a mobile device's IMEI."""
    return confirm(_stdnum("imei", digits_of(value)))
