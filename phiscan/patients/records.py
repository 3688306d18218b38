"""One patient of a list, in memory only, to its match keys, and these to 64-bit keyed hashes.

A hash is an HMAC-SHA256, for numbers of a small space after scrypt. The key is in a separate file, outside
the index and the database. Without it a hash reveals nothing; with it, every guess costs one HMAC, and for
record and card numbers one scrypt. The guesses per second are in docs/explanation/patient-index.md.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from phiscan.patients import normalise
from phiscan.patients.names import listed_pairs, tokens_of


class Kind(StrEnum):
    """The values of a match key. Of the first two, one value identifies one patient."""

    CARD = "card"
    RECORD = "record"
    NAME_BIRTH = "name_birth"
    NAME_RECORD = "name_record"  # family name and record number, where record numbers are dense
    NAME_PHONE = "name_phone"
    NAME_STREET = "name_street"
    NAME_EMAIL = "name_email"
    NAME_ACCOUNT = "name_account"
    BIRTH_POSTAL = "birth_postal"
    RARE_NAME = "rare_name"  # a name alone, which hardly anybody has


HARD = frozenset({Kind.CARD, Kind.RECORD})
"""Kinds with few possible values: their keys go through scrypt before the keyed hash."""
RARE = 0x9E3779B97F4A7C15
"""Combined with the hash of a rare name pair, so that its match key differs from its counting hash."""
WITH_NAME = {
    "birth": Kind.NAME_BIRTH,
    "phone": Kind.NAME_PHONE,
    "street": Kind.NAME_STREET,
    "email": Kind.NAME_EMAIL,
    "account": Kind.NAME_ACCOUNT,
}
"""The kind of match key of a name with each part."""
FORMS: Mapping[str, Callable[[str], str]] = {
    "phone": normalise.phone_form,
    "street": normalise.street_form,
    "email": normalise.email_form,
    "account": normalise.number_form,
    "postal": normalise.postal_form,
}
"""The canonical form of each part but the birth date; "" = it has none."""


@dataclass(frozen=True, slots=True)
class PatientRecord:
    """The values of one patient in the list; exists only while an index is built."""

    line: int  # in its file, from 1
    names: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # given, family; former ones too
    births: tuple[str, ...] = field(default=(), repr=False)  # YYYYMMDD
    records: tuple[str, ...] = field(default=(), repr=False)
    cards: tuple[str, ...] = field(default=(), repr=False)
    phones: tuple[str, ...] = field(default=(), repr=False)
    emails: tuple[str, ...] = field(default=(), repr=False)
    streets: tuple[str, ...] = field(default=(), repr=False)
    postals: tuple[str, ...] = field(default=(), repr=False)
    accounts: tuple[str, ...] = field(default=(), repr=False)
    region: str = ""
    number: int | None = None  # the opaque number in the list
    is_canary: bool = False


@dataclass(frozen=True, slots=True)
class PatientKeys:
    """The normalised values of a record, which are hashed."""

    pairs: tuple[str, ...]  # name pairs
    tokens: tuple[str, ...]  # the words of its names
    families: tuple[str, ...]
    parts: dict[str, tuple[str, ...]]  # birth, phone, street, email, account, postal
    records: tuple[str, ...]
    cards: tuple[str, ...]

    def keys(self) -> Iterator[tuple[Kind, str]]:
        """Yield every match key of the patient."""
        for card in self.cards:
            yield Kind.CARD, card
        for record in self.records:
            yield Kind.RECORD, record
            for family in self.families:
                yield Kind.NAME_RECORD, f"{family}\0{record}"
        for part, kind in WITH_NAME.items():
            for value in self.parts[part]:
                for pair in self.pairs:
                    yield kind, f"{pair}\0{value}"
        for birth in self.parts["birth"]:
            for postal in self.parts["postal"]:
                yield Kind.BIRTH_POSTAL, f"{birth}\0{postal}"


def keys_of(record: PatientRecord) -> PatientKeys:
    """Return the normalised values of a record; values without a canonical form are left out."""
    pairs = dict.fromkeys(pair for names in record.names for pair in listed_pairs(*names))
    families = dict.fromkeys(token for _, family in record.names for token in tokens_of(family))
    given = dict.fromkeys(token for first, _ in record.names for token in tokens_of(first)[:1])
    return PatientKeys(
        pairs=tuple(pairs),
        tokens=tuple(given | families),
        families=tuple(families),
        parts={
            "birth": record.births,
            **{part: _forms(getattr(record, f"{part}s"), form) for part, form in FORMS.items()},
        },
        records=_forms(record.records, normalise.number_form),
        cards=_forms(record.cards, normalise.card_form),
    )


def _forms(values: tuple[str, ...], form: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(form, values))))


_BLOCK = 8  # scrypt's r: n * 128 * r bytes of memory for each guess, 16 KiB with n = 16
_N_BYTES = 8


@dataclass(frozen=True)
class Hasher:
    """Hashes the match keys of one index."""

    key: bytes = field(repr=False)
    hard_cost: int

    @cached_property
    def _salt(self) -> bytes:
        return hmac.digest(self.key, b"patients\0salt", "sha256")

    @property
    def key_id(self) -> str:
        """The check value of the key: it distinguishes keys and reveals nothing about them."""
        return hmac.digest(self.key, b"patients\0check", "sha256").hex()[:16]

    def match_key(self, kind: Kind, value: str) -> int:
        """Return the hash of a match key."""
        message = f"{kind.value}\0{value}".encode()
        if kind in HARD:
            message = hashlib.scrypt(message, salt=self._salt, n=self.hard_cost, r=_BLOCK, p=1, dklen=32)
        return self._hash(b"key\0" + message)

    def part(self, name: str, value: str) -> int:
        """Return the hash of a part (name pair, word of a name, birth date) that is only counted."""
        return self._hash(f"part\0{name}\0{value}".encode())

    def _hash(self, message: bytes) -> int:
        return int.from_bytes(hmac.digest(self.key, message, "sha256")[:_N_BYTES], "little")
