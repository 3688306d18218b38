"""The review list: its page, its first item, saved views, assignments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Form
from starlette.responses import RedirectResponse, Response

from phiscan.language import SOURCE, count, current, decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.metrics.remaining import remaining
from phiscan.model import Verdict
from phiscan.review.accounts.users import SavedView
from phiscan.review.decisions.verdicts import Act
from phiscan.review.worklist.model import REASONS, FileRecord, WorkCounts, WorkFilter, WorkOrder, WorkState
from phiscan.web.access import Permission, Routes, may
from phiscan.web.pages import Notice, notice
from phiscan.web.plain_words import file_name, kinds_of
from phiscan.web.request_context import Context, Ctx
from phiscan.web.work_query import ListQuery, read_string

N_KINDS = 8  # kinds of identifiers listed in a row; the others are counted

STATES: Mapping[WorkState, str] = {
    WorkState.UNDECIDED: lazy_gettext("Undecided"),
    WorkState.PHI: lazy_gettext("PHI"),
    WorkState.NOT_PHI: lazy_gettext("Not PHI"),
    WorkState.UNSURE: lazy_gettext("Unsure"),
    WorkState.SKIPPED: lazy_gettext("Skipped by you"),
    WorkState.DISAGREED: lazy_gettext("Disagreed"),
    WorkState.ANY: lazy_gettext("All"),
}
ORDERS: Mapping[WorkOrder, str] = {
    WorkOrder.RISK: lazy_gettext("greatest risk first"),
    WorkOrder.INFORMATIVE: lazy_gettext("most doubtful first"),
    WorkOrder.OLDEST: lazy_gettext("oldest first"),
}
EXPOSURES: Mapping[str, str] = {
    "everyone": lazy_gettext("everyone"),
    "group": lazy_gettext("a group"),
    "owner": lazy_gettext("the owner"),
}
_VERDICTS = {state.value for state in (WorkState.PHI, WorkState.NOT_PHI, WorkState.UNSURE)}


def _title(query: ListQuery) -> str:
    state = query.filter.state
    if query.filter.suppressed:
        return _("Hidden by suppressions")
    if state is WorkState.UNDECIDED:
        return _("Queue")
    return _("All items") if state is WorkState.ANY else _("Items: {state}", state=STATES[state].lower())


View = dict[str, Any]  # name, url, whether it is the current one, n: number of items, id: of a saved view


def _views(query: ListQuery, counts: WorkCounts, viewer: str) -> Iterator[View]:
    """Return the preset views, with the number of items of each."""
    ours: list[tuple[str, WorkFilter, int]] = [
        (label, WorkFilter(state=state), counts.by_state.get(state, 0))
        for state, label in STATES.items()
        if state is not WorkState.ANY
    ]
    ours.insert(1, (_("Assigned to you"), WorkFilter(assignee=viewer), counts.mine))
    ours.append((_("Hidden"), WorkFilter(suppressed=True), counts.suppressed))
    for label, wanted, n in ours:
        is_current = _same(query.filter, wanted)
        if n or is_current or wanted == WorkFilter():
            url = ListQuery(wanted, query.order).url("/queue")
            yield {"name": label, "url": url, "current": is_current, "n": n}


def _same(given: WorkFilter, wanted: WorkFilter) -> bool:
    return replace(given, text=wanted.text) == wanted


def _row(item: FileRecord, query: ListQuery, top: float) -> dict[str, Any]:
    """Return one row of the list."""
    kinds = kinds_of(item.vector)
    return {
        "item": item,
        "url": query.url(f"/items/{item.file_id}"),
        "kinds": kinds[:N_KINDS],
        "n_more": max(0, len(kinds) - N_KINDS),
        "readers": EXPOSURES.get(item.exposure, item.exposure),
        "verdict": item.state.value if item.state.value in _VERDICTS else "",
        "risk": _risk_words(item.risk),
        # Of 100; logarithmic: the highest risk of a share is often a hundred times the next.
        "risk_width": round(100 * math.log1p(max(0.0, item.risk)) / math.log1p(top), 1) if top > 0 else 0.0,
    }


def _risk_words(risk: float) -> str:
    if risk < 100:  # noqa: PLR2004
        return decimal(f"{risk:.1f}")
    return f"{risk:,.0f}" if current() == SOURCE else count(round(risk))


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict in words."""
    return {Verdict.PHI: _("PHI"), Verdict.NOT_PHI: _("not PHI"), Verdict.UNSURE: _("unsure")}[verdict]


