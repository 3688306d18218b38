"""The forms in which a document writes a person's name."""

from __future__ import annotations

import random
from collections.abc import Callable

PERSON = "PER"
PEOPLE = frozenset({"first", "last", "full", "name", "lastfirst", "surfirst", "docname", "per", "titled"})
Pieces = list[tuple[str, str]]  # text and label; an empty label is no name
_INITIALS = "ABCDEFGHJKLMNPRSTW"
_TITLES = ["Mr. ", "Ms. ", "Mrs. ", "Dr. ", "Mr ", "Ms ", "Mrs ", "Dr ", "Miss ", "Prof. ", "Mx. ", "Sr. "]


def written(form: str, first: str, last: str, draw: random.Random, another: Callable[[], str]) -> Pieces:
    """Return the pieces of a name in one of the forms of ``PEOPLE``; ``another`` draws a middle name."""
    pick = draw.choice
    if form == "per":
        share = draw.random()
        limits = ((0.30, "first"), (0.44, "last"), (0.56, "titled"))
        form = next((name for limit, name in limits if share < limit), "full")
    if form == "name":
        form = pick(["last", "full"])
    if form == "first":
        return [(first, PERSON)]
    if form == "last":
        return [(last, PERSON)]
    if form == "titled":
        return [(pick(_TITLES), ""), (last, PERSON)]
    if form in {"surfirst", "lastfirst"}:
        turned = _surname_first if form == "surfirst" else _last_first
        return [(turned(first, last, draw), PERSON)]
    if form == "docname":
        lead, tail = pick(
            [("Dr. ", ""), ("Dr ", ""), ("", ", MD"), ("", ", M.D."), ("", " MD"), ("", ", RN"), ("", ", NP")]
        )
        whole = f"{first} {last}"
        name = pick([whole, whole, f"{first[0]}. {last}", f"{first} {pick(_INITIALS)}. {last}"])
        return [(lead, ""), (name, PERSON), (tail, "")]
    return [(_full(first, last, draw, another), PERSON)]


def _surname_first(first: str, last: str, draw: random.Random) -> str:
    """Return "Last First" as day sheets print it, without a comma."""
    share = draw.random()
    if share < 0.25:  # noqa: PLR2004 (shares of the mix)
        return f"{last.upper()} {first.upper()}"
    return f"{last.upper()} {first}" if share < 0.5 else f"{last} {first}"  # noqa: PLR2004


def _last_first(first: str, last: str, draw: random.Random) -> str:
    """Return "Last, First" as lists and older systems print it: often in capitals, some without a space."""
    initial = draw.choice(_INITIALS)
    share = draw.random()
    if share < 0.30:  # noqa: PLR2004 (shares of the mix)
        first, last = first.upper(), last.upper()
    elif share < 0.45:  # noqa: PLR2004
        last = last.upper()
    gap = ", " if draw.random() < 0.85 else "," if share < 0.30 else " ,"  # noqa: PLR2004
    middle = draw.choice(["", "", "", "", f" {initial}.", f" {initial}"])
    return f"{last}{gap}{first}{middle}"


def _full(first: str, last: str, draw: random.Random, another: Callable[[], str]) -> str:
    initial = draw.choice(_INITIALS)
    share = draw.random()
    if share < 0.05:  # noqa: PLR2004 (shares of the mix)
        return f"{first.upper()} {last.upper()}"
    if share < 0.08:  # noqa: PLR2004
        return draw.choice([f"{first} {last.upper()}", f"{last.upper()} {first}"])
    share = draw.random()
    forms = (
        (0.84, f"{first} {last}"), (0.89, f"{first} {initial}. {last}"), (0.92, f"{first[0]}. {last}"),
        (0.95, f"{first} {another()} {last}"), (0.97, f"{first[0]}.{initial}. {last}"),
        (0.98, f"{first} {initial} {last}"),
        (1.1, f"{first} {last} {draw.choice(['Jr.', 'Jr', 'III', 'Sr.'])}"),
    )  # fmt: skip
    return next(form for limit, form in forms if share < limit)
