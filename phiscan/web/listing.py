"""Lists of records in memory: filters, order, groups and pages, all in the address of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from phiscan.visible import visible

T = TypeVar("T")
N_ROWS = 200  # of a page
MAX_CHOICES = 300  # of a filter, the most frequent ones; the search of the list finds the others


@dataclass(frozen=True, slots=True)
class Filter(Generic[T]):
    """A choice that narrows a list: the value of each record, "" = none, and its words."""

    name: str
    label: str
    of: Callable[[T], str]
    words: Callable[[str], str] = visible


@dataclass(frozen=True, slots=True)
class Order(Generic[T]):
    """An order of a list; with a group, records of one group stand under its heading."""

    name: str
    label: str
    key: Callable[[T], Any]
    group: Callable[[T], str] | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """What a page shows of a list."""

    groups: tuple[tuple[str, tuple[T, ...]], ...]  # heading, "" = no groups, and records
    n: int  # that the filters leave
    n_all: int
    filters: tuple[tuple[str, str, str, tuple[tuple[str, str, int], ...]], ...]
    """Name, label, chosen value, and each value with its words and number."""
    orders: tuple[tuple[str, str], ...]
    order: str
    text: str  # that is searched for
    query: str  # of the address, without the page
    before: int  # page; 0 = none
    after: int

    @property
    def is_narrowed(self) -> bool:
        """Whether records are filtered out."""
        return self.n < self.n_all


def listing(
    given: Mapping[str, str],
    found: Sequence[T],
    filters: Sequence[Filter[T]],
    orders: Sequence[Order[T]],
    text_of: Callable[[T], str],
) -> Listing[T]:
    """Return the part of a list that the fields of an address ask for; unknown values match nothing."""
    chosen = {one.name: given.get(one.name, "") for one in filters}
    text = given.get("text", "").strip()
    kept = [
        one
        for one in found
        if all(not chosen[by.name] or by.of(one) == chosen[by.name] for by in filters)
        and text.casefold() in text_of(one).casefold()
    ]
    order = next((one for one in orders if one.name == given.get("order")), orders[0])
    kept.sort(key=order.key)
    number = given.get("page", "")
    page = max(1, int(number)) if number.isascii() and number.isdecimal() and len(number) < 9 else 1  # noqa: PLR2004
    shown = kept[(page - 1) * N_ROWS : page * N_ROWS]
    fields = {**chosen, "text": text, "order": "" if order is orders[0] else order.name}
    groups = groupby(shown, order.group or (lambda _one: ""))
    return Listing(
        groups=tuple((heading, tuple(rows)) for heading, rows in groups),
        n=len(kept),
        n_all=len(found),
        filters=tuple(
            (
                *(by.name, by.label, chosen[by.name]),
                tuple(
                    (value, by.words(value), n)
                    for value, n in sorted(Counter(map(by.of, found)).most_common(MAX_CHOICES))
                    if value
                ),
            )
            for by in filters
        ),
        orders=tuple((one.name, one.label) for one in orders),
        order=order.name,
        text=text,
        query=urlencode({name: value for name, value in fields.items() if value}),
        before=page - 1,
        after=page + 1 if page * N_ROWS < len(kept) else 0,
    )
