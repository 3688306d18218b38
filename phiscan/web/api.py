"""The REST API: queue, items, verdicts, corrections, suppressions, users, audit log; the pages' permissions.

No route reveals text: a reveal requires a user in a browser, for one item at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from fastapi import Query
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from phiscan.errors import InputError
from phiscan.model import EntityType, FailReason, Span, Verdict
from phiscan.monitoring.metrics import CONTENT_TYPE, metrics_text
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.learning import ItemCorrections, Mark
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.decisions.verdicts import Disagreement
from phiscan.review.worklist import model as work_list
from phiscan.review.worklist.model import MAX_NOTE_CHARS, FileRecord, WorkPage, WorkState
from phiscan.web.access import RIGHTS, Permission, Routes
from phiscan.web.request_context import (
    MAX_NUMBER,
    Context,
    Ctx,
    RowNumber,
)
from phiscan.web.routes.accounts import not_oneself
from phiscan.web.work_query import ListQuery

NoneIfEmpty = Annotated[str | None, BeforeValidator(lambda text: text or None)]
routes = Routes()


class Body(BaseModel):
    """A request body: an unknown field is an error, because a misspelt one would silently not apply."""

    model_config = ConfigDict(extra="forbid")


class Sent(BaseModel):
    """A response that is read from the record of the same fields; an alias names the record's field."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, record: Any) -> Self:
        """Convert a record."""
        return cls.model_validate(record)


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

    @classmethod
    def of(cls, item: FileRecord) -> Item:
        """Convert an item of the list."""
        values = work_list.record_json(item, cls.model_fields)
        return cls(**{**values, "owner": item.owner, "case": item.case or None})


class Items(BaseModel):
    """A page of the queue; ``after``: the value of ``at`` for the next page; null = this was the last."""

    n: int
    items: list[Item]
    after: str | None


class FoundReason(BaseModel):
    """One step of a finding's score."""

    kind: str
    detail: str
    score: float


class Found(BaseModel):
    """One identifier: location and reasons, never its value; ``shape``: letters as X and x, digits as 9."""

    position: int
    type: EntityType
    shape: str
    locator: str
    start: int
    end: int
    score: float
    source: str
    reasons: list[FoundReason]
    identity: str


class Term(BaseModel):
    """A health concept found."""

    concept: str
    count: int
    locator: str


class Unread(BaseModel):
    """A part that could not be read."""

    locator: str
    reason: FailReason
    detail: str


class SpanMark(Sent):
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
    found: list[Found]
    terms: list[Term]
    unread: list[Unread]
    corrections: list[SpanMark]
    spans_complete: bool

    @classmethod
    def of(cls, record: FileRecord, marks: ItemCorrections) -> Detail:
        """Convert an item; a blind item's corrections are omitted, because they would reveal its findings."""
        own = {"item", "found", "corrections", "spans_complete"}
        values = work_list.record_json(record, cls.model_fields.keys() - own)
        prototypes = ("nearest_prototype", "health_prototype")
        return cls(
            **{**values, **{name: values[name] or None for name in prototypes}},
            item=Item.of(record),
            found=[
                Found(position=at, **work_list.finding_json(one)) for at, one in enumerate(record.findings)
            ],
            corrections=[] if record.blind else [SpanMark.of(one) for one in marks.spans],
            spans_complete=marks.complete and not record.blind,
        )


class NewVerdict(Body):
    """A verdict; ``token``: random text, so that a repeated request is recorded once."""

    verdict: Verdict
    seen: int = Field(ge=1, le=MAX_NUMBER)
    token: str = Field(default="", max_length=100)
    reason: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)
    override: bool = False
    by_name: bool = Field(
        default=False, description="judge a blind file by its name, unopened: counts in no estimate"
    )


class RecordedVerdict(Sent):
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
        for name, what in {
            "state": "undecided (default), phi, not_phi, unsure, skipped, disagreed, any",
            "root": "number of the share",
            "folder": "below this folder",
            "type": "media type",
            "kind": "holds a finding of this type",
            "min": "health score from",
            "max": "health score to",
            "owner": "owner of the file",
            "assignee": "who shall decide; - = nobody",
            "new": "1 = new since the last scan",
            "group": "number of a near-duplicate group",
            "hidden": "1 = only what suppressions hide",
            "text": "anywhere in the path",
            "tag": "has this tag",
            "order": "risk (default), informative, oldest",
            "at": "which part: `after` of the part before",
        }.items()
    ]
}
N_AT_ONCE = 500


