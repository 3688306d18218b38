"""Folders of the review list: their tree map and table, assigning and deciding the files of one."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Form, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import count, ngettext
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.accounts.users import User
from phiscan.review.decisions.group_verdicts import MAX_AT_ONCE
from phiscan.review.worklist.model import REASONS, WorkFilter
from phiscan.web.access import Permission, Routes, may
from phiscan.web.notices import notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.item import is_reason_of
from phiscan.web.routes.queue import reviewers
from phiscan.web.session import SignedIn
from phiscan.web.views.folders import SIZES, folder_url, folder_view
from phiscan.web.views.group_samples import drawn_samples
from phiscan.web.views.queue import place_words, verdict_words
from phiscan.web.work_query import ListQuery, read_query

N_ITEMS = 8  # undecided files of highest risk that the page lists
MAX_ASSIGNED = 5_000  # files that one form assigns

routes = Routes()

Root = Annotated[str, Form(max_length=20)]
Folder = Annotated[str, Form(max_length=1000)]


@routes.page("GET", "/folders", needs=Permission.SEE_QUEUE)
def folders(request: Request, user: SignedIn, desk: DeskNow, size: str = "people") -> Response:
    """Show a folder as a tree map and a table: files, people, verdicts, who can read them."""
    if size not in SIZES:
        message = _("size: expected one of {names}", names=", ".join(SIZES))
        raise InputError(message)
    work, now = desk.store.desk, desk.now()
    roots = {number: path for number, path, _n in work.choices().roots}
    requested = read_query(request.query_params).filter
    root_id = requested.root_id if requested.root_id is not None or len(roots) != 1 else next(iter(roots))
    wanted = WorkFilter(root_id=root_id, folder=requested.folder)
    level = work.folder(root_id, requested.folder if root_id is not None else "", viewer=user.name, now=now)
    view = folder_view(
        level,
        root_id=root_id,
        folder=requested.folder,
        roots=roots,
        size=size,
        items=work.items(wanted, viewer=user.name, now=now, limit=N_ITEMS).items,
    )
    return desk.pages.render(
        request,
        "folders.html",
        v=view,
        notice=notice(request.query_params.get("said", "")),
        people=reviewers(desk) if may(user, Permission.ASSIGN) else (),
        most=MAX_AT_ONCE,
    )


@routes.page("POST", "/folders/assign", needs=Permission.ASSIGN)
def assign(
    user: SignedIn,
    desk: DeskNow,
    root: Root = "",
    folder: Folder = "",
    assignee: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Assign the undecided files of a folder to a reviewer, or remove their assignment."""
    query = _folder_query(root, folder)
    files = desk.store.desk.numbers(query.filter, viewer=user.name, now=desk.now(), limit=MAX_ASSIGNED + 1)
    if len(files) > MAX_ASSIGNED:
        message = _(
            "folder: more than {most} open files; choose one of its folders", most=count(MAX_ASSIGNED)
        )
        raise InputError(message)
    back = folder_url(query.filter.root_id, query.filter.folder)
    joint = "&" if "?" in back else "?"
    if not files:
        return RedirectResponse(f"{back}{joint}said=none", 303)
    desk.store.assign_all(files, assignee, by=user.name, now=desk.now())
    return RedirectResponse(f"{back}{joint}said=assigned", 303)


@routes.page("GET", "/folders/decide", needs=Permission.DECIDE)
def choose(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """List the undecided files of a folder, three with masked text, for one verdict with exceptions."""
    return _choice(request, user, desk, ListQuery(read_query(request.query_params).filter))


@routes.page("POST", "/folders/decide", needs=Permission.DECIDE)
def decide(
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    token: Annotated[str, Form(max_length=100)],
    root: Root = "",
    folder: Folder = "",
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    file: Annotated[list[int] | None, Form()] = None,
) -> Response:
    """Record one verdict for the chosen files of a folder; files of other folders are ignored."""
    query = _folder_query(root, folder)
    if not is_reason_of(reason, verdict):
        return _choice(request, user, desk, query, unsent="reason", note=note)
    work = desk.store.desk
    here = set(work.numbers(query.filter, viewer=user.name, now=desk.now(), limit=MAX_AT_ONCE + 1))
    chosen = sorted(here.intersection(file or ()))
    if not chosen:
        return _choice(request, user, desk, query, unsent="none", note=note)
    outcome = work.decide_chosen(
        chosen, verdict, reviewer=user.name, now=desk.now(), token=token, reason=reason, note=note
    )
    n = len(outcome.decided)
    done = ngettext(
        "{n} file is recorded as {verdict}.",
        "{n} files are recorded as {verdict}.",
        n,
        verdict=verdict_words(verdict),
    )
    return _choice(request, user, desk, query, done=done)


def _folder_query(root: str, folder: str) -> ListQuery:
    return read_query({"root": root, "folder": folder})


def _choice(
    request: Request,
    user: User,
    desk: Desk,
    query: ListQuery,
    *,
    done: str = "",
    unsent: str = "",
    note: str = "",
) -> Response:
    """Return the page for choosing and deciding the files of a folder.

    Blind items are excluded: each must be judged individually.
    """
    work, now = desk.store.desk, desk.now()
    wanted = WorkFilter(root_id=query.filter.root_id, folder=query.filter.folder)
    if not wanted.folder or wanted.root_id is None:
        message = _("folder: expected a folder of one share; a whole share is not decided at once")
        raise InputError(message)
    page = work.items(wanted, viewer=user.name, now=now, limit=MAX_AT_ONCE)
    items = [item for item in page.items if not item.blind]
    roots = {number: path for number, path, _n in work.choices().roots}
    seed = f"{wanted.root_id}:{wanted.folder}:{len(items)}"
    samples = () if done else drawn_samples(desk, seed, [(one.file_id, one.path) for one in items], user.name)
    return desk.pages.render(
        request,
        "folder_decide.html",
        status_code=409 if unsent else 200,
        items=[
            (item, place_words("", item.path.rpartition("/")[0]), item.path.rpartition("/")[2])
            for item in items
        ],
        more=bool(page.after),
        most=MAX_AT_ONCE,
        n_blind=len(page.items) - len(items),
        samples=samples,
        title=place_words(roots.get(wanted.root_id, ""), wanted.folder),
        back=folder_url(wanted.root_id, wanted.folder),
        query=ListQuery(wanted),
        done=done,
        notice=notice(unsent) if unsent else None,
        token=secrets.token_urlsafe(16),
        reasons=tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        note=note,
    )
