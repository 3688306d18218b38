"""One verdict for several files, with exceptions: near-duplicates, or the open files of a folder."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

from phiscan.errors import InputError
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.pipeline.rereading.masked_passages import MaskedPiece
from phiscan.review.decisions.verdicts import MAX_AT_ONCE
from phiscan.review.worklist.model import FileRecord, GroupDecision, GroupMember, WorkFilter, WorkState
from phiscan.web.access import Permission, Routes
from phiscan.web.plain_words import SHORT, file_name, place_words
from phiscan.web.request_context import Context, Ctx
from phiscan.web.routes.folders import Wanted, folder_url
from phiscan.web.routes.queue import Chosen, Judged, action_notice, verdict_words
from phiscan.web.routes.reveal import masked_of
from phiscan.web.work_query import ListQuery

N_SAMPLES = 3  # shown before a whole group is decided
N_CHARS = 2_500  # of each file, from its beginning
_WORD = re.compile(r"\w+|\W+")


LEFT_OUT: Mapping[str, str] = {
    "excepted": lazy_gettext("not chosen"),
    "decided before": lazy_gettext("was decided before"),
    "suppressed": lazy_gettext("hidden by a suppression"),
}
Choosable = FileRecord | GroupMember


@dataclass(frozen=True, slots=True)
class GroupSample:
    """The beginning of one file, masked; each piece with whether it is not in every sample."""

    file: Choosable
    pieces: tuple[tuple[MaskedPiece, bool], ...]
    problem: str = ""  # error message, if it could not be read again

    @property
    def n_differing(self) -> int:
        """Words and findings that are not in every sample."""
        return sum(differs for _piece, differs in self.pieces)


def drawn_samples(ctx: Context, seed: str, found: Sequence[Choosable]) -> tuple[GroupSample, ...]:
    """Draw files that can be chosen at random and read their beginnings again, masked; nothing is stored.

    The seed is of the open files too, so that reloading the page shows the same ones.
    """
    # The seed is no secret: it may be known which of the files are shown.
    drawn = random.Random(f"{seed}:{len(found)}").sample(found, min(N_SAMPLES, len(found)))  # noqa: S311
    return tuple(_sample(ctx, one) for one in sorted(drawn, key=lambda one: one.path))


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


def _sample(ctx: Context, file: Choosable) -> GroupSample:
    try:
        masked = masked_of(ctx, ctx.detail(file.file_id), beginning=N_CHARS)
    except InputError as error:
        return GroupSample(file, (), problem=str(error))
    return GroupSample(file, tuple((piece, False) for one in masked.passages for piece in one.pieces))


def _words(pieces: Sequence[tuple[MaskedPiece, bool]]) -> Iterator[str]:
    for piece, _differs in pieces:
        if piece.entity_type is not None:
            yield f"<{SHORT[piece.entity_type]}>"
        else:
            yield from (word.casefold() for word in _WORD.findall(piece.text) if word[0].isalnum())


def _marked(
    pieces: Sequence[tuple[MaskedPiece, bool]], common: set[str]
) -> Iterator[tuple[MaskedPiece, bool]]:
    for piece, _differs in pieces:
        if piece.entity_type is not None:
            yield piece, f"<{SHORT[piece.entity_type]}>" not in common
            continue
        words = _WORD.findall(piece.text)
        differing = [word[0].isalnum() and word.casefold() not in common for word in words]
        if any(differing):
            yield from ((replace(piece, text=word), one) for word, one in zip(words, differing, strict=True))
        else:
            yield piece, False


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
def decide_group(group_id: int, ctx: Ctx, given: Judged, file: Chosen = None) -> Response:
    """Record one verdict for the chosen files of a group, and show which were excluded and why."""
    if not given.is_consistent:
        return _group(ctx, group_id, unsent="reason", note=given.note)
    members = [member.file_id for member in ctx.work.group(group_id, viewer=ctx.name)]
    others = [number for number in members if number not in (file or ())]
    how = {**given.why, **ctx.reviewing}
    outcome = ctx.work.decide_group(group_id, given.verdict, exceptions=others, **how)
    return _group(ctx, group_id, outcome=outcome, verdict=given.verdict)


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
    open_ = [one for one in members if one.in_list and one.state is WorkState.UNDECIDED]
    names = {one.file_id: file_name(one.path) for one in members}
    left_out = [
        (names.get(file_id, _("no. {number}", number=file_id)), LEFT_OUT.get(why, why))
        for file_id, why in (outcome.left_out if outcome else ())
    ]
    samples: Sequence[GroupSample] = ()
    if outcome is None and ctx.may(Permission.DECIDE):
        samples = compared(drawn_samples(ctx, f"{group_id}", open_))
    return _page(
        ctx,
        members,
        open_,
        samples,
        alike=_alike,
        group_id=group_id,
        done=_done(len(outcome.decided), verdict) if outcome and verdict else "",
        left_out=left_out,
        action=f"/groups/{group_id}/decide",
        **shown,
    )


@routes.page("GET", "/folders/decide", needs=Permission.DECIDE)
def choose(ctx: Ctx) -> Response:
    """List the undecided files of a folder, three with masked text, for one verdict with exceptions."""
    return _folder(ctx, ctx.query.filter)


@routes.page("POST", "/folders/decide", needs=Permission.DECIDE)
def decide(ctx: Ctx, wanted: Wanted, given: Judged, file: Chosen = None) -> Response:
    """Record one verdict for the chosen files of a folder; files of other folders are ignored."""
    here = set(ctx.work.numbers(wanted, limit=MAX_AT_ONCE + 1, **ctx.viewing))
    chosen = sorted(here.intersection(file or ()))
    if not chosen or not given.is_consistent:
        return _folder(ctx, wanted, unsent="reason" if chosen else "none", note=given.note)
    outcome = ctx.work.decide_chosen(chosen, given.verdict, **given.why, **ctx.reviewing)
    return _folder(ctx, wanted, done=_done(len(outcome.decided), given.verdict))


def _folder(ctx: Context, given: WorkFilter, *, done: str = "", **shown: Any) -> Response:
    """Return the page of the files of a folder; blind items are left out: each is judged individually."""
    work = ctx.work
    wanted = WorkFilter(root_id=given.root_id, folder=given.folder)
    if not wanted.folder or wanted.root_id is None:
        raise InputError(_("folder: expected a folder of one share; a whole share is not decided at once"))
    page = work.items(wanted, limit=MAX_AT_ONCE, **ctx.viewing)
    rows = [one for one in page.items if not one.blind]
    roots = {number: path for number, path, _n in work.choices().roots}
    seed = f"{wanted.root_id}:{wanted.folder}"
    return _page(
        ctx,
        rows,
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


def _page(
    ctx: Context,
    rows: Sequence[Choosable],
    open_: Sequence[Choosable],
    samples: Sequence[GroupSample],
    **shown: Any,
) -> Response:
    """Return the page of files, of which those that are open can be chosen."""
    return ctx.page(
        "several.html",
        rows=rows,
        samples=samples,
        choosable={one.file_id for one in open_},
        why_not=LEFT_OUT["decided before"],
        token=secrets.token_urlsafe(16),
        **{"note": "", "left_out": (), "n_blind": 0, "more": False, **shown},
    )


def _done(n: int, verdict: Verdict) -> str:
    return ngettext(
        "{n} file is recorded as {verdict}.",
        "{n} files are recorded as {verdict}.",
        n,
        verdict=verdict_words(verdict),
    )
