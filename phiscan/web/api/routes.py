"""The REST API of users and of the audit log; the same permissions as the pages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse, Response

from phiscan.monitoring.metrics import CONTENT_TYPE, metrics_text
from phiscan.review.accounts.users import Role, User
from phiscan.web.access import RIGHTS, Permission, Routes
from phiscan.web.api.routes_queue import Body
from phiscan.web.request_context import MAX_NUMBER, DeskNow, RowNumber
from phiscan.web.routes.accounts.users import not_oneself
from phiscan.web.session import SignedIn

routes = Routes()


class Me(BaseModel):
    """The authenticated user and the user's permissions."""

    name: str
    role: Role
    permissions: list[Permission]


class Account(BaseModel):
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


class Entry(BaseModel):
    """An entry of the audit log."""

    id: int
    at: datetime
    actor: str
    action: str
    subject_id: int
    details: dict[str, Any]
    hash: str


class Log(BaseModel):
    """Entries, newest first; ``older``: the value of ``before`` for the next page; 0 = there is none."""

    entries: list[Entry]
    older: int


class Verification(BaseModel):
    """Whether the log is intact; ``head``: the hash of its last entry."""

    ok: bool
    entries: int
    first_bad: int | None
    problem: str | None
    head: str


class Review(BaseModel):
    """A review of the log up to an entry."""

    reviewer: str
    entries: int
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
    return Accounts(users=[_account(user) for user in desk.store.users.everybody()])


@routes.api("POST", "/users", needs=Permission.MANAGE_USERS, status_code=201, summary="Make an account")
def add_user(body: NewAccount, user: SignedIn, desk: DeskNow) -> Account:
    """Create an account."""
    made = desk.store.users.add(
        name=body.name, role=body.role, password=body.password, by=user.name, now=desk.now()
    )
    return _account(made)


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
    return _account(changed)


@routes.api("GET", "/log", needs=Permission.READ_LOG, summary="Read the audit log")
def log(
    desk: DeskNow,
    before: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
    action: Annotated[str, Query(max_length=50)] = "",
    actor: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Log:
    """Return entries, newest first."""
    page = desk.store.users.log(before=before, action=action, actor=actor, limit=limit)
    entries = [
        Entry(
            id=entry.id,
            at=entry.at,
            actor=entry.actor,
            action=entry.action,
            subject_id=entry.subject_id,
            details=entry.details,
            hash=entry.hash,
        )
        for entry in page.entries
    ]
    return Log(entries=entries, older=page.older)


@routes.api("GET", "/log/verification", needs=Permission.READ_LOG, summary="Verify the audit log")
def verification(desk: DeskNow) -> Verification:
    """Verify the whole log, and every row that it refers to."""
    check = desk.store.verify_audit()
    return Verification(
        ok=check.ok,
        entries=check.n_rows,
        first_bad=check.first_bad,
        problem=check.problem or None,
        head=check.head,
    )


@routes.api("POST", "/log/reviews", needs=Permission.SIGN_LOG, status_code=201, summary="Sign the log")
def sign(body: NewReview, user: SignedIn, desk: DeskNow) -> Review:
    """Record "I have reviewed this log"."""
    made = desk.store.users.sign_log(head=body.head, note=body.note, reviewer=user.name, now=desk.now())
    return Review(reviewer=made.reviewer, entries=made.n_entries, head=made.head, note=made.note, at=made.at)


def _account(user: User) -> Account:
    return Account(
        id=user.id,
        name=user.name,
        role=user.role,
        created=user.created,
        disabled=user.disabled,
        locked=user.locked,
        has_password=user.has_password,
    )
