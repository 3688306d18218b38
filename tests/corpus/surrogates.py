"""Invented people with identifiers that look right: names from permuted syllables, valid check digits.

Names follow the idea of the i2b2 2006 challenge (Uzuner, Luo & Szolovits 2007): syllables put together
anew, so that hardly any name stands in a dictionary. No identifier was ever taken from a
person: SINs begin with 9 and SSNs with 8 (see sample_truth/README.md), telephone numbers are 555-01xx,
mail domains are example.*.
"""

import calendar
import random
import tomllib
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

SEED = "phiscan sample corpus 1"

_NAMES = tomllib.loads((Path(__file__).parent / "names.toml").read_text(encoding="utf-8"))
_MIN_LETTERS = 6  # so that a name alone can be searched for
_P_ORDINARY = 0.35  # for the first and for the last name, each on its own
_TOWNS = {
    "on": ("Wendlebury Falls", "Port Kessary", "Ashmeer", "Dunnoway"),
    "qc": ("Saint-Aubrieu", "Val-Tressigny", "Lac-aux-Martres"),
    "bc": ("Tamarrow Bay", "Keldonna", "Fort Istwell"),
    "us": ("Pellmoor", "Crandleton", "East Vassary", "Millhaven Springs"),
}
_AREA = {"on": "613", "qc": "418", "bc": "250", "us": "614"}
_DOMAINS = ("example.ca", "example.org", "mail.example.com", "post.example.net")
_MONTHS_FR = ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre"]
_MONTHS_FR += ["octobre", "novembre", "décembre"]
_POSTAL_FIRST = {"on": "K", "qc": "G", "bc": "V"}
_POSTAL_LETTERS = "ABCEGHJKLMNPRSTVWXYZ"
# Published by the card networks for testing; never issued to anyone.
TEST_CARDS = ("4242 4242 4242 4242", "5555 5555 5555 4444", "4012 8888 8888 1881")
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def ascii_of(text: str) -> str:
    """Drop accents and everything that is not a letter or digit."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "".join(c for c in plain if c.isalnum())


def luhn_digit(digits: str) -> str:
    """Return the digit that makes ``digits`` pass the Luhn check.

    >>> luhn_digit("7992739871")
    '3'
    """
    total = 0
    for index, char in enumerate(reversed(digits)):
        value = int(char) * (2 if index % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def bc_phn_digit(eight: str) -> str | None:
    """Return the check digit of a BC personal health number 9 + eight digits, or None if there is none.

    >>> bc_phn_digit("69865821")
    '5'
    """
    weights = (2, 4, 8, 5, 10, 9, 7, 3)
    check = 11 - sum(weight * int(char) % 11 for weight, char in zip(weights, eight, strict=True)) % 11
    return str(check) if check < 10 else None


def vin_with_check(vin: str) -> str:
    """Put the check character into position nine of a 17-character vehicle number.

    >>> vin_with_check("1M8GDM9A0KP042788")
    '1M8GDM9AXKP042788'
    """
    values = dict(
        zip(
            "ABCDEFGHJKLMNPRSTUVWXYZ",
            (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
            strict=True,
        )
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    rest = sum(w * (int(c) if c.isdigit() else values[c]) for w, c in zip(weights, vin, strict=True)) % 11
    return vin[:8] + ("X" if rest == 10 else str(rest)) + vin[9:]


def _digits(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(n))


def _permuted(rng: random.Random, *syllables: list[str]) -> str:
    name = ""
    while len(name) < _MIN_LETTERS:
        name = "".join(rng.choice(part) for part in syllables)
    return name


def first_name(rng: random.Random, language: str, sex: str) -> str:
    """Make a first name of at least six letters."""
    names = _NAMES[language]
    if rng.random() < _P_ORDINARY:
        return str(rng.choice(names[f"ordinary_first_{sex}"]))
    return _permuted(rng, names["first_heads"], names["first_middles"], names[f"first_tails_{sex}"])


def last_name(rng: random.Random, language: str) -> str:
    """Make a last name of at least six letters."""
    names = _NAMES[language]
    if rng.random() < _P_ORDINARY:
        return str(rng.choice(names["ordinary_last"]))
    return _permuted(rng, names["last_heads"], names["last_middles"], names["last_tails"])


def random_date(rng: random.Random, year: int) -> date:
    """Pick a day of a year."""
    return date(year, 1, 1) + timedelta(days=rng.randrange(365))


@dataclass(frozen=True)
class Person:
    """One invented person; every attribute is the written form of one identifier."""

    values: dict[str, str]
    professional: bool

    def get(self, attribute: str) -> tuple[str, str]:
        """Return the entity type and the text of one identifier."""
        kind = ATTRIBUTE_TYPES[attribute]
        if kind == "PERSON" and self.professional:
            kind = "HEALTH_PROFESSIONAL"
        return kind, self.values[attribute]


ATTRIBUTE_TYPES = {
    **dict.fromkeys(("name", "first", "last", "lastfirst", "upper", "initial"), "PERSON"),
    **dict.fromkeys(("dob", "dobiso", "dobus", "dobfr", "dobhl7", "dobslash"), "DATE_OF_BIRTH"),
    **dict.fromkeys(("ohip", "ramq", "phn"), "HEALTH_CARD"),
    **dict.fromkeys(("mbi", "plan"), "HEALTH_PLAN"),
    "sin": "SIN",
    "ssn": "SSN",
    "passport": "PASSPORT",
    "dl": "DRIVER_LICENSE",
    "mrn": "MRN",
    "acct": "ACCOUNT",
    "card": "CREDIT_CARD",
    "license": "LICENSE",
    "vin": "VEHICLE",
    "device": "DEVICE",
    **dict.fromkeys(("phone", "cell"), "PHONE"),
    "fax": "FAX",
    "email": "EMAIL",
    "street": "STREET_ADDRESS",
    "town": "LOCATION",
    "postal": "POSTAL_CODE",
    "empno": "OTHER_ID",
}


def make_person(  # noqa: PLR0915 (one line per identifier)
    key: str,
    region: str,
    *,
    sex: str = "",
    born: str = "",
    name: str = "",
    professional: bool = False,
) -> Person:
    """Make one person; the same key gives the same person."""
    rng = random.Random(f"{SEED}/{key}")
    language = "fr" if region == "qc" else "en"
    sex_drawn = rng.choice("fm")
    sex = sex or sex_drawn
    drawn_first, drawn_last = first_name(rng, language, sex), last_name(rng, language)
    first, _, last = name.replace("_", " ").rpartition(" ") if name else (drawn_first, "", drawn_last)
    day = random_date(rng, rng.randrange(1938, 1994))
    day = date.fromisoformat(born) if born else day
    values = {
        "name": f"{first} {last}",
        "first": first,
        "last": last,
        "lastfirst": f"{last}, {first}",
        "upper": f"{last}, {first}".upper(),
        "initial": f"{first[0]}. {last}",
        "dob": f"{calendar.month_name[day.month]} {day.day}, {day.year}",
        "dobiso": day.isoformat(),
        "dobus": f"{day.month:02d}/{day.day:02d}/{day.year}",
        "dobslash": f"{day.year}/{day.month:02d}/{day.day:02d}",
        "dobfr": f"{day.day} {_MONTHS_FR[day.month - 1]} {day.year}",
        "dobhl7": day.strftime("%Y%m%d"),
    }
    ohip = rng.choice("2345678") + _digits(rng, 8)
    ohip += luhn_digit(ohip)
    values["ohip"] = f"{ohip[:4]}-{ohip[4:7]}-{ohip[7:]}-{rng.choice(_LETTERS)}{rng.choice(_LETTERS)}"
    initials = (ascii_of(last).upper()[:3] + ascii_of(first).upper()[:1]).ljust(4, "X")
    month = day.month + (50 if sex == "f" else 0)
    values["ramq"] = f"{initials} {day.year % 100:02d}{month:02d} {day.day:02d}{_digits(rng, 2)}"
    digit = None
    while digit is None:
        body = _digits(rng, 8)
        digit = bc_phn_digit(body)
    phn = f"9{body}{digit}"
    values["phn"] = f"{phn[:4]} {phn[4:7]} {phn[7:]}"
    values["mbi"] = (
        f"{rng.choice('123456789')}{rng.choice('ACDEFGHJK')}{rng.choice('0123456789')}{rng.choice('123456789')}-"
        f"{rng.choice('MNPQRTUVWXY')}{rng.choice('ACDEFGHJK')}{rng.choice('0123456789')}-"
        f"{rng.choice('ACDEFGHJK')}{rng.choice('MNPQRTUVWXY')}{_digits(rng, 2)}"
    )
    values["plan"] = f"{rng.choice(_LETTERS)}{rng.choice(_LETTERS)}H{_digits(rng, 8)}"
    sin = "9" + _digits(rng, 7)
    sin += luhn_digit(sin)
    values["sin"] = f"{sin[:3]} {sin[3:6]} {sin[6:]}"
    values["ssn"] = f"{rng.randrange(801, 899)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"
    values["passport"] = f"{rng.choice('GHJ')}{rng.choice(_LETTERS)}{_digits(rng, 6)}"
    dl = f"{ascii_of(last)[0].upper()}{_digits(rng, 8)}{day.year % 100:02d}{month:02d}{day.day:02d}"
    values["dl"] = f"{dl[:5]}-{dl[5:10]}-{dl[10:]}" if region == "on" else f"{dl[0]}{dl[1:8]}"
    number = _digits(rng, 6)
    values["mrn"] = {
        "on": f"VCH-0{number}",
        "qc": f"D-{number}",
        "bc": f"TG00{number}",
        "us": f"00-{number[:2]}-{number[2:4]}-{number[4:]}",
    }[region]
    values["acct"] = f"{rng.randrange(10000, 99999)}-{rng.randrange(100, 999)}-{_digits(rng, 7)}"
    values["card"] = rng.choice(TEST_CARDS)
    values["license"] = f"1{_digits(rng, 9)}" if region == "us" else f"1{_digits(rng, 2)}-{_digits(rng, 3)}"
    values["vin"] = vin_with_check(f"2HKRM4H5{rng.randrange(10)}GH{rng.randrange(100000, 999999)}")
    values["device"] = f"SN-{rng.choice(_LETTERS)}{rng.choice(_LETTERS)}{_digits(rng, 7)}"
    area = _AREA[region]
    values["phone"] = f"({area}) 555-01{rng.randrange(10, 99)}"
    values["cell"] = f"{area}-555-01{rng.randrange(10, 99)}"
    values["fax"] = f"{area}.555.01{rng.randrange(10, 99)}"
    values["email"] = f"{ascii_of(first).lower()}.{ascii_of(last).lower()}@{rng.choice(_DOMAINS)}"
    house = rng.randrange(12, 4980)
    street = rng.choice(_NAMES[language]["streets"])
    values["street"] = f"{house}, {street}" if language == "fr" else f"{house} {street}"
    values["town"] = rng.choice(_TOWNS[region])
    if region == "us":
        values["postal"] = f"430{_digits(rng, 2)}-{rng.randrange(1000, 9999)}"
    else:
        letters = [rng.choice(_POSTAL_LETTERS) for _ in range(2)]
        values["postal"] = (
            f"{_POSTAL_FIRST[region]}{rng.choice('0123456789')}{letters[0]} "
            f"{rng.choice('123456789')}{letters[1]}{rng.choice('123456789')}"
        )
    values["empno"] = f"E-{rng.randrange(100000, 999999)}"
    return Person(values, professional)
