"""The REST API of suppressions and of second reviews."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from phiscan.errors import InputError
from phiscan.model import Verdict
from phiscan.review.decisions.second_review import Disagreement
from phiscan.review.decisions.suppressions import (
    Suppression,
    SuppressionKind,
    SuppressionPreview,
    SuppressionScope,
)
from phiscan.review.worklist.model import MAX_NOTE_CHARS
from phiscan.web.access import Permission, Routes
from phiscan.web.api.routes_queue import Body, RecordedVerdict
from phiscan.web.request_context import MAX_NUMBER, DeskNow, RowNumber
from phiscan.web.session import SignedIn


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


class Preview(BaseModel):
    """The items that a suppression would hide now."""

    hidden: int
    matched: int
    needs_approval: bool
    why: str | None

    @classmethod
    def of(cls, one: SuppressionPreview) -> Preview:
        """Convert a preview."""
        return cls(
            hidden=one.n_hidden, matched=one.n_matched, needs_approval=one.needs_approval, why=one.why or None
        )


class SuppressionState(BaseModel):
    """A suppression with its status."""

    id: int
    kind: SuppressionKind
    target: str
    root: str | None
    folder: str
    hidden: int
    reason: str
    until: datetime
    made_by: str
    made: datetime
    approved_by: str | None
    lifted_by: str | None
    status: str

    @classmethod
    def of(cls, one: Suppression) -> SuppressionState:
        """Convert a suppression."""
        return cls(
            id=one.id,
            kind=one.scope.kind,
            target=one.scope.target,
            root=one.root or None,
            folder=one.scope.folder,
            hidden=one.n_hidden,
            reason=one.reason,
            until=one.until,
            made_by=one.made_by,
            made=one.made,
            approved_by=one.approved_by or None,
            lifted_by=one.lifted_by or None,
            status=one.status,
        )


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


routes = Routes()


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
