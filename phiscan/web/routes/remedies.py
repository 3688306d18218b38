"""Remedies of confirmed files and their owners: lists, many files at once, scripts, answers, digests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Literal

import structlog
from fastapi import Form
from starlette.responses import RedirectResponse, Response

from phiscan.config import Config
from phiscan.errors import InputError, origin
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext, lazy_ngettext
from phiscan.monitoring.receivers import mail_of
from phiscan.monitoring.senders import Mail
from phiscan.report.words import EXPOSURES
from phiscan.review.decisions.incidents import Task, TaskState
from phiscan.review.store import Store
from phiscan.review.worklist.model import Exposure
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import place_of
from phiscan.web.remedy_script import Action, Kind, Target, hashed, script
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import Chosen, people_with
from phiscan.web.work_query import Filter, Order, listing

MAX_SCRIPT_FILES = 5_000
MAX_CHARS = 1_000
UNTIL = timedelta(days=90)  # suggested end of an exception
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
    return place_of(task)


def label_words(task: Task) -> str:
    """Return the sensitivity labels that a file carries, by their names where these are known."""
    return "; ".join(visible(name or number) for number, name in task.labels) or _("none")


def _by_due(task: Task) -> tuple[bool, datetime, str, str]:
    return not task.is_open, task.due, task.root, task.path


FILTERS: tuple[Filter[Task], ...] = (
    Filter(
        "state", lazy_gettext("State"), lambda one: one.state.value, lambda name: str(STATES[TaskState(name)])
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
    Filter("label", lazy_gettext("Sensitivity label"), lambda one: label_words(one) if one.labels else ""),
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
def tasks(ctx: Ctx) -> Response:
    """List the files confirmed as PHI, with what is to be done about each."""
    found = ctx.work.tasks(now=ctx.now)
    return ctx.page(
        "remedies.html",
        l=listing(ctx.request.query_params, found, FILTERS, ORDERS, lambda one: f"{one.root}/{one.path}"),
        answers=ctx.work.answers(),
        grouped={file: one for one in reversed(ctx.work.incidents()) for file in one.files},
        people=people_with(ctx) if ctx.may(Permission.EDIT_INCIDENT) else (),
        until=(ctx.now + UNTIL).date(),
        expected_label=ctx.desk.config.organization.confirmed_label,
        label_words=label_words,
    )


@routes.page("POST", "/tasks", needs=Permission.EDIT_INCIDENT)
def annotate(
    ctx: Ctx,
    what: Annotated[Literal["assignee", "note", "exception"], Form()],
    file: Chosen = None,
    assignee: Text = "",
    note: Text = "",
    until: Annotated[date | Literal[""], Form()] = "",
    reason: Text = "",
    listed: Annotated[str, Form(alias="list", max_length=8_000)] = "",
) -> Response:
    """Record an assignee, a note, or an exception with its end, of the chosen files."""
    known = {one.file_id for one in ctx.work.tasks(now=ctx.now)}
    chosen = [number for number in file or () if number in known]
    if chosen:
        field = until.isoformat() if until and what == "exception" else ""
        text = {"assignee": assignee, "note": note, "exception": reason}[what]
        ctx.work.annotate(what, chosen, field=field, text=text, **ctx.by)
    place = f"/tasks?{listed}&said=" if listed else "/tasks?said="
    return RedirectResponse(f"{place}{'recorded' if chosen else 'none'}", 303)


@routes.page("POST", "/tasks/script", needs=Permission.EDIT_INCIDENT)
def make_script(
    ctx: Ctx,
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
    found = [one for one in ctx.work.tasks(now=ctx.now) if one.file_id in chosen and one.is_open]
    to = to.strip()
    if not found or len(found) > MAX_SCRIPT_FILES:
        raise InputError(_("script: expected 1 to {most} open files", most=MAX_SCRIPT_FILES))
    place = PurePosixPath(to) if kind == "sh" else PureWindowsPath(to)
    if action == "move" and not (to.isprintable() and place.is_absolute()):
        raise InputError(_("script: expected the whole path of a folder to move the files to"))
    files = []
    for one in found:
        source = ctx.work.examined(one.file_id).source
        files.append((Target(one.file_id, os.fsencode(source.absolute), one.content_hash), source.root))
    head: tuple[str, ...] = (
        f"phiscan: {action} {len(found)} confirmed files; {ctx.now:%Y-%m-%d %H:%M} UTC, {ctx.name!a}",
        "Read it before you run it. Without an option it is a dry run that changes nothing.",
        "It reads each file again, and leaves what has changed since it was confirmed.",
    )
    if expected := ctx.desk.config.organization.confirmed_label:
        head += tuple(
            f"{one.file_id}: label now {label_words(one)!a}; label expected {expected!a}"
            for one in found
            if not one.has_label(expected)
        )
    content = script(kind, action, hashed(files), to=to, head=head)
    return ctx.file(f"phiscan-{action}.{kind}", content)


EVERY = timedelta(days=7)  # between two digests to one owner
SUBJECT = lazy_gettext("Files of yours need attention")
_TEXT = lazy_gettext(
    """Hello,

