"""Owners of confirmed files: who owns which folder, what they answered, their own page, and their digests."""

from __future__ import annotations

import smtplib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated

import structlog
from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.config import Config
from phiscan.errors import InputError, origin
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext, lazy_ngettext
from phiscan.monitoring.mail import Mail, send_text
from phiscan.monitoring.notices import read_owner_mail
from phiscan.review.decisions.remedies import Task, TaskState
from phiscan.review.store import Store
from phiscan.web.access import Permission, Routes
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.remedies import Chosen, Text, folder_of
from phiscan.web.session import SignedIn

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
routes = Routes()


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


def remind(
    store: Store, config: Config, link: str, *, by: str, now: datetime, every: timedelta = EVERY
) -> tuple[int, int]:
    """Send one digest to each owner with open files, an address, and none in this time: sent, and failed.

    Raises:
        InputError: no mail server is set up.
    """
    mail = _mail(config)
    n_sent = n_failed = 0
    for row in owner_rows(store, now):
        if not row.open or not row.address or (row.reminded is not None and now - row.reminded < every):
            continue
        try:
            send_digest(store, mail, row, link, by=by, now=now)
            n_sent += 1
        except InputError:
            n_failed += 1
    return n_sent, n_failed


def send_digest(store: Store, mail: Mail, row: OwnerRow, link: str, *, by: str, now: datetime) -> None:
    """Send one owner the digest; that it is sent is recorded first.

    Raises:
        InputError: the address is of another domain, no file is open, or the server does not take it.
    """
    if not is_same_domain(row.address, mail.sender):
        home = mail.sender.rpartition("@")[2]
        raise InputError(_("Not sent: expected one address at {home}, which phiscan writes from.", home=home))
    if not row.open:
        raise InputError(_("Not sent: no file of this owner is to be seen to."))
    store.desk.record_owner("reminder", row.name, str(len(row.open)), by=by, now=now)
    try:
        send_text(replace(mail, to=(row.address,)).checked(), str(SUBJECT), digest(row, link))
    except (OSError, smtplib.SMTPException) as error:
        _log.warning("e-mail to an owner was not sent", origin=origin(error))
        problem = _("Not sent: the mail server cannot be reached, or refused it. The attempt is in the log.")
        raise InputError(problem) from None


def _mail(config: Config) -> Mail:
    mail = read_owner_mail(config)
    if mail is None:
        raise InputError(_("Not sent: no mail server is set up ([notify] smtp_host of phiscan.toml)."))
    return mail


@routes.page("GET", "/owners", needs=Permission.EDIT_INCIDENT)
def owners(request: Request, desk: DeskNow) -> Response:
    """Show the owners, what they answered, and the folders that somebody is assigned to."""
    roots = {number: path for number, path, _n in desk.store.desk.choices().roots}
    folders = sorted(desk.store.desk.owners().folders.items())
    return desk.pages.render(
        request,
        "owners.html",
        rows=owner_rows(desk.store, desk.now()),
        roots=roots,
        folders=[(roots.get(root_id, ""), folder, owner) for (root_id, folder), owner in folders],
        every=EVERY.days,
        notice=notice(request.query_params.get("said", "")),
    )


@routes.page("POST", "/owners", needs=Permission.ASSIGN)
def assign(
    user: SignedIn,
    desk: DeskNow,
    root: Annotated[int, Form(ge=1)],
    owner: Text = "",
    folder: Text = "",
) -> Response:
    """Assign an owner to a share or one of its folders; an empty name leaves it to the share."""
    desk.store.desk.assign_owner(root, folder.strip("/ "), owner, by=user.name, now=desk.now())
    return RedirectResponse("/owners?said=recorded", 303)


@routes.page("POST", "/owners/mail", needs=Permission.EDIT_INCIDENT)
def mail(user: SignedIn, desk: DeskNow, owner: Text, to: Text) -> Response:
    """Keep the address of an owner, and send the digest to it."""
    server, now = _mail(desk.config), desk.now()
    rows = [one for one in owner_rows(desk.store, now) if one.name.casefold() == owner.casefold() and owner]
    row = replace(rows[0], address=to) if rows else OwnerRow(owner, 0, (), 0, {}, 0, to, None)
    if row.open and is_same_domain(to, server.sender):
        desk.store.desk.record_owner("address", owner, to, by=user.name, now=now)
    send_digest(desk.store, server, row, mine_url(desk), by=user.name, now=now)
    return RedirectResponse("/owners?said=mailed", 303)


def mine_url(desk: Desk) -> str:
    """Return the address of the owners' own page."""
    return f"{desk.settings.own_url}/mine"


@routes.page("GET", "/mine", needs=Permission.OWN_FILES)
def mine(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show an owner the confirmed files of their own, and nobody else's."""
    found: dict[str, list[Task]] = {}
    for one in _of(desk, user.name):
        found.setdefault(folder_of(one), []).append(one)
    return desk.pages.render(
        request,
        "mine.html",
        groups=sorted(found.items()),
        answers=desk.store.desk.answers(),
        notice=notice(request.query_params.get("said", "")),
    )


@routes.page("POST", "/mine", needs=Permission.OWN_FILES)
def answer(
    user: SignedIn,
    desk: DeskNow,
    word: Annotated[str, Form(alias="answer", max_length=20)],
    reason: Text = "",
    file: Chosen = None,
) -> Response:
    """Record one answer about the chosen files of the owner; those of others are refused."""
    own = {one.file_id for one in _of(desk, user.name)}
    if not file or not set(file) <= own:
        return RedirectResponse("/mine?said=none", 303)
    desk.store.desk.annotate("answer", file, field=word, text=reason, by=user.name, now=desk.now())
    return RedirectResponse("/mine?said=answered", 303)


def _of(desk: Desk, owner: str) -> list[Task]:
    """Return the tasks of the files of an owner, as assigned or by the name that the share has."""
    tasks = desk.store.desk.tasks(now=desk.now())
    return [one for one in tasks if one.owner and one.owner.casefold() == owner.casefold()]
