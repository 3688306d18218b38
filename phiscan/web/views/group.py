"""The view of a near-duplicate group."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from phiscan.errors import InputError
from phiscan.language import decimal, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.model import Verdict
from phiscan.review.worklist.model import REASONS, GroupDecision, GroupMember, WorkState
from phiscan.visible import visible
from phiscan.web.request_context import Desk
from phiscan.web.routes.passages import PieceView, masked_of, pieces_of
from phiscan.web.routes.queue import place_words, verdict_words

N_SAMPLES = 3  # shown before a whole group is decided
N_CHARS = 2_500  # of each file, from its beginning
_WORD = re.compile(r"\w+|\W+")


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


def group_samples(
    desk: Desk, group_id: int, members: Sequence[GroupMember], *, viewer: str
) -> tuple[GroupSample, ...]:
    """Draw undecided files of a group at random, read them again and compare them; nothing is stored.

    The seed is the group and its open members, so that reloading the page shows the same files.
    """
    candidates = [one for one in members if one.in_list and one.state is WorkState.UNDECIDED]
    seed = f"{group_id}:{len(candidates)}"
    return compared(drawn_samples(desk, seed, [(one.file_id, one.path) for one in candidates], viewer))


def drawn_samples(
    desk: Desk, seed: str, candidates: Sequence[tuple[int, str]], viewer: str
) -> tuple[GroupSample, ...]:
    """Draw files (number and path) at random and read their beginnings again, masked."""
    # The seed is no secret: it may be known which of the files are shown.
    drawn = random.Random(seed).sample(candidates, min(N_SAMPLES, len(candidates)))  # noqa: S311
    return tuple(_sample(desk, *one, viewer) for one in sorted(drawn, key=lambda one: one[1]))


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


def _sample(desk: Desk, file_id: int, path: str, viewer: str) -> GroupSample:
    name = visible(path.rpartition("/")[2])
    try:
        detail = desk.store.desk.detail(file_id, viewer=viewer, now=desk.now())
        masked = masked_of(desk, detail, beginning=N_CHARS)
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


def group_view(
    group_id: int,
    members: Sequence[GroupMember],
    *,
    token: str,
    outcome: GroupDecision | None = None,
    verdict: Verdict | None = None,
    samples: Sequence[GroupSample] = (),
) -> dict[str, Any]:
    """Return what the page of a group shows; with the result of a verdict that was just recorded."""
    shown = tuple(_member(member, members[0]) for member in members)
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
    return {
        "group_id": group_id,
        "members": shown,
        "n_open": sum(not member.note for member in shown),
        "token": token,
        "reasons": tuple((verdict_words(verdict), chosen) for verdict, chosen in REASONS.items()),
        "decided": decided,
        "left_out": tuple(
            (names.get(file_id, _("no. {number}", number=file_id)), LEFT_OUT.get(why, why))
            for file_id, why in outcome.left_out
        )
        if outcome
        else (),
        "samples": tuple(samples),
    }


def _member(member: GroupMember, first: GroupMember) -> MemberView:
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
        alike=_alike(member, first),
        verdict="" if member.state is WorkState.UNDECIDED else member.state.value,
        reviewer=visible(member.reviewer),
        note=note,
    )


def _alike(member: GroupMember, first: GroupMember) -> str:
    """Return how a file is like the first of its group; only equal hashes are the same bytes."""
    if member is first:
        return _("the first of the group")
    if member.content_hash == first.content_hash:
        return _("the same bytes as the first")
    return _("{share} of the masked text as in the first", share=decimal(f"{member.similarity:.0%}"))