@routes.api("GET", "/queue", Permission.SEE_QUEUE, "List the queue", extra=FILTERS)
def queue(ctx: Ctx, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Items:
    """Return a page of the queue, highest risk first; filters as in the address of the page."""
    page = _part(ctx, ctx.query, ctx.query.cursor, limit)
    n_items = ctx.work.size(ctx.query.filter, **ctx.viewing)
    return Items(n=n_items, items=[Item.of(item) for item in page.items], after=page.after or None)


@routes.api("GET", "/queue/export", Permission.EXPORT, "Export the queue", extra=FILTERS)
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


@routes.api("GET", "/items/{file_id}", Permission.SEE_QUEUE, "One item")
def item(file_id: RowNumber, ctx: Ctx) -> Detail:
    """Return one item with its evidence, values masked."""
    return Detail.of(ctx.detail(file_id), ctx.work.corrections(file_id, viewer=ctx.name))


@routes.api("POST", "/items/{file_id}/verdict", Permission.DECIDE, "Decide")
def decide(file_id: RowNumber, body: NewVerdict, ctx: Ctx) -> RecordedVerdict:
    """Record a verdict; 409 if the content has changed, or another user has decided.

    400 for a blind item whose text the user has not revealed on its page, unless ``by_name`` is set.
    """
    ctx.item(file_id)  # raises unless the item is in the list
    return RecordedVerdict.of(ctx.work.decide(file_id, **body.model_dump(), **ctx.reviewing))


@routes.api("DELETE", "/items/{file_id}/verdict", Permission.DECIDE, "Undo a verdict", status_code=204)
def undo(file_id: RowNumber, ctx: Ctx) -> None:
    """Undo the user's own verdict; a lead may undo any."""
    ctx.work.undo(file_id, lead=ctx.may(Permission.ADJUDICATE), **ctx.by)


@routes.api("POST", "/items/{file_id}/spans", Permission.CORRECT, "Correct a span", status_code=201)
def correct(file_id: RowNumber, body: NewMark, ctx: Ctx) -> SpanMark:
    """Record the correction of one span."""
    if (body.start is None) != (body.end is None):
        message = "start, end: expected both or none"
        raise InputError(message)
    span = None if body.start is None or body.end is None else _span(body.start, body.end)
    given: Any = {"seen": body.seen, "position": body.position, "span": span, "entity_type": body.type}
    return SpanMark.of(ctx.work.correct(file_id, body.mark, **given, **ctx.reviewing))


@routes.api("POST", "/assignments", Permission.ASSIGN, "Assign items", status_code=204)
def assign(body: Assignment, ctx: Ctx) -> None:
    """Assign files to a reviewer, all or none."""
    if any(not 1 <= number <= MAX_NUMBER for number in body.files):
        message = "files: expected numbers of files"
        raise InputError(message)
    ctx.desk.store.assign_all(list(dict.fromkeys(body.files)), body.assignee, **ctx.by)


def _span(start: int, end: int) -> Span:
    if start >= end:
        message = "start, end: expected start below end"
        raise InputError(message)
    return Span(start, end)


def _part(ctx: Context, query: ListQuery, cursor: str, limit: int = N_AT_ONCE) -> WorkPage:
    return ctx.work.items(query.filter, order=query.order, limit=limit, cursor=cursor, **ctx.viewing)


def _lines(ctx: Context, query: ListQuery, page: WorkPage) -> Iterator[str]:
    while True:
        for item in page.items:
            yield json.dumps(Item.of(item).model_dump(mode="json"), ensure_ascii=True) + "\n"
        if not page.after:
            return
        page = _part(ctx, query, page.after)


class Scope(Body):
    """The findings that a suppression hides, and the folders where it applies."""

    kind: SuppressionKind
    target: str = Field(max_length=200, description="a finding's identity, or its source")
    root: int | None = Field(default=None, ge=1, le=MAX_NUMBER)
    folder: str = Field(default="", max_length=1000)


class NewSuppression(Scope):
    """A suppression to be created."""

    reason: str = Field(min_length=1, max_length=200)
    until: datetime


class Preview(Sent):
    """The items that a suppression would hide now."""

    hidden: int = Field(validation_alias="n_hidden")
    matched: int = Field(validation_alias="n_matched")
    needs_approval: bool
    why: NoneIfEmpty


class SuppressionState(Sent):
    """A suppression with its status."""

    id: int
    kind: SuppressionKind = Field(validation_alias=AliasPath("scope", "kind"))
    target: str = Field(validation_alias=AliasPath("scope", "target"))
    root: NoneIfEmpty
    folder: str = Field(validation_alias=AliasPath("scope", "folder"))
    hidden: int = Field(validation_alias="n_hidden")
    reason: str
    until: datetime
    made_by: str
    made: datetime
    approved_by: NoneIfEmpty
    lifted_by: NoneIfEmpty
    status: str


class Dispute(BaseModel):
    """Two verdicts that differ, for a lead to settle."""

    id: int
    file: int
    root: str
    path: str
    verdicts: list[dict[str, Any]]

    @classmethod
    def of(cls, one: Disagreement) -> Dispute:
        """Convert a disagreement."""
        first = {"verdict": one.first, "reviewer": one.first_reviewer, "reason": one.first_reason}
        second = {"verdict": one.second, "reviewer": one.second_reviewer, "reason": one.second_reason}
        return cls(id=one.id, file=one.file_id, root=one.root, path=one.path, verdicts=[first, second])


class Settlement(Body):
    """A lead's verdict on a disagreement."""

    verdict: Verdict
    reason: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)


