"""Reveals of texts, suppressions, and reviews of the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from phiscan.language import lazy_gettext as _
from phiscan.report.data.desk import LogSignOff, Oversight, Revealer, RevealRow, SuppressionRow
from phiscan.report.data.scan_rows import Revealed, StoredDesk
from phiscan.review.decisions.suppressions import Suppression, SuppressionKind
from phiscan.visible import visible


def oversight(desk: StoredDesk, paths: Mapping[int, str], *, hidden: bool) -> Oversight:
    """Summarize reveals, suppressions and the reviews of the log.

    Args:
        desk: the records of the desk.
        paths: names of the files of the scan.
        hidden: whether paths must not be shown.
    """
    by_person: dict[str, list[Revealed]] = defaultdict(list)
    for one in desk.reveals:
        by_person[one.revealed_by].append(one)
    return Oversight(
        revealers=tuple(
            Revealer(
                revealed_by=visible(name),
                reveals=len(theirs),
                files=len({one.file_id for one in theirs}),
                first=min(one.revealed for one in theirs),
                last=max(one.revealed for one in theirs),
            )
            for name, theirs in sorted(by_person.items())
        ),
        reveals=tuple(
            RevealRow(
                one.id, one.revealed, visible(one.revealed_by), one.file_id, paths[one.file_id], one.purpose
            )
            for one in desk.reveals
        ),
        suppressions=tuple(
            _suppression(one, hides_now, hidden=hidden) for one, hides_now in desk.suppressions
        ),
        hidden_now=desk.hidden_now,
        sign_offs=tuple(
            LogSignOff(
                reviewer=visible(one.reviewer),
                at=one.at,
                entries=one.n_entries,
                since=desk.last_entry - one.n_entries,
                head=one.head,
                holds=desk.log_heads[one.n_entries] == one.head if one.n_entries in desk.log_heads else None,
            )
            for one in desk.sign_offs
        ),
    )


def _suppression(one: Suppression, hides_now: int | None, *, hidden: bool) -> SuppressionRow:
    by_rule = one.scope.kind is SuppressionKind.RULE
    return SuppressionRow(
        suppression=one.id,
        kind=one.scope.kind.value,
        # The target of a value is its keyed hash, and its shape reveals the length: neither is shown.
        rule=visible(one.scope.target) if by_rule else "",
        where=_where(one, hidden=hidden),
        status=one.status,
        hid_when_made=one.n_hidden,
        hides_now=hides_now,
        made_by=visible(one.made_by),
        made=one.made,
        until=one.until,
        approved_by=visible(one.approved_by),
        needs_approval=one.needs_approval,
        lifted_by=visible(one.lifted_by),
    )


def _where(one: Suppression, *, hidden: bool) -> str:
    if one.scope.root_id is None:
        return _("every share")
    if hidden:
        return _("one folder") if one.scope.folder else _("one share")
    return visible(f"{one.root.rstrip('/')}/{one.scope.folder}" if one.scope.folder else one.root)
