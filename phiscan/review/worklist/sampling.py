"""Random draws of the blind sample, and the counts of the frame that its review bounds."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import takewhile
from typing import Any, NamedTuple

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext
from phiscan.model import Outcome, Referral, Verdict
from phiscan.model.frame import FrameCounts, FramePart
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import checked_name
from phiscan.review.records.file_records import present
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import LEAD, NOBODY, OPENING, SECOND, WorkState
from phiscan.store import seals
from phiscan.store.database import lock_chain
from phiscan.store.sql_batches import as_value, chunks, count, listed, rows_in
from phiscan.store.tables.desk import (
    decision,
    decision_undo,
    sample_draw,
    sample_frame,
    sample_member,
    work_item,
)
from phiscan.store.tables.integrity import purge
from phiscan.store.tables.scans import examination, file, root, scan, scan_root, sighting

EVERY = 10  # one blind item follows this many others
_FINAL = (Verdict.PHI.value, Verdict.NOT_PHI.value)
_IS_FINAL = work_item.c.state.in_(_FINAL) & (work_item.c.awaits == NOBODY)
_IN_REST = (
    (examination.c.outcome == Outcome.SCREENED.value) & (examination.c.referral != Referral.REFERRED.value)
) & (examination.c.content_hash != "")
_STANDING = (
    sa.select(decision)
    .outerjoin(decision_undo, decision_undo.c.decision_id == decision.c.id)
    .where(decision_undo.c.id.is_(None))
    .order_by(decision.c.id)
)
_UNLISTED = _STANDING.outerjoin(
    work_item,
    (work_item.c.file_id == decision.c.file_id) & (work_item.c.content_hash == decision.c.content_hash),
).where(work_item.c.file_id.is_(None))
_ON_CONTENTS = _STANDING.where(decision.c.content_hash.in_(listed("contents")))
_AWAITED = sa.select(work_item.c.content_hash, work_item.c.awaits).where(
    work_item.c.content_hash.in_(listed("contents")), work_item.c.state != WorkState.UNDECIDED.value
)
_LISTED_PHI = sa.select(work_item.c.content_hash).where(
    work_item.c.content_hash.in_(listed("contents")), work_item.c.state == Verdict.PHI.value
)
_FRAME_ROWS = sa.select(sample_frame).where(sample_frame.c.file_id.in_(listed("files")))


@dataclass(frozen=True, slots=True)
class SampleDraw:
    """A draw.

    The seed reveals which items are of the sample: it is for the report, never for a page.
    """

    id: int
    n_sampled_queued: int
    n_queued: int
    n_sampled_unreferred: int
    n_unreferred: int
    drawn_by: str
    drawn: datetime
    seed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Planned:
    """The files of a draw before it is written."""

    seed: str
    population: tuple[dict[str, Any], ...] = field(repr=False)  # rows of sample_frame
    members: tuple[dict[str, Any], ...] = field(repr=False)  # rows of sample_member, but for the draw


class _Size(NamedTuple):
    """What only a scan or a draw changes: kept between calls, because it takes a pass over all files."""

    rest: int  # files that were read and not referred
    unread: int
    not_covered: int  # of the rest, files in a language that is not read
    covered: tuple[int, int]  # files of the rest and of the list that are in the population of the draw


Kept = dict[tuple[Any, ...], _Size]
"""The sizes of the last call of ``left``, by the state of scans and draws that they belong to."""


def plan(connection: sa.Connection, *, n_queued: int, n_unreferred: int, seed: str) -> Planned:
    """Choose the files of a draw: the beginnings of the random orders of both kinds, mixed.

    Both are drawn from the files without a final verdict, see ``FramePart``. The order is by SHA-256 of
    seed, root and path. The positions of blind items in the list are spread evenly between the others, for
    both kinds alike.

    Raises:
        InputError: a size is negative.

    Source: Ohlsson (1995), "Coordination of samples using permanent random numbers".
    """
    if n_queued < 0 or n_unreferred < 0:
        sizes = {"n_queued": n_queued, "n_unreferred": n_unreferred}
        raise InputError(gettext("sample: expected sizes from 0, got {n_queued} and {n_unreferred}", **sizes))
    seed = seed or secrets.token_hex(16)
    queued = connection.execute(
        sa.select(work_item.c.file_id, work_item.c.content_hash, root.c.display.label("root"))
        .add_columns(file.c.display.label("path"))
        .join(file, file.c.id == work_item.c.file_id)
        .join(root, root.c.id == work_item.c.root_id)
        .where(work_item.c.referred, ~_IS_FINAL)
    ).all()
    others = _open_in_rest(connection)
    chosen = {True: _first(queued, seed, n_queued), False: _first(others, seed, n_unreferred)}
    kinds = [kind for kind, rows in chosen.items() for _ in rows]
    random.Random(f"mix {seed}").shuffle(kinds)  # noqa: S311 (who knows the seed knows the sample anyway)
    risks, doubts = (_dealt(connection, len(kinds), falling=falling) for falling in (True, False))
    in_order = {kind: enumerate(rows) for kind, rows in chosen.items()}
    members = []
    for slot, referred in enumerate(kinds):
        place, row = next(in_order[referred])
        members.append(
            {
                "place": place,
                "file_id": row.file_id,
                "content_hash": row.content_hash,
                "referred": referred,
                "risk": risks[slot],
                "doubt": doubts[slot],
            }
        )
    population = [
        {"file_id": row.file_id, "content_hash": row.content_hash, "referred": referred}
        for referred, rows in ((True, queued), (False, others))
        for row in rows
    ]
    return Planned(seed, tuple(population), tuple(members))


def draw(connection: sa.Connection, planned: Planned, *, by: str, now: datetime) -> SampleDraw:
    """Write a draw, which replaces the previous one.

    Raises:
        InputError: no user name.
    """
    by = checked_name("by", by)
    lock_chain(connection)
    before = work_rows.latest_draw(connection)
    old = sa.select(sample_member.c.file_id).where(sample_member.c.draw_id == before)
    concerned = [*connection.execute(old).scalars(), *(row["file_id"] for row in planned.members)]
    n_queued = sum(row["referred"] for row in planned.population)
    sizes = {"n_queued": n_queued, "n_unreferred": len(planned.population) - n_queued}
    details = {"n_sampled": len(planned.members), **sizes}
    number = audit.record(connection, "draw_sample", {"seed": planned.seed, **sizes}, details, by=by, now=now)
    seals.remove(connection, sample_frame)
    for batch in chunks(planned.population):
        seals.insert(connection, sample_frame, batch)
    for batch in chunks(planned.members):
        seals.insert(connection, sample_member, [{**row, "draw_id": number} for row in batch])
    work_rows.refresh(connection, concerned)
    made = last_draw(connection)
    if made is None:  # pragma: no cover (it was written above)
        raise RuntimeError(gettext("the draw was not written"))
    return made


def last_draw(connection: sa.Connection) -> SampleDraw | None:
    """Return the current draw."""
    row = connection.execute(sa.select(sample_draw).order_by(sample_draw.c.id.desc()).limit(1)).first()
    if row is None:
        return None
    n_queued, n_others = (
        count(connection, sample_member, sample_member.c.draw_id == row.id, sample_member.c.referred == kind)
        for kind in (sa.true(), sa.false())
    )
    return as_value(SampleDraw, row, n_sampled_queued=n_queued, n_sampled_unreferred=n_others)


def left(connection: sa.Connection, *, kept: Kept | None = None) -> FrameCounts:
    """Count the frame now: the list, the rest, and what no verdict can be final about.

    Whoever reads the result may be a second reviewer: what awaits a second verdict has no final one here.

    ``kept``: sizes of an earlier call, which are used if no scan or draw has changed them, and replaced.
    """
    kept = {} if kept is None else kept
    made = last_draw(connection)
    state = _scan_state(connection, made)
    if state not in kept:
        size = _size(connection)
        kept.clear()
        kept[state] = size
    size = kept[state]
    n_open, n_final, found = Counter[bool](), Counter[bool](), Counter[bool]()  # by whether it is referred
    of_all: Counter[str] = Counter()
    undecided, n_unread = 0, size.unread
    for awaits, status, _, _, _, referred, n in work_rows.statuses(connection):
        is_final = awaits == NOBODY and status in _FINAL
        (n_final if is_final else n_open)[referred] += n
        found[referred] += n if is_final and status == Verdict.PHI.value else 0
        of_all[status if awaits == NOBODY else awaits] += n
        is_concealed = awaits in {SECOND, work_rows.DUPLICATE}
        undecided += n if referred and (is_concealed or status == WorkState.UNDECIDED.value) else 0
    found_since, final_covered = _listed_since(connection)
    gone: set[str] = set()  # PHI contents that were found, and are not present any more
    for one in _unlisted(connection):
        is_phi = one.is_final and one.verdict == Verdict.PHI.value
        if one.of_population is not None:
            found_since[one.of_population] += is_phi
        if one.in_rest:
            n_final[False] += one.is_final
            found[False] += is_phi
            final_covered[False] += one.is_final and one.of_population is False
            of_all[OPENING if one.by_name else one.verdict] += not one.is_final
        elif one.is_unread:
            n_unread -= one.is_final
        elif is_phi:
            gone.add(one.content_hash)
    # A content that a file of the list has, decided as PHI, moved there, and counts once.
    again = {row.content_hash for row in rows_in(connection, _LISTED_PHI, "contents", gone)}
    found[True] += len(gone - again)
    n_open[False] = size.rest - n_final[False]
    sampled = _sampled(connection, made)
    listed_part, rest = (
        FramePart(
            open=n_open[referred],
            arrived=max(n_open[referred] - (size.covered[referred] - final_covered[referred]), 0),
            found=found[referred],
            population=n_population,
            found_since=found_since[referred],
            verdicts=tuple(verdict for _, verdict in sampled[referred]),
        )
        for referred, n_population in (
            (True, made.n_queued if made else 0),
            (False, made.n_unreferred if made else 0),
        )
    )
    return FrameCounts(
        listed=listed_part,
        rest=rest,
        undecided=undecided,
        unsure=of_all[Verdict.UNSURE.value],
        disputes=of_all[LEAD],
        by_name=of_all[OPENING],
        unread=n_unread,
        not_covered=len(_open_in_rest(connection, ~examination.c.covered)) if size.not_covered else 0,
        is_drawn=made is not None,
        is_scanned=_is_scanned(connection),
    )


class _Unlisted(NamedTuple):
    """The last verdict on a content no row of the list has: of a missing or changed file, or of the rest."""

    file_id: int
    content_hash: str
    verdict: str
    by_name: bool
    in_rest: bool  # the file has this content, was read and not referred
    is_unread: bool  # the file has this content, and could not be read
    of_population: bool | None  # in the population of the draw with this content: was it referred; None = not

    @property
    def is_final(self) -> bool:
        return not self.by_name and self.verdict in _FINAL


def _unlisted(connection: sa.Connection) -> Iterator[_Unlisted]:
    """Yield the last verdict on each content that is not in the list."""
    last = {(row.file_id, row.content_hash): row for row in connection.execute(_UNLISTED)}
    for batch in chunks(last):
        numbers = [file_id for file_id, _ in batch]
        now = {row.file_id: row for row in work_rows.current(connection, numbers)}
        drawn = {row.file_id: row for row in connection.execute(_FRAME_ROWS, {"files": numbers})}
        for file_id, content in batch:
            row, its, here = last[file_id, content], drawn.get(file_id), now.get(file_id)
            is_here = here is not None and here.content_hash == content
            yield _Unlisted(
                file_id,
                content,
                row.verdict,
                row.by_name,
                in_rest=bool(is_here and here and here.outcome == Outcome.SCREENED.value),
                is_unread=bool(is_here and here and here.outcome == Outcome.FAILED.value),
                of_population=its.referred if its and its.content_hash == content else None,
            )


def _listed_since(connection: sa.Connection) -> tuple[Counter[bool], Counter[bool]]:
    """Count, of the population of the draw by kind, the PHI in the list now, and the final verdicts there."""
    found: Counter[bool] = Counter()
    final: Counter[bool] = Counter()
    query = (
        sa.select(
            work_item.c.referred, sample_frame.c.referred.label("drawn"), work_item.c.state, sa.func.count()
        )
        .join(sample_frame, _is_covered(work_item.c.file_id, work_item.c.content_hash))
        .where(_IS_FINAL)
        .group_by(work_item.c.referred, sample_frame.c.referred, work_item.c.state)
    )
    for referred, drawn, state, n in connection.execute(query):
        found[drawn] += n if state == Verdict.PHI.value else 0
        final[drawn] += n if referred == drawn else 0
    return found, final


def _is_covered(
    file_id: sa.ColumnElement[Any], content_hash: sa.ColumnElement[Any]
) -> sa.ColumnElement[bool]:
    return (sample_frame.c.file_id == file_id) & (sample_frame.c.content_hash == content_hash)


def weights(connection: sa.Connection) -> dict[int, float]:
    """Return the weight (1 / probability) of each file in the reviewed beginning of a random order.

    Only these stand for the files of their kind: others were reviewed because of their rank.
    """
    found: dict[int, float] = {}
    made = last_draw(connection)
    for referred, order in _sampled(connection, made).items():
        begun = list(takewhile(lambda one: one[1] is not None, order))
        population = (made.n_queued if referred else made.n_unreferred) if made else 0
        found |= {file_id: population / len(begun) for file_id, _ in begun}
    return found


def _sampled(connection: sa.Connection, made: SampleDraw | None) -> dict[bool, list[tuple[int, bool | None]]]:
    """Return the drawn files in their random order, by kind, each with its final verdict; unsure is PHI.

    A disputed file is PHI, too, and a verdict of PHI on the same bytes under another path counts: a drawn
    file may have been moved.
    """
    order: dict[bool, list[tuple[int, bool | None]]] = {True: [], False: []}
    if made is None:
        return order
    query = sa.select(sample_member).where(sample_member.c.draw_id == made.id).order_by(sample_member.c.place)
    for batch in chunks(connection.execute(query)):
        contents = {"contents": list({row.content_hash for row in batch})}
        awaited = {row.content_hash: row.awaits for row in connection.execute(_AWAITED, contents)}
        on = [*connection.execute(_ON_CONTENTS, contents)]
        for member in batch:
            verdict = None
            for row in on:
                is_own = row.file_id == member.file_id
                if row.content_hash == member.content_hash and (is_own or row.verdict == Verdict.PHI.value):
                    verdict = verdict if row.by_name and not is_own else row.verdict != Verdict.NOT_PHI.value
                    verdict = None if row.by_name and is_own else verdict
            awaits = awaited.get(member.content_hash, NOBODY)
            if awaits == LEAD:
                verdict = True
            order[member.referred].append((member.file_id, None if awaits == SECOND else verdict))
    return order


def _size(connection: sa.Connection) -> _Size:
    """Count what takes a pass over all files."""
    everything = present(sa.select(sa.func.count()).select_from(sighting), None)
    in_draw = everything.join(sample_frame, _is_covered(file.c.id, examination.c.content_hash))
    listed_draw = (
        sa.select(sa.func.count())
        .select_from(work_item)
        .join(sample_frame, _is_covered(work_item.c.file_id, work_item.c.content_hash))
        .where(work_item.c.referred, sample_frame.c.referred)
    )
    rest, unread, not_covered, rest_covered, list_covered = (
        int(connection.execute(query).scalar_one())
        for query in (
            everything.where(_IN_REST),
            everything.where(examination.c.outcome == Outcome.FAILED.value),
            everything.where(_IN_REST, ~examination.c.covered),
            in_draw.where(_IN_REST, ~sample_frame.c.referred),
            listed_draw,
        )
    )
    return _Size(rest, unread, not_covered, (rest_covered, list_covered))


def _open_in_rest(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[sa.Row[Any]]:
    """Return the files of the rest that meet the conditions and have no final verdict."""
    final = {(one.file_id, one.content_hash) for one in _unlisted(connection) if one.is_final}
    known = sa.select(work_item.c.file_id, work_item.c.content_hash).where(~work_item.c.referred, _IS_FINAL)
    final |= {(row.file_id, row.content_hash) for row in connection.execute(known)}
    rest = present(
        sa.select(file.c.id.label("file_id"), examination.c.content_hash)
        .add_columns(root.c.display.label("root"), file.c.display.label("path"))
        .select_from(sighting),
        None,
    ).where(_IN_REST, *conditions)
    return [row for row in connection.execute(rest) if (row.file_id, row.content_hash) not in final]


def _scan_state(connection: sa.Connection, made: SampleDraw | None) -> tuple[Any, ...]:
    """Return numbers that change whenever a scan, a draw or a deletion of records may change ``_size``."""
    unended = sa.select(scan.c.id).where(scan.c.status != "complete")
    queries = (
        sa.select(sa.func.max(examination.c.id)),
        sa.select(sa.func.max(purge.c.id)),
        sa.select(sa.func.max(scan.c.id)),
        sa.select(sa.func.sum(root.c.complete_scan_id)),
        sa.select(sa.func.count()).select_from(sighting).where(sighting.c.scan_id.in_(unended)),
    )
    return (made.id if made else None, *(connection.execute(query).scalar() for query in queries))


def _is_scanned(connection: sa.Connection) -> bool:
    """Return whether every root has a complete scan, and no later one has stopped or is running."""
    complete = [*connection.execute(sa.select(root.c.complete_scan_id)).scalars()]
    unended = (
        sa.select(scan.c.id)
        .join(scan_root, scan_root.c.scan_id == scan.c.id)
        .join(root, root.c.id == scan_root.c.root_id)
        .where(scan.c.status != "complete", scan.c.id > sa.func.coalesce(root.c.complete_scan_id, 0))
    )
    return bool(complete) and None not in complete and connection.execute(unended).first() is None


def _first(rows: Sequence[sa.Row[Any]], seed: str, n: int) -> list[sa.Row[Any]]:
    def place(row: sa.Row[Any]) -> bytes:
        return sha256(f"{seed}\0{row.root}\0{row.path}".encode("utf-8", "replace")).digest()

    return sorted(rows, key=place)[:n]


def _dealt(connection: sa.Connection, n: int, *, falling: bool) -> list[float]:
    """Return n sort keys, evenly between the keys of the undecided items: one after each ten."""
    column = work_item.c.risk if falling else work_item.c.doubt
    query = (
        sa.select(column)
        .where(work_item.c.referred, work_item.c.state == WorkState.UNDECIDED.value)
        .order_by(column.desc() if falling else column)
    )
    keys = list(connection.execute(query).scalars())
    if not keys:
        return [0.0] * n
    step = min(EVERY, len(keys) / (n + 1))
    dealt = []
    for slot in range(n):
        at = min(int(step * (slot + 1)), len(keys) - 1)
        dealt.append((keys[max(at - 1, 0)] + keys[at]) / 2)
    return dealt
