"""Lists in the address of a page: filters and order of the review list, and of lists of records in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlencode

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import EntityType
from phiscan.review.worklist.model import WorkFilter, WorkOrder, WorkState
from phiscan.visible import visible

MAX_CHARS = 1000  # of one field
MAX_NUMBER = 2**62
ANYBODY = "-"  # in the address: not assigned; an empty field means any assignee

_Words = TypeVar("_Words", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Filter, order and page of the review list."""

    filter: WorkFilter = field(default_factory=WorkFilter)
    order: WorkOrder = WorkOrder.RISK
    cursor: str = ""  # from WorkPage: the page of the list

    @property
    def is_narrowed(self) -> bool:
        """Whether any filter other than the state is set."""
        return replace(self.filter, state=WorkState.UNDECIDED) != WorkFilter()

    def to_string(self) -> str:
        """Return the filter and order as a query string, without the cursor."""
        given = {
            name: getattr(self.filter, attribute) for name, (attribute, _read, _what) in _FILTERS.items()
        }
        values = {name: value for name, value in given.items() if value != getattr(_ALL, _FILTERS[name][0])}
        written = {
            name: ANYBODY if value == "" else int(value) if value is True else value
            for name, value in values.items()
        }
        return urlencode(written | ({} if self.order is WorkOrder.RISK else {"order": self.order}))

    def url(self, path: str, **place: str) -> str:
        """Return the address of a page of this list; ``at`` is the cursor."""
        query = "&".join(part for part in (self.to_string(), urlencode(place)) if part)
        return f"{path}?{query}" if query else path


def read_query(values: Mapping[str, str]) -> ListQuery:
    """Read filter, order and cursor from the fields of an address or form; unknown fields are ignored.

    Raises:
        InputError: names the field and what was expected.
    """
    for name, value in values.items():
        if len(value) > MAX_CHARS:
            long = _(
                "filter {long}: expected at most {max_chars} characters", long=name[:40], max_chars=MAX_CHARS
            )
            raise InputError(long)
        # PostgreSQL rejects NUL, and SQLite ends the pattern at it: it would match every path.
        if "\0" in value:
            raise InputError(
                _("filter {cut}: expected a text without NUL characters", cut=visible(name[:40]))
            )
    given = {name: stripped for name, value in values.items() if (stripped := value.strip())}
    read = {
        attribute: reader(name, given[name])
        for name, (attribute, reader, _what) in _FILTERS.items()
        if name in given
    }
    order = _word(WorkOrder)("order", given["order"]) if "order" in given else WorkOrder.RISK
    return ListQuery(WorkFilter(**read), order, given.get("at", ""))


def read_string(query: str) -> ListQuery:
    """Parse the output of ``ListQuery.to_string``.

    >>> read_string("state=phi&min=0.5").to_string()
    'state=phi&min=0.5'
    """
    return read_query(dict(parse_qsl(query)))


def _word(words: type[_Words]) -> Callable[[str, str], _Words]:
    def read(name: str, value: str) -> _Words:
        try:
            return words(value)
        except ValueError:
            expected = _("filter {name}: expected one of {words}", name=name, words=", ".join(words))
            raise InputError(expected) from None

    return read


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdecimal() and int(value) < MAX_NUMBER):
        raise InputError(_("filter {name}: expected a number", name=name))
    return int(value)


def _share(name: str, value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(_("filter {name}: expected a number from 0 to 1", name=name))
    return share


def _text(_name: str, value: str) -> str:
    return value


def _flag(_name: str, value: str) -> bool:
    return value == "1"


_ALL = WorkFilter()
# Each filter by its name in an address: field of WorkFilter, reader, description.
_FILTERS: Mapping[str, tuple[str, Callable[[str, str], Any], str]] = {
    "state": (
        "state",
        _word(WorkState),
        "undecided (default), phi, not_phi, unsure, skipped, disagreed, any",
    ),
    "root": ("root_id", _number, "number of the share"),
    "folder": ("folder", lambda _name, value: value.strip("/"), "below this folder"),
    "type": ("media_type", _text, "media type"),
    "kind": ("entity_type", _word(EntityType), "holds a finding of this type"),
    "min": ("min_score", _share, "health score from"),
    "max": ("max_score", _share, "health score to"),
    "owner": ("owner", _text, "owner of the file"),
    "assignee": (
        "assignee",
        lambda _name, value: "" if value == ANYBODY else value,
        "who shall decide; - = nobody",
    ),
    "new": ("new", _flag, "1 = new since the last scan"),
    "group": ("group_id", _number, "number of a near-duplicate group"),
    "hidden": ("suppressed", _flag, "1 = only what suppressions hide"),
    "text": ("text", _text, "anywhere in the path"),
    "tag": ("tag", lambda _name, value: value.casefold(), "has this tag"),
    "label": ("label", _text, "carries the sensitivity label of this name or id"),
}
FIELDS: Mapping[str, str] = {
    **{name: what for name, (_field, _read, what) in _FILTERS.items()},
    "order": "risk (default), informative, oldest",
    "at": "which part: `after` of the part before",
}
"""Each field of the address of a list, with its description."""


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
