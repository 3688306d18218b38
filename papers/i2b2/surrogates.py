"""Surrogate identifiers: permuted syllables, replaced digits and letters, shifted dates.

Source: Uzuner, Luo & Szolovits (2007), "PHI Categories, Ambiguous and Out-of-Vocabulary PHI".
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from random import Random

from phiscan.config import data_dir
from phiscan.lexicon.dictionary import load_dictionary

_SYLLABLE = re.compile(r"[^aeiouy]*[aeiouy]+(?:[^aeiouy]+$|[^aeiouy](?=[^aeiouy]))?", re.IGNORECASE)
_MEDICAL = ("health_conditions", "health_drugs", "health_procedures", "health_labs", "health_symptoms")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def syllables(name: str) -> list[str]:
    """Split a name into syllables.

    >>> syllables("Patterson")
    ['Pat', 'ter', 'son']
    """
    return _SYLLABLE.findall(name) or [name]


def scramble(pattern: str, random: Random) -> str:
    """Replace each digit by a random digit and each letter by a random letter of its case.

    >>> scramble("A-1", Random(0))[1]
    '-'
    """
    pools = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    out = []
    for character in pattern:
        pool = next((pool for pool in pools if character in pool), None)
        out.append(character if pool is None else random.choice(pool))
    return "".join(out)


@cache
def names(which: str) -> tuple[str, ...]:
    """Return the plain words of a dictionary of names, in its order."""
    terms = load_dictionary(data_dir("dictionaries") / f"{which}.txt").terms
    return tuple(term for term in terms if term.isascii() and term.isalpha() and len(term) > 2)  # noqa: PLR2004


@cache
def medical_words() -> tuple[str, ...]:
    """Return single words that name diseases, drugs, procedures, tests and symptoms."""
    words = {
        word.lower()
        for which in _MEDICAL
        for term in load_dictionary(data_dir("dictionaries") / f"{which}.txt").terms
        for word in [term]
        if word.isascii() and word.isalpha() and len(word) > 2  # noqa: PLR2004
    }
    return tuple(sorted(words))


@cache
def _pool(which: str) -> tuple[str, ...]:
    return tuple(part.lower() for name in names(which)[::7] for part in syllables(name))


@dataclass(frozen=True, slots=True)
class Person:
    """A person of one record; every mention is a form of the same surrogate."""

    first: str
    middle: str
    last: str


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of surrogates that are in dictionaries, and that are medical terms."""

    in_dictionary: float
    medical: float


class NameMaker:
    """Makes surrogate names, reproducibly by a seed."""

    def __init__(self, random: Random, usual: Sequence[str]) -> None:
        """Store the medical words that occur in the records, for ambiguous names."""
        self._random = random
        self._usual = tuple(usual)

    def word(self, which: str, shares: Shares) -> str:
        """Return one surrogate word: from a dictionary, a medical term, or permuted syllables."""
        random = self._random
        draw = random.random()
        if draw < shares.medical:
            return random.choice(self._usual).capitalize()
        model = random.choice(names(which))
        if draw < shares.medical + shares.in_dictionary:
            return model.capitalize()
        count = max(2, len(syllables(model)))
        return "".join(random.choice(_pool(which)) for _ in range(count)).capitalize()[:16]

    def person(self, shares: Shares) -> Person:
        """Return a person with a first name, an initial and a last name."""
        first_shares = Shares(shares.in_dictionary * 1.6, shares.medical / 3)
        return Person(
            self.word("first_names", first_shares),
            self._random.choice(string.ascii_uppercase),
            self.word("last_names", shares),
        )


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of one record, all shifted by the same number of days."""

    admission: date

    def day(self, after: int) -> date:
        """Return the day that many days after the admission."""
        return self.admission + timedelta(days=after)


def calendar(random: Random) -> Calendar:
    """Return a calendar with a random shift."""
    return Calendar(date(1995, 1, 1) + timedelta(days=random.randrange(4000)))


def date_form(day: date, style: str) -> tuple[str, str]:
    """Return the PHI part of a date, and the year after it, which is not PHI.

    >>> date_form(date(1997, 10, 29), "numeric")
    ('10/29', '/1997')
    """
    if style == "numeric":
        return f"{day.month}/{day.day:02d}", f"/{day.year}"
    if style == "short":
        return f"{day.month}/{day.day}", ""
    if style == "two":
        return f"{day.month:02d}/{day.day:02d}", f"/{day.year % 100:02d}"
    if style == "compact":
        return f"{day.month:02d}{day.day:02d}", ""
    return f"{_MONTHS[day.month - 1]} {day.day}", ""
