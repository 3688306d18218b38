"""Remedies of confirmed files: their list, assignments, notes, exceptions, scripts; many files at once."""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Literal

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.report.words import EXPOSURES
from phiscan.review.decisions.remedies import Task, TaskState
from phiscan.review.worklist.model import Exposure
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes, may
from phiscan.web.listing import Filter, Order, listing
from phiscan.web.notices import notice
from phiscan.web.remedy_script import Action, Kind, Target, hashed, script
from phiscan.web.request_context import DeskNow
from phiscan.web.routes.queue import place_words, reviewers
from phiscan.web.session import SignedIn, sent_file

MAX_SCRIPT_FILES = 5_000
MAX_CHARS = 1_000
UNTIL = timedelta(days=90)  # suggested end of an exception
Chosen = Annotated[list[int] | None, Form(alias="file")]
Text = Annotated[str, Form(max_length=MAX_CHARS)]
STATES = {
    TaskState.OPEN: lazy_gettext("open"),
    TaskState.OVERDUE: lazy_gettext("overdue"),
    TaskState.EXCEPTED: lazy_gettext("may stay until a day"),
    TaskState.GONE: lazy_gettext("done: the file is gone"),
    TaskState.RESTRICTED: lazy_gettext("done: access is restricted"),
    TaskState.CHANGED: lazy_gettext("content changed: review it again"),
}
_BREADTH = (Exposure.EVERYONE, Exposure.UNKNOWN, Exposure.GROUP, Exposure.OWNER)


def folder_of(task: Task) -> str:
    """Return the share and folder of a file, as the page shows them."""
    return place_words(task.root, task.path.rpartition("/")[0])


def _by_due(task: Task) -> tuple[bool, datetime, str, str]:
    return not task.is_open, task.due, task.root, task.path


FILTERS: tuple[Filter[Task], ...] = (
    Filter(
        "state",
        lazy_gettext("State"),
        lambda one: one.state.value,
        lambda name: str(STATES[TaskState(name)]),
    ),
    Filter(
        "exposure",
        lazy_gettext("Readable by"),
        lambda one: one.exposure.value,
        lambda name: str(EXPOSURES[Exposure(name)]),
    ),
    Filter("owner", lazy_gettext("Owner"), lambda one: one.owner),
    Filter("assignee", lazy_gettext("Assigned to"), lambda one: one.assignee),
    Filter("folder", lazy_gettext("Folder"), folder_of, str),
)
ORDERS: tuple[Order[Task], ...] = (
    Order("due", lazy_gettext("due first"), _by_due),
    Order("folder", lazy_gettext("by folder"), lambda one: (folder_of(one), _by_due(one)), folder_of),
    Order(
        "owner",
        lazy_gettext("by owner"),
        lambda one: (one.owner.casefold(), _by_due(one)),
        lambda one: visible(one.owner) or _("no owner is known"),
    ),
    Order(
        "people", lazy_gettext("most people first"), lambda one: (not one.is_open, -one.n_people, one.path)
    ),
    Order(
        "exposure",
        lazy_gettext("widest access first"),
        lambda one: (not one.is_open, _BREADTH.index(one.exposure), one.due),
    ),
)

routes = Routes()


@routes.page("GET", "/tasks", needs=Permission.READ_INCIDENT)
def tasks(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the files confirmed as PHI, with what is to be done about each."""
    work = desk.store.desk
    return desk.pages.render(
        request,
        "remedies.html",
        l=listing(
            request.query_params,
            work.tasks(now=desk.now()),
            filters=FILTERS,
            orders=ORDERS,
            text_of=lambda one: f"{one.root}/{one.path}",
        ),
        answers=work.answers(),
        grouped={file: one for one in reversed(work.incidents()) for file in one.files},
        people=reviewers(desk) if may(user, Permission.EDIT_INCIDENT) else (),
        until=(desk.now() + UNTIL).date(),
        notice=notice(request.query_params.get("said", "")),
    )


@routes.page("POST", "/tasks", needs=Permission.EDIT_INCIDENT)
def annotate(
    user: SignedIn,
    desk: DeskNow,
    what: Annotated[Literal["assignee", "note", "exception"], Form()],
    file: Chosen = None,
    assignee: Text = "",
    note: Text = "",
    until: Annotated[date | Literal[""], Form()] = "",
    reason: Text = "",
    listed: Annotated[str, Form(alias="list", max_length=8_000)] = "",
) -> Response:
    """Record an assignee, a note, or an exception with its end, of the chosen files."""
    back = f"/tasks?{listed}&said=" if listed else "/tasks?said="
    known = {one.file_id for one in desk.store.desk.tasks(now=desk.now())}
    chosen = [number for number in file or () if number in known]
    if not chosen:
        return RedirectResponse(f"{back}none", 303)
    field = until and until.isoformat() if what == "exception" else ""
    text = {"assignee": assignee, "note": note, "exception": reason}[what]
    desk.store.desk.annotate(what, chosen, field=field, text=text, by=user.name, now=desk.now())
    return RedirectResponse(f"{back}recorded", 303)


@routes.page("POST", "/tasks/script", needs=Permission.EDIT_INCIDENT)
def make_script(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    action: Annotated[Action, Form()],
    kind: Annotated[Kind, Form()],
    to: Text = "",
    file: Chosen = None,
) -> Response:
    """Send a script for the administrator of the share; each file is read again first, the download logged.

    Raises:
        InputError: no open file is chosen, too many are, or no folder is named to move them to.
    """
    chosen = set(file or ())
    found = [one for one in desk.store.desk.tasks(now=desk.now()) if one.file_id in chosen and one.is_open]
    to = to.strip()
    if not found or len(found) > MAX_SCRIPT_FILES:
        message = _("script: expected 1 to {most} open files", most=MAX_SCRIPT_FILES)
        raise InputError(message)
    place = PurePosixPath(to) if kind == "sh" else PureWindowsPath(to)
    if action == "move" and not (to.isprintable() and place.is_absolute()):
        message = _("script: expected the whole path of a folder to move the files to")
        raise InputError(message)
    files = []
    for one in found:
        source = desk.store.desk.examined(one.file_id).source
        files.append((Target(one.file_id, os.fsencode(source.absolute), one.content_hash), source.root))
    head = (
        f"phiscan: {action} {len(found)} confirmed files; {desk.now():%Y-%m-%d %H:%M} UTC, {user.name!a}",
        "Read it before you run it. Without an option it is a dry run that changes nothing.",
        "It reads each file again, and leaves what has changed since it was confirmed.",
    )
    content = script(kind, action, hashed(files), to=to, head=head)
    return sent_file(request, user, desk, f"phiscan-{action}.{kind}", content)
