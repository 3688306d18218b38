"""Check digits against published numbers; each expectation names where the number was printed."""

import random

import phonenumbers
import pytest

from phiscan.screen.validators.registry import CHECKS
from phiscan.screen.validators.verdicts import Verdict

CONFIRMED = [
    ("luhn", "4111 1111 1111 1111"),  # the card schemes' test number
    ("luhn", "378282246310005"),  # American Express test number
    ("npi", "1234567893"),  # CMS, "Requirements for NPI check digit", example
    ("mbi", "1EG4-TE5-MK73"),  # CMS, "Understanding the MBI Format", example
    ("vin", "1M8GDM9AXKP042788"),  # the worked example of 49 CFR 565.15 in the literature
    ("vin", "11111111111111111"),  # every weight is met by ones
    ("sin", "130 692 544"),  # python-stdnum's own example of a SIN
    ("iban", "GB82 WEST 1234 5698 7654 32"),  # ISO 13616 registry example
    ("bc_phn", "9698 658 215"),  # python-stdnum's own example of a PHN
    ("mrz", "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10"),  # ICAO 9303-4  # noqa: E501 (one expression or one row of data)
    ("udi", "(01)00844588003288(17)141120(10)7654321D(21)10987654d321"),  # FDA, UDI formats, GS1 example
]  # fmt: skip


@pytest.mark.parametrize(("check", "value"), CONFIRMED)
def test_confirms_published_numbers(check: str, value: str) -> None:
    assert CHECKS[check](value) is Verdict.CONFIRM


@pytest.mark.parametrize(("check", "value"), [c for c in CONFIRMED if c[0] not in {"mbi", "mrz", "vin"}])
def test_vetoes_every_single_wrong_last_digit(check: str, value: str) -> None:
    body, last = (value[:-1], value[-1]) if check != "udi" else (value[:17], value[17])
    tail = "" if check != "udi" else value[18:]
    for digit in "0123456789":
        if digit != last:
            assert CHECKS[check](body + digit + tail) is Verdict.VETO


def test_vetoes_a_passport_line_with_one_wrong_character() -> None:
    value = dict(CONFIRMED)["mrz"]
    assert CHECKS["mrz"](value.replace("L898902C36", "L898902C46")) is Verdict.VETO


STATES = ("room air", "PT and OT", "Home Tuesday", "Self", "Grade 4", "Weaned")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        ("numeric_date", "2020-02-29", "2019-02-29"),
        ("numeric_date", "31/12/1999", "31/31/1999"),
        ("written_date", "le 30 avril 2020", "31 avril 2020"),
        ("over_89", "90", "89"),
        ("ip_address", "192.168.1.1", "127.0.0.1"),
        ("organization", "Acme Hospital", "The Hospital"),
        ("address", "12 Main", "the issue"),
        ("has_letter", "0A", "00"),
        ("record_number", "A123", "1962-03-14"),
        ("dea", "AB1234563", "AB1234564"),
        ("ramq", "TREM85511412", "TREM85991412"),
        ("no_fraction", "11/28", "3/16"),
        ("no_public_number", "RX23-44190", "NCT01234567"),
        ("separated_date", "03 / 19 / 2004", "031904"),
        ("numeric_date", "20230714151822-0400", "20231314151822-0400"),
        ("record_code", "LTD-7716203", "2019-2020"),
        *(("ssn", "123-45-6788", never) for never in ("000-12-3456", "666-12-3456", "123-00-4567")),
        *(("ssn", "212-09-9999", never) for never in ("123-45-0000", "078-05-1120")),
        *(("postal_code", code, "G2P1A0") for code in ("G2P 1A0", "K1H8L1")),  # of a pregnancy
        ("postal_code", "T2N 1M4", "T2N1M0"),  # a stage
        # What stands behind the label of a home: its name, or how somebody is.
        *(("named_organization", name, "Refused") for name in ("Golden Living", "The Mustard Seed")),
        *(("named_organization", name, "Room") for name in ("CUPE 79", "Family Health Team")),
        *(("named_organization", "Whispering Pines", state) for state in STATES),
    ],
)
def test_tells_plausible_from_impossible(check: str, good: str, bad: str) -> None:
    assert CHECKS[check](good) is not Verdict.VETO
    assert CHECKS[check](bad) is Verdict.VETO


def test_luhn_alone_passes_one_random_number_in_ten() -> None:
    passed = sum(CHECKS["luhn"](f"{n:09d}") is Verdict.CONFIRM for n in range(123_456_000, 123_457_000))
    assert passed == 100


def test_a_plain_number_is_in_service_as_phonenumbers_says_of_the_whole() -> None:
    draw = random.Random(7)
    for _ in range(300):
        area, exchange, line = draw.randrange(200, 1000), draw.randrange(200, 1000), draw.randrange(10_000)
        value = f"({area}) {exchange}-{line:04d}"
        expected = phonenumbers.is_valid_number(phonenumbers.parse(value, "CA"))
        assert (CHECKS["phone"](value) is Verdict.CONFIRM) is expected, value


def test_a_small_may_needs_something_that_makes_it_the_month() -> None:
    for value in ("may 5 2024", "the 5th of may", "fri may 17"):
        assert CHECKS["written_date"](value) is Verdict.PLAUSIBLE, value
    for value in ("may 5", "10 may"):
        assert CHECKS["written_date"](value) is Verdict.VETO, value
