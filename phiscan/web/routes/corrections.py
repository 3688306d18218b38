"""Corrections of one item: its spans and its topics, the gold standard of the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Form
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import EntityType, Span
from phiscan.review.accounts.users import User
from phiscan.review.decisions.corrections import Mark
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import Listed
from phiscan.web.session import SignedIn
from phiscan.web.work_query import read_string

Seen = Annotated[int, Form()]  # the examination whose findings were shown
MAX_DIGITS = 12

routes = Routes()


@routes.page("POST", "/items/{file_id}/spans", needs=Permission.CORRECT)
def correct_span(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    mark: Annotated[Mark, Form()],
    seen: Seen,
    position: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    start: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    end: Annotated[str, Form(max_length=MAX_DIGITS)] = "",
    entity_type: Annotated[EntityType | None, Form()] = None,
    both: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record a reviewer's correction of one span; reads only the form fields that the mark requires.

    With ``both``, a corrected extent also gets the submitted type.
    """
    found = None if not position else _number("position", position)
    missed = mark is Mark.MISSED or (mark is Mark.WITHDRAWN and found is None)
    has_type = missed or mark is Mark.WRONG_TYPE or (both and mark is Mark.WRONG_EXTENT)
    correct = partial(
        desk.store.desk.correct,
        file_id,
        mark,
        position=found,
        span=_span(start, end) if missed or mark is Mark.WRONG_EXTENT else None,
        entity_type=entity_type if has_type else None,
    )
    return _written(file_id, user, desk, seen, listed, correct, "corrected")


@routes.page("POST", "/items/{file_id}/spans/complete", needs=Permission.CORRECT)
def complete_spans(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    seen: Seen,
    complete: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record that all spans of a file were checked, or withdraw that."""
    mark = partial(desk.store.desk.complete_spans, file_id, complete=bool(complete))
    return _written(file_id, user, desk, seen, listed, mark, "complete" if complete else "incomplete")


@routes.page("POST", "/items/{file_id}/topics", needs=Permission.CORRECT)
def correct_topics(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    seen: Seen,
    label: Annotated[list[str] | None, Form()] = None,
    listed: Listed = "",
) -> Response:
    """Record the topics that a reviewer chose for a file."""
    correct = partial(desk.store.desk.correct_topics, file_id, label or ())
    return _written(file_id, user, desk, seen, listed, correct, "topics")


def _written(
    file_id: int, user: User, desk: Desk, seen: int, listed: str, write: Callable[..., Any], said: str
) -> Response:
    """Write a correction and return to the item; of a file that was examined again nothing is written."""
    try:
        write(seen=seen, reviewer=user.name, now=desk.now())
    except ConflictError:
        said = "changed"
    return RedirectResponse(read_string(listed).url(f"/items/{file_id}", said=said), 303)


def _span(start: str, end: str) -> Span:
    first, last = _number(_("from character"), start), _number(_("to before"), end)
    if first >= last:
        message = _(
            "characters {first} to {last}: expected the first before the last", first=first, last=last
        )
        raise InputError(message)
    return Span(first, last)


def _number(field: str, text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()):
        message = _("{field}: expected a number of characters", field=field)
        raise InputError(message)
    return int(text)