N_ROWS = 50
routes = Routes()

Line = Annotated[str, Form(max_length=200)]
Note = Annotated[str, Form(max_length=10_000)]
Tick = Annotated[str, Form(max_length=1)]
Chosen = Annotated[list[int] | None, Form(alias="file")]


def sent_from(listed: Annotated[str, Form(alias="list", max_length=8_000)] = "") -> ListQuery:
    """Return the list that a form was sent from."""
    return read_string(listed)


Listed = Annotated[ListQuery, Depends(sent_from)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict as a form submits it; ``token``: random text, so that a repeated form is recorded once."""

    verdict: Annotated[Verdict, Form()]
    token: Annotated[str, Form(max_length=100)]
    reason: Line = ""
    note: Note = ""

    @property
    def is_consistent(self) -> bool:
        """Whether the reason belongs to the verdict; an empty one always does."""
        return is_reason_of(self.reason, self.verdict)

    @property
    def why(self) -> dict[str, Any]:
        """What is recorded with the verdict."""
        return {"token": self.token, "reason": self.reason, "note": self.note}


Judged = Annotated[Judgement, Depends()]


def is_reason_of(reason: str, verdict: Verdict) -> bool:
    """Return whether a reason belongs to a verdict; an empty reason always does."""
    return not reason or reason in {name for name, _ in REASONS[verdict]}


@routes.page("GET", "/queue", needs=Permission.SEE_QUEUE)
def queue(ctx: Ctx) -> Response:
    """Show a page of the list, its filters, and the remaining counts."""
    query, work = ctx.query, ctx.work
    page = work.items(query.filter, order=query.order, limit=N_ROWS, cursor=query.cursor, **ctx.viewing)
    choices, counts = work.choices(), work.counts(**ctx.viewing)
    top = max((one.risk for one in page.items), default=0.0)
    return ctx.page(
        "queue.html",
        title=_title(query),
        query=query,
        f=query.filter,
        rows=[_row(one, query, top) for one in page.items],
        start_url=query.url("/queue/next") if page.items else "",
        before_url=query.url("/queue", at=page.before) if page.before else "",
        after_url=query.url("/queue", at=page.after) if page.after else "",
        views=list(_views(query, counts, ctx.name)),
        saved=[_saved(one, query) for one in ctx.users.views(ctx.user.id)],
        progress=work.progress(since=midnight(ctx.now)),
        parts=[(state, counts.by_state.get(WorkState(state), 0)) for state in ("phi", "not_phi", "unsure")],
        left=remaining(work.left()),
        choices=choices,
        people=people_with(ctx) if ctx.may(Permission.ASSIGN) else (),
        states=[(state.value, label) for state, label in STATES.items()],
        orders=[(order.value, label) for order, label in ORDERS.items()],
        order_words=ORDERS[query.order],
        tags=work.known_tags(),
        notice=action_notice(ctx, ctx.notice_name),
    )


def _saved(view: SavedView, query: ListQuery) -> View:
    kept = read_string(view.query)
    is_current = kept.to_string() == query.to_string()
    return {"name": view.name, "url": kept.url("/queue"), "current": is_current, "id": view.id}


@routes.page("GET", "/queue/next", needs=Permission.SEE_QUEUE)
def begin(ctx: Ctx) -> Response:
    """Redirect to the first item of a list."""
    return RedirectResponse(first_url(ctx, ctx.query), 303)


@routes.page("POST", "/queue/assign", needs=Permission.ASSIGN)
def assign(ctx: Ctx, listed: Listed, assignee: Line = "", file: Chosen = None) -> Response:
    """Assign the chosen items to a reviewer; an empty name removes the assignment."""
    if not file:
        return RedirectResponse(listed.url("/queue", said="none"), 303)
    by = ctx.by
    ctx.desk.store.assign_all(file, assignee, **by)
    return RedirectResponse(listed.url("/queue", said="assigned", act=by["now"].isoformat()), 303)


@routes.page("POST", "/queue/views", needs=Permission.DECIDE)
def save_view(ctx: Ctx, listed: Listed, name: Line) -> Response:
    """Save a filter under a name."""
    ctx.users.save_view(ctx.user.id, name=name, query=listed.to_string(), now=ctx.now)
    return RedirectResponse(listed.url("/queue", said="kept"), 303)


@routes.page("POST", "/queue/views/{view_id}/remove", needs=Permission.DECIDE)
def forget_view(view_id: int, ctx: Ctx) -> Response:
    """Delete one of the user's saved views."""
    ctx.users.remove_view(ctx.user.id, view_id)
    return RedirectResponse("/queue?said=forgotten", 303)


@routes.page("GET", "/search", needs=Permission.SEE_QUEUE)
def search(ctx: Ctx, text: str = "") -> Response:
    """Find items of any state by their path or number."""
    text = text.strip()
    query = ListQuery(WorkFilter(state=WorkState.ANY, text=text))
    if not text:
        return ctx.page("search.html", text="")
    if is_number(text):
        return RedirectResponse(query.url(f"/items/{int(text)}"), 303)
    return RedirectResponse(query.url("/queue"), 303)


@routes.page("GET", "/keys", needs=Permission.SEE_QUEUE)
def keys(ctx: Ctx) -> Response:
    """List the keys."""
    return ctx.page("keys.html")


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
    return _("{verdict} for {name}", verdict=verdict, name=file_name(act.path))


def action_notice(ctx: Context, notice_name: str) -> Notice | None:
    """Return the notice of a name in the address; after an action, with it and its reversal."""
    if notice_name == "undone" and (act := ctx.work.last_undone(by=ctx.name)):
        return Notice("good", _("Undone: {act}.", act=action_words(act)), redoes=True)
    if notice_name == "redone" and (act := ctx.work.last_act(by=ctx.name)):
        return Notice("good", _("Recorded again: {act}.", act=action_words(act)), undoes=True)
    left, at = ctx.request.query_params.get("left", ""), ctx.request.query_params.get("act", "")
    if notice_name == "decided" and (act := ctx.work.last_act(by=ctx.name)):
        words = _("Recorded: {act}.", act=action_words(act))
        n_left = int(left) if is_number(left) else 0
        words += ngettext(
            " {n} file is left out: it is blind, decided or hidden.",
            " {n} files are left out: they are blind, decided or hidden.",
            n_left,
        ) * bool(n_left)
        return Notice("good", words, undoes=True)
    found = notice(notice_name)
    return replace(found, act=at) if found and at and notice_name in {"assigned", "tagged"} else found


def is_number(text: str) -> bool:
    """Return whether a string of an address is an integer that fits the database's column."""
    return text.isascii() and text.isdecimal() and len(text) < 19  # noqa: PLR2004 (digits of 2**63)


def first_url(ctx: Context, query: ListQuery, **parameters: str) -> str:
    """Return the address of the first item of a list; of the list itself if it is empty."""
    page = ctx.work.items(query.filter, order=query.order, limit=1, cursor=query.cursor, **ctx.viewing)
    return query.url(f"/items/{page.items[0].file_id}" if page.items else "/queue", **parameters)


def people_with(ctx: Context, permission: Permission = Permission.DECIDE) -> tuple[str, ...]:
    """Return the names of the users who have a permission."""
    return tuple(
        person.name for person in ctx.users.everybody() if person.disabled is None and may(person, permission)
    )


def midnight(now: datetime) -> datetime:
    """Return the start of the day (UTC)."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