class Suppressions(BaseModel):
    """All suppressions, newest first."""

    suppressions: list[SuppressionState]


class Disputes(BaseModel):
    """The disagreements that this lead may settle, oldest first."""

    disagreements: list[Dispute]


@routes.api("GET", "/suppressions", Permission.SEE_QUEUE, "List the suppressions")
def suppressions(ctx: Ctx) -> Suppressions:
    """Return all suppressions with their status."""
    found = ctx.work.suppressions(now=ctx.now)
    return Suppressions(suppressions=[SuppressionState.of(one) for one in found])


@routes.api("POST", "/suppressions/preview", Permission.PROPOSE_SUPPRESSION, "What it would hide")
def preview(body: Scope, ctx: Ctx) -> Preview:
    """Count the items that a suppression would hide, and return whether it needs a lead's approval."""
    return Preview.of(ctx.work.preview_suppression([_scope(body)], now=ctx.now))


@routes.api(
    "POST", "/suppressions", Permission.PROPOSE_SUPPRESSION, "Suppress a value or a rule", status_code=201
)
def suppress(body: NewSuppression, ctx: Ctx) -> SuppressionState:
    """Create a suppression; a broad one needs a lead's approval."""
    try:
        until = (body.until if body.until.tzinfo else body.until.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        message = "until: expected a time within the years 1 to 9999 (UTC)"
        raise InputError(message) from None
    (made,) = ctx.work.suppress([_scope(body)], reason=body.reason, until=until, **ctx.by)
    return SuppressionState.of(made)


@routes.api(
    "POST",
    "/suppressions/{suppression_id}/approval",
    Permission.APPROVE_SUPPRESSION,
    "Approve a broad suppression",
    status_code=204,
)
def approve(suppression_id: RowNumber, ctx: Ctx) -> None:
    """Approve another user's broad suppression."""
    ctx.work.approve_suppression(suppression_id, lead=ctx.name, now=ctx.now)


@routes.api(
    "DELETE",
    "/suppressions/{suppression_id}",
    Permission.PROPOSE_SUPPRESSION,
    "Lift a suppression",
    status_code=204,
)
def lift(suppression_id: RowNumber, ctx: Ctx) -> None:
    """Lift a suppression: the items that it hid return to the queue."""
    ctx.work.lift_suppression(suppression_id, by=ctx.name, now=ctx.now)


@routes.api("GET", "/disagreements", Permission.ADJUDICATE, "What is to be settled")
def disagreements(ctx: Ctx) -> Disputes:
    """Return the disagreements between two other reviewers."""
    found = ctx.work.disagreements(lead=ctx.name)
    return Disputes(disagreements=[Dispute.of(one) for one in found])


@routes.api("POST", "/disagreements/{second_review_id}/verdict", Permission.ADJUDICATE, "Settle one")
def settle(second_review_id: RowNumber, body: Settlement, ctx: Ctx) -> RecordedVerdict:
    """Settle a disagreement by the lead's verdict."""
    made = ctx.work.adjudicate(second_review_id, **body.model_dump(), lead=ctx.name, now=ctx.now)
    return RecordedVerdict.of(made)


def _scope(body: Scope) -> SuppressionScope:
    return SuppressionScope(
        kind=body.kind, target=body.target, root_id=body.root, folder=body.folder.strip("/")
    )


class Me(BaseModel):
    """The authenticated user and the user's permissions."""

    name: str
    role: Role
    permissions: list[Permission]


class Account(Sent):
    """An account."""

    id: int
    name: str
    role: Role
    created: datetime
    disabled: datetime | None
    locked: datetime | None
    has_password: bool


class Accounts(BaseModel):
    """All accounts."""

    users: list[Account]


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


class Entry(Sent):
    """An entry of the audit log."""

    id: int
    at: datetime
    actor: str
    action: str
    subject_id: int
    details: dict[str, Any]
    hash: str


class Log(Sent):
    """Entries, newest first; ``older``: the value of ``before`` for the next page; 0 = there is none."""

    entries: list[Entry]
    older: int


class Verification(Sent):
    """Whether the log is intact; ``head``: the hash of its last entry."""

    ok: bool
    entries: int = Field(validation_alias="n_rows")
    first_bad: int | None
    problem: NoneIfEmpty
    head: str


class Review(Sent):
    """A review of the log up to an entry."""

    reviewer: str
    entries: int = Field(validation_alias="n_entries")
    head: str
    note: str
    at: datetime


class NewReview(Body):
    """The hash up to which the log was reviewed, from ``/log/verification``."""

    head: str = Field(pattern="^[0-9a-f]{64}$")
    note: str = Field(default="", max_length=2000)


@routes.api("GET", "/me", Permission.SIGNED_IN, "Who asks")
def me(ctx: Ctx) -> Me:
    """Return the authenticated user."""
    return Me(name=ctx.name, role=ctx.user.role, permissions=sorted(RIGHTS[ctx.user.role]))


@routes.api(
    "GET", "/metrics", Permission.READ_REPORT, "Counts for Prometheus", response_class=PlainTextResponse
)
def metrics(ctx: Ctx) -> Response:
    """Return the counts of the latest scan and of the queue in Prometheus's text format; no path, no name."""
    return Response(metrics_text(ctx.desk.store), media_type=CONTENT_TYPE)


@routes.api("GET", "/users", Permission.MANAGE_USERS, "List the accounts")
def users(ctx: Ctx) -> Accounts:
    """Return all accounts by name."""
    return Accounts(users=[Account.of(user) for user in ctx.users.everybody()])


@routes.api("POST", "/users", Permission.MANAGE_USERS, "Make an account", status_code=201)
def add_user(body: NewAccount, ctx: Ctx) -> Account:
    """Create an account."""
    return Account.of(ctx.users.add(**body.model_dump(), **ctx.by))


@routes.api("PATCH", "/users/{user_id}", Permission.MANAGE_USERS, "Change an account")
def change_user(user_id: RowNumber, body: AccountChange, ctx: Ctx) -> Account:
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
    return Account.of(changed)


@routes.api("GET", "/log", Permission.READ_LOG, "Read the audit log")
def log(
    ctx: Ctx,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Log:
    """Return entries, newest first."""
    return Log.of(ctx.users.log(before=before, action=action, actor=actor, limit=limit))


@routes.api("GET", "/log/verification", Permission.READ_LOG, "Verify the audit log")
def verification(ctx: Ctx) -> Verification:
    """Verify the whole log, and every row that it refers to."""
    return Verification.of(ctx.desk.store.verify_audit())


@routes.api("POST", "/log/reviews", Permission.SIGN_LOG, "Sign the log", status_code=201)
def sign(body: NewReview, ctx: Ctx) -> Review:
    """Record "I have reviewed this log"."""
    return Review.of(ctx.users.sign_log(**body.model_dump(), reviewer=ctx.name, now=ctx.now))
