"""Owners of files: the page of their own files, their answers, and the e-mail with the link to it."""

from __future__ import annotations

import smtplib
from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError, origin
from phiscan.language import gettext as _
from phiscan.monitoring.mail import send_text
from phiscan.monitoring.notices import read_owner_mail
from phiscan.monitoring.owner_mail import SUBJECT, is_same_domain, owner_mail
from phiscan.review.decisions.remedies import Task, TaskState
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.incidents import Chosen
from phiscan.web.session import SignedIn, address_of

MAX_CHARS = 1_000
log = structlog.get_logger("phiscan.web")

routes = Routes()


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
    reason: Annotated[str, Form(max_length=MAX_CHARS)] = "",
    file: Chosen = None,
) -> Response:
    """Record one answer about the chosen files of the owner; those of others are refused."""
    own = {one.file_id for one in _of(desk, user.name)}
    if not file or not set(file) <= own:
        return RedirectResponse("/mine?said=none", 303)
    desk.store.desk.answer(dict.fromkeys(file, word), reason, by=user.name, now=desk.now())
    return RedirectResponse("/mine?said=answered", 303)


@routes.page("POST", "/incidents/owners/mail", needs=Permission.EDIT_INCIDENT)
def mail(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    owner: Annotated[str, Form(max_length=MAX_CHARS)],
    to: Annotated[str, Form(max_length=MAX_CHARS)],
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
        log.warning("e-mail to an owner was not sent", origin=origin(error))
        problem = _("Not sent: the mail server cannot be reached, or refused it. The attempt is in the log.")
        raise InputError(problem) from None
    return RedirectResponse("/incidents?said=mailed", 303)


def _of(desk: Desk, owner: str) -> list[Task]:
    """Return the tasks of the files of an owner, by the name that the share has."""
    tasks = desk.store.desk.tasks(now=desk.now())
    return [one for one in tasks if one.owner and one.owner.casefold() == owner.casefold()]
