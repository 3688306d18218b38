"""The REST API: queue, items, verdicts, corrections, suppressions, users, audit log; the pages' permissions.

No route reveals text: a reveal requires a user in a browser, for one item at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from phiscan.errors import InputError
from phiscan.model import EntityType, Span, Verdict
from phiscan.monitoring.metrics import CONTENT_TYPE, metrics_text
from phiscan.review.accounts.users import Role, User
from phiscan.review.decisions import suppressions as hiding
from phiscan.review.decisions.history import LogPage, LogReview
from phiscan.review.decisions.learning import ItemCorrections, Mark
from phiscan.review.decisions.verdicts import Disagreement
from phiscan.review.worklist import model as work_list
from phiscan.review.worklist.model import MAX_NOTE_CHARS, FileRecord, WorkPage, WorkState
from phiscan.web.access import RIGHTS, Permission, Routes
from phiscan.web.request_context import MAX_NUMBER, Context, Ctx, RowNumber
from phiscan.web.routes.accounts import not_oneself
from phiscan.web.work_query import FIELDS, ListQuery

NoneIfEmpty = Annotated[str | None, BeforeValidator(lambda text: text or None)]
routes = Routes()


class Body(BaseModel):
    """A request body: an unknown field is an error, because a misspelt one would silently not apply."""

    model_config = ConfigDict(extra="forbid")


class Item(BaseModel):
    """One row of the queue; results of the machine are null or empty for a blind item."""

    file: int
    root: str
    path: str
    media_type: str
    size: int
    owner: str
    exposure: str
    risk: float | None = Field(description="null for a blind item: its place in the list was drawn")
    blind: bool
    pii: list[str]
    people: int | None
    people_interval: tuple[int, int] | None = Field(
        description="95 % interval of people; null where everything was counted"
    )
    findings: int | None
    health: float | None
    case: str | None
    state: WorkState
    reviewer: str | None
    decided: datetime | None
    assignee: str | None
    tags: list[str]
    new: bool
    group: int | None
    suppressed: bool
    seen: int = Field(description="to be sent back with a verdict: what the reviewer saw")


class Items(BaseModel):
    """A page of the queue; ``after``: the value of ``at`` for the next page; null = this was the last."""

    n: int
    items: list[Item]
    after: str | None


class SpanMark(BaseModel):
    """The correction of one span; ``position`` null: a missed one."""

    position: int | None
    mark: Mark
    type: EntityType = Field(validation_alias="entity_type")
    start: int = Field(validation_alias=AliasPath("span", "start"))
    end: int = Field(validation_alias=AliasPath("span", "end"))
    reviewer: str
    corrected: datetime


class Detail(BaseModel):
    """One item with its evidence."""

    item: Item
    mode: int
    uid: int
    readers: list[str]
    content_hash: str
    hamming: int | None
    missing: list[str]
    nearest_prototype: str | None
    prototype_distance: int | None
    health_prototype: str | None
    detectors: dict[str, bool]
    detector_probability: dict[str, float] = Field(description="P(PHI) by each detector alone")
    found: list[dict[str, Any]] = Field(description="identifiers, as in `phiscan queue show --json`")
    terms: list[dict[str, Any]]
    unread: list[dict[str, Any]]
    corrections: list[SpanMark]
    spans_complete: bool


def item_json(record: FileRecord) -> dict[str, Any]:
    """Return a file of the list as an ``Item``."""
    values = work_list.record_json(record, Item.model_fields)
    return {**values, "owner": record.owner, "case": record.case or None}


def detail_json(record: FileRecord, marks: ItemCorrections) -> dict[str, Any]:
    """Return a file as a ``Detail``; a blind one without corrections, which would reveal its findings."""
    own = {"item", "found", "corrections", "spans_complete"}
    values = work_list.record_json(record, Detail.model_fields.keys() - own)
    prototypes = ("nearest_prototype", "health_prototype")
    return {
        **values,
        **{name: values[name] or None for name in prototypes},
        "item": item_json(record),
        "found": [{"position": at, **work_list.finding_json(one)} for at, one in enumerate(record.findings)],
        "corrections": () if record.blind else marks.spans,
        "spans_complete": marks.complete and not record.blind,
    }


class Settlement(Body):
    """A lead's verdict on a disagreement."""

    verdict: Verdict
    reason: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)


