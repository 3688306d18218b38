"""Incidents: files of one breach, assessment, time limits, forms, register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.report.incidents import (
    FIELDS,
    STATES,
    Evidence,
    evidence,
    filled,
    form_pdf,
    form_text,
    register_csv,
    register_pdf,
    register_rows,
)
from phiscan.review.decisions.incidents import FIRST_DAY, TITLE, Incident, IncidentState, last_day
from phiscan.web.access import Permission, Routes
from phiscan.web.listing import Filter, Order, listing
from phiscan.web.request_context import MAX_NUMBER, Desk, DeskNow, RowNumber
from phiscan.web.session import SignedIn, sent_file

MAX_TEXT_CHARS = 10_000
Chosen = Annotated[list[int] | None, Form(alias="file")]
Seen = Annotated[int | None, Form(ge=0, le=MAX_NUMBER)]  # the last entry that the page showed

Listed = tuple[Incident, Evidence]
FILTERS: tuple[Filter[Listed], ...] = (
    Filter(
        "state",
        lazy_gettext("State"),
        lambda one: one[0].state.value,
        lambda name: str(STATES[IncidentState(name)]),
    ),
)
ORDERS: tuple[Order[Listed], ...] = (
    Order("newest", lazy_gettext("newest first"), lambda one: -one[0].number),
    Order(
        "limit",
        lazy_gettext("next time limit first"),
        lambda one: (str(one[1].next_limit or "~"), one[0].number),
    ),
    Order("people", lazy_gettext("most people first"), lambda one: -one[1].breach.people),
)
routes = Routes()


@routes.page("GET", "/incidents", needs=Permission.READ_INCIDENT)
def incidents(request: Request, desk: DeskNow) -> Response:
    """List the incidents."""
    found = desk.store.desk.incidents()
    shown = listing(
        request.query_params,
        list(zip(found, gathered(desk, found), strict=True)),
        filters=FILTERS,
        orders=ORDERS,
        text_of=lambda one: one[0].texts.get(TITLE, ""),
    )
    return desk.pages.render(
        request,
        "incidents.html",
        l=shown,
        states=STATES,
        chosen=desk.organization.laws,
    )


@routes.page("POST", "/incidents/choose", needs=Permission.EDIT_INCIDENT)
def choose(request: Request, desk: DeskNow, file: Chosen = None) -> Response:
    """Ask which incident the chosen files belong to; nothing is written."""
    if not file:
        return RedirectResponse("/tasks?said=none", 303)
    found = [one for one in desk.store.desk.incidents() if one.state is IncidentState.OPEN]
    return desk.pages.render(request, "incident_choose.html", files=file, incidents=found)


@routes.page("POST", "/incidents", needs=Permission.EDIT_INCIDENT)
def save(
    user: SignedIn,
    desk: DeskNow,
    file: Chosen = None,
    title: Annotated[str, Form(max_length=MAX_TEXT_CHARS)] = "",
    incident: Annotated[int, Form(ge=0, le=MAX_NUMBER)] = 0,
) -> Response:
    """Open an incident of the chosen files, or add them to one."""
    texts = {} if incident else {TITLE: title}
    number = desk.store.desk.write_incident(
        incident or None, texts, add=file or (), by=user.name, now=desk.now()
    )
    return RedirectResponse(f"/incidents/{number}", 303)


@routes.page("GET", "/incidents/{number}", needs=Permission.READ_INCIDENT)
def incident(number: RowNumber, request: Request, desk: DeskNow) -> Response:
    """Show one incident: its texts, files, evidence, tests, time limits, forms and history."""
    return _page(request, desk, number)


def _page(
    request: Request,
    desk: Desk,
    number: int,
    typed: Mapping[str, str] = MappingProxyType({}),
    seen: int | None = None,
    error: InputError | None = None,
) -> Response:
    """Return the page of an incident; after an error with what was typed, and what others wrote since."""
    found = desk.store.desk.incident(number)
    last = found.entries[-1].id
    known = found.until(last if seen is None else seen).texts
    status = 409 if isinstance(error, ConflictError) else 400 if error else 200
    return desk.pages.render(
        request,
        "incident.html",
        status_code=status,
        problem=str(error or ""),
        typed={name: text for name, text in typed.items() if text.split() != known.get(name, "").split()},
        since=[one for one in found.entries if one.id > (last if seen is None else seen)],
        last=last,
        days=(FIRST_DAY, last_day(desk.now())),
        incident=found,
        e=gathered(desk, [found])[0],
        fields=FIELDS,
        labels={**FIELDS, **_questions(desk)},
        chosen=desk.organization.laws,
        answers=desk.store.desk.answers(),
        states=STATES,
        following=[state for state in IncidentState if state is not found.state],
    )


@routes.page("POST", "/incidents/{number}", needs=Permission.EDIT_INCIDENT)
def write(
    number: RowNumber,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    name: Annotated[list[str] | None, Form(max_length=100)] = None,
    text: Annotated[list[str] | None, Form(max_length=100)] = None,
    file: Chosen = None,
    seen: Seen = None,
) -> Response:
    """Write the texts of a form, each under its name, and remove the chosen files."""
    names, texts = name or [], text or []
    if len(names) != len(texts) or not set(names) <= {*FIELDS, *_questions(desk)}:
        message = _("incident: expected the fields of its page")
        raise InputError(message)
    given = dict(zip(names, texts, strict=True))
    try:
        desk.store.desk.write_incident(
            number, given, remove=file or (), seen=seen, by=user.name, now=desk.now()
        )
    except InputError as error:
        return _page(request, desk, number, given, seen, error)
    return RedirectResponse(f"/incidents/{number}?said=written", 303)


@routes.page("POST", "/incidents/{number}/state", needs=Permission.DECIDE_INCIDENT)
def decide(
    number: RowNumber,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    state: Annotated[IncidentState, Form()],
    reason: Annotated[str, Form(max_length=2 * MAX_TEXT_CHARS)],  # a browser sends two for a line end
    seen: Seen = None,
) -> Response:
    """Record a decision: the new state of an incident, and why."""
    try:
        desk.store.desk.write_incident(
            number, {}, state=state, reason=reason, seen=seen, by=user.name, now=desk.now()
        )
    except InputError as error:
        given = {"reason": reason, "state": state.value}
        return _page(request, desk, number, given, seen, error)
    return RedirectResponse(f"/incidents/{number}?said=written", 303)


@routes.page("GET", "/incidents/{number}/forms/{form_id}/{kind}", needs=Permission.READ_INCIDENT)
def form(
    number: RowNumber,
    form_id: str,
    kind: Literal["txt", "pdf"],
    request: Request,
    user: SignedIn,
    desk: DeskNow,
) -> Response:
    """Send a form of a regulator, filled from an incident; the download is logged first."""
    found = desk.store.desk.incident(number)
    wanted = next((one for law in desk.organization.laws for one in law.forms if one.id == form_id), None)
    if wanted is None:
        raise HTTPException(404, _("there is no such form; [organization] of phiscan.toml chooses them"))
    fields = filled(wanted, found, gathered(desk, [found])[0], desk.organization)
    content = form_text(wanted, fields, desk.now()) if kind == "txt" else form_pdf(wanted, fields, desk.now())
    return sent_file(request, user, desk, f"incident-{number}-{form_id}.{kind}", content)


@routes.page("GET", "/incidents/register/{kind}", needs=Permission.READ_INCIDENT)
def register(kind: Literal["csv", "pdf"], request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send the register of incidents; the download is logged first."""
    found = desk.store.desk.incidents()
    rows = register_rows(zip(found, gathered(desk, found), strict=True))
    content = register_csv(rows) if kind == "csv" else register_pdf(rows, desk.organization, desk.now())
    return sent_file(request, user, desk, f"incidents.{kind}", content)


def _questions(desk: Desk) -> dict[str, str]:
    return {test.id: test.question for one in desk.organization.laws for test in one.tests}


def gathered(desk: Desk, found: Sequence[Incident]) -> list[Evidence]:
    """Return the evidence about incidents."""
    index = desk.packs.patient_index
    return evidence(desk.store.database, found, desk.organization, now=desk.now(), patient_index=index)
