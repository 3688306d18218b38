"""The e-mail to the owner of a confirmed file: previewed, sent on request, recorded in the log."""

from __future__ import annotations

import smtplib
from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError, origin
from phiscan.language import gettext as _
from phiscan.monitoring.mail import Mail, send_text
from phiscan.monitoring.notices import read_owner_mail
from phiscan.monitoring.owner_mail import FileFacts, OwnerMail, is_same_domain, owner_mail
from phiscan.pipeline.rereading.allow_list import load_allow_list
from phiscan.report.sections.time_limits import HIPAA_DAYS
from phiscan.report.words import FORMATS, size
from phiscan.review.accounts.owner_mails import value_of
from phiscan.review.decisions.remedies import Task, TaskState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.session import SignedIn, address_of
from phiscan.web.views.item import moment_of
from phiscan.web.views.queue import EXPOSURES

MAX_ADDRESS_CHARS = 254
log = structlog.get_logger("phiscan.web")

routes = Routes()


@routes.page("GET", "/tasks/{file_id}/mail", needs=Permission.EXPORT)
def preview(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show the message to the owner of a file before anything is sent."""
    return _page(file_id, request, desk, user.name)


@routes.page("POST", "/tasks/{file_id}/mail", needs=Permission.EXPORT)
def send(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    to: Annotated[str, Form(max_length=MAX_ADDRESS_CHARS)] = "",
) -> Response:
    """Record sender, recipient and file in the log, then send the message."""
    _task, message = _message(file_id, desk, user.name)
    mail, problem = _mail(desk, to.strip())
    if mail is None:
        return _page(file_id, request, desk, user.name, to=to, problem=problem)
    what = value_of(file_id, mail.to[0])
    desk.store.users.log_export(what=what, by=user, address=address_of(request), now=desk.now())
    try:
        send_text(mail, message.subject, message.text)
    except (OSError, smtplib.SMTPException) as error:
        log.warning("e-mail to an owner was not sent", origin=origin(error))
        problem = _("Not sent: the mail server cannot be reached, or refused it. The attempt is in the log.")
        return _page(file_id, request, desk, user.name, to=to, problem=problem)
    return RedirectResponse("/tasks?said=mailed", 303)


def _page(
    file_id: int, request: Request, desk: Desk, viewer: str, *, to: str = "", problem: str = ""
) -> Response:
    task, message = _message(file_id, desk, viewer)
    settings = read_owner_mail(desk.config)
    return desk.pages.render(
        request,
        "task_mail.html",
        status_code=409 if problem else 200,
        task=task,
        message=message,
        to=to,
        problem=problem,
        home=settings.sender.rpartition("@")[2] if settings else "",
        written=desk.store.desk.owner_mails().get(file_id, ()),
        notice=notice(request.query_params.get("said", "")),
    )


def _message(file_id: int, desk: Desk, viewer: str) -> tuple[Task, OwnerMail]:
    """Return the open task of a file and the message about it.

    Raises:
        InputError: there is no open task.
    """
    work, now = desk.store.desk, desk.now()
    found = [one for one in work.tasks(due_days=HIPAA_DAYS, now=now) if one.file_id == file_id]
    if not found or found[0].state not in {TaskState.OPEN, TaskState.OVERDUE}:
        message = _("file {file_id}: it has no open task", file_id=file_id)
        raise InputError(message)
    (task,) = found
    detail = work.detail(file_id, viewer=viewer, now=now)
    item = detail.item
    exposure = task.exposure_now or task.exposure
    facts = FileFacts(
        number=file_id,
        folder=f"{item.root}/{item.path.rpartition('/')[0]}",
        type=FORMATS.get(item.media_type, visible(item.media_type)) or _("not known"),
        size=size(item.size),
        changed=moment_of(detail.source.mtime_ns),
        readers=EXPOSURES.get(exposure.value, _("not known")),
        exposure=exposure.value,
        due=task.due.date(),
    )
    allowed = load_allow_list()
    return task, owner_mail(facts, lambda text: list(allowed.pieces(text)))


def _mail(desk: Desk, to: str) -> tuple[Mail | None, str]:
    """Return the mail settings for an address, or None and the reason."""
    settings = read_owner_mail(desk.config)
    if settings is None:
        return None, _("Not sent: no mail server is set up ([notify] smtp_host of phiscan.toml).")
    if not is_same_domain(to, settings.sender):
        home = settings.sender.rpartition("@")[2]
        return None, _("Not sent: expected an address at {home}, which phiscan writes from.", home=home)
    try:
        return replace(settings, to=(to,)).checked(), ""
    except ValueError:
        return None, _("Not sent: expected one e-mail address.")
