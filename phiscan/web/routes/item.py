"""One item: its page, the verdict on it, skip and undo, its assignment, the corrections of its spans."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.language import ngettext
from phiscan.model import EntityType, Span, Verdict
from phiscan.pipeline.rereading.vetoes import Veto
from phiscan.report.words import DETECTORS
from phiscan.review.accounts.users import Session, User
from phiscan.review.decisions.corrections import ItemCorrections, Mark
from phiscan.review.decisions.reveals import PURPOSES
from phiscan.review.decisions.verdicts import Act, UnopenedError
from phiscan.review.worklist.model import REASONS, FileRecord, WorkState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes, may
from phiscan.web.notices import Notice, notice
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import Listed, first_url, place_words, reviewers, verdict_words
from phiscan.web.routes.reveal import N_SECONDS, is_cached, is_quick, prose_view
from phiscan.web.session import SignedIn
from phiscan.web.views.item import item_view
from phiscan.web.views.plain_words import step
from phiscan.web.work_query import ListQuery, read_query, read_string


def vetoes_of(desk: Desk, file_id: int) -> dict[str, Any]:
    """Read a file again and return its first rejected candidates, or the problem if that is not possible."""
    try:
        found = desk.rereader.vetoes(desk.store.desk.examined(file_id))
    except InputError as error:  # it changed, is missing, or cannot be read now
        return {"problem": str(error)}
    return {"problem": "", "lines": [(one, _why(one)) for one in found.first], "n": found.n}


def _why(one: Veto) -> str:
    last = one.reasons[-1]
    against = last.kind == "veto" or (last.kind == "context" and last.detail.startswith("not "))
    return step(last) if against else _("not enough evidence")


routes = Routes()


@routes.page("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE)
def item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Show one item with its evidence; a blind item without it.

    ``vetoed`` reads the file again for the matches that the rules rejected; ``prose`` requests (1) or omits
    (0) the masked passages, which by default are included if the file can be read quickly. A file of the
    second list has a page that only shows.
    """
    if not desk.store.desk.is_listed(file_id):
        return second_list_page(file_id, request, desk)
    return item_page(file_id, request, user, desk, read_query(request.query_params))


@dataclass(frozen=True, slots=True)
class Unsent:
    """A verdict that was not recorded: the reason, and the reviewer's input, which must not be lost."""

    notice: str  # a key of ``notices.NOTICES``
    reason: str
    note: str


def item_page(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: Desk,
    query: ListQuery,
    unsent: Unsent | None = None,
) -> Response:
    """Return the page of one item; after a rejected form, with the submitted input filled in."""
    parameters = request.query_params
    now, work = desk.now(), desk.store.desk
    detail = work.detail(file_id, viewer=user.name, now=now)
    group = detail.group_id
    finding = parameters.get("finding", "")
    view = item_view(
        detail,
        query=query,
        corrections=work.corrections(file_id, viewer=user.name),
        history=work.history(file_id, viewer=user.name),
        group=work.group(group, viewer=user.name) if group is not None else (),
        token=secrets.token_urlsafe(16),
        position=int(finding) if is_number(finding) else None,
        all_places=parameters.get("places") == "all",
    )
    notice_name = unsent.notice if unsent else parameters.get("said", "")
    may_reveal = may(user, Permission.DECIDE)
    session: Session | None = request.state.session
    return desk.pages.render(
        request,
        "item.html",
        status_code=409 if unsent else 200,
        **view,
        file_id=file_id,
        notice=recorded_notice(request, desk, user) or action_notice(desk, user, notice_name),
        last_act=action_words(act) if may_reveal and (act := work.last_act(by=user.name)) else "",
        override=notice_name == "conflict",
        reason=unsent.reason if unsent else "",
        note=unsent.note if unsent else "",
        people=reviewers(desk) if may(user, Permission.ASSIGN) else (),
        prose=prose_view(desk, detail)
        if may_reveal and shows_prose(desk, detail, parameters.get("prose", ""))
        else None,
        place=work.place(file_id, query.filter, viewer=user.name, now=now, order=query.order),
        purpose=session.purpose if session else "",
        all_places=parameters.get("places") == "all",
        correcting=notice_name in {"corrected", "complete", "incomplete", "changed"},
        vetoed=vetoes_of(desk, file_id)
        if parameters.get("vetoed") and not detail.blind and may_reveal
        else None,
        may_reveal=may_reveal,
        purposes=PURPOSES,
        seconds=N_SECONDS,
    )


