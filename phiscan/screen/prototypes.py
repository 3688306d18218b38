"""The concept "identifying information" of equation 4, what a file lacks of it, and the nearest prototype.

The set of bit vectors that satisfy equation 4 is upward closed: one more identifier never makes a file less
identifying. So the Hamming distance from a file to the nearest satisfying vector is the least number of bits
that it lacks; 0 means that it satisfies the formula. Source: Sokolova & El Emam (2008), eq. 4 and 5.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from phiscan.config import data_dir
from phiscan.errors import ModelError
from phiscan.model import ALL_PII_BITS, Finding, PiiBit, PiiVector, Screening

PERSON_NAME = (PiiBit.FIRST_NAME, PiiBit.LAST_NAME)  # both
ID = (PiiBit.SIN, PiiBit.HEALTH_CARD, PiiBit.PASSPORT, PiiBit.DRIVER_LICENSE)  # any
VENUE = (
    PiiBit.ORGANIZATION, PiiBit.STREET_ADDRESS, PiiBit.HEALTH_PROFESSIONAL, PiiBit.PHONE, PiiBit.EMAIL,
)  # any  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prototype:
    """A stored positive example: its name and its PII bits."""

    name: str
    vector: PiiVector


def lacking(vector: PiiVector) -> tuple[PiiBit, ...]:
    """Return one smallest set of bits that would make the vector satisfy equation 4, in bit order.

    Its length is the Hamming distance to the nearest satisfying vector. Where any ID or Venue would do, the
    phone number stands for them.

    >>> [bit.value for bit in lacking(PiiVector(frozenset({PiiBit.LAST_NAME})))]
    ['FirstName', 'PhoneNumber']
    """
    missing = [bit for bit in PERSON_NAME if bit not in vector.bits]
    if not any(bit in vector.bits for bit in ID + VENUE):
        missing.append(PiiBit.PHONE)
    return tuple(missing)


def nearest(vector: PiiVector, prototypes: Sequence[Prototype]) -> tuple[str, int]:
    """Return the name of the nearest prototype and its plain Hamming distance; the first one wins a tie.

    Source: Sokolova & El Emam (2008), eq. 5.
    """
    best = min(prototypes, key=lambda prototype: vector.hamming(prototype.vector))
    return best.name, vector.hamming(best.vector)


def screening_of(
    findings: tuple[Finding, ...],
    bits: Iterable[PiiBit],
    prototypes: Sequence[Prototype],
    *,
    n_people: int,
    people_interval: tuple[int, int] | None = None,
) -> Screening:
    """Return the screening of a document with these findings; ``bits``: those of all that was found in it."""
    vector = PiiVector(frozenset(bits))
    missing = lacking(vector)
    name, distance = nearest(vector, prototypes)
    return Screening(findings, vector, len(missing), missing, name, distance, n_people, people_interval)


def load_prototypes(path: Path | None = None) -> tuple[Prototype, ...]:
    """Read the stored prototypes (``prototypes.toml`` beside the dictionaries unless ``path`` is given).

    Raises:
        ModelError: names the file and the prototype, and says what was expected.
    """
    path = path or data_dir("dictionaries") / "prototypes.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            path, f"expected a readable TOML file with [[prototype]] tables: {type(error).__name__}"
        ) from None
    known = {bit.value: bit for bit in ALL_PII_BITS}
    prototypes = []
    for number, table in enumerate(raw.get("prototype", []), start=1):
        name, bits = table.get("name"), table.get("bits")
        if not isinstance(name, str) or not isinstance(bits, list) or not bits or not set(bits) <= set(known):
            raise ModelError(path, f"prototype {number}: expected a name and bits among {', '.join(known)}")
        prototypes.append(Prototype(name, PiiVector(frozenset(known[bit] for bit in bits))))
    if not prototypes:
        raise ModelError(path, "expected at least one [[prototype]] table")
    return tuple(prototypes)
