"""Random draws: the blind sample of referred and of unreferred files, and the results of its review."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext
from phiscan.model import Outcome, Referral, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import checked_text, require_name
from phiscan.review.records.current_results import present
from phiscan.review.worklist import counts as work_tallies
from phiscan.review.worklist import row_sources as work_sources
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import WorkState
from phiscan.review.worklist.rows import N_BANDS
from phiscan.store.database import inserted_id, lock_chain
from phiscan.store.sql_batches import chunks
from phiscan.store.tables import (
    examination,
    file,
    root,
    sample_draw,
    sample_member,
    sighting,
    work_item,
)

EVERY = 10  # one blind item follows this many others
_PHI = (Verdict.PHI.value, Verdict.UNSURE.value)  # unsure counts as PHI, so that no estimate is too low


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
    n_queued: int
    n_unreferred: int
    members: tuple[dict[str, Any], ...] = field(repr=False)  # rows of sample_member, but for the draw


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items of one range of scores: number, decided, and PHI (unsure counts as PHI)."""

    low: float
    high: float
    n: int
    n_decided: int
    n_phi: int


@dataclass(frozen=True, slots=True)
class SampleReview:
    """The review of one kind of the blind sample.

    ``verdicts`` are those of the random order from its start: is it PHI (unsure counts as PHI), or None for
    an item without a verdict. They reveal which items are of the sample: no page shows them.
    """

    population: int  # files that it was drawn from; of the queue, those undecided at that time
    drawn: int
    found: int  # PHI among the whole population decided since, without unsure
    verdicts: tuple[bool | None, ...] = field(repr=False)

    @property
    def reviewed(self) -> int:
        """How many were reviewed, anywhere in the order."""
        return len(self.verdicts) - self.verdicts.count(None)

    @property
    def phi(self) -> int:
        """How many of the reviewed are PHI or unsure."""
        return self.verdicts.count(True)


@dataclass(frozen=True, slots=True)
class LeftCounts:
    """All counts for the estimates of the remaining PHI."""

    undecided: int
    found: int  # decided as PHI in the queue, without unsure
    strata: tuple[Stratum, ...]
    queued: SampleReview | None  # None = no sample was drawn
    unreferred: SampleReview | None


def plan(connection: sa.Connection, *, n_queued: int, n_unreferred: int, seed: str) -> Planned:
    """Choose the files of a draw: the beginnings of the random orders of both kinds, mixed.

    The order is that of the report's elusion sample: SHA-256 of seed, root and path. The positions of blind
    items in the list are spread evenly between the others, for both kinds alike.

    Raises:
        InputError: a size is negative.

    Source: Ohlsson (1995), "Coordination of samples using permanent random numbers".
    """
    if n_queued < 0 or n_unreferred < 0:
        message = gettext(
            "sample: expected sizes from 0, got {n_queued} and {n_unreferred}",
            n_queued=n_queued,
            n_unreferred=n_unreferred,
        )
        raise InputError(message)
    seed = seed or secrets.token_hex(16)
    queued = connection.execute(
        sa.select(work_item.c.file_id, work_item.c.content_hash, root.c.display.label("root"))
        .add_columns(file.c.display.label("path"))
        .join(file, file.c.id == work_item.c.file_id)
        .join(root, root.c.id == work_item.c.root_id)
        .where(work_item.c.referred, work_item.c.state == WorkState.UNDECIDED.value)
    ).all()
    others = connection.execute(
        present(
            sa.select(file.c.id.label("file_id"), examination.c.content_hash)
            .add_columns(root.c.display.label("root"), file.c.display.label("path"))
            .select_from(sighting),
            None,
        ).where(
            examination.c.outcome == Outcome.SCREENED.value,
            examination.c.referral != Referral.REFERRED.value,
            examination.c.content_hash != "",
        )
    ).all()
    chosen = {True: _first(queued, seed, n_queued), False: _first(others, seed, n_unreferred)}
    kinds = [kind for kind, rows in chosen.items() for _ in rows]
    random.Random(f"mix {seed}").shuffle(kinds)  # noqa: S311 (who knows the seed knows the sample anyway)
    risks, doubts = (
        _dealt(connection, len(kinds), falling=True),
        _dealt(connection, len(kinds), falling=False),
    )
    places = {True: 0, False: 0}
    members = []
    for slot, referred in enumerate(kinds):
        row = chosen[referred][places[referred]]
        members.append(
            {
                "place": places[referred],
                "file_id": row.file_id,
                "content_hash": row.content_hash,
                "referred": referred,
                "risk": risks[slot],
                "doubt": doubts[slot],
            }
        )
        places[referred] += 1
    return Planned(seed, len(queued), len(others), tuple(members))


