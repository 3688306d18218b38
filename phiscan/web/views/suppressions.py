"""The view of suppressions: what can be hidden of one item, and how many items that would hide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from phiscan.language import gettext as _
from phiscan.language import lazy_gettext
from phiscan.model import EntityType, StoredFinding
from phiscan.review.decisions.suppressions import (
    Suppression,
    SuppressionKind,
    SuppressionPreview,
    SuppressionScope,
)
from phiscan.review.worklist.model import WorkItem
from phiscan.visible import visible
from phiscan.web.views.plain_words import SHORT
from phiscan.web.views.queue import place_words

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


@dataclass(frozen=True, slots=True)
class SuppressView:
    """The content of the page."""

    item: WorkItem
    name: str
    folder: str
    targets: tuple[Target, ...]
    chosen: tuple[Target, ...]
    where: str
    preview: SuppressionPreview | None
    until: date

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """The scopes to choose from."""
        return tuple(SCOPES.items())


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """One suppression in the list of all."""

    made: Suppression
    what: str
    where: str
    status: tuple[str, str]  # colour and words
    days_left: int
    types: str  # of one awaiting approval: the types of its findings, in words
    effect: SuppressionPreview | None  # of one awaiting approval: what it would hide now


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


def in_folder(scope: SuppressionScope, item: WorkItem, where: str) -> SuppressionScope:
    """Return a scope narrowed to a place of ``SCOPES``."""
    folder = item.path.rpartition("/")[0]
    return SuppressionScope(
        kind=scope.kind,
        target=scope.target,
        preview=scope.preview,
        root_id=None if where == "everywhere" else item.root_id,
        folder=folder if where == "folder" else "",
    )


def rows(
    made: Sequence[Suppression],
    effects: Mapping[int, tuple[Sequence[str], SuppressionPreview]],
    *,
    now: datetime,
) -> tuple[SuppressionRow, ...]:
    """Return the list of all suppressions; ``effects``: types and effect, by number, before approval."""
    return tuple(
        SuppressionRow(
            made=one,
            what=_("value {preview}", preview=one.scope.preview)
            if one.scope.kind is SuppressionKind.VALUE
            else _("rule {rule}", rule=visible(one.scope.target)),
            where=place_words(one.root, one.scope.folder) or _("everywhere"),
            status=STATUS.get(one.status, ("", one.status)),
            days_left=max(0, (one.until - now).days),
            types=", ".join(str(SHORT[EntityType(name)]) for name in effects[one.id][0])
            if one.id in effects
            else "",
            effect=effects[one.id][1] if one.id in effects else None,
        )
        for one in made
    )
