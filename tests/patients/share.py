"""A synthetic share about given people: letters, tables, mails and pages as a scanner reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tests.patients.population import Person

NOISE = 0.02  # misread characters of a scanned page
# What a scanner reads in the place of each character; half of the errors are of these, half are others.
_LIKE = {
    "0": "O6", "1": "lI7", "2": "Z", "3": "8", "4": "A", "5": "S6", "6": "b5", "7": "1", "8": "B3", "9": "g",
    "o": "0a", "l": "1I", "i": "l1", "e": "c", "c": "e", "a": "o", "n": "u", "u": "n", "h": "b", "b": "h",
    "t": "f", "f": "t", "g": "q9", "s": "5", "S": "5", "B": "8", "O": "0", "I": "l", "Z": "2", "v": "y",
}  # fmt: skip
_LETTER = """Lakeside Community Clinic
12 Harbour Road, Kingston, ON K7L 3N6    Tel 613-555-0142

Re: {given} {family}
Date of birth: {born}
Health card: {card}
{street}, {postal}
Telephone: {phone}

Dear Dr. Velthuis,

Thank you for seeing {given} {family}, who has had type 2 diabetes mellitus and hypertension since 2009.
The patient takes metformin 500 mg twice daily and complains of chest pain on exertion.
"""
_MAIL = """From: desk@lakeside.example
To: nurse@lakeside.example
Subject: appointment

Hello, please call {given} {family} (born {born}, {phone}) about the results of the biopsy.
The pathology report says adenocarcinoma. MRN {mrn}.
"""
_HEAD = "Last name,First name,Date of birth,Health card,Diagnosis"
_DIAGNOSES = ("asthma", "type 2 diabetes", "hypertension", "migraine", "depression")


def documents(people: Sequence[Person], seed: int = 5) -> Iterator[tuple[str, str, Sequence[Person]]]:
    """Yield kind, text and people: in turn a letter, a mail, a scanned letter and a table of five."""
    random = np.random.default_rng(seed)
    waiting = list(people)
    while len(waiting) >= 8:
        for kind, form in (("letter", _LETTER), ("mail", _MAIL), ("scan", _LETTER)):
            one = waiting.pop()
            text = form.format(**_values(one))
            yield kind, noisy(text, random) if kind == "scan" else text, [one]
        rows = [waiting.pop() for _ in range(5)]
        lines = [
            f"{one.family},{one.given},{one.born},{one.card},{_DIAGNOSES[at]}" for at, one in enumerate(rows)
        ]
        yield "table", "\n".join([_HEAD, *lines]) + "\n", rows


def _values(one: Person) -> dict[str, str]:
    return {
        "given": one.given,
        "family": one.family,
        "born": f"{one.born:%d %B %Y}",
        "card": f"{one.card[:4]} {one.card[4:7]} {one.card[7:]}",
        "street": one.street,
        "postal": one.postal,
        "phone": one.phone,
        "mrn": one.mrn,
    }


def noisy(text: str, random: np.random.Generator, share: float = NOISE) -> str:
    """Return a text in which a share of the letters and figures was misread.

    Half of the misread ones became a character of like shape, a quarter any other, a quarter was lost.
    """
    found = []
    for char, is_misread, how in zip(
        text, random.random(len(text)) < share, random.random(len(text)), strict=True
    ):
        if not is_misread or not char.isalnum():
            found.append(char)
        elif how < 0.5:
            found.append(str(random.choice(list(_LIKE.get(char, char)))))
        elif how < 0.75:
            found.append(str(random.choice(list("abcdeghklmnorstuvw1234567890"))))
    return "".join(found)
