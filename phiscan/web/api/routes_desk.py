"""The REST API of suppressions and of second reviews."""

from __future__ import annotations

from datetime import UTC

from pydantic import BaseModel

from phiscan.errors import InputError
from phiscan.review.decisions.suppressions import SuppressionScope
from phiscan.web.access import Permission, Routes
from phiscan.web.api.models import Given
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
    """Every suppression ever made, the newest first."""

    suppressions: list[SuppressionState]


class Disputes(BaseModel):
    """What this lead may settle, oldest first."""

    disagreements: list[Dispute]


@routes.api("GET", "/suppressions", needs=Permission.SEE_QUEUE, summary="List the suppressions")
def suppressions(desk: DeskNow) -> Suppressions:
    """Return every suppression and what became of it."""
    found = desk.store.desk.suppressions(now=desk.now())
    return Suppressions(suppressions=[SuppressionState.of(one) for one in found])


@routes.api(
    "POST", "/suppressions/preview", needs=Permission.PROPOSE_SUPPRESSION, summary="What it would hide"
)
def preview(body: Scope, desk: DeskNow) -> Preview:
    """Count what a suppression would hide, and say whether it needs a lead's approval."""
    return Preview.of(desk.store.desk.preview_suppression(_scope(body), now=desk.now()))


@routes.api(
    "POST",
    "/suppressions",
    needs=Permission.PROPOSE_SUPPRESSION,
    status_code=201,
    summary="Suppress a value or a rule",
)
def suppress(body: NewSuppression, user: SignedIn, desk: DeskNow) -> SuppressionState:
    """Make a suppression; a broad one waits for a lead."""
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
    """Let a broad suppression of somebody else hold."""
    desk.store.desk.approve_suppression(suppression_id, lead=user.name, now=desk.now())


@routes.api(
    "DELETE",
    "/suppressions/{suppression_id}",
    needs=Permission.PROPOSE_SUPPRESSION,
    status_code=204,
    summary="Lift a suppression",
)
def lift(suppression_id: RowNumber, user: SignedIn, desk: DeskNow) -> None:
    """Take a suppression back: what it hid is in the queue again."""
    desk.store.desk.lift_suppression(suppression_id, by=user.name, now=desk.now())


@routes.api("GET", "/disagreements", needs=Permission.ADJUDICATE, summary="What is to be settled")
def disagreements(user: SignedIn, desk: DeskNow) -> Disputes:
    """Return the disagreements between two others."""
    found = desk.store.desk.disagreements(lead=user.name)
    return Disputes(disagreements=[Dispute.of(one) for one in found])


@routes.api(
    "POST", "/disagreements/{second_review_id}/verdict", needs=Permission.ADJUDICATE, summary="Settle one"
)
def settle(second_review_id: RowNumber, body: Settlement, user: SignedIn, desk: DeskNow) -> Given:
    """Settle a disagreement: the lead's verdict stands."""
    made = desk.store.desk.adjudicate(
        second_review_id, body.verdict, lead=user.name, now=desk.now(), reason=body.reason, note=body.note
    )
    return Given.of(made)


def _scope(body: Scope) -> SuppressionScope:
    return SuppressionScope(
        kind=body.kind, target=body.target, root_id=body.root, folder=body.folder.strip("/")
    )