@routes.page("POST", "/items/{file_id}/decide", needs=Permission.DECIDE)
def decide(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    verdict: Annotated[Verdict, Form()],
    token: Annotated[str, Form(max_length=100)],
    seen: Annotated[int, Form()],
    reason: Annotated[str, Form(max_length=200)] = "",
    note: Annotated[str, Form(max_length=10_000)] = "",
    by_name: Annotated[str, Form(max_length=1)] = "",
    override: Annotated[str, Form(max_length=1)] = "",
    listed: Listed = "",
) -> Response:
    """Record a verdict and redirect to the next item of the list, as it was ordered before."""
    query = read_string(listed)
    if not is_reason_of(reason, verdict):
        return item_page(file_id, request, user, desk, query, Unsent("reason", "", note))
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())  # raises unless the item is in the list
    onward = following(desk, query, file_id, viewer=user.name)  # a blind item loses its drawn place
    try:
        desk.store.desk.decide(
            file_id,
            verdict,
            reviewer=user.name,
            now=desk.now(),
            token=token,
            seen=seen,
            override=bool(override),
            reason=reason,
            note=note,
            by_name=bool(by_name),
        )
    except UnopenedError:
        return item_page(file_id, request, user, desk, query, Unsent("unopened", reason, note))
    except ConflictError:
        return item_page(file_id, request, user, desk, query, Unsent("conflict", reason, note))
    return redirect_or_json(request, url_of(desk, query, onward, viewer=user.name, done=str(file_id)))