class NewVerdict(Settlement):
    """A verdict; ``token``: random text, so that a repeated request is recorded once."""

    seen: int = Field(ge=1, le=MAX_NUMBER)
    token: str = Field(default="", max_length=100)
    override: bool = False
    by_name: bool = Field(
        default=False, description="judge a blind file by its name, unopened: counts in no estimate"
    )


class RecordedVerdict(BaseModel):
    """A verdict as it was recorded; ``repeated``: the same token was used before."""

    file: int = Field(validation_alias="file_id")
    verdict: Verdict
    reviewer: str
    decided: datetime
    repeated: bool


class NewMark(Body):
    """The correction of one span: see ``Mark`` for the required fields of each."""

    mark: Mark
    seen: int = Field(ge=1, le=MAX_NUMBER)
    position: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    type: EntityType | None = None
    start: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    end: int | None = Field(default=None, ge=1, le=MAX_NUMBER)


class Assignment(Body):
    """The assignee; "" = removes the assignment."""

    files: list[int] = Field(min_length=1, max_length=1000)
    assignee: str = Field(max_length=200)


FILTERS = {
    "parameters": [
        {"name": name, "in": "query", "required": False, "schema": {"type": "string"}, "description": what}
        for name, what in FIELDS.items()
    ]
}
N_AT_ONCE = 500


