"""The review list's filters in the address of a page, so that a view can be saved, shared and restored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar
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
        given = self.filter
        values: dict[str, Any] = {
            "state": "" if given.state is WorkState.UNDECIDED else given.state.value,
            "root": given.root_id,
            "folder": given.folder,
            "type": given.media_type,
            "kind": given.entity_type.value if given.entity_type else "",
            "min": given.min_score,
            "max": given.max_score,
            "owner": given.owner,
            "assignee": ANYBODY if given.assignee == "" else given.assignee,
            "new": "1" if given.new else "",
            "group": given.group_id,
            "hidden": "1" if given.suppressed else "",
            "text": given.text,
            "order": "" if self.order is WorkOrder.RISK else self.order.value,
        }
        return urlencode({name: value for name, value in values.items() if value not in {"", None}})

    def url(self, path: str, **place: str) -> str:
        """Return the address of a page of this list; ``at`` is the cursor."""
        query = "&".join(part for part in (self.to_string(), urlencode(place)) if part)
        return f"{path}?{query}" if query else path


def read_query(values: Mapping[str, str]) -> ListQuery:
    """Read filter, order and cursor from the fields of an address or form; unknown fields are ignored.

    Raises:
        InputError: names the field and what was expected.
    """
    long = [name for name, value in values.items() if len(value) > MAX_CHARS]
    if long:
        raise InputError(
            _(
                "filter {long}: expected at most {max_chars} characters",
                long=long[0][:40],
                max_chars=MAX_CHARS,
            )
        )
    # PostgreSQL rejects NUL, and SQLite ends the pattern at it: it would match every path.
    cut = [name for name, value in values.items() if "\0" in value]
    if cut:
        raise InputError(_("filter {cut}: expected a text without NUL characters", cut=visible(cut[0][:40])))
    given = {name: value.strip() for name, value in values.items()}
    assignee = given.get("assignee", "")
    return ListQuery(
        filter=WorkFilter(
            state=_word(given, "state", WorkState) or WorkState.UNDECIDED,
            root_id=_number(given, "root"),
            folder=given.get("folder", "").strip("/"),
            media_type=given.get("type", ""),
            entity_type=_word(given, "kind", EntityType),
            min_score=_share(given, "min"),
            max_score=_share(given, "max"),
            owner=given.get("owner", ""),
            assignee=None if not assignee else "" if assignee == ANYBODY else assignee,
            new=given.get("new") == "1",
            group_id=_number(given, "group"),
            suppressed=given.get("hidden") == "1",
            text=given.get("text", ""),
        ),
        order=_word(given, "order", WorkOrder) or WorkOrder.RISK,
        cursor=given.get("at", ""),
    )


def read_string(query: str) -> ListQuery:
    """Parse the output of ``ListQuery.to_string``.

    >>> read_string("state=phi&min=0.5").to_string()
    'state=phi&min=0.5'
    """
    return read_query(dict(parse_qsl(query)))


def _word(given: Mapping[str, str], name: str, words: type[_Words]) -> _Words | None:
    value = given.get(name, "")
    if not value:
        return None
    try:
        return words(value)
    except ValueError:
        raise InputError(
            _("filter {name}: expected one of {words}", name=name, words=", ".join(words))
        ) from None


def _number(given: Mapping[str, str], name: str) -> int | None:
    value = given.get(name, "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and int(value) < MAX_NUMBER):
        raise InputError(_("filter {name}: expected a number", name=name))
    return int(value)


def _share(given: Mapping[str, str], name: str) -> float | None:
    value = given.get(name, "")
    if not value:
        return None
    try:
        share = float(value)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(_("filter {name}: expected a number from 0 to 1", name=name))
    return share