def draw(connection: sa.Connection, planned: Planned, *, by: str, now: datetime) -> SampleDraw:
    """Write a draw, which replaces the previous one.

    Raises:
        InputError: no user name.
    """
    by = checked_text("by", by)
    require_name("by", by)
    lock_chain(connection)
    before = work_sources.latest_draw(connection)
    old = sa.select(sample_member.c.file_id).where(sample_member.c.draw_id == before)
    concerned = [*connection.execute(old).scalars(), *(row["file_id"] for row in planned.members)]
    values = {
        "seed": planned.seed,
        "n_queued": planned.n_queued,
        "n_unreferred": planned.n_unreferred,
        "drawn_by": by,
        "drawn": now,
    }
    number = inserted_id(connection, sample_draw, values)
    for batch in chunks(planned.members):
        connection.execute(sample_member.insert(), [{**row, "draw_id": number} for row in batch])
    details = {"n_sampled": len(planned.members), "n_queued": planned.n_queued}
    details["n_unreferred"] = planned.n_unreferred
    audit.append(connection, [audit.Entry("draw_sample", number, details)], actor=by, at=now)
    work_rows.refresh(connection, concerned)
    made = last_draw(connection)
    if made is None:  # pragma: no cover (it was written above)
        message = gettext("the draw was not written")
        raise RuntimeError(message)
    return made


def last_draw(connection: sa.Connection) -> SampleDraw | None:
    """Return the current draw."""
    row = connection.execute(sa.select(sample_draw).order_by(sample_draw.c.id.desc()).limit(1)).first()
    if row is None:
        return None
    query = (
        sa.select(sample_member.c.referred, sa.func.count())
        .where(sample_member.c.draw_id == row.id)
        .group_by(sample_member.c.referred)
    )
    n = {bool(kind): int(count) for kind, count in connection.execute(query)}
    return SampleDraw(
        id=row.id,
        n_sampled_queued=n.get(True, 0),
        n_queued=row.n_queued,
        n_sampled_unreferred=n.get(False, 0),
        n_unreferred=row.n_unreferred,
        drawn_by=row.drawn_by,
        drawn=row.drawn,
        seed=row.seed,
    )


def left(connection: sa.Connection) -> LeftCounts:
    """Count the input of the estimates of the remaining PHI; suppressed items count as undecided."""
    strata = _strata(connection)
    by_state: Counter[str] = Counter()
    for _, state, _, _, _, referred, n in work_tallies.statuses(connection):
        by_state[state] += n if referred else 0
    made = last_draw(connection)
    return LeftCounts(
        undecided=by_state[WorkState.UNDECIDED.value],
        found=by_state[Verdict.PHI.value],
        strata=strata,
        queued=_review(connection, made, referred=True) if made else None,
        unreferred=_review(connection, made, referred=False) if made else None,
    )


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


def _strata(connection: sa.Connection) -> tuple[Stratum, ...]:
    """Count the referred items by their score, including blind ones."""
    n = [[0, 0, 0] for _ in range(N_BANDS)]
    for band, state, count in work_tallies.bands(connection):
        n[band][0] += count
        n[band][1] += count if state != WorkState.UNDECIDED.value else 0
        n[band][2] += count if state in _PHI else 0
    return tuple(
        Stratum(place / N_BANDS, (place + 1) / N_BANDS, *counted)
        for place, counted in enumerate(n)
        if counted[0]
    )


def _review(connection: sa.Connection, made: SampleDraw, *, referred: bool) -> SampleReview:
    """Return the verdicts on a sample, in its random order.

    Files that are missing now are omitted: their absence is independent of their verdict.
    """
    query = (
        sa.select(sample_member.c.place, work_item.c.state)
        .join(work_item, work_item.c.file_id == sample_member.c.file_id)
        .where(
            sample_member.c.draw_id == made.id,
            sample_member.c.referred.is_(referred),
            work_item.c.content_hash == sample_member.c.content_hash,
        )
        .order_by(sample_member.c.place)
    )
    states = [row.state for row in connection.execute(query)]
    since = sa.select(sa.func.count()).where(
        work_item.c.referred.is_(referred),
        work_item.c.state == Verdict.PHI.value,
        work_item.c.decided >= made.drawn,
    )
    return SampleReview(
        population=made.n_queued if referred else made.n_unreferred,
        drawn=made.n_sampled_queued if referred else made.n_sampled_unreferred,
        found=int(connection.execute(since).scalar_one()),
        verdicts=tuple(None if state == WorkState.UNDECIDED.value else state in _PHI for state in states),
    )
