"""A synthetic population from a seed: names of skewed frequency, birth dates, numbers; nobody in it exists.

python -m tests.patients.population 1000000 patients.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

HEADER = (
    "first_name", "last_name", "birth_date", "mrn", "health_card", "phone", "email", "address",
    "postal_code", "province",
)  # fmt: skip
PROVINCES = ("ON", "QC", "BC", "AB", "MB")
_ONSETS = [
    *("b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "pr"),
    *("qu", "r", "s", "sh", "st", "t", "tr", "v", "w", "y", "z"),
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_CODAS = ["", "n", "r", "l", "s", "m", "t", "ck", "nd"]
_ENDS = ["son", "ton", "ley", "man", "ski", "berg", "ville", "ford", "wood", "stein", "mark", "well"]
_STREETS = ["Harbour", "Maple", "Station", "Church", "Mill", "Orchard", "Bridge", "Garden", "Market", "River"]
_POSTAL_LETTERS = "ABCEGHJKLMNPRSTVXY"


@dataclass(frozen=True)
class Person:
    given: str
    family: str
    born: date
    mrn: str
    card: str
    phone: str
    email: str
    street: str
    postal: str
    province: str

    @property
    def row(self) -> tuple[str, ...]:
        return (
            self.given, self.family, self.born.isoformat(), self.mrn, self.card, self.phone, self.email,
            self.street, self.postal, self.province,
        )  # fmt: skip


def made_names(n: int, seed: int, ends: tuple[str, ...] = ("",)) -> list[str]:
    """Return so many different names of syllables."""
    random = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < n:
        name = "".join(
            _ONSETS[random.integers(len(_ONSETS))]
            + _VOWELS[random.integers(len(_VOWELS))]
            + _CODAS[random.integers(len(_CODAS))]
            for _ in range(2)
        )
        found[(name + ends[random.integers(len(ends))]).capitalize()] = None
    return list(found)


@cache
def _names() -> tuple[list[str], list[str]]:
    """Return given and family names, the most frequent first."""
    return made_names(2_000, 1), made_names(20_000, 2, tuple(_ENDS))


def population(n: int, seed: int = 36, *, first_number: int = 0) -> Iterator[Person]:
    """Yield people; with another seed and ``first_number`` they are others, of the same distribution.

    The share of a name falls with its rank as those of real names do: two people share a given name with a
    probability of about 1 in 270, a family name with one of about 1 in 2,000.
    """
    for start in range(0, n, 50_000):
        yield from _some(min(50_000, n - start), np.random.default_rng([seed, start]), first_number + start)


def _some(n: int, random: np.random.Generator, number: int) -> Iterator[Person]:
    givens, families = _names()
    given = random.choice(len(givens), n, p=_shares(len(givens), 10))
    family = random.choice(len(families), n, p=_shares(len(families), 60))
    days = random.integers(0, 36_000, n)
    phones = random.integers(2_000_000, 9_999_999, n)
    houses, streets = random.integers(1, 3_000, n), random.integers(0, len(_STREETS), n)
    postals = random.integers(0, 18**3 * 1000, n)
    for row in range(n):
        first, last = givens[given[row]], families[family[row]]
        at = number + row
        # Multiplication by a number coprime to the modulus: numbers look random and never repeat.
        yield Person(
            given=first,
            family=last,
            born=date(1925, 1, 1) + timedelta(days=int(days[row])),
            mrn=f"{(at * 7_368_787 + 1_234_567) % 10**8:08d}",
            card=with_check_digit(f"{(at * 613_651_349 + 411_111_111) % 10**9:09d}"),
            phone=f"613-{phones[row] // 10_000}-{phones[row] % 10_000:04d}",
            email=f"{first}.{last}{at % 997}@example.org".lower(),
            street=f"{houses[row]} {_STREETS[streets[row]]} Street",
            postal=_postal(int(postals[row])),
            province=PROVINCES[at % len(PROVINCES)],
        )


def _shares(n: int, offset: int) -> npt.NDArray[np.float64]:
    weights = 1.0 / (np.arange(n) + float(offset))
    return np.asarray(weights / weights.sum())


def _postal(code: int) -> str:
    letters, digits = divmod(code, 1000)
    a, b, c = (_POSTAL_LETTERS[letters // 18**k % 18] for k in range(3))
    return f"{a}{digits // 100}{b} {digits // 10 % 10}{c}{digits % 10}"


def with_check_digit(digits: str) -> str:
    """Return nine digits with the check digit of an Ontario health card behind them.

    >>> with_check_digit("123456789")
    '1234567897'
    """
    total = 0
    for place, digit in enumerate(map(int, digits)):
        doubled = 2 * digit if place % 2 == 0 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return digits + str(-total % 10)


def write_list(path: Path, people: Iterator[Person] | list[Person]) -> Path:
    """Write a patient list as CSV."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        writer.writerows(person.row for person in people)
    return path


if __name__ == "__main__":
    write_list(Path(sys.argv[2]), population(int(sys.argv[1])))