a privacy review has confirmed that files of yours hold personal health
information. {files}

Please sign in, look at each and answer: {link}

Please do not send the files, or anything from them, by e-mail.
"""
)
_log = structlog.get_logger("phiscan.web")


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """One owner: the files, the answers, the address of digests, and the last one."""

    name: str
    n_files: int
    open: tuple[Task, ...]
    n_overdue: int
    answers: Mapping[str, int]
    n_silent: int  # open files without an answer
    address: str
    reminded: datetime | None


def owner_rows(store: Store, now: datetime) -> list[OwnerRow]:
    """Return the owners of confirmed files, those with the most open files first; one without a name last."""
    answers, known = store.desk.answers(), store.desk.owners()
    by_owner: dict[str, list[Task]] = {}
    for one in store.desk.tasks(now=now):
        by_owner.setdefault(one.owner.casefold(), []).append(one)
    rows = []
    for name, found in by_owner.items():
        waiting = tuple(one for one in found if one.is_open)
        rows.append(
            OwnerRow(
                name=found[0].owner,
                n_files=len(found),
                open=waiting,
                n_overdue=sum(one.state is TaskState.OVERDUE for one in waiting),
                answers=Counter(answers[one.file_id].field for one in found if one.file_id in answers),
                n_silent=sum(one.file_id not in answers for one in waiting),
                address=known.addresses.get(name, ""),
                reminded=known.reminded.get(name),
            )
        )
    return sorted(rows, key=lambda one: (not one.name, -len(one.open), one.name))


def digest(row: OwnerRow, link: str) -> str:
    """Return the message to an owner: numbers of files, and the address of the page that lists them."""
    files = lazy_ngettext("{n} file is to be seen to", "{n} files are to be seen to", len(row.open))
    late = lazy_ngettext(", {n} of them is overdue.", ", {n} of them are overdue.", row.n_overdue)
    return _TEXT.format(files=f"{files}{late if row.n_overdue else '.'}", link=link)


def is_same_domain(address: str, sender: str) -> bool:
    """Return whether an address is one in the sender's domain or a subdomain; others get no mail.

    >>> is_same_domain("ann@ward.hospital.example", "privacy@hospital.example")
    True
    >>> is_same_domain("ann@nothospital.example", "privacy@hospital.example")
    False
    """
    home = sender.rpartition("@")[2].casefold()
    domain = address.rpartition("@")[2].casefold()
    is_one = address.count("@") == 1 and len(address.split()) == 1 and address.isprintable()
    return is_one and bool(home) and (domain == home or domain.endswith("." + home))


def remind(store: Store, config: Config, *, now: datetime, every: timedelta = EVERY) -> tuple[int, int]:
    """Send one digest to each owner with open files, an address, and none in this time: sent, and failed.

    Raises:
        InputError: no mail server is set up, or no address of the desk for the link.
    """
    mail, url = _mail(config), config.desk.public_url.rstrip("/")
    if not url:
        raise InputError(_("desk.public_url: expected the address of the desk, for the link"))
    n_sent = n_failed = 0
    for row in owner_rows(store, now):
        if row.open and row.address and (row.reminded is None or now - row.reminded >= every):
            try:
                send_digest(store, mail, row, f"{url}/mine", by="phiscan", now=now)
                n_sent += 1
            except InputError:
                n_failed += 1
    return n_sent, n_failed


def send_digest(store: Store, mail: Mail, row: OwnerRow, link: str, *, by: str, now: datetime) -> None:
    """Send one owner the digest; the attempt is recorded first, and that it was sent.

    Raises:
        InputError: the address is of another domain, no file is open, or the server does not take it.
    """
    if not is_same_domain(row.address, mail.table.mail_from):
        home = mail.table.mail_from.rpartition("@")[2]
        raise InputError(_("Not sent: expected one address at {home}, which phiscan writes from.", home=home))
    if not row.open:
        raise InputError(_("Not sent: no file of this owner is to be seen to."))
    store.desk.write_owner("reminder", row.name, by=by, now=now)
    try:
        replace(mail, to=(row.address,)).send(str(SUBJECT), digest(row, link))
    except OSError as error:
        _log.warning("e-mail to an owner was not sent", origin=origin(error))
        problem = _("Not sent: the mail server cannot be reached, or refused it. The attempt is in the log.")
        raise InputError(problem) from None
    store.desk.write_owner("reminder", row.name, str(len(row.open)), by=by, now=now)


def _mail(config: Config) -> Mail:
    if not (config.notify.smtp_host and config.notify.mail_from):
        raise InputError(_("Not sent: no mail server is set up ([notify] smtp_host of phiscan.toml)."))
    return mail_of(config, ())


@routes.page("GET", "/owners", needs=Permission.EDIT_INCIDENT)
def owners(ctx: Ctx) -> Response:
    """Show the owners, what they answered, and the folders that somebody is assigned to."""
    roots = {number: path for number, path, _n in ctx.work.choices().roots}
    folders = sorted(ctx.work.owners().folders.items())
    return ctx.page(
        "owners.html",
        rows=owner_rows(ctx.desk.store, ctx.now),
        roots=roots,
        folders=[(roots.get(root_id, ""), folder, owner) for (root_id, folder), owner in folders],
        every=EVERY.days,
    )


@routes.page("POST", "/owners", needs=Permission.ASSIGN)
def assign(ctx: Ctx, root: Annotated[int, Form(ge=1)], owner: Text = "", folder: Text = "") -> Response:
    """Assign an owner to a share or one of its folders; an empty name leaves it to the share."""
    if root not in {number for number, _path, _n in ctx.work.choices().roots}:
        raise InputError(_("owner: expected a share that was scanned"))
    place = f"{root}/{folder.strip('/ ')}"
    ctx.work.write_owner("owner", place, owner, **ctx.by)
    return RedirectResponse("/owners?said=recorded", 303)


@routes.page("POST", "/owners/mail", needs=Permission.EDIT_INCIDENT)
def mail(ctx: Ctx, owner: Text, to: Text) -> Response:
    """Keep the address of an owner, and send the digest to it."""
    server, wanted = _mail(ctx.desk.config), owner.casefold()
    rows = [one for one in owner_rows(ctx.desk.store, ctx.now) if one.name.casefold() == wanted and owner]
    row = replace(rows[0], address=to) if rows else OwnerRow(owner, 0, (), 0, {}, 0, to, None)
    if row.open and is_same_domain(to, server.table.mail_from):
        ctx.work.write_owner("address", owner, to, **ctx.by)
    send_digest(ctx.desk.store, server, row, f"{ctx.desk.settings.own_url}/mine", **ctx.by)
    return RedirectResponse("/owners?said=mailed", 303)


@routes.page("GET", "/mine", needs=Permission.OWN_FILES)
def mine(ctx: Ctx) -> Response:
    """Show an owner the confirmed files of their own, and nobody else's."""
    found: dict[str, list[Task]] = {}
    for one in _own(ctx):
        found.setdefault(folder_of(one), []).append(one)
    return ctx.page("mine.html", groups=sorted(found.items()), answers=ctx.work.answers())


@routes.page("POST", "/mine", needs=Permission.OWN_FILES)
def answer(
    ctx: Ctx,
    word: Annotated[str, Form(alias="answer", max_length=20)],
    reason: Text = "",
    file: Chosen = None,
) -> Response:
    """Record one answer about the chosen files of the owner; those of others are refused."""
    if not file or not set(file) <= {one.file_id for one in _own(ctx)}:
        return RedirectResponse("/mine?said=none", 303)
    ctx.work.annotate("answer", file, field=word, text=reason, **ctx.by)
    return RedirectResponse("/mine?said=answered", 303)


def _own(ctx: Context) -> list[Task]:
    """Return the tasks of the user's files, as assigned or by the name that the share has."""
    name = ctx.name.casefold()
    return [one for one in ctx.work.tasks(now=ctx.now) if one.owner and one.owner.casefold() == name]
