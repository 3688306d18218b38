"""Find the files that hold a person, by a name with a birth date or by a number, through keyed hashes alone.

Two searches are combined: the stored hashes of findings, for which the value is hashed in each usual written
form; and, if there is a patient index, the matches of the patients with this value. The values are in memory
during the search only.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.lexicon.months import FRENCH_MONTHS
from phiscan.model import EntityType
from phiscan.patients import normalise
from phiscan.patients.events import Actor, record_event
from phiscan.patients.matching import Matcher, combinations_of
from phiscan.patients.names import token_form, tokens_of
from phiscan.patients.records import Kind
from phiscan.review.records.file_records import IS_PRESENT
from phiscan.store.database import Database
from phiscan.store.identity import keyed_hash
from phiscan.store.sql_batches import chunks
from phiscan.store.tables.scans import file, finding, patient_match, root, scan, sighting

_NUMBERS = (
    EntityType.MRN, EntityType.HEALTH_CARD, EntityType.HEALTH_PLAN, EntityType.OTHER_ID, EntityType.ACCOUNT,
    EntityType.SIN, EntityType.SSN, EntityType.PASSPORT, EntityType.DRIVER_LICENSE, EntityType.PHONE,
)  # fmt: skip
_DATES = (EntityType.DATE_OF_BIRTH, EntityType.DATE)
_NEAR_CHARS = 100  # between the starts of a given and a family name in two cells
_MIN_NAME_WORDS = 2
_MOST_NAME_WORDS = 5


@dataclass(frozen=True, slots=True)
class Person:
    """The person to search for: a name with a birth date, or a number."""

    name: str = field(default="", repr=False)
    birth_date: str = field(default="", repr=False)
    number: str = field(default="", repr=False)

    @property
    def fields(self) -> list[str]:
        """The names of the fields that are given, for the log."""
        return [name for name in ("name", "birth_date", "number") if getattr(self, name)]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that holds or held the person."""

    file_id: int
    root: str
    path: str
    first_seen: dt.datetime  # start of the first scan that found the person in it
    last_seen: dt.datetime  # start of the last scan
    present: bool  # the file is there, and still says so


def find(
    database: Database, person: Person, *, key: bytes, matcher: Matcher | None, purpose: str, actor: Actor
) -> list[FoundFile]:
    """Log the actor and the purpose, then return the files, by root and path.

    Whether the person is in the patient index shows neither in the result nor in a message.

    Raises:
        InputError: no purpose, no actor, or neither a whole name with a birth date nor a number is given.
    """
    _check(person)
    if not purpose.strip():
        message = "purpose: expected what the person is looked for, got an empty text"
        raise InputError(message)
    record_event(database, "find", actor=actor, purpose=purpose, details={"fields": person.fields})
    try:
        with database.read() as connection:
            examined = _by_hashes(connection, person, key)
            if matcher is not None:
                # Also without a patient, so that the search for somebody else takes as long.
                patients = _patients(person, matcher) or [0]
                examined |= _examined(connection, patient_match.c.patient, patients)
            return _files(connection, examined)
    finally:
        token_form.cache_clear()  # it remembers words of names


def _check(person: Person) -> None:
    if bool(person.number) == bool(person.name or person.birth_date) or bool(person.name) != bool(
        person.birth_date
    ):
        message = "expected either a name and a birth date, or a number"
        raise InputError(message)
    n_words = len(tokens_of(person.name))
    if person.name and not (
        all(_given_and_family(person.name)) and _MIN_NAME_WORDS <= n_words <= _MOST_NAME_WORDS
    ):
        message = "name: expected a given and a family name"
        raise InputError(message)
    if person.birth_date and not normalise.date_forms(person.birth_date):
        message = "birth_date: expected a date such as 1956-03-12"
        raise InputError(message)
    if person.number and not normalise.number_form(person.number):
        message = "number: expected at least 4 letters and digits"
        raise InputError(message)


def _by_hashes(connection: sa.Connection, person: Person, key: bytes) -> set[int]:
    """Return the examinations whose findings have the hashes of all given values."""
    identity = finding.c.identity
    if person.number:
        return _examined(connection, identity, _hashes(key, _NUMBERS, _number_writings(person.number)))
    named = _examined(connection, identity, _hashes(key, (EntityType.PERSON,), _name_writings(person.name)))
    named |= _in_two_cells(connection, key, person.name)
    born = [text for day in normalise.date_forms(person.birth_date) for text in _date_writings(day)]
    # Also for a name that no file has, so that the duration does not reveal it.
    return named & _examined(connection, identity, _hashes(key, _DATES, born))


def _hashes(key: bytes, kinds: Sequence[EntityType], writings: Collection[str]) -> list[str]:
    return list(dict.fromkeys(keyed_hash(key, kind, text) for kind in kinds for text in writings))


