"""Suppressions: proposed from an item, listed, approved and lifted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import Form, Query, Request
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import EntityType, StoredFinding
from phiscan.review.decisions.suppressions import (
    Suppression,
    SuppressionKind,
    SuppressionPreview,
    SuppressionScope,
)
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import SHORT
from phiscan.web.request_context import Desk, DeskNow
from phiscan.web.routes.queue import place_words
from phiscan.web.session import SignedIn
from phiscan.web.work_query import ListQuery

UNTIL = timedelta(days=90)  # suggested end; a suppression that is not renewed ends
SCOPES: Mapping[str, str] = {
    "folder": lazy_gettext("in this folder and below"),
    "share": lazy_gettext("on this share"),
    "everywhere": lazy_gettext("everywhere"),
}
STATUS: Mapping[str, tuple[str, str]] = {
    "active": ("ok", lazy_gettext("active")),
    "waiting": ("warn", lazy_gettext("waits for a lead")),
    "ended": ("", lazy_gettext("ended")),
    "lifted": ("", lazy_gettext("lifted")),
}


@dataclass(frozen=True, slots=True)
class Target:
    """A value or a rule of the item that can be hidden; ``name`` is its value in the form."""

    name: str
    words: str
    scope: SuppressionScope


def targets(findings: Sequence[StoredFinding]) -> tuple[Target, ...]:
    """Return the values, then the rules, each once, in text order."""
    return (*_values(findings), *_rules(findings))


def _values(findings: Sequence[StoredFinding]) -> Iterator[Target]:
    seen: set[str] = set()
    for position, found in enumerate(findings):
        if found.identity not in seen:
            seen.add(found.identity)
            scope = SuppressionScope(kind=SuppressionKind.VALUE, target=found.identity, preview=found.preview)
            yield Target(f"value-{position}", f"{SHORT[found.entity_type]} {found.preview}", scope)


def _rules(findings: Sequence[StoredFinding]) -> Iterator[Target]:
    seen: set[str] = set()
    for position, found in enumerate(findings):
        if found.source not in seen:
            seen.add(found.source)
            scope = SuppressionScope(kind=SuppressionKind.RULE, target=found.source)
            yield Target(
                f"rule-{position}", _("everything that {source} finds", source=visible(found.source)), scope
            )


def in_folder(scope: SuppressionScope, item: FileRecord, where: str) -> SuppressionScope:
    """Return a scope narrowed to a place of ``SCOPES``."""
    folder = item.path.rpartition("/")[0]
    return SuppressionScope(
        kind=scope.kind,
        target=scope.target,
        preview=scope.preview,
        root_id=None if where == "everywhere" else item.root_id,
        folder=folder if where == "folder" else "",
    )


def _row(
    one: Suppression, types: Sequence[str], effect: SuppressionPreview | None, now: datetime
) -> dict[str, Any]:
    """Return a suppression for the list; of one that awaits approval, its types and its effect now."""
    by_value = one.scope.kind is SuppressionKind.VALUE
    return {
        "made": one,
        "what": _("value {preview}", preview=one.scope.preview)
        if by_value
        else _("rule {rule}", rule=visible(one.scope.target)),
        "where": place_words(one.root, one.scope.folder) or _("everywhere"),
        "status": STATUS.get(one.status, ("", one.status)),
        "days_left": max(0, (one.until - now).days),
        "types": ", ".join(str(SHORT[EntityType(name)]) for name in types),
        "effect": effect,
    }


routes = Routes()


@routes.page("GET", "/items/{file_id}/suppress", needs=Permission.PROPOSE_SUPPRESSION)
def offer(
    file_id: int,
    request: Request,
    user: SignedIn,
    desk: DeskNow,
    what: Annotated[list[str] | None, Query()] = None,
    where: str = "folder",
    position: int | None = None,
) -> Response:
    """Show what can be suppressed, and how many items each choice would hide."""
    detail = desk.store.desk.detail(file_id, viewer=user.name, now=desk.now())
    known = targets(detail.findings)
    chosen = _chosen(detail, known, what or (), position)
    where = where if where in SCOPES else "folder"
    preview = None
    if chosen:
        scopes = [in_folder(one.scope, detail, where) for one in chosen]
        preview = desk.store.desk.preview_suppression(scopes, now=desk.now())
    folder, _, name = detail.path.rpartition("/")
    return desk.pages.render(
        request,
        "suppress.html",
        item=detail,
        name=visible(name),
        folder=place_words(detail.root, folder),
        targets=known,
        chosen=chosen,
        where=where,
        preview=preview,
        until=(desk.now() + UNTIL).date(),
        wheres=tuple(SCOPES.items()),
        query=ListQuery(),
    )


@routes.page("POST", "/items/{file_id}/suppress", needs=Permission.PROPOSE_SUPPRESSION)
def suppress(
    file_id: int,
    user: SignedIn,
    desk: DeskNow,
    what: Annotated[list[str], Form(max_length=200)],
    where: Annotated[str, Form(max_length=20)],
    reason: Annotated[str, Form(max_length=200)],
    until: Annotated[date, Form()],
) -> Response:
    """Create a suppression of each chosen value or rule; refused if together they hide nothing."""
    scopes = _scopes(desk, file_id, user.name, what, where)
    if not desk.store.desk.preview_suppression(scopes, now=desk.now()).n_hidden:
        message = _("suppression: it would hide no item; choose every value that refers one")
        raise InputError(message)
    made = desk.store.desk.suppress(
        scopes,
        reason=reason,
        until=datetime.combine(until, time.max, UTC),
        by=user.name,
        now=desk.now(),
    )
    notice_name = "waiting" if any(one.status == "waiting" for one in made) else "suppressed"
    return RedirectResponse(f"/suppressions?said={notice_name}", 303)


@routes.page("GET", "/suppressions", needs=Permission.SEE_QUEUE)
def suppressions(request: Request, desk: DeskNow) -> Response:
    """List every suppression with its status."""
    now = desk.now()
    work = desk.store.desk
    rows = []
    for one in work.suppressions(now=now):
        waits = one.status == "waiting"
        effect = work.preview_suppression([one.scope], now=now) if waits else None
        rows.append(_row(one, work.suppressed_types(one.scope) if waits else (), effect, now))
    return desk.pages.render(request, "suppressions.html", rows=rows)


@routes.page("POST", "/suppressions/{suppression_id}/approve", needs=Permission.APPROVE_SUPPRESSION)
def approve(suppression_id: int, user: SignedIn, desk: DeskNow) -> Response:
    """Approve a suppression that hides many items."""
    desk.store.desk.approve_suppression(suppression_id, lead=user.name, now=desk.now())
    return RedirectResponse("/suppressions?said=approved", 303)


@routes.page("POST", "/suppressions/{suppression_id}/lift", needs=Permission.PROPOSE_SUPPRESSION)
def lift(
    suppression_id: int,
    user: SignedIn,
    desk: DeskNow,
    reason: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Lift a suppression; every reviewer may, because it only shows more."""
    desk.store.desk.lift_suppression(suppression_id, by=user.name, now=desk.now(), reason=reason)
    return RedirectResponse("/suppressions?said=lifted", 303)


def _scopes(desk: Desk, file_id: int, viewer: str, what: Sequence[str], where: str) -> list[SuppressionScope]:
    detail = desk.store.desk.detail(file_id, viewer=viewer, now=desk.now())
    chosen = _chosen(detail, targets(detail.findings), what, None)
    if len(chosen) < len(set(what)) or not chosen or where not in SCOPES:
        message = _("suppression: expected a value or rule of this file, and where it shall hold")
        raise InputError(message)
    return [in_folder(one.scope, detail, where) for one in chosen]


def _chosen(
    detail: FileRecord, known: tuple[Target, ...], what: Sequence[str], position: int | None
) -> tuple[Target, ...]:
    """Return the targets named in the form, or the one of the clicked finding."""
    if position is not None and 0 <= position < len(detail.findings):
        identity = detail.findings[position].identity
        return tuple(one for one in known if one.scope.target == identity)
    return tuple(one for one in known if one.name in what)
