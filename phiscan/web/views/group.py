"""The view of a near-duplicate group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.worklist.model import REASONS, GroupDecision, GroupMember, WorkState
from phiscan.visible import visible
from phiscan.web.views.group_samples import GroupSample
from phiscan.web.views.queue import place_words, verdict_words

LEFT_OUT: Mapping[str, str] = {
    "excepted": lazy_gettext("not chosen"),
    "decided before": lazy_gettext("was decided before"),
    "suppressed": lazy_gettext("hidden by a suppression"),
}


@dataclass(frozen=True, slots=True)
class MemberView:
    """One file of the group."""

    file_id: int
    name: str
    folder: str
    alike: str
    verdict: str
    reviewer: str
    note: str  # why it cannot be chosen; "" = it can


@dataclass(frozen=True, slots=True)
class GroupView:
    """The content of the page of a group."""

    group_id: int
    members: tuple[MemberView, ...]
    n_open: int
    token: str
    reasons: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    decided: str  # the verdict that was just recorded, "" = none
    left_out: tuple[tuple[str, str], ...]  # file name and reason
    samples: tuple[GroupSample, ...] = ()  # files drawn at random, masked, with their differences


def group_view(
    group_id: int,
    members: Sequence[GroupMember],
    *,
    token: str,
    outcome: GroupDecision | None = None,
    verdict: Verdict | None = None,
    samples: Sequence[GroupSample] = (),
) -> GroupView:
    """Build the view; with the result of a verdict that was just recorded."""
    shown = tuple(_member(member) for member in members)
    names = {member.file_id: member.name for member in shown}
    decided = ""
    if outcome is not None and verdict is not None:
        n = len(outcome.decided)
        decided = ngettext(
            "{n} file is recorded as {verdict}.",
            "{n} files are recorded as {verdict}.",
            n,
            verdict=verdict_words(verdict),
        )
    return GroupView(
        group_id=group_id,
        members=shown,
        n_open=sum(not member.note for member in shown),
        token=token,
        reasons=tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        decided=decided,
        left_out=tuple(
            (names.get(file_id, _("no. {number}", number=file_id)), LEFT_OUT.get(why, why))
            for file_id, why in outcome.left_out
        )
        if outcome
        else (),
        samples=tuple(samples),
    )


def _member(member: GroupMember) -> MemberView:
    folder, _slash, name = member.path.rpartition("/")
    if not member.in_list:
        note = _("no longer in the list")
    elif member.state is not WorkState.UNDECIDED:
        note = LEFT_OUT["decided before"]
    else:
        note = ""
    return MemberView(
        file_id=member.file_id,
        name=visible(name),
        folder=place_words(member.root, folder),
        alike=_("the same bytes")
        if member.is_copy
        else _("{similarity} of the masked text alike", similarity=decimal(f"{member.similarity:.0%}")),
        verdict="" if member.state is WorkState.UNDECIDED else member.state.value,
        reviewer=visible(member.reviewer),
        note=note,
    )
