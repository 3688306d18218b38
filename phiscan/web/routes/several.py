"""One verdict for several files, with exceptions: near-duplicates, or the open files of a folder."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Form
from starlette.responses import Response

from phiscan.errors import InputError
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.decisions.verdicts import MAX_AT_ONCE
from phiscan.review.worklist.model import REASONS, GroupDecision, GroupMember, WorkFilter, WorkState
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.folders import Wanted, folder_url
from phiscan.web.routes.item import is_reason_of
from phiscan.web.routes.queue import Chosen, Line, Note, action_notice, place_words, verdict_words
from phiscan.web.routes.reveal import PieceView, masked_of, pieces_of
from phiscan.web.work_query import ListQuery

N_SAMPLES = 3  # shown before a whole group is decided
N_CHARS = 2_500  # of each file, from its beginning
_WORD = re.compile(r"\w+|\W+")


LEFT_OUT: Mapping[str, str] = {
    "excepted": lazy_gettext("not chosen"),
    "decided before": lazy_gettext("was decided before"),
    "suppressed": lazy_gettext("hidden by a suppression"),
}
Token = Annotated[str, Form(max_length=100)]


@dataclass(frozen=True, slots=True)
class Row:
    """One file of the page."""

    file_id: int
    path: str
    folder: str
    verdict: str = ""
    reviewer: str = ""
    why_not: str = ""  # why it cannot be chosen; "" = it can
    alike: str = ""
    n_people: int = 0

    @property
    def name(self) -> str:
        """The name of the file, as it is shown."""
        return visible(self.path.rpartition("/")[2])


@dataclass(frozen=True, slots=True)
class GroupSample:
    """The beginning of one file, masked; pieces of the kind "differs" are not in every sample."""

    file_id: int
    name: str
    pieces: tuple[PieceView, ...]
    problem: str = ""  # error message, if it could not be read again

    @property
    def n_differing(self) -> int:
        """Words and findings that are not in every sample."""
        return sum(piece.kind == "differs" for piece in self.pieces)


def drawn_samples(ctx: Context, seed: str, rows: Sequence[Row]) -> tuple[GroupSample, ...]:
    """Draw files that can be chosen at random and read their beginnings again, masked; nothing is stored.

    The seed is of the open files too, so that reloading the page shows the same ones.
    """
    found = [(row.file_id, row.path) for row in rows if not row.why_not]
    # The seed is no secret: it may be known which of the files are shown.
    drawn = random.Random(f"{seed}:{len(found)}").sample(found, min(N_SAMPLES, len(found)))  # noqa: S311
    return tuple(_sample(ctx, *one) for one in sorted(drawn, key=lambda one: one[1]))


def compared(samples: Sequence[GroupSample]) -> tuple[GroupSample, ...]:
    """Mark the words and types of findings that are not in every sample."""
    readable = [sample for sample in samples if not sample.problem]
    if len(readable) < 2:  # noqa: PLR2004 (two can be compared)
        return tuple(samples)
    common = set.intersection(*(set(_words(sample.pieces)) for sample in readable))
    return tuple(
        replace(sample, pieces=tuple(_marked(sample.pieces, common))) if not sample.problem else sample
        for sample in samples
    )


def _sample(ctx: Context, file_id: int, path: str) -> GroupSample:
    name = visible(path.rpartition("/")[2])
    try:
        detail = ctx.detail(file_id)
        masked = masked_of(ctx, detail, beginning=N_CHARS)
    except InputError as error:
        return GroupSample(file_id, name, (), problem=str(error))
    return GroupSample(file_id, name, tuple(piece for one in masked.passages for piece in pieces_of(one)))


def _words(pieces: Sequence[PieceView]) -> Iterator[str]:
    for piece in pieces:
        if piece.kind == "finding":
            yield f"<{piece.label}>"
        else:
            yield from (word.casefold() for word in _WORD.findall(piece.text) if word[0].isalnum())


def _marked(pieces: Sequence[PieceView], common: set[str]) -> Iterator[PieceView]:
    for piece in pieces:
        if piece.kind == "finding":
            yield piece if f"<{piece.label}>" in common else replace(piece, kind="differs", text=piece.label)
        elif piece.kind == "mask" or not any(
            word[0].isalnum() and word.casefold() not in common for word in _WORD.findall(piece.text)
        ):
            yield piece
        else:
            for word in _WORD.findall(piece.text):
                differs = word[0].isalnum() and word.casefold() not in common
                yield PieceView("differs" if differs else piece.kind, word)


def _alike(member: GroupMember, first: GroupMember) -> str:
    """Return how a file is like the first of its group; only equal hashes are the same bytes."""
    if member is first:
        return _("the first of the group")
    if member.content_hash == first.content_hash:
        return _("the same bytes as the first")
    return _("{share} of the masked text as in the first", share=decimal(f"{member.similarity:.0%}"))


routes = Routes()


@routes.page("GET", "/groups/{group_id}", needs=Permission.SEE_QUEUE)
def group(group_id: int, ctx: Ctx) -> Response:
    """Show the files of a near-duplicate group, for one verdict with exceptions."""
    return _group(ctx, group_id, notice=action_notice(ctx, ctx.notice_name))


@routes.page("POST", "/groups/{group_id}/decide", needs=Permission.DECIDE)
def decide_group(
    group_id: int,
    ctx: Ctx,
    verdict: Annotated[Verdict, Form()],
    token: Token,
    reason: Line = "",
    note: Note = "",
    file: Chosen = None,
) -> Response:
    """Record one verdict for the chosen files of a group, and show which were excluded and why."""
    if not is_reason_of(reason, verdict):
        return _group(ctx, group_id, unsent="reason", note=note)
    members = [member.file_id for member in ctx.work.group(group_id, viewer=ctx.name)]
    others = [number for number in members if number not in (file or ())]
    given: Any = {"token": token, "reason": reason, "note": note, **ctx.reviewing}
    outcome = ctx.work.decide_group(group_id, verdict, exceptions=others, **given)
    return _group(ctx, group_id, outcome=outcome, verdict=verdict)


def _group(
    ctx: Context,
    group_id: int,
    *,
    outcome: GroupDecision | None = None,
    verdict: Verdict | None = None,
    **shown: Any,
) -> Response:
    members = ctx.work.group(group_id, viewer=ctx.name)
    if not members:
        raise InputError(_("group {group_id}: there is no such group of near-duplicates", group_id=group_id))
    rows = [_member(one, members[0]) for one in members]
    names = {row.file_id: row.name for row in rows}
    left_out = [
        (names.get(file_id, _("no. {number}", number=file_id)), LEFT_OUT.get(why, why))
        for file_id, why in (outcome.left_out if outcome else ())
    ]
    samples: Sequence[GroupSample] = ()
    if outcome is None and ctx.may(Permission.DECIDE):
        samples = compared(drawn_samples(ctx, f"{group_id}", rows))
    return _page(
        ctx,
        rows,
        samples,
        group_id=group_id,
        done=_done(len(outcome.decided), verdict) if outcome and verdict else "",
        left_out=left_out,
        action=f"/groups/{group_id}/decide",
        **shown,
    )


def _member(member: GroupMember, first: GroupMember) -> Row:
    is_open = member.state is WorkState.UNDECIDED
    why_not = "" if is_open else str(LEFT_OUT["decided before"])
    return Row(
        member.file_id,
        member.path,
        place_words(member.root, member.path.rpartition("/")[0]),
        verdict="" if is_open else member.state.value,
        reviewer=visible(member.reviewer),
        why_not=why_not if member.in_list else _("no longer in the list"),
        alike=_alike(member, first),
    )


@routes.page("GET", "/folders/decide", needs=Permission.DECIDE)
def choose(ctx: Ctx) -> Response:
    """List the undecided files of a folder, three with masked text, for one verdict with exceptions."""
    return _folder(ctx, ctx.query.filter)


@routes.page("POST", "/folders/decide", needs=Permission.DECIDE)
def decide(
    ctx: Ctx,
    wanted: Wanted,
    verdict: Annotated[Verdict, Form()],
    token: Token,
    reason: Line = "",
    note: Note = "",
    file: Chosen = None,
) -> Response:
    """Record one verdict for the chosen files of a folder; files of other folders are ignored."""
    here = set(ctx.work.numbers(wanted, limit=MAX_AT_ONCE + 1, **ctx.viewing))
    chosen = sorted(here.intersection(file or ()))
    if not chosen or not is_reason_of(reason, verdict):
        return _folder(ctx, wanted, unsent="reason" if chosen else "none", note=note)
    given: Any = {"token": token, "reason": reason, "note": note, **ctx.reviewing}
    outcome = ctx.work.decide_chosen(chosen, verdict, **given)
    return _folder(ctx, wanted, done=_done(len(outcome.decided), verdict))


def _folder(ctx: Context, given: WorkFilter, *, done: str = "", **shown: Any) -> Response:
    """Return the page of the files of a folder; blind items are left out: each is judged individually."""
    work = ctx.work
    wanted = WorkFilter(root_id=given.root_id, folder=given.folder)
    if not wanted.folder or wanted.root_id is None:
        raise InputError(_("folder: expected a folder of one share; a whole share is not decided at once"))
    page = work.items(wanted, limit=MAX_AT_ONCE, **ctx.viewing)
    rows = [
        Row(one.file_id, one.path, place_words("", one.path.rpartition("/")[0]), n_people=one.n_people)
        for one in page.items
        if not one.blind
    ]
    roots = {number: path for number, path, _n in work.choices().roots}
    seed = f"{wanted.root_id}:{wanted.folder}"
    return _page(
        ctx,
        rows,
        () if done else drawn_samples(ctx, seed, rows),
        group_id=0,
        done=done,
        action="/folders/decide",
        more=bool(page.after),
        most=MAX_AT_ONCE,
        n_blind=len(page.items) - len(rows),
        where=place_words(roots.get(wanted.root_id, ""), wanted.folder),
        back=folder_url(wanted.root_id, wanted.folder),
        query=ListQuery(wanted),
        **shown,
    )


def _page(ctx: Context, rows: Sequence[Row], samples: Sequence[GroupSample], **shown: Any) -> Response:
    return ctx.page(
        "several.html",
        rows=rows,
        samples=samples,
        n_open=sum(not row.why_not for row in rows),
        token=secrets.token_urlsafe(16),
        reasons=[(verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()],
        **{"note": "", "left_out": (), "n_blind": 0, "more": False, **shown},
    )


def _done(n: int, verdict: Verdict) -> str:
    return ngettext(
        "{n} file is recorded as {verdict}.",
        "{n} files are recorded as {verdict}.",
        n,
        verdict=verdict_words(verdict),
    )
