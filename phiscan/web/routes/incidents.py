"""Incidents: files of one breach, assessment, time limits, forms, register; the owners of the files."""

from __future__ import annotations

import mimetypes
import smtplib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Literal

import structlog
from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from phiscan.errors import ConflictError, InputError, origin
from phiscan.language import gettext as _
from phiscan.monitoring.mail import send_text
from phiscan.monitoring.notices import read_owner_mail
from phiscan.monitoring.owner_mail import SUBJECT, is_same_domain, owner_mail
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
from phiscan.review.accounts.users import User
from phiscan.review.decisions.incidents import FIRST_DAY, TITLE, Incident, IncidentState, last_day
from phiscan.review.decisions.remedies import Task, TaskState
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import MAX_NUMBER, Desk, DeskNow, RowNumber
from phiscan.web.session import SignedIn, address_of

MAX_TEXT_CHARS = 10_000
Chosen = Annotated[list[int] | None, Form(alias="file")]
Seen = Annotated[int | None, Form(ge=0, le=MAX_NUMBER)]  # the last entry that the page showed

routes = Routes()


@routes.page("GET", "/incidents", needs=Permission.READ_INCIDENT)
def incidents(request: Request, desk: DeskNow) -> Response:
    """List the incidents, and the files confirmed as PHI with what is to be done about them."""
    found = desk.store.desk.incidents()
    return desk.pages.render(
        request,
        "incidents.html",
        rows=list(zip(found, gathered(desk, found), strict=True)),
        tasks=desk.store.desk.tasks(now=desk.now()),
        grouped={file: one for one in reversed(found) for file in one.files},
        answers=desk.store.desk.answers(),
        states=STATES,
        chosen=desk.organization.laws,
        notice=notice(request.query_params.get("said", "")),
    )


@routes.page("POST", "/incidents/choose", needs=Permission.EDIT_INCIDENT)
def choose(request: Request, desk: DeskNow, file: Chosen = None) -> Response:
    """Ask which incident the chosen files belong to; nothing is written."""
    if not file:
        return RedirectResponse("/incidents?said=none", 303)
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
        notice=notice(request.query_params.get("said", "")),
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
    return _download(request, user, desk, f"incident-{number}-{form_id}.{kind}", content)


@routes.page("GET", "/incidents/register/{kind}", needs=Permission.READ_INCIDENT)
def register(kind: Literal["csv", "pdf"], request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send the register of incidents; the download is logged first."""
    found = desk.store.desk.incidents()
    rows = register_rows(zip(found, gathered(desk, found), strict=True))
    content = register_csv(rows) if kind == "csv" else register_pdf(rows, desk.organization, desk.now())
    return _download(request, user, desk, f"incidents.{kind}", content)


def _questions(desk: Desk) -> dict[str, str]:
    return {test.id: test.question for one in desk.organization.laws for test in one.tests}


def gathered(desk: Desk, found: Sequence[Incident]) -> list[Evidence]:
    """Return the evidence about incidents."""
    index = desk.packs.patient_index
    return evidence(desk.store.database, found, desk.organization, now=desk.now(), patient_index=index)


def _download(request: Request, user: User, desk: Desk, name: str, content: str | bytes) -> Response:
    desk.store.users.log_export(what=name, by=user, address=address_of(request), now=desk.now())
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=mimetypes.guess_type(name)[0], headers=headers)


MAX_OWNER_CHARS = 1_000
_log = structlog.get_logger("phiscan.web")


@routes.page("GET", "/mine", needs=Permission.OWN_FILES)
def mine(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show an owner the confirmed files of their own, and nobody else's."""
    return desk.pages.render(
        request,
        "mine.html",
        tasks=_of(desk, user.name),
        answers=desk.store.desk.answers(),
        notice=notice(request.query_params.get("said", "")),
    )


@routes.page("POST", "/mine", needs=Permission.OWN_FILES)
def answer(
    user: SignedIn,
    desk: DeskNow,
    word: Annotated[str, Form(alias="answer", max_length=20)],
    reason: Annotated[str, Form(max_length=MAX_OWNER_CHARS)] = "",
    file: Chosen = None,
) -> Response:
    """Record one answer about the chosen files of the owner; those of others are refused."""
    own = {one.file_id for one in _of(desk, user.name)}
    if not file or not set(file) <= own:
        return RedirectResponse("/mine?said=none", 303)
    desk.store.desk.annotate("answer", file, field=word, text=reason, by=user.name, now=desk.now())
    return RedirectResponse("/mine?said=answered", 303)


@routes.page("POST", "/incidents/owners/mail", needs=Permission.EDIT_INCIDENT)
def mail(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    owner: Annotated[str, Form(max_length=MAX_OWNER_CHARS)],
    to: Annotated[str, Form(max_length=MAX_OWNER_CHARS)],
) -> Response:
    """Send an owner one message: how many files await an answer, and the link; recorded in the log first.

    Raises:
        InputError: no mail server, an address of another domain, no file of this owner, or it was not sent.
    """
    settings = read_owner_mail(desk.config)
    waiting = [one for one in _of(desk, owner) if one.is_open]
    problem = ""
    if settings is None:
        problem = _("Not sent: no mail server is set up ([notify] smtp_host of phiscan.toml).")
    elif not is_same_domain(to, settings.sender) or to.count("@") != 1 or len(to.split()) != 1:
        home = settings.sender.rpartition("@")[2]
        problem = _("Not sent: expected one address at {home}, which phiscan writes from.", home=home)
    elif not waiting:
        problem = _("Not sent: no file of this owner is to be seen to.")
    if settings is None or problem:
        raise InputError(problem)
    what = f"e-mail to the owner {owner}: {to}"
    desk.store.users.log_export(what=what, by=user, address=address_of(request), now=desk.now())
    late = sum(one.state is TaskState.OVERDUE for one in waiting)
    text = owner_mail(len(waiting), late, f"{desk.settings.own_url}/mine")
    try:
        send_text(replace(settings, to=(to,)).checked(), str(SUBJECT), text)
    except (OSError, smtplib.SMTPException) as error:
        _log.warning("e-mail to an owner was not sent", origin=origin(error))
        problem = _("Not sent: the mail server cannot be reached, or refused it. The attempt is in the log.")
        raise InputError(problem) from None
    return RedirectResponse("/incidents?said=mailed", 303)


def _of(desk: Desk, owner: str) -> list[Task]:
    """Return the tasks of the files of an owner, by the name that the share has."""
    tasks = desk.store.desk.tasks(now=desk.now())
    return [one for one in tasks if one.owner and one.owner.casefold() == owner.casefold()]
