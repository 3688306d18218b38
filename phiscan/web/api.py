"""The REST API: queue, items, verdicts, corrections, suppressions, users, audit log; the pages' permissions.

No route reveals text: a reveal requires a user in a browser, for one item at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from fastapi import Query, Request
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from phiscan.errors import InputError
from phiscan.model import EntityType, FailReason, Span, Verdict
from phiscan.monitoring.metrics import CONTENT_TYPE, metrics_text
from phiscan.review.accounts.users import Role, User
from phiscan.review.decisions.learning import ItemCorrections, Mark
from phiscan.review.decisions.suppressions import SuppressionKind, SuppressionScope
from phiscan.review.decisions.verdicts import Disagreement
from phiscan.review.worklist import model as work_list
from phiscan.review.worklist.model import MAX_NOTE_CHARS, FileRecord, WorkPage, WorkState
from phiscan.web.access import RIGHTS, Permission, Routes, may
from phiscan.web.request_context import MAX_NUMBER, Desk, DeskNow, RowNumber
from phiscan.web.routes.accounts import not_oneself
from phiscan.web.session import SignedIn, address_of
from phiscan.web.work_query import ListQuery, read_query

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
            "order": "risk (default), informative, oldest",
            "at": "which part: `after` of the part before",
        }.items()
    ]
}
N_AT_ONCE = 500


@routes.api("GET", "/queue", needs=Permission.SEE_QUEUE, summary="List the queue", extra=FILTERS)
def queue(
    request: Request, user: SignedIn, desk: DeskNow, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> Items:
    """Return a page of the queue, highest risk first; filters as in the address of the page."""
    query, now = read_query(request.query_params), desk.now()
    page = desk.store.desk.items(
        query.filter, viewer=user.name, now=now, order=query.order, limit=limit, cursor=query.cursor
    )
    n_items = desk.store.desk.size(query.filter, viewer=user.name, now=now)
    return Items(n=n_items, items=[Item.of(item) for item in page.items], after=page.after or None)


@routes.api("GET", "/queue/export", needs=Permission.EXPORT, summary="Export the queue", extra=FILTERS)
def export(request: Request, user: SignedIn, desk: DeskNow) -> Response:
    """Send every item of the filter as a JSON line; the export is recorded in the audit log."""
    query = read_query(request.query_params)
    first = _part(desk, query, user, query.cursor)  # an invalid filter is reported before the response begins
    desk.store.users.log_export(what="queue", by=user, address=address_of(request), now=desk.now())
    return StreamingResponse(
        _lines(desk, query, user, first),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="queue.jsonl"'},
    )


@routes.api("GET", "/items/{file_id}", needs=Permission.SEE_QUEUE, summary="One item")
def item(file_id: RowNumber, user: SignedIn, desk: DeskNow) -> Detail:
    """Return one item with its evidence, values masked."""
    work = desk.store.desk
    detail = work.detail(file_id, viewer=user.name, now=desk.now())
    return Detail.of(detail, work.corrections(file_id, viewer=user.name))


@routes.api("POST", "/items/{file_id}/verdict", needs=Permission.DECIDE, summary="Decide")
def decide(file_id: RowNumber, body: NewVerdict, user: SignedIn, desk: DeskNow) -> RecordedVerdict:
    """Record a verdict; 409 if the content has changed, or another user has decided.

    400 for a blind item whose text the user has not revealed on its page, unless ``by_name`` is set.
    """
    desk.store.desk.item(file_id, viewer=user.name, now=desk.now())  # raises unless the item is in the list
    made = desk.store.desk.decide(
        file_id,
        body.verdict,
        reviewer=user.name,
        now=desk.now(),
        token=body.token,
        seen=body.seen,
        override=body.override,
        reason=body.reason,
        note=body.note,
        by_name=body.by_name,
    )
    return RecordedVerdict.of(made)


@routes.api(
    "DELETE", "/items/{file_id}/verdict", needs=Permission.DECIDE, status_code=204, summary="Undo a verdict"
)
def undo(file_id: RowNumber, user: SignedIn, desk: DeskNow) -> None:
    """Undo the user's own verdict; a lead may undo any."""
    lead = may(user, Permission.ADJUDICATE)
    desk.store.desk.undo(file_id, by=user.name, now=desk.now(), lead=lead)


