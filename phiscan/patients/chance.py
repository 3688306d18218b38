"""Probability of a false match: a lookup finds a patient although the document is about another person.

Computed from counts made by the build: how many patients have a name, the probability that two of them share
a birth date (the sum of the squared shares), the density of record numbers in their range.
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
"""A record number whose range is filled more densely than this counts only with another key."""
CARD_OCR_ERROR: Final = 0.05
"""Assumed share of card numbers with OCR errors in documents; a correct number belongs to one holder."""
RARE_HOLDERS: Final = 1e-4
"""A name is rare if fewer people than this are expected to share it by chance (see ``SURROUNDING``)."""
SURROUNDING: Final = 10  # people of the region for each patient of the list


LEAST: Final = {
    "birth": 1 / 36_525,  # days of a century
    "postal": 1 / 850_000,  # postal codes of Canada
    "phone": 1e-7,
    "street": 1e-6,
    "email": 1e-9,
    "account": 1e-7,
    "family": 1e-5,
}
"""Lower limits of the probability that two people share a value, since a short list underestimates it."""


def collision_of(index: PatientIndex, part: str) -> float:
    """Return the probability that a stranger shares a value with one patient."""
    return max(index.manifest.collisions.get(part, 0.0), LEAST[part])


def expected_with_name(n_patients: int, collision: float) -> float:
    """Return the expected false matches of a name that ``n_patients`` patients have, with another value.

    >>> expected_with_name(3, 1 / 30_000)
    0.0001
    """
    return min(1.0, n_patients * collision)


def number_density(index: PatientIndex, kind: Kind, form: str) -> float:
    """Return the share of all numbers of this shape that belong to patients."""
    return min(1.0, index.n_keys_of(kind) / _space(shape_of(form)))


@lru_cache(maxsize=256)
def _space(shape: str) -> float:
    return float(10 ** shape.count("9") * 26 ** shape.count("A"))


def is_rare(counts: Sequence[int], n_patients: int) -> bool:
    """Return whether a name is rare, from the number of patients with each of its two words.

    It multiplies the shares of the two words, as if given and family names were independent.

    >>> is_rare([1, 3], 1_000_000), is_rare([200, 3], 1_000_000), is_rare([1, 1], 1000)
    (True, False, False)
    """
    first, second = counts
    return first * second * SURROUNDING <= RARE_HOLDERS * n_patients


def rare_name_chance(index: PatientIndex) -> float:
    """Return the expected false matches of a rare name."""
    n_patients = max(index.manifest.n_patients, 1)
    return index.n_keys_of(Kind.RARE_NAME) * RARE_HOLDERS / (SURROUNDING * n_patients)
