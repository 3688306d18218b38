"""Suppressions: values, rules and wordings that hide items for a time, in a folder or everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import checked_name, checked_text, policy
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import FIRST
from phiscan.review.worklist.rows import SIGNATURE, Hider, hidden_until, hiders, is_named, may_match
from phiscan.store.column_types import iso
from phiscan.store.database import lock_chain
from phiscan.store.identity import is_shape
from phiscan.store.sql_batches import as_value, chunks, count
from phiscan.store.tables.desk import suppression, suppression_approval, suppression_lift, work_item
from phiscan.store.tables.scans import file, finding, root

N_EXAMPLES = 10
MAX_TARGET_CHARS = 600
MAX_REASON_CHARS = 1_000
_SIGNATURE = re.compile(r"(?:[0-9a-f]{8})+")


class SuppressionKind(StrEnum):
    """By what a suppression matches."""

    VALUE = "value"  # its keyed identity
    RULE = "rule"  # the rule that found it
    TEMPLATE = "template"  # no finding: the file itself, by nearly the same wording


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionScope:
    """The findings that a suppression matches, and the folder where it applies."""

    kind: SuppressionKind
    target: str  # the finding's ``identity`` or ``source``; the keyed signature of a text, in hexadecimal
    preview: str = ""  # the finding's masked shape, for a value
    root_id: int | None = None  # None = on every root
    folder: str = ""  # below this folder of the root; "" = the whole root


@dataclass(frozen=True, slots=True)
class SuppressionPreview:
    """The effect of a suppression."""

    n_hidden: int  # items that it would hide in addition to those hidden already
    n_matched: int  # items with a matching finding; the others have further findings and remain
    examples: tuple[tuple[int, str], ...]  # number and path of some hidden items
    needs_approval: bool
    why: str  # why it needs approval; "" if it does not


@dataclass(frozen=True, slots=True)
class Suppression:
    """A suppression with its status."""

    id: int
    scope: SuppressionScope
    root: str  # "" = every root
    n_hidden: int
    reason: str
    until: datetime
    made_by: str
    made: datetime
    needs_approval: bool
    approved_by: str
    lifted_by: str
    status: str  # "active", "waiting" (for approval), "ended" or "lifted"


def preview(
    connection: sa.Connection, scopes: Sequence[SuppressionScope], *, now: datetime
) -> SuppressionPreview:
    """Count the items that several suppressions would hide together, which may be more than their sum.

    Raises:
        InputError: a scope is empty.
    """
    scopes = [_checked(connection, scope) for scope in scopes]
    by_file = {row.file_id: row for scope in scopes for row in _matching(connection, scope)}
    matched = [row for row in by_file.values() if row.awaits == FIRST and not row.blind]
    moment = iso(now)
    forever = [Hider(one.kind.value, one.target, one.root_id, one.folder, "9999") for one in scopes]
    open_now = [row for row in matched if row.hidden_until <= moment]
    ends = hidden_until(
        connection, {row.examination_id: row for row in open_now}, [*hiders(connection), *forever]
    )
    hidden = [row for row in open_now if ends.get(row.examination_id, "") > moment]
    limit = policy(connection).hide_limit
    why = ""
    if any(scope.root_id is None for scope in scopes):
        why = _("it would apply to every share")
    elif not all(scope.folder for scope in scopes):
        why = _("it would apply to a whole share, not to one folder")
    elif len(hidden) > limit:
        n = len(hidden)
        why = _("it would hide {n} items; more than {limit} need a lead's approval", n=n, limit=limit)
    return SuppressionPreview(
        n_hidden=len(hidden),
        n_matched=len(matched),
        examples=tuple((row.file_id, row.path) for row in hidden[:N_EXAMPLES]),
        needs_approval=bool(why),
        why=why,
    )


def suppress(
    connection: sa.Connection,
    scopes: Sequence[SuppressionScope],
    *,
    reason: str,
    until: datetime,
    by: str,
    now: datetime,
) -> tuple[Suppression, ...]:
    """Create several suppressions; if they are broad together, each needs approval.

    Raises:
        InputError: a scope is invalid, no reason, or the end is not in the future.
    """
    by, reason = checked_name("by", by), checked_text("reason", reason, MAX_REASON_CHARS)
    if not reason:
        message = "reason: expected why these need not be looked at, got an empty text"
        raise InputError(message)
    if until <= now:
        message = f"until: expected a day to come, got {until:%Y-%m-%d}"
        raise InputError(message)
    lock_chain(connection)
    together = preview(connection, scopes, now=now)
    numbers = []
    for scope in [_checked(connection, one) for one in scopes]:
        n_hidden = preview(connection, [scope], now=now).n_hidden  # without items of the previous ones
        details = {"kind": scope.kind.value, "n_hidden": n_hidden, "needs_approval": together.needs_approval}
        values = {**asdict(scope), **details, "reason": reason, "until": until}
        numbers.append(audit.record(connection, "suppress", values, details, by=by, now=now))
        _update_hidden(connection, scope)
    made = {one.id: one for one in suppressions(connection, now=now)}
    return tuple(made[number] for number in numbers)


def entity_types(connection: sa.Connection, scope: SuppressionScope) -> tuple[str, ...]:
    """Return the types of the findings that a suppression matches."""
    query = sa.select(finding.c.entity_type).where(is_named(scope.kind.value, scope.target)).distinct()
    return tuple(sorted(connection.execute(query).scalars()))


def template_of(connection: sa.Connection, file_id: int) -> str:
    """Return the target of a suppression of texts like that of a file; "" = it has no signature."""
    found = connection.execute(sa.select(SIGNATURE).where(work_item.c.file_id == file_id)).scalar()
    return found.hex() if found else ""


def approve(connection: sa.Connection, suppression_id: int, *, lead: str, now: datetime) -> None:
    """Approve a broad suppression, which then takes effect.

    Raises:
        ConflictError: it is in effect already, was lifted or has ended.
        InputError: there is none, or the lead created it.
    """
    lead = checked_name("lead", lead)
    lock_chain(connection)
    one = _suppression(connection, suppression_id, now)
    if one.status != "waiting":
        message = f"suppression {suppression_id}: nothing to approve, it is {one.status}"
        raise ConflictError(message)
    if one.made_by == lead:
        message = f"lead: expected somebody other than {lead}, who made it"
        raise InputError(message)
    details = {"suppression": suppression_id}
    audit.record(
        connection, "approve_suppression", {"suppression_id": suppression_id}, details, by=lead, now=now
    )
    _update_hidden(connection, one.scope)


def lift(connection: sa.Connection, suppression_id: int, *, by: str, now: datetime, reason: str = "") -> None:
    """Lift a suppression; the items that it hid are in the list again.

    Raises:
        ConflictError: it was lifted before.
        InputError: there is none.
    """
    by, reason = checked_name("by", by), checked_text("reason", reason, MAX_REASON_CHARS)
    lock_chain(connection)
    one = _suppression(connection, suppression_id, now)
    if one.lifted_by:
        message = f"suppression {suppression_id}: it was lifted before, by {one.lifted_by}"
        raise ConflictError(message)
    values = {"suppression_id": suppression_id, "reason": reason}
    audit.record(connection, "lift_suppression", values, {"suppression": suppression_id}, by=by, now=now)
    _update_hidden(connection, one.scope)


def suppressions(connection: sa.Connection, *, now: datetime) -> tuple[Suppression, ...]:
    """Return all suppressions, newest first."""
    query = (
        sa.select(
            suppression,
            root.c.display.label("root"),
            suppression_approval.c.approved_by,
            suppression_lift.c.lifted_by,
        )
        .outerjoin(root, root.c.id == suppression.c.root_id)
        .outerjoin(suppression_approval, suppression_approval.c.suppression_id == suppression.c.id)
        .outerjoin(suppression_lift, suppression_lift.c.suppression_id == suppression.c.id)
        .order_by(suppression.c.id.desc())
    )
    return tuple(
        as_value(
            Suppression,
            row,
            scope=as_value(SuppressionScope, row, kind=SuppressionKind(row.kind)),
            root=row.root or "",
            approved_by=row.approved_by or "",
            lifted_by=row.lifted_by or "",
            status=_status(row, now),
        )
        for row in connection.execute(query)
    )


def _status(row: sa.Row[Any], now: datetime) -> str:
    if row.lifted_by:
        return "lifted"
    if row.until <= now:
        return "ended"
    return "waiting" if row.needs_approval and not row.approved_by else "active"


def _suppression(connection: sa.Connection, suppression_id: int, now: datetime) -> Suppression:
    for one in suppressions(connection, now=now):
        if one.id == suppression_id:
            return one
    raise InputError(_("suppression {number}: there is none of this number", number=suppression_id))


def _checked(connection: sa.Connection, scope: SuppressionScope) -> SuppressionScope:
    kind, folder = SuppressionKind(scope.kind), scope.folder.strip("/")
    target = checked_text("target", scope.target, MAX_TARGET_CHARS)
    is_signature = _SIGNATURE.fullmatch(target) is not None
    is_known = scope.root_id is None or count(connection, root, root.c.id == scope.root_id) > 0
    for is_right, problem in (
        (target, "target: expected the identity or the rule of a finding, got an empty text"),
        (
            kind is not SuppressionKind.TEMPLATE or is_signature,
            "target: expected the signature of a text in hexadecimal digits",
        ),
        (is_shape(scope.preview), "preview: expected the masked shape of a value"),
        (scope.root_id is not None or not folder, "root: expected the share of the folder"),
        (is_known, f"root: there is no share of number {scope.root_id}"),
    ):
        if not is_right:
            raise InputError(problem)
    return replace(scope, kind=kind, target=target, folder=folder)


def _matching(connection: sa.Connection, scope: SuppressionScope) -> Sequence[sa.Row[Any]]:
    """Return the items that a suppression matches, highest risk first.

    Without a folder this reads every finding: half a second per million.
    """
    query: sa.Select[Any] = (
        sa.select(
            *(work_item.c.file_id, work_item.c.examination_id, work_item.c.root_id, work_item.c.awaits),
            *(work_item.c.blind, work_item.c.hidden_until, file.c.display.label("path"), SIGNATURE),
        )
        .join(file, file.c.id == work_item.c.file_id)
        .where(may_match(scope.kind.value, scope.target))
        .order_by(work_item.c.risk.desc(), work_item.c.file_id)
    )
    if scope.root_id is not None:
        query = query.where(work_item.c.root_id == scope.root_id)
    if scope.folder:
        inside = scope.folder.casefold() + "/"
        query = query.where(work_item.c.path_folded.startswith(inside, autoescape=True))
    place = Hider(scope.kind.value, scope.target, scope.root_id, scope.folder, "")
    return [row for row in connection.execute(query) if place.covers(row.root_id, row.path, row.signature)]


def _update_hidden(connection: sa.Connection, scope: SuppressionScope) -> None:
    """Update until when each item in a scope is hidden."""
    rows = [row for row in _matching(connection, scope) if not row.blind]
    ends = hidden_until(connection, {row.examination_id: row for row in rows}, hiders(connection))
    changed: dict[str, list[int]] = {}
    for row in rows:
        end = ends.get(row.examination_id, "")
        if end != row.hidden_until:
            changed.setdefault(end, []).append(row.file_id)
    for end, file_ids in changed.items():
        for batch in chunks(file_ids):
            here = work_item.c.file_id.in_(batch)
            with work_rows.counted(connection, batch):
                connection.execute(work_item.update().where(here).values(hidden_until=end))
