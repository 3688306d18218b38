"""Incidents: files of one breach, assessment, time limits, forms, register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Form
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
    suggested,
)
from phiscan.report.openings import together_words
from phiscan.review.decisions.incidents import FIRST_DAY, TITLE, Incident, IncidentState, last_day
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import MAX_NUMBER, Context, Ctx, RowNumber
from phiscan.web.routes.queue import Chosen
from phiscan.web.work_query import Filter, Order, listing

MAX_TEXT_CHARS = 10_000
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
def incidents(ctx: Ctx) -> Response:
    """List the incidents."""
    found = ctx.work.incidents()
    rows = list(zip(found, gathered(ctx, found), strict=True))
    given = ctx.request.query_params
    shown = listing(given, rows, FILTERS, ORDERS, lambda one: one[0].texts.get(TITLE, ""))
    return ctx.page("incidents.html", l=shown, states=STATES, chosen=ctx.desk.organization.laws)


@routes.page("POST", "/incidents/choose", needs=Permission.EDIT_INCIDENT)
def choose(ctx: Ctx, file: Chosen = None) -> Response:
    """Ask which incident the chosen files belong to; nothing is written."""
    if not file:
        return RedirectResponse("/tasks?said=none", 303)
    found = [one for one in ctx.work.incidents() if one.state is IncidentState.OPEN]
    return ctx.page("incident_choose.html", files=file, incidents=found)


@routes.page("POST", "/incidents", needs=Permission.EDIT_INCIDENT)
def save(
    ctx: Ctx,
    file: Chosen = None,
    title: Annotated[str, Form(max_length=MAX_TEXT_CHARS)] = "",
    incident: Annotated[int, Form(ge=0, le=MAX_NUMBER)] = 0,
) -> Response:
    """Open an incident of the chosen files, or add them to one."""
    texts = {} if incident else {TITLE: title}
    number = ctx.work.write_incident(incident or None, texts, add=file or (), **ctx.by)
    return RedirectResponse(f"/incidents/{number}", 303)


@routes.page("GET", "/incidents/{number}", needs=Permission.READ_INCIDENT)
def incident(number: RowNumber, ctx: Ctx) -> Response:
    """Show one incident: its texts, files, evidence, tests, time limits, forms and history."""
    return _page(ctx, number, {}, None)


def _page(
    ctx: Context, number: int, typed: Mapping[str, str], seen: int | None, error: InputError | None = None
) -> Response:
    """Return the page of an incident; after an error with what was typed, and what others wrote since."""
    found = ctx.work.incident(number)
    last = found.entries[-1].id
    seen = last if seen is None else seen
    e = gathered(ctx, [found])[0]
    known = found.until(seen).texts
    return ctx.page(
        "incident.html",
        status_code=409 if isinstance(error, ConflictError) else 400 if error else 200,
        problem=str(error or ""),
        typed={name: text for name, text in typed.items() if text.split() != known.get(name, "").split()},
        since=[one for one in found.entries if one.id > seen],
        last=last,
        days=(FIRST_DAY, last_day(ctx.now)),
        incident=found,
        e=e,
        suggested=suggested(e, ctx.desk.organization.laws),
        opened=together_words(e.opened),
        fields=FIELDS,
        labels={**FIELDS, **_questions(ctx)},
        chosen=ctx.desk.organization.laws,
        answers=ctx.work.answers(),
        states=STATES,
        following=[state for state in IncidentState if state is not found.state],
    )


@routes.page("POST", "/incidents/{number}", needs=Permission.EDIT_INCIDENT)
def write(
    number: RowNumber,
    ctx: Ctx,
    name: Annotated[list[str] | None, Form(max_length=100)] = None,
    text: Annotated[list[str] | None, Form(max_length=100)] = None,
    file: Chosen = None,
    seen: Seen = None,
) -> Response:
    """Write the texts of a form, each under its name, and remove the chosen files."""
    names, texts = name or [], text or []
    if len(names) != len(texts) or not set(names) <= {*FIELDS, *_questions(ctx)}:
        raise InputError(_("incident: expected the fields of its page"))
    found = ctx.work.incident(number)
    unchanged = suggested(gathered(ctx, [found])[0], ctx.desk.organization.laws)
    given = {
        one: its_text
        for one, its_text in zip(names, texts, strict=True)
        if found.texts.get(one) or its_text != unchanged.get(one)
    }
    return _written(ctx, number, given, seen, given, remove=file or ())


@routes.page("POST", "/incidents/{number}/state", needs=Permission.DECIDE_INCIDENT)
def decide(
    number: RowNumber,
    ctx: Ctx,
    state: Annotated[IncidentState, Form()],
    reason: Annotated[str, Form(max_length=2 * MAX_TEXT_CHARS)],
    seen: Seen = None,
) -> Response:
    """Record a decision: the new state of an incident, and why."""
    typed = {"reason": reason, "state": state.value}
    return _written(ctx, number, typed, seen, {}, state=state, reason=reason)


def _written(
    ctx: Context,
    number: int,
    typed: Mapping[str, str],
    seen: int | None,
    texts: Mapping[str, str],
    **given: Any,
) -> Response:
    """Write to an incident, and show it; after an error with what was typed."""
    try:
        ctx.work.write_incident(number, texts, seen=seen, **given, **ctx.by)
    except InputError as error:
        return _page(ctx, number, typed, seen, error)
    return RedirectResponse(f"/incidents/{number}?said=written", 303)


@routes.page("GET", "/incidents/{number}/forms/{form_id}/{kind}", needs=Permission.READ_INCIDENT)
def form(number: RowNumber, form_id: str, kind: Literal["txt", "pdf"], ctx: Ctx) -> Response:
    """Send a form of a regulator, filled from an incident; the download is logged first."""
    found = ctx.work.incident(number)
    wanted = next((one for law in ctx.desk.organization.laws for one in law.forms if one.id == form_id), None)
    if wanted is None:
        raise HTTPException(404, _("there is no such form; [organization] of phiscan.toml chooses them"))
    fields = filled(wanted, found, gathered(ctx, [found])[0], ctx.desk.organization)
    content = form_text(wanted, fields, ctx.now) if kind == "txt" else form_pdf(wanted, fields, ctx.now)
    return ctx.file(f"incident-{number}-{form_id}.{kind}", content)


@routes.page("GET", "/incidents/register/{kind}", needs=Permission.READ_INCIDENT)
def register(kind: Literal["csv", "pdf"], ctx: Ctx) -> Response:
    """Send the register of incidents; the download is logged first."""
    found = ctx.work.incidents()
    rows = register_rows(zip(found, gathered(ctx, found), strict=True))
    content = register_csv(rows) if kind == "csv" else register_pdf(rows, ctx.desk.organization, ctx.now)
    return ctx.file(f"incidents.{kind}", content)


def _questions(ctx: Context) -> dict[str, str]:
    return {test.id: test.question for one in ctx.desk.organization.laws for test in one.tests}


def gathered(ctx: Context, found: Sequence[Incident]) -> list[Evidence]:
    """Return the evidence about incidents."""
    index = ctx.desk.packs.patient_index
    return evidence(ctx.desk.store.database, found, ctx.desk.organization, now=ctx.now, patient_index=index)
