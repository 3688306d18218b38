"""Suppressions at the desk: made, approved, lifted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from phiscan.review.decisions import suppressions
from phiscan.review.decisions.suppressions import Suppression, SuppressionPreview, SuppressionScope
from phiscan.store.database import Database


class SuppressionDesk:
    """What is passed over in the list, by whom and until when."""

    _database: Database

    def preview_suppression(self, scope: SuppressionScope, *, now: datetime) -> SuppressionPreview:
        """Say how many items a suppression would hide, and whether it needs a lead's approval.

        Raises:
            InputError: the scope names nothing.
        """
        with self._database.read() as connection:
            return suppressions.preview(connection, scope, now=now)

    def preview_suppressions(
        self, scopes: Sequence[SuppressionScope], *, now: datetime
    ) -> SuppressionPreview:
        """Say how many items several suppressions would hide together.

        Raises:
            InputError: a scope names nothing.
        """
        with self._database.read() as connection:
            return suppressions.preview_together(connection, scopes, now=now)

    def suppressed_types(self, scope: SuppressionScope) -> tuple[str, ...]:
        """Return the types of the findings that a suppression passes over."""
        with self._database.read() as connection:
            return suppressions.entity_types(connection, scope)

    def suppress_all(
        self, scopes: Sequence[SuppressionScope], *, reason: str, until: datetime, by: str, now: datetime
    ) -> tuple[Suppression, ...]:
        """Make several suppressions at once; if they are broad together, each waits for approval.

        Raises:
            InputError: a scope names nothing, no reason, or the end is not in the future.
        """
        return self._database.write(
            lambda connection: suppressions.suppress_together(
                connection, scopes, reason=reason, until=until, by=by, now=now
            ),
            durable=True,
        )

    def suppress(
        self, scope: SuppressionScope, *, reason: str, until: datetime, by: str, now: datetime
    ) -> Suppression:
        """Make a suppression; a broad one waits for ``approve_suppression``.

        Raises:
            InputError: the scope names nothing, no reason, or the end is not in the future.
        """
        return self._database.write(
            lambda connection: suppressions.suppress(
                connection, scope, reason=reason, until=until, by=by, now=now
            ),
            durable=True,
        )

    def approve_suppression(self, suppression_id: int, *, lead: str, now: datetime) -> None:
        """Let a broad suppression hold.

        Raises:
            ConflictError: it holds already, was lifted or has ended.
            InputError: there is none, or the lead made it.
        """
        self._database.write(
            lambda connection: suppressions.approve(connection, suppression_id, lead=lead, now=now),
            durable=True,
        )

    def lift_suppression(self, suppression_id: int, *, by: str, now: datetime, reason: str = "") -> None:
        """Take a suppression back; what it hid is in the list again.

        Raises:
            ConflictError: it was lifted before.
            InputError: there is none.
        """
        self._database.write(
            lambda connection: suppressions.lift(connection, suppression_id, by=by, now=now, reason=reason),
            durable=True,
        )

    def suppressions(self, *, now: datetime) -> tuple[Suppression, ...]:
        """Return every suppression ever made, the newest first."""
        with self._database.read() as connection:
            return suppressions.suppressions(connection, now=now)
