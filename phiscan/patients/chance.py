"""How probably a lookup finds a patient although the document is about somebody else.

Birthday arithmetic over counts that the build takes: how many patients have a name, how probably two of them
share a birth date (the sum of the squared shares), how densely record numbers fill their space.
docs/explanation/patient-index.md derives and measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from phiscan.patients.index import PatientIndex
from phiscan.patients.normalise import shape_of
from phiscan.patients.records import Kind

DENSE: Final = 1e-5
"""A record number whose space is filled more densely than this counts only with another key beside it."""
CARD_OCR_ERROR: Final = 0.05
"""Share of the card numbers in documents that are taken to be misread: a right one is its holder's alone."""
RARE_HOLDERS: Final = 1e-4
"""A name is rare if fewer people than this are expected to share it by accident among ``SURROUNDING``."""
SURROUNDING: Final = 10  # people who live around, for each patient of the list


LEAST: Final = {
    "birth": 1 / 36_525,  # days of a century
    "postal": 1 / 850_000,  # postal codes of Canada
    "phone": 1e-7,
    "street": 1e-6,
    "email": 1e-9,
    "account": 1e-7,
    "family": 1e-5,
}
"""How probably two people share a value at the least: a short list, in which nobody does, knows no better."""


def collision_of(index: PatientIndex, part: str) -> float:
    """Return how probably a stranger shares a value with one patient."""
    return max(index.manifest.collisions.get(part, 0.0), LEAST[part])


def expected_with_name(n_patients: int, collision: float) -> float:
    """Return the expected matches of a stranger's name, which so many patients have, with another value.

    >>> expected_with_name(3, 1 / 30_000)
    0.0001
    """
    return min(1.0, n_patients * collision)


def number_density(index: PatientIndex, kind: Kind, form: str) -> float:
    """Return which share of all numbers of this shape are patients'."""
    return min(1.0, index.n_keys_of(kind) / _space(shape_of(form)))


@lru_cache(maxsize=256)
def _space(shape: str) -> float:
    return float(10 ** shape.count("9") * 26 ** shape.count("A"))


def is_rare(counts: Sequence[int], n_patients: int) -> bool:
    """Tell whether hardly anybody else can have a name of two words that so many patients have each.

    By the shares of the two words, as if given and family names were independent.

    >>> is_rare([1, 3], 1_000_000), is_rare([200, 3], 1_000_000), is_rare([1, 1], 1000)
    (True, False, False)
    """
    first, second = counts
    return first * second * SURROUNDING <= RARE_HOLDERS * n_patients


def rare_name_chance(index: PatientIndex) -> float:
    """Return the expected matches of a stranger's name with a rare one."""
    n_patients = max(index.manifest.n_patients, 1)
    return index.n_keys_of(Kind.RARE_NAME) * RARE_HOLDERS / (SURROUNDING * n_patients)