@routes.api(
    "POST", "/items/{file_id}/spans", needs=Permission.CORRECT, status_code=201, summary="Correct a span"
)
def correct(file_id: RowNumber, body: NewMark, user: SignedIn, desk: DeskNow) -> SpanMark:
    """Record the correction of one span."""
    if (body.start is None) != (body.end is None):
        message = "start, end: expected both or none"
        raise InputError(message)
    made = desk.store.desk.correct(
        file_id,
        Mark(body.mark),
        seen=body.seen,
        reviewer=user.name,
        now=desk.now(),
        position=body.position,
        span=None if body.start is None or body.end is None else _span(body.start, body.end),
        entity_type=body.type,
    )
    return SpanMark.of(made)


@routes.api("POST", "/assignments", needs=Permission.ASSIGN, status_code=204, summary="Assign items")
def assign(body: Assignment, user: SignedIn, desk: DeskNow) -> None:
    """Assign files to a reviewer, all or none."""
    if any(not 1 <= number <= MAX_NUMBER for number in body.files):
        message = "files: expected numbers of files"
        raise InputError(message)
    desk.store.assign_all(list(dict.fromkeys(body.files)), body.assignee, by=user.name, now=desk.now())


def _span(start: int, end: int) -> Span:
    if start >= end:
        message = "start, end: expected start below end"
        raise InputError(message)
    return Span(start, end)


def _part(desk: Desk, query: ListQuery, user: User, cursor: str) -> WorkPage:
    return desk.store.desk.items(
        query.filter, viewer=user.name, now=desk.now(), order=query.order, limit=N_AT_ONCE, cursor=cursor
    )


def _lines(desk: Desk, query: ListQuery, user: User, page: WorkPage) -> Iterator[str]:
    while True:
        for item in page.items:
            yield json.dumps(Item.of(item).model_dump(mode="json"), ensure_ascii=True) + "\n"
        if not page.after:
            return
        page = _part(desk, query, user, page.after)


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


@routes.api("GET", "/suppressions", needs=Permission.SEE_QUEUE, summary="List the suppressions")
def suppressions(desk: DeskNow) -> Suppressions:
    """Return all suppressions with their status."""
    found = desk.store.desk.suppressions(now=desk.now())
    return Suppressions(suppressions=[SuppressionState.of(one) for one in found])


@routes.api(
    "POST", "/suppressions/preview", needs=Permission.PROPOSE_SUPPRESSION, summary="What it would hide"
)
def preview(body: Scope, desk: DeskNow) -> Preview:
    """Count the items that a suppression would hide, and return whether it needs a lead's approval."""
    return Preview.of(desk.store.desk.preview_suppression([_scope(body)], now=desk.now()))


