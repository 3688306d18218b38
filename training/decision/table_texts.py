"""Generate tables: rows of patients under usual and unusual column headers, and tables without PHI.

Whether a row is PHI depends on its values, not on the headers. The tables are laid out as the
extractor lays out CSV and spreadsheets. Seeded; the people are of Faker's lists.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from faker import Faker

from phiscan.extract.spreadsheets.rows import lay_out
from training.decision.short_texts import LOCALES, TERMS

SEED: Final = 2009
N_TABLES: Final = 150  # of each side
Cell = Callable[[random.Random, Faker], str]

_NAMES: Final[tuple[tuple[str, Cell], ...]] = (
    ("Name", lambda _, f: f.name()),
    ("Patient", lambda _, f: f"{f.last_name()}, {f.first_name()}"),
    ("Respondent", lambda _, f: f.name()),
    ("Full name of person", lambda _, f: f.name()),
)
_SPLIT: Final = (
    ("Last name", "First name"),
    ("Surname", "Given"),
    ("Recipient Last Name", "Recipient First Name"),
)
_IDS: Final[tuple[tuple[str, Cell], ...]] = (
    ("DOB", lambda _, f: f.date_of_birth().isoformat()),
    ("Birth date", lambda _, f: f"{f.date_of_birth():%d/%m/%Y}"),
    ("MRN", lambda d, _: str(d.randrange(10**6, 10**8))),
    ("Chart no.", lambda d, _: f"H{d.randrange(10**5, 10**6)}"),
    ("Health card number", lambda d, _: str(d.randrange(10**9, 10**10))),
    ("Phone", lambda _, f: f.phone_number()),
    ("Email", lambda _, f: f.email()),
    ("Member ID", lambda d, _: f"W{d.randrange(10**8, 10**9)}"),
)
_HEALTH: Final[tuple[tuple[str, str], ...]] = (
    *(("Diagnosis", "dx"), ("Illness treated for", "dx"), ("Condition", "dx"), ("Reason for visit", "sx")),
    *(("Which illness were you treated for?", "dx"), ("Q1", "dx"), ("Dx", "dx"), ("Problem", "dx")),
    *(("Medication", "rx"), ("What do you take?", "rx"), ("Procedure", "px"), ("Type of care", "px")),
    *(("Test ordered", "test"), ("Notes", "dx"), ("Comments", "rx"), ("Cause of absence", "dx")),
)
_OTHER: Final[tuple[tuple[str, Cell], ...]] = (
    ("Department", lambda d, _: d.choice(("Sales", "Finance", "IT", "Nursing", "Radiology", "Kitchen"))),
    ("Start date", lambda _, f: f.date_this_decade().isoformat()),
    ("Amount", lambda d, _: f"{d.randrange(10, 9000)}.00"),
    ("Status", lambda d, _: d.choice(("open", "closed", "paid", "pending"))),
    ("City", lambda _, f: f.city()),
    ("Course", lambda d, _: d.choice(("First aid", "Hand hygiene", "Excel", "Fire safety", "Privacy"))),
    ("Job title", lambda _, f: f.job()),
    ("Badge", lambda d, _: str(d.randrange(1000, 99999))),
    ("Quantity", lambda d, _: str(d.randrange(1, 500))),
)


def table_texts() -> Iterator[tuple[str, bool, str]]:
    """Yield (identifier, whether it is PHI, text) of ``N_TABLES`` tables with PHI and as many without."""
    draw = random.Random(SEED)
    fakers = [Faker(locale) for locale in LOCALES]
    for number, faker in enumerate(fakers):
        faker.seed_instance(SEED + number)
    for number in range(2 * N_TABLES):
        is_phi = number < N_TABLES
        columns = _columns(draw, is_phi=is_phi)
        rows = [[head for head, _ in columns]]
        faker = draw.choice(fakers)
        rows += [[cell(draw, faker) for _, cell in columns] for _ in range(draw.randrange(2, 12))]
        lines = (line for _, line in lay_out(list(enumerate(rows, start=1))))
        yield f"tables/{number}", is_phi, "\n".join(lines) + "\n"


def _columns(draw: random.Random, *, is_phi: bool) -> list[tuple[str, Cell]]:
    """Return the columns of one table: people and health information, or only one of them."""
    people: list[tuple[str, Cell]] = [draw.choice(_NAMES)]
    if draw.random() < 0.5:  # noqa: PLR2004 (every second table)
        last, first = draw.choice(_SPLIT)
        people = [(last, lambda _, f: f.last_name()), (first, lambda _, f: f.first_name())]
    people += draw.sample(_IDS, draw.randrange(1, 4))
    head, kind = draw.choice(_HEALTH)
    health: list[tuple[str, Cell]] = [(head, lambda d, _: d.choice(TERMS[kind]))]
    others = draw.sample(_OTHER, draw.randrange(0, 3))
    if is_phi:
        return [*people, *health, *others] if draw.random() < 0.7 else [*others, *people, *health]  # noqa: PLR2004
    more = draw.sample(_OTHER, 3)
    return draw.choice(([*people, *more], [*health, *more], [*people[:1], *more], more))