@routes.page("POST", "/items/{file_id}/skip", needs=Permission.DECIDE)
def skip(file_id: int, request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Skip an item for now and redirect to the next."""
    query = read_string(listed)
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())
    desk.store.desk.skip(file_id, reviewer=user.name, now=desk.now())
    return redirect_or_json(request, next_url(desk, query, file_id, viewer=user.name, said="skipped"))


@routes.page("GET", "/items/{file_id}/next", needs=Permission.SEE_QUEUE)
def next_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Redirect to the next item of the list."""
    return RedirectResponse(next_url(desk, read_query(request.query_params), file_id, viewer=user.name), 303)


@routes.page("GET", "/items/{file_id}/previous", needs=Permission.SEE_QUEUE)
def previous_item(file_id: int, request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Redirect to the previous item of the list; from the first, to the list."""
    query = read_query(request.query_params)
    before = desk.store.desk.adjacent(
        file_id, query.filter, viewer=user.name, now=desk.now(), order=query.order, backward=True
    )
    return RedirectResponse(query.url("/queue" if before is None else f"/items/{before}"), 303)


@routes.page("POST", "/items/{file_id}/undo", needs=Permission.DECIDE)
def undo(file_id: int, request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Undo the user's own verdict on an item, and show the item again."""
    query = read_string(listed)
    try:
        desk.store.desk.undo(file_id, by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url(f"/items/{file_id}", said="nothing_to_undo"))
    return redirect_or_json(request, query.url(f"/items/{file_id}", said="undone"))


@routes.page("POST", "/undo", needs=Permission.DECIDE)
def undo_last(request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Undo the user's most recent verdict on any item or group, and show that item or group."""
    query = read_string(listed)
    try:
        act = desk.store.desk.undo_last(by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url("/queue", said="nothing_to_undo"))
    return redirect_or_json(request, action_url(desk, act, query, user, notice_name="undone"))


@routes.page("POST", "/redo", needs=Permission.DECIDE)
def redo_last(request: Request, user: SignedIn, desk: DeskNow, listed: Listed = "") -> Response:
    """Record the verdicts again that the user has just undone, and show their item or group."""
    query = read_string(listed)
    try:
        act = desk.store.desk.redo_last(by=user.name, now=desk.now())
    except ConflictError:
        return redirect_or_json(request, query.url("/queue", said="nothing_to_redo"))
    return redirect_or_json(request, action_url(desk, act, query, user, notice_name="redone"))


@routes.page("POST", "/items/{file_id}/assign", needs=Permission.ASSIGN)
def assign(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    assignee: Annotated[str, Form(max_length=200)] = "",
    listed: Listed = "",
) -> Response:
    """Assign an item to a reviewer; an empty name removes the assignment."""
    desk.store.assign_all([file_id], assignee, by=user.name, now=desk.now())
    return RedirectResponse(read_string(listed).url(f"/items/{file_id}", said="assigned"), 303)


def action_url(desk: Desk, act: Act, query: ListQuery, user: User, *, notice_name: str) -> str:
    """Return the address of the item or group of a review action."""
    if len(act.file_ids) > 1:
        item = desk.store.desk.item(act.file_ids[0], viewer=user.name, now=desk.now())
        if item.group_id is not None:
            return f"/groups/{item.group_id}?said={notice_name}"
    return query.url(f"/items/{act.file_ids[0]}", said=notice_name)


def action_words(act: Act) -> str:
    """Return a review action in words.

    >>> from datetime import UTC, datetime
    >>> action_words(Act((1,), "a/letter.txt", Verdict.NOT_PHI, datetime.now(UTC)))
    'not PHI for letter.txt'
    """
    n = len(act.file_ids)
    verdict = verdict_words(act.verdict)
    if n > 1:
        return ngettext("{verdict} for {n} file", "{verdict} for {n} files", n, verdict=verdict)
    return _("{verdict} for {name}", verdict=verdict, name=visible(act.path.rpartition("/")[2]))


def action_notice(desk: Desk, user: User, notice_name: str) -> Notice | None:
    """Return the notice of a name in the address; after undo or redo, with the action and its reversal."""
    if notice_name == "undone" and (act := desk.store.desk.last_undone(by=user.name)):
        return Notice("good", _("Undone: {act}.", act=action_words(act)), redoes=True)
    if notice_name == "redone" and (act := desk.store.desk.last_act(by=user.name)):
        return Notice("good", _("Recorded again: {act}.", act=action_words(act)), undoes=True)
    return notice(notice_name)


def shows_prose(desk: Desk, detail: FileRecord, requested: str) -> bool:
    """Return whether the page includes the passages: never of a blind item, by default only of a quick file.

    Otherwise the page's script fetches them, or without a script a link does.
    """
    if detail.blind or requested == "0":
        return False
    return requested == "1" or is_cached(desk, detail) or (is_quick(detail) and desk.rereader.is_ready)


def is_number(text: str) -> bool:
    """Return whether a string of an address is an integer that fits the database's column."""
    return text.isascii() and text.isdecimal() and len(text) < 19  # noqa: PLR2004 (digits of 2**63)


def redirect_or_json(request: Request, url: str) -> Response:
    """Redirect a browser; the page's script gets the address as JSON, because it may have prefetched it."""
    if request.headers.get("accept") == "application/json":
        return JSONResponse({"url": url})
    return RedirectResponse(url, 303)


def is_reason_of(reason: str, verdict: Verdict) -> bool:
    """Return whether a reason belongs to a verdict; an empty reason always does."""
    return not reason or reason in {name for name, _ in REASONS[verdict]}


def next_url(desk: Desk, query: ListQuery, file_id: int, *, viewer: str, **parameters: str) -> str:
    """Return the address of the next item; after the last, of the first; of the list if it is empty."""
    onward = following(desk, query, file_id, viewer=viewer)
    return url_of(desk, query, onward, viewer=viewer, **parameters)


def following(desk: Desk, query: ListQuery, file_id: int, *, viewer: str) -> int | None:
    """Return the item after a file in a list; None = it is the last."""
    return desk.store.desk.adjacent(file_id, query.filter, viewer=viewer, now=desk.now(), order=query.order)


def url_of(desk: Desk, query: ListQuery, file_id: int | None, *, viewer: str, **parameters: str) -> str:
    """Return the address of an item of a list; of the first item without one."""
    if file_id is None:
        return first_url(desk, query, viewer=viewer, **parameters)
    return query.url(f"/items/{file_id}", **parameters)


def recorded_notice(request: Request, desk: Desk, user: SignedIn) -> Notice | None:
    """Return the notice of the verdict that was recorded on the previous page, with an undo button."""
    done = request.query_params.get("done", "")
    if not is_number(done):
        return None
    try:
        decided = desk.store.desk.item(int(done), viewer=user.name, now=desk.now())
    except InputError:
        return None
    name = visible(decided.path.rpartition("/")[2])
    if decided.state is WorkState.UNDECIDED:  # a blind verdict stays hidden until both are recorded
        return Notice("good", _("Recorded for {name}.", name=name), file_id=decided.file_id)
    verdict = Verdict(decided.state.value)
    offer = verdict is Verdict.NOT_PHI and not decided.blind and may(user, Permission.PROPOSE_SUPPRESSION)
    return Notice(
        "good",
        _("{name} is recorded as {verdict}.", name=name, verdict=verdict_words(verdict)),
        file_id=decided.file_id,
        suppress_url=f"/items/{decided.file_id}/suppress" if offer else "",
    )


N_ROWS = 200  # files on the page; `phiscan queue list --second-look` lists all


@routes.page("GET", "/second-list", needs=Permission.SEE_QUEUE)
def second_list(request: Request, desk: DeskNow) -> Response:
    """Show the first files of the second list, those with the highest probability first."""
    items = desk.store.queue(second_look=True, conceal=True, by_probability=True, limit=N_ROWS)
    return desk.pages.render(
        request, "second_list.html", rows=items, most=N_ROWS, place=place_words, known=DETECTORS
    )


def second_list_page(file_id: int, request: Request, desk: Desk) -> Response:
    """Return the read-only page of a file of the second list.

    Raises:
        HTTPException: 404; the file is in neither list, or there is no such file.
    """
    try:
        record = desk.store.item(file_id, conceal=True)
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if record.blind or not record.second_look:
        raise HTTPException(404, _("file {file_id}: not in the review list (any more)", file_id=file_id))
    view = item_view(
        record,
        query=ListQuery(),
        corrections=ItemCorrections((), complete=False, completed_by="", topics=None),
        history=(),
        group=(),
        token="",
        position=None,
        all_places=False,
    )
    return desk.pages.render(request, "second_list_item.html", **view, known=DETECTORS)


Seen = Annotated[int, Form()]  # the examination whose findings were shown
MAX_DIGITS = 12


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
