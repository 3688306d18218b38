"""Hierarchical log-linear models: their enumeration and their names.

A model is the set of its terms. A term is a bit set of lists (bit j for list j + 1); all lists' main
effects are in every model, and with a term all its subsets are. The intercept is implied.

Source: Fienberg (1972), Biometrika 59:591.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

Model = frozenset[int]


def hierarchical_models(n_lists: int) -> Iterator[Model]:
    """Yield every hierarchical model without the full-way term, those with fewer terms of high order first.

    There are 1, 8, 113 and 6,893 of them for 2, 3, 4 and 5 lists.

    >>> [sum(1 for _ in hierarchical_models(n)) for n in (2, 3, 4)]
    [1, 8, 113]
    """
    yield from _extend(n_lists, main_effects(n_lists), 2)


def main_effects(n_lists: int) -> Model:
    """Return the independence model."""
    return frozenset(1 << position for position in range(n_lists))


def addable_terms(model: Model, n_lists: int) -> list[int]:
    """Return the terms that may join a model so that it stays hierarchical and not full-way."""
    return [
        term
        for order in range(2, n_lists)
        for term in _terms(n_lists, order)
        if term not in model and _faces(term) <= model
    ]


def model_name(model: Model) -> str:
    """Return a model's name: its generating terms, longest first, then in list order.

    >>> model_name(frozenset({1, 2, 4, 8, 3}))
    '[12,3,4]'
    """
    generating = [
        term for term in model if not any(term != other and term & other == term for other in model)
    ]
    ordered = sorted(generating, key=lambda term: (-term.bit_count(), _members(term)))
    return "[" + ",".join("".join(str(member) for member in _members(term)) for term in ordered) + "]"


def parse_model(text: str, n_lists: int) -> Model:
    """Return the model of a name; terms may be in any order.

    Raises:
        ValueError: not a name of a hierarchical model of so many lists, without the full-way term.

    >>> model_name(parse_model("[3,21]", 3))
    '[12,3]'
    """
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        message = f"model: expected terms in brackets like [12,3], got '{text}'"
        raise ValueError(message)
    terms: set[int] = set()
    for part in inner[1:-1].split(","):
        digits = part.strip()
        members = [int(digit) for digit in digits if digit in "123456789"]
        if not digits or len(members) != len(digits) or len(set(members)) != len(members):
            message = f"model: expected a term of different list numbers, got '{digits}'"
            raise ValueError(message)
        if max(members) > n_lists:
            message = f"model: there is no list {max(members)}, expected 1 to {n_lists}"
            raise ValueError(message)
        for order in range(1, len(members) + 1):
            terms.update(
                sum(1 << (member - 1) for member in chosen) for chosen in combinations(members, order)
            )
    lacking = [position + 1 for position in range(n_lists) if 1 << position not in terms]
    if lacking:
        message = f"model: list {lacking[0]} is missing; every list has its main effect"
        raise ValueError(message)
    if (1 << n_lists) - 1 in terms:
        message = "model: the term of all lists cannot be estimated without the files that nobody found"
        raise ValueError(message)
    return frozenset(terms)


def _members(term: int) -> tuple[int, ...]:
    return tuple(position + 1 for position in range(term.bit_length()) if term >> position & 1)


def _terms(n_lists: int, order: int) -> list[int]:
    return [sum(1 << position for position in chosen) for chosen in combinations(range(n_lists), order)]


def _faces(term: int) -> set[int]:
    """Return the term's subsets with one list less."""
    return {term & ~(1 << position) for position in range(term.bit_length()) if term >> position & 1}


def _extend(n_lists: int, model: Model, order: int) -> Iterator[Model]:
    """Yield the models that add terms of this order and above to ``model``."""
    if order >= n_lists:
        yield model
        return
    candidates = [term for term in _terms(n_lists, order) if _faces(term) <= model]
    yield model  # with no term of this order there is none above it
    for size in range(1, len(candidates) + 1):
        for chosen in combinations(candidates, size):
            yield from _extend(n_lists, model | frozenset(chosen), order + 1)