@routes.api(
    "POST",
    "/suppressions",
    needs=Permission.PROPOSE_SUPPRESSION,
    status_code=201,
    summary="Suppress a value or a rule",
)
def suppress(body: NewSuppression, user: SignedIn, desk: DeskNow) -> SuppressionState:
    """Create a suppression; a broad one needs a lead's approval."""
    try:
        until = (body.until if body.until.tzinfo else body.until.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        message = "until: expected a time within the years 1 to 9999 (UTC)"
        raise InputError(message) from None
    (made,) = desk.store.desk.suppress(
        [_scope(body)], reason=body.reason, until=until, by=user.name, now=desk.now()
    )
    return SuppressionState.of(made)


@routes.api(
    "POST",
    "/suppressions/{suppression_id}/approval",
    needs=Permission.APPROVE_SUPPRESSION,
    status_code=204,
    summary="Approve a broad suppression",
)
def approve(suppression_id: RowNumber, user: SignedIn, desk: DeskNow) -> None:
    """Approve another user's broad suppression."""
    desk.store.desk.approve_suppression(suppression_id, lead=user.name, now=desk.now())


@routes.api(
    "DELETE",
    "/suppressions/{suppression_id}",
    needs=Permission.PROPOSE_SUPPRESSION,
    status_code=204,
    summary="Lift a suppression",
)
def lift(suppression_id: RowNumber, user: SignedIn, desk: DeskNow) -> None:
    """Lift a suppression: the items that it hid return to the queue."""
    desk.store.desk.lift_suppression(suppression_id, by=user.name, now=desk.now())


@routes.api("GET", "/disagreements", needs=Permission.ADJUDICATE, summary="What is to be settled")
def disagreements(user: SignedIn, desk: DeskNow) -> Disputes:
    """Return the disagreements between two other reviewers."""
    found = desk.store.desk.disagreements(lead=user.name)
    return Disputes(disagreements=[Dispute.of(one) for one in found])


@routes.api(
    "POST", "/disagreements/{second_review_id}/verdict", needs=Permission.ADJUDICATE, summary="Settle one"
)
def settle(second_review_id: RowNumber, body: Settlement, user: SignedIn, desk: DeskNow) -> RecordedVerdict:
    """Settle a disagreement by the lead's verdict."""
    made = desk.store.desk.adjudicate(
        second_review_id, body.verdict, lead=user.name, now=desk.now(), reason=body.reason, note=body.note
    )
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


@routes.api("GET", "/me", needs=Permission.SIGNED_IN, summary="Who asks")
def me(user: SignedIn) -> Me:
    """Return the authenticated user."""
    return Me(name=user.name, role=user.role, permissions=sorted(RIGHTS[user.role]))


@routes.api(
    "GET",
    "/metrics",
    needs=Permission.READ_REPORT,
    summary="Counts for Prometheus",
    response_class=PlainTextResponse,
)
def metrics(desk: DeskNow) -> Response:
    """Return the counts of the latest scan and of the queue in Prometheus's text format; no path, no name."""
    return Response(metrics_text(desk.store), media_type=CONTENT_TYPE)


@routes.api("GET", "/users", needs=Permission.MANAGE_USERS, summary="List the accounts")
def users(desk: DeskNow) -> Accounts:
    """Return all accounts by name."""
    return Accounts(users=[Account.of(user) for user in desk.store.users.everybody()])


@routes.api("POST", "/users", needs=Permission.MANAGE_USERS, status_code=201, summary="Make an account")
def add_user(body: NewAccount, user: SignedIn, desk: DeskNow) -> Account:
    """Create an account."""
    made = desk.store.users.add(
        name=body.name, role=body.role, password=body.password, by=user.name, now=desk.now()
    )
    return Account.of(made)


@routes.api("PATCH", "/users/{user_id}", needs=Permission.MANAGE_USERS, summary="Change an account")
def change_user(user_id: RowNumber, body: AccountChange, user: SignedIn, desk: DeskNow) -> Account:
    """Change role or state of another user's account."""
    not_oneself(user, user_id)
    people, now = desk.store.users, desk.now()
    changed = people.get(user_id)
    if body.role is not None and body.role is not changed.role:
        changed = people.set_role(user_id, body.role, by=user.name, now=now)
    if body.unlock:
        changed = people.unlock(user_id, by=user.name, now=now)
    if body.disabled is not None and body.disabled != (changed.disabled is not None):
        change = people.disable if body.disabled else people.enable
        changed = change(user_id, by=user.name, now=now)
    return Account.of(changed)


@routes.api("GET", "/log", needs=Permission.READ_LOG, summary="Read the audit log")
def log(
    desk: DeskNow,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Log:
    """Return entries, newest first."""
    return Log.of(desk.store.users.log(before=before, action=action, actor=actor, limit=limit))


@routes.api("GET", "/log/verification", needs=Permission.READ_LOG, summary="Verify the audit log")
def verification(desk: DeskNow) -> Verification:
    """Verify the whole log, and every row that it refers to."""
    return Verification.of(desk.store.verify_audit())


@routes.api("POST", "/log/reviews", needs=Permission.SIGN_LOG, status_code=201, summary="Sign the log")
def sign(body: NewReview, user: SignedIn, desk: DeskNow) -> Review:
    """Record "I have reviewed this log"."""
    made = desk.store.users.sign_log(head=body.head, note=body.note, reviewer=user.name, now=desk.now())
    return Review.of(made)