@routes.api("GET", "/queue", Permission.SEE_QUEUE, Items, extra=FILTERS)
def queue(ctx: Ctx, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> object:
    """Return a page of the queue, highest risk first; filters as in the address of the page."""
    page = _part(ctx, ctx.query, ctx.query.cursor, limit)
    n_items = ctx.work.size(ctx.query.filter, **ctx.viewing)
    return {"n": n_items, "items": list(map(item_json, page.items)), "after": page.after or None}


@routes.api("GET", "/queue/export", Permission.EXPORT, extra=FILTERS)
def export(ctx: Ctx) -> Response:
    """Send every item of the filter as a JSON line; the export is recorded in the audit log."""
    query = ctx.query
    first = _part(ctx, query, query.cursor)  # an invalid filter is reported before the response begins
    ctx.users.log_export(what="queue", by=ctx.user, address=ctx.address, now=ctx.now)
    return StreamingResponse(
        _lines(ctx, query, first),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="queue.jsonl"'},
    )


@routes.api("GET", "/items/{file_id}", Permission.SEE_QUEUE, Detail)
def item(file_id: RowNumber, ctx: Ctx) -> object:
    """Return one item with its evidence, values masked."""
    return detail_json(ctx.detail(file_id), ctx.work.corrections(file_id, viewer=ctx.name))


@routes.api("POST", "/items/{file_id}/verdict", Permission.DECIDE, RecordedVerdict)
def decide(file_id: RowNumber, body: NewVerdict, ctx: Ctx) -> object:
    """Record a verdict; 409 if the content has changed, or another user has decided.

    400 for a blind item whose text the user has not revealed on its page, unless ``by_name`` is set.
    """
    ctx.item(file_id)  # raises unless the item is in the list
    return ctx.work.decide(file_id, **body.model_dump(), **ctx.reviewing)


@routes.api("DELETE", "/items/{file_id}/verdict", Permission.DECIDE, status_code=204)
def undo(file_id: RowNumber, ctx: Ctx) -> None:
    """Undo the user's own verdict; a lead may undo any."""
    ctx.work.undo(file_id, lead=ctx.may(Permission.ADJUDICATE), **ctx.by)


@routes.api("POST", "/items/{file_id}/spans", Permission.CORRECT, SpanMark, status_code=201)
def correct(file_id: RowNumber, body: NewMark, ctx: Ctx) -> object:
    """Record the correction of one span."""
    ends = [end for end in (body.start, body.end) if end is not None]
    if len(ends) == 1 or ends != sorted(set(ends)):
        message = "start, end: expected both, start below end, or none"
        raise InputError(message)
    span = Span(*ends) if ends else None
    given: Any = {"seen": body.seen, "position": body.position, "span": span, "entity_type": body.type}
    return ctx.work.correct(file_id, body.mark, **given, **ctx.reviewing)


@routes.api("POST", "/assignments", Permission.ASSIGN, status_code=204)
def assign(body: Assignment, ctx: Ctx) -> None:
    """Assign files to a reviewer, all or none."""
    if any(not 1 <= number <= MAX_NUMBER for number in body.files):
        message = "files: expected numbers of files"
        raise InputError(message)
    ctx.desk.store.assign_all(list(dict.fromkeys(body.files)), body.assignee, **ctx.by)


def _part(ctx: Context, query: ListQuery, cursor: str, limit: int = N_AT_ONCE) -> WorkPage:
    return ctx.work.items(query.filter, order=query.order, limit=limit, cursor=cursor, **ctx.viewing)


def _lines(ctx: Context, query: ListQuery, page: WorkPage) -> Iterator[str]:
    while True:
        for item in page.items:
            yield json.dumps(Item(**item_json(item)).model_dump(mode="json"), ensure_ascii=True) + "\n"
        if not page.after:
            return
        page = _part(ctx, query, page.after)


class Scope(Body):
    """The findings that a suppression hides, and the folders where it applies."""

    kind: hiding.SuppressionKind
    target: str = Field(max_length=600, description="a finding's identity or source, or a signature")
    root: int | None = Field(default=None, ge=1, le=MAX_NUMBER)
    folder: str = Field(default="", max_length=1000)


class NewSuppression(Scope):
    """A suppression to be created."""

    reason: str = Field(min_length=1, max_length=200)
    until: datetime


@routes.api("GET", "/suppressions", Permission.SEE_QUEUE)
def suppressions(ctx: Ctx) -> dict[str, tuple[hiding.Suppression, ...]]:
    """Return all suppressions with their status, the newest first."""
    return {"suppressions": ctx.work.suppressions(now=ctx.now)}


@routes.api("POST", "/suppressions/preview", Permission.PROPOSE_SUPPRESSION)
def preview(body: Scope, ctx: Ctx) -> hiding.SuppressionPreview:
    """Count the items that a suppression would hide, and return whether it needs a lead's approval."""
    return ctx.work.preview_suppression([_scope(body)], now=ctx.now)


@routes.api("POST", "/suppressions", Permission.PROPOSE_SUPPRESSION, status_code=201)
def suppress(body: NewSuppression, ctx: Ctx) -> hiding.Suppression:
    """Create a suppression; a broad one needs a lead's approval."""
    try:
        until = (body.until if body.until.tzinfo else body.until.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        message = "until: expected a time within the years 1 to 9999 (UTC)"
        raise InputError(message) from None
    (made,) = ctx.work.suppress([_scope(body)], reason=body.reason, until=until, **ctx.by)
    return made


@routes.api(
    "POST", "/suppressions/{suppression_id}/approval", Permission.APPROVE_SUPPRESSION, status_code=204
)
def approve(suppression_id: RowNumber, ctx: Ctx) -> None:
    """Approve another user's broad suppression."""
    ctx.work.approve_suppression(suppression_id, lead=ctx.name, now=ctx.now)


@routes.api("DELETE", "/suppressions/{suppression_id}", Permission.PROPOSE_SUPPRESSION, status_code=204)
def lift(suppression_id: RowNumber, ctx: Ctx) -> None:
    """Lift a suppression: the items that it hid return to the queue."""
    ctx.work.lift_suppression(suppression_id, by=ctx.name, now=ctx.now)


@routes.api("GET", "/disagreements", Permission.ADJUDICATE)
def disagreements(ctx: Ctx) -> dict[str, tuple[Disagreement, ...]]:
    """Return the disagreements between two other reviewers, the oldest first."""
    return {"disagreements": ctx.work.disagreements(lead=ctx.name)}


@routes.api("POST", "/disagreements/{second_review_id}/verdict", Permission.ADJUDICATE, RecordedVerdict)
def settle(second_review_id: RowNumber, body: Settlement, ctx: Ctx) -> object:
    """Settle a disagreement by the lead's verdict."""
    return ctx.work.adjudicate(second_review_id, **body.model_dump(), lead=ctx.name, now=ctx.now)


def _scope(body: Scope) -> hiding.SuppressionScope:
    return hiding.SuppressionScope(
        kind=body.kind, target=body.target, root_id=body.root, folder=body.folder.strip("/")
    )


class Me(BaseModel):
    """The authenticated user and the user's permissions."""

    name: str
    role: Role
    permissions: list[Permission]


class NewAccount(Body):
    """An account to be created."""

    name: str = Field(max_length=200)
    role: Role
    password: str = Field(max_length=1000)


class AccountChange(Body):
    """Changes of an account; an omitted field remains unchanged."""

    role: Role | None = None
    disabled: bool | None = None
    unlock: bool = False


class Verification(BaseModel):
    """Whether the log is intact; ``head``: the hash of its last entry."""

    ok: bool
    entries: int = Field(validation_alias="n_rows")
    first_bad: int | None
    problem: NoneIfEmpty
    head: str


class NewReview(Body):
    """The hash up to which the log was reviewed, from ``/log/verification``."""

    head: str = Field(pattern="^[0-9a-f]{64}$")
    note: str = Field(default="", max_length=2000)


@routes.api("GET", "/me", Permission.SIGNED_IN)
def me(ctx: Ctx) -> Me:
    """Return the authenticated user."""
    return Me(name=ctx.name, role=ctx.user.role, permissions=sorted(RIGHTS[ctx.user.role]))


@routes.api("GET", "/metrics", Permission.READ_REPORT, response_class=PlainTextResponse)
def metrics(ctx: Ctx) -> Response:
    """Return the counts of the latest scan and of the queue in Prometheus's text format; no path, no name."""
    return Response(metrics_text(ctx.desk.store), media_type=CONTENT_TYPE)


@routes.api("GET", "/users", Permission.MANAGE_USERS)
def users(ctx: Ctx) -> dict[str, list[User]]:
    """Return all accounts by name."""
    return {"users": ctx.users.everybody()}


@routes.api("POST", "/users", Permission.MANAGE_USERS, status_code=201)
def add_user(body: NewAccount, ctx: Ctx) -> User:
    """Create an account."""
    return ctx.users.add(**body.model_dump(), **ctx.by)


@routes.api("PATCH", "/users/{user_id}", Permission.MANAGE_USERS)
def change_user(user_id: RowNumber, body: AccountChange, ctx: Ctx) -> User:
    """Change role or state of another user's account."""
    not_oneself(ctx, user_id)
    people = ctx.users
    changed = people.get(user_id)
    if body.role is not None and body.role is not changed.role:
        changed = people.set_role(user_id, body.role, **ctx.by)
    if body.unlock:
        changed = people.unlock(user_id, **ctx.by)
    if body.disabled is not None and body.disabled != (changed.disabled is not None):
        changed = (people.disable if body.disabled else people.enable)(user_id, **ctx.by)
    return changed


@routes.api("GET", "/log", Permission.READ_LOG)
def log(
    ctx: Ctx,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> LogPage:
    """Return entries, newest first."""
    return ctx.users.log(before=before, action=action, actor=actor, limit=limit)


@routes.api("GET", "/log/verification", Permission.READ_LOG, Verification)
def verification(ctx: Ctx) -> object:
    """Verify the whole log, and every row that it refers to."""
    return ctx.desk.store.verify_audit()


@routes.api("POST", "/log/reviews", Permission.SIGN_LOG, status_code=201)
def sign(body: NewReview, ctx: Ctx) -> LogReview:
    """Record "I have reviewed this log"."""
    return ctx.users.sign_log(**body.model_dump(), reviewer=ctx.name, now=ctx.now)
