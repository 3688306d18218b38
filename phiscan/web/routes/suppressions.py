"""Suppressions: proposed from an item, listed, approved and lifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import Form, Query
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
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import SHORT, place_words, source_words
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.queue import Line

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


def targets(findings: Sequence[StoredFinding], template: str) -> tuple[Target, ...]:
    """Return the values, then the rules, each once, in text order, and the wording of the file."""
    values: dict[str, Target] = {}
    rules: dict[str, Target] = {}
    for at, one in enumerate(findings):
        if one.identity not in values:
            scope = SuppressionScope(kind=SuppressionKind.VALUE, target=one.identity, preview=one.preview)
            words = f"{SHORT[one.entity_type]} {one.preview}"
            values[one.identity] = Target(f"value-{at}", words, scope)
        if one.source not in rules:
            scope = SuppressionScope(kind=SuppressionKind.RULE, target=one.source)
            kind = source_words(one.source)
            words = _("everything found like {shape} ({kind})", shape=one.preview, kind=kind)
            rules[one.source] = Target(f"rule-{at}", words, scope)
    alike = _("every file of nearly the same wording: a form letter, a template")
    scope = SuppressionScope(kind=SuppressionKind.TEMPLATE, target=template)
    wording = [Target("wording", alike, scope)] if template else []
    return (*values.values(), *rules.values(), *wording)


def in_folder(scope: SuppressionScope, item: FileRecord, where: str) -> SuppressionScope:
    """Return a scope narrowed to a place of ``SCOPES``."""
    root_id = None if where == "everywhere" else item.root_id
    return replace(scope, root_id=root_id, folder=item.folder if where == "folder" else "")


def _row(
    one: Suppression, types: Sequence[str], effect: SuppressionPreview | None, now: datetime
) -> dict[str, Any]:
    """Return a suppression for the list; of one that awaits approval, its types and its effect now."""
    return {
        "made": one,
        "what": {
            SuppressionKind.VALUE: _("value {preview}", preview=one.scope.preview),
            SuppressionKind.RULE: _("a rule for: {kind}", kind=source_words(one.scope.target)),
            SuppressionKind.TEMPLATE: _("a wording"),
        }[one.scope.kind],
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
    ctx: Ctx,
    what: Annotated[list[str] | None, Query()] = None,
    where: str = "folder",
    position: int | None = None,
) -> Response:
    """Show what can be suppressed, and how many items each choice would hide."""
    detail = ctx.detail(file_id)
    known = _targets(ctx, detail)
    chosen = _chosen(detail, known, what or (), position)
    where = where if where in SCOPES else "folder"
    scopes = [in_folder(one.scope, detail, where) for one in chosen]
    return ctx.page(
        "suppress.html",
        item=detail,
        targets=known,
        chosen=chosen,
        where=where,
        preview=ctx.work.preview_suppression(scopes, now=ctx.now) if chosen else None,
        until=(ctx.now + UNTIL).date(),
        wheres=tuple(SCOPES.items()),
    )


@routes.page("POST", "/items/{file_id}/suppress", needs=Permission.PROPOSE_SUPPRESSION)
def suppress(
    file_id: int,
    ctx: Ctx,
    what: Annotated[list[str], Form(max_length=200)],
    where: Annotated[str, Form(max_length=20)],
    reason: Line,
    until: Annotated[date, Form()],
) -> Response:
    """Create a suppression of each chosen value or rule; refused if together they hide nothing."""
    scopes = _scopes(ctx, file_id, what, where)
    if not ctx.work.preview_suppression(scopes, now=ctx.now).n_hidden:
        raise InputError(_("suppression: it would hide no item; choose every value that refers one"))
    ends = datetime.combine(until, time.max, UTC)
    made = ctx.work.suppress(scopes, reason=reason, until=ends, **ctx.by)
    notice_name = "waiting" if any(one.status == "waiting" for one in made) else "suppressed"
    return RedirectResponse(f"/suppressions?said={notice_name}", 303)


@routes.page("GET", "/suppressions", needs=Permission.SEE_QUEUE)
def suppressions(ctx: Ctx) -> Response:
    """List every suppression with its status."""
    now, work, rows = ctx.now, ctx.work, []
    for one in work.suppressions(now=now):
        waits = one.status == "waiting"
        effect = work.preview_suppression([one.scope], now=now) if waits else None
        rows.append(_row(one, work.suppressed_types(one.scope) if waits else (), effect, now))
    return ctx.page("suppressions.html", rows=rows)


@routes.page("POST", "/suppressions/{suppression_id}/approve", needs=Permission.APPROVE_SUPPRESSION)
def approve(suppression_id: int, ctx: Ctx) -> Response:
    """Approve a suppression that hides many items."""
    ctx.work.approve_suppression(suppression_id, lead=ctx.name, now=ctx.now)
    return RedirectResponse("/suppressions?said=approved", 303)


@routes.page("POST", "/suppressions/{suppression_id}/lift", needs=Permission.PROPOSE_SUPPRESSION)
def lift(suppression_id: int, ctx: Ctx, reason: Line = "") -> Response:
    """Lift a suppression; every reviewer may, because it only shows more."""
    ctx.work.lift_suppression(suppression_id, reason=reason, **ctx.by)
    return RedirectResponse("/suppressions?said=lifted", 303)


def _targets(ctx: Context, detail: FileRecord) -> tuple[Target, ...]:
    return targets(detail.findings, ctx.work.template_of(detail.file_id) if detail.findings else "")


def _scopes(ctx: Context, file_id: int, what: Sequence[str], where: str) -> list[SuppressionScope]:
    detail = ctx.detail(file_id)
    chosen = _chosen(detail, _targets(ctx, detail), what, None)
    if len(chosen) < len(set(what)) or not chosen or where not in SCOPES:
        raise InputError(_("suppression: expected a value or rule of this file, and where it shall hold"))
    return [in_folder(one.scope, detail, where) for one in chosen]


def _chosen(
    detail: FileRecord, known: tuple[Target, ...], what: Sequence[str], position: int | None
) -> tuple[Target, ...]:
    """Return the targets named in the form, or the one of the clicked finding."""
    if position is not None and 0 <= position < len(detail.findings):
        identity = detail.findings[position].identity
        return tuple(one for one in known if one.scope.target == identity)
    return tuple(one for one in known if one.name in what)
