"""The JSON of suppressions and of second reviews in the REST API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from phiscan.model import Verdict
from phiscan.review.decisions.second_review import Disagreement
from phiscan.review.decisions.suppressions import Suppression, SuppressionKind, SuppressionPreview
from phiscan.review.worklist.model import MAX_NOTE_CHARS
from phiscan.web.api.models import Body
from phiscan.web.row_numbers import MAX_NUMBER


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