def _examined(
    connection: sa.Connection, column: sa.Column[Any], values: Sequence[str] | Sequence[int]
) -> set[int]:
    """Return the examinations with a row that has one of these values in a column."""
    number = column.table.c.examination_id
    found: set[int] = set()
    for batch in chunks(values):
        found.update(connection.execute(sa.select(number).where(column.in_(batch)).distinct()).scalars())
    return found


def _in_two_cells(connection: sa.Connection, key: bytes, name: str) -> set[int]:
    """Return the examinations that found the given and the family name separately, next to each other."""
    first, last = finding.alias(), finding.alias()
    query = (
        sa.select(first.c.examination_id)
        .join(last, last.c.examination_id == first.c.examination_id)
        .where(sa.func.abs(first.c.span_start - last.c.span_start) <= _NEAR_CHARS)
    )
    for one, part in zip((first, last), _given_and_family(name), strict=True):
        query = query.where(one.c.identity.in_(_hashes(key, (EntityType.PERSON,), [part, part.split()[0]])))
    return set(connection.execute(query).scalars())


def _given_and_family(name: str) -> tuple[str, str]:
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.strip().rpartition(" ")
    return " ".join(first.split()), " ".join(last.split())


def _number_writings(number: str) -> list[str]:
    plain = number.strip()
    form = normalise.card_form(plain)
    return list(dict.fromkeys([plain, plain.lstrip("0"), form, f"0{plain}"]))


def _name_writings(name: str) -> list[str]:
    """Return a name in the orders in which documents write it."""
    first, last = _given_and_family(name)
    initial = first[0]
    short = first.split()[0]
    found = []
    for given in dict.fromkeys([first, short, f"{initial}.", initial]):
        found += [f"{given} {last}", f"{last}, {given}", f"{last} {given}", f"{last},{given}"]
    titles = ("mr", "mr.", "mrs", "mrs.", "ms", "ms.", "m.", "mme")
    return [*found, *(f"{title} {first} {last}" for title in titles)]


def _date_writings(day: str) -> Iterator[str]:
    """Yield the usual written forms of a day (YYYYMMDD); the hash ignores separators."""
    date = dt.date(int(day[:4]), int(day[4:6]), int(day[6:]))
    year, short = f"{date:%Y}", f"{date:%y}"
    days, months = (
        dict.fromkeys([f"{date.day:02d}", f"{date.day}"]),
        dict.fromkeys([f"{date.month:02d}", f"{date.month}"]),
    )
    for d in days:
        for m in months:
            yield from (f"{year}{m}{d}", f"{d}{m}{year}", f"{m}{d}{year}", f"{d}{m}{short}", f"{m}{d}{short}")
        for word in (f"{date:%B}", f"{date:%b}", FRENCH_MONTHS[date.month - 1]):
            yield from (
                f"{d} {word} {year}",
                f"{word} {d} {year}",
                f"{d}-{word}-{short}",
                f"{year} {word} {d}",
            )


def _patients(person: Person, matcher: Matcher) -> list[int]:
    """Return the opaque numbers of the patients of the index with the given values."""
    hasher, keys = matcher.hasher, []
    if person.number:
        form, card = normalise.number_form(person.number), normalise.card_form(person.number)
        keys = [hasher.match_key(Kind.RECORD, form), hasher.match_key(Kind.CARD, card)]
    else:
        keys = [
            hasher.match_key(Kind.NAME_BIRTH, f"{pair}\0{day}")
            for pair in combinations_of(tokens_of(person.name))
            for day in normalise.date_forms(person.birth_date)
        ]
    low, high = matcher.index.holders(np.array(keys, np.uint64))
    return sorted({number for at in zip(low, high, strict=True) for number in matcher.index.numbers(*at)})


def _files(connection: sa.Connection, examined: Collection[int]) -> list[FoundFile]:
    seen: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    is_current = (sighting.c.scan_id == file.c.seen_scan_id) & IS_PRESENT
    query = (
        sa.select(
            file.c.id,
            root.c.display.label("root"),
            file.c.display.label("path"),
            scan.c.started,
            is_current.label("is_current"),
        )
        .select_from(sighting)
        .join(scan, scan.c.id == sighting.c.scan_id)
        .join(file, file.c.id == sighting.c.file_id)
        .join(root, root.c.id == file.c.root_id)
    )
    for batch in chunks(sorted(examined)):
        for row in connection.execute(query.where(sighting.c.examination_id.in_(batch))):
            seen[row.id].append(row)
    found = [
        FoundFile(
            file_id=number,
            root=rows[0].root,
            path=rows[0].path,
            first_seen=min(row.started for row in rows),
            last_seen=max(row.started for row in rows),
            present=any(row.is_current for row in rows),
        )
        for number, rows in seen.items()
    ]
    return sorted(found, key=lambda one: (one.root, one.path))
