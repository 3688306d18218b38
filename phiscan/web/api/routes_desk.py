"""The REST API of suppressions and of second reviews."""

from __future__ import annotations

from datetime import UTC

from pydantic import BaseModel

from phiscan.errors import InputError
from phiscan.review.decisions.suppressions import SuppressionScope
from phiscan.web.access import Permission, Routes
from phiscan.web.api.models import RecordedVerdict
from phiscan.web.api.models_desk import (
    Dispute,
    NewSuppression,
    Preview,
    Scope,
    Settlement,
    SuppressionState,
)
from phiscan.web.request_context import DeskNow
from phiscan.web.row_numbers import RowNumber
from phiscan.web.session import SignedIn

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
    return Preview.of(desk.store.desk.preview_suppression(_scope(body), now=desk.now()))


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
    made = desk.store.desk.suppress(
        _scope(body), reason=body.reason, until=until, by=user.name, now=desk.now()
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
