"""Reading of the queue: its order, one item with its evidence, every file of a scan."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import (
    EntityType,
    FailReason,
    Outcome,
    PiiVector,
    Reason,
    Referral,
    Span,
    StoredFinding,
    StoredTerm,
    UnreadPart,
    Verdict,
)
from phiscan.review.decisions.second_verdicts import SECOND
from phiscan.review.records.current_results import (
    concealed,
    current_results,
    detectors_of,
    interval_of,
    last_seen,
    missing_bits,
    outcome_in_scan,
    pairs_of,
    present,
    queue_item,
    vector_of,
)
from phiscan.review.records.items import Decision, FileRow, FileState, ItemDetail, QueueItem
from phiscan.review.worklist import counts as work_tallies
from phiscan.review.worklist.model import WorkState
from phiscan.store.tables import (
    access,
    decision,
    decision_undo,
    examination,
    file,
    finding,
    health_term,
    root,
    sighting,
    unread_part,
    work_item,
)

N_ROWS_AT_ONCE = 500
_N_SUGGESTED = 3


def queue(
    connection: sa.Connection,
    scan_id: int | None,
    *,
    verdicts: Collection[Verdict | None] | None,
    limit: int | None,
    offset: int,
    within: sa.Select[Any] | None = None,
    conceal: bool = False,
    second_look: bool = False,
    by_probability: bool = False,
) -> list[QueueItem]:
    """Return referred files, undecided ones first, highest risk first, then by root and path.

    ``second_look``: the second list instead: not referred, but marked by a detector or the decision table.
    ``by_probability``: most probable first. ``within``: a query of the only file numbers to include.
    ``conceal``: items that await a blind second verdict count as undecided.
    """
    narrowed = _narrowed(current_results(scan_id=scan_id, conceal=conceal), verdicts, second_look=second_look)
    first = sa.func.coalesce(examination.c.probability, 0.0) if by_probability else examination.c.risk
    is_decided = sa.case((narrowed.selected_columns["verdict"].is_(None), 0), else_=1)
    query = (
        (narrowed if within is None else narrowed.where(file.c.id.in_(within)))
        .order_by(is_decided, first.desc(), root.c.path, file.c.path)
        .limit(limit)
        .offset(offset)
    )
    return [queue_item(row) for row in connection.execute(query)]


def count(
    connection: sa.Connection,
    scan_id: int | None,
    verdicts: Collection[Verdict | None] | None,
    *,
    conceal: bool = False,
) -> int:
    """Count the items that ``queue`` returns without a limit."""
    undecided = WorkState.UNDECIDED.value
    if scan_id is None:
        secret = {SECOND, work_tallies.DUPLICATE} if conceal else set()
        wanted = {verdict.value if verdict else undecided for verdict in verdicts or ()}
        return sum(
            n
            for awaits, state, _, _, _, referred, n in work_tallies.statuses(connection)
            if referred and (verdicts is None or (undecided if awaits in secret else state) in wanted)
        )
    referred = examination.c.referral == Referral.REFERRED.value
    query = present(sa.select(sa.func.count()).select_from(sighting), scan_id).where(referred)
    if verdicts is not None:
        current_verdict = (
            sa.select(decision.c.verdict)
            .where(
                decision.c.file_id == file.c.id,
                decision.c.content_hash == examination.c.content_hash,
                ~sa.exists().where(decision_undo.c.decision_id == decision.c.id),
                ~concealed() if conceal else sa.true(),
            )
            .order_by(decision.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        query = query.where(_has_verdict(current_verdict, verdicts))
    return int(connection.execute(query).scalar_one())


FindingReader = Callable[[sa.Connection, int, str], tuple[StoredFinding, ...]]
"""Returns the findings of an examination by its number and the digest of its content."""


def item(
    connection: sa.Connection, file_id: int, *, conceal: bool = False, read: FindingReader | None = None
) -> ItemDetail:
    """Return one file with findings, terms, unread parts and decisions.

    ``conceal``: without what a blind reviewer must not see. For an item of the random sample that is all
    that the machine found; for one that awaits a second verdict, the decisions about this content. ``read``:
    source of the findings, instead of the database.

    Raises:
        InputError: there is no such file.
    """
    row = last_seen(connection, file_id)
    if row is None:
        message = _("file {file_id}: there is no such file in the database", file_id=file_id)
        raise InputError(message)
    access_row = connection.execute(
        sa.select(access.c.owner, access.c.readers).where(access.c.examination_id == row.id)
    ).first()
    state = FileState(
        outcome=Outcome(row.outcome),
        reason=row.reason,
        detail=row.detail,
        mode=row.mode,
        uid=row.uid,
        mtime_ns=row.mtime_ns,
        content_hash=row.content_hash,
        n_chars=row.n_chars,
        health_distance=row.health_distance,
        scan_id=row.scan_id,
        owner=access_row.owner if access_row else "",
        readers=tuple(access_row.readers) if access_row else (),
    )
    detail = ItemDetail(
        item=queue_item(row),
        source=state,
        findings=read(connection, row.id, row.content_hash) if read else stored_findings(connection, row.id),
        terms=_terms(connection, row.id),
        unread=tuple(_unread(connection, [row.id])[row.id]),
        decisions=_decisions(connection, file_id),
    )
    return _concealed(connection, detail) if conceal else detail


def _concealed(connection: sa.Connection, detail: ItemDetail) -> ItemDetail:
    here = sa.select(work_item.c.blind, work_item.c.awaits).where(
        work_item.c.file_id == detail.item.file_id, work_item.c.content_hash == detail.source.content_hash
    )
    row = connection.execute(here).first()
    if row is not None and row.awaits == SECOND:
        earlier = [one for one in detail.decisions if one.content_hash != detail.source.content_hash]
        shown = replace(detail.item, verdict=None, reviewer="")
        detail = replace(detail, item=shown, decisions=tuple(earlier))
    if row is None or not row.blind:
        return detail
    bare = replace(
        detail.item,
        vector=PiiVector(),
        hamming=None,
        missing=(),
        nearest_prototype="",
        prototype_distance=None,
        health_score=None,
        health_prototype="",
        n_people=0,
        people_interval=None,
        n_findings=0,
        referral=None,
        case="",
        probability=None,
        reasons=(),
        second_look=False,
        detectors=(),
        detector_probabilities=(),
        risk=0.0,
    )
    source = replace(detail.source, reason="", detail="", health_distance=None)
    return replace(detail, item=bare, source=source, findings=(), terms=(), unread=(), blind=True)


def find(connection: sa.Connection, path: str) -> int:
    """Return the number of the file with a path, relative to its root or absolute, or with a number.

    The path may be the display form or the raw name, as a shell passes it.

    Raises:
        InputError: no file or more than one has this path.
    """
    any_root = file.c.root_id.in_(sa.select(root.c.id))  # allows the index on root and path
    found = _matching(connection, (file.c.display == path) | (any_root & (file.c.path == os.fsencode(path))))
    if not found and (path.startswith("/") or "://" in path):
        found = _find_absolute(connection, path)
    if not found and path.isdecimal() and path.isascii() and len(path) < 19:  # noqa: PLR2004 (digits of 2**63)
        found = _matching(connection, file.c.id == int(path))
    if not found:
        message = _(
            "{path}: no such file; expected a path or number that `phiscan queue list` shows", path=path
        )
        if named := _ending_with(connection, path):
            message += _("; did you mean {paths}?", paths=", ".join(named))
        raise InputError(message)
    if len(found) > 1:
        roots = ", ".join(sorted({row.display for row in found}))
        message = _(
            "{path}: {found} files have this path; expected an absolute path, under one of {roots}",
            path=path,
            found=len(found),
            roots=roots,
        )
        raise InputError(message)
    return int(found[0].id)


def rows(connection: sa.Connection, scan_id: int | None, *, conceal: bool = False) -> Iterator[FileRow]:
    """Yield the files of a scan (None: all present now) by root and path; with constant memory.

    ``conceal``: items that await a blind second verdict count as undecided.
    """
    query = current_results(scan_id=scan_id, conceal=conceal).order_by(root.c.path, file.c.path)
    result = connection.execute(query.execution_options(yield_per=N_ROWS_AT_ONCE))
    for batch in result.partitions():
        unread = _unread(connection, [row.id for row in batch])
        for row in batch:
            yield _file_row(row, tuple(unread[row.id]))


def _narrowed(
    query: sa.Select[Any], verdicts: Collection[Verdict | None] | None, *, second_look: bool = False
) -> sa.Select[Any]:
    is_listed = (
        examination.c.second_look == sa.true()
        if second_look
        else examination.c.referral == Referral.REFERRED.value
    )
    query = query.where(is_listed)
    return query if verdicts is None else query.where(_has_verdict(decision.c.verdict, verdicts))


def _has_verdict(
    current_verdict: sa.ColumnElement[str], verdicts: Collection[Verdict | None]
) -> sa.ColumnElement[bool]:
    """Return the condition that the current verdict is one of these; None = undecided."""
    wanted = current_verdict.in_([verdict.value for verdict in verdicts if verdict is not None])
    return wanted | current_verdict.is_(None) if None in verdicts else wanted


def _matching(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[sa.Row[Any]]:
    query = sa.select(file.c.id, root.c.display, file.c.seen_scan_id).join(root, root.c.id == file.c.root_id)
    return [*connection.execute(query.where(condition))]


def _ending_with(connection: sa.Connection, name: str) -> list[str]:
    """Return the paths of the first files whose last parts are this name."""
    ending = file.c.display.endswith(f"/{name}", autoescape=True)
    query = sa.select(file.c.display).where(ending).order_by(file.c.display).limit(_N_SUGGESTED)
    return list(connection.execute(query).scalars()) if name else []


def _find_absolute(connection: sa.Connection, path: str) -> list[sa.Row[Any]]:
    """Find a file by root and path joined; of nested roots, the file that was seen last."""
    raw = os.fsencode(path)
    found: list[sa.Row[Any]] = []
    for row in connection.execute(sa.select(root.c.id, root.c.display, root.c.path)):
        shown, bare = row.display.rstrip("/") + "/", row.path.rstrip(b"/") + b"/"
        names = []
        if path.startswith(shown):
            names.append(file.c.display == path[len(shown) :])
        if raw.startswith(bare):
            names.append(file.c.path == raw[len(bare) :])
        if names:
            found += _matching(connection, (file.c.root_id == row.id) & sa.or_(*names))
    newest = max((row.seen_scan_id for row in found), default=0)
    return [row for row in found if row.seen_scan_id == newest]


def _file_row(row: sa.Row[Any], unread: tuple[UnreadPart, ...]) -> FileRow:
    return FileRow(
        file_id=row.file_id,
        root=row.root,
        path=row.path,
        media_type=row.media_type,
        size=row.size,
        outcome=outcome_in_scan(row.outcome, examined_in=row.scan_id, sighted_in=row.sighted_in),
        reason=row.reason,
        detail=row.detail,
        unread=unread,
        vector=vector_of(row.vector),
        hamming=row.hamming,
        missing=missing_bits(row.missing),
        health_score=row.health_score,
        n_people=row.n_people,
        people_interval=interval_of(row.people_low, row.people_high),
        n_findings=row.n_findings,
        referral=Referral(row.referral) if row.referral else None,
        case=row.decision_case,
        probability=row.probability,
        reasons=pairs_of(row.decision_reasons),
        second_look=bool(row.second_look),
        detectors=detectors_of(row.detectors),
        detector_probabilities=pairs_of(row.detector_probabilities),
        verdict=Verdict(row.verdict) if row.verdict else None,
        reviewer=row.reviewer or "",
        standing=row.scan_id != row.sighted_in,
        risk=row.risk,
    )


def stored_findings(connection: sa.Connection, examination_id: int) -> tuple[StoredFinding, ...]:
    """Return the findings of an examination in stored order."""
    query = sa.select(finding).where(finding.c.examination_id == examination_id).order_by(finding.c.position)
    return tuple(
        StoredFinding(
            span=Span(row.span_start, row.span_end),
            locator=row.locator,
            entity_type=EntityType(row.entity_type),
            source=row.source,
            score=row.score,
            reasons=tuple(Reason(kind, detail, score) for kind, detail, score in row.reasons),
            preview=row.preview,
            identity=row.identity,
        )
        for row in connection.execute(query)
    )


def _terms(connection: sa.Connection, examination_id: int) -> tuple[StoredTerm, ...]:
    query = (
        sa.select(health_term)
        .where(health_term.c.examination_id == examination_id)
        .order_by(health_term.c.position)
    )
    return tuple(
        StoredTerm(row.concept, row.n_hits, Span(row.first_start, row.first_end), row.locator)
        for row in connection.execute(query)
    )


def _unread(connection: sa.Connection, examination_ids: list[int]) -> dict[int, list[UnreadPart]]:
    query = (
        sa.select(unread_part)
        .where(unread_part.c.examination_id.in_(examination_ids))
        .order_by(unread_part.c.examination_id, unread_part.c.position)
    )
    parts: dict[int, list[UnreadPart]] = defaultdict(list)
    for row in connection.execute(query):
        parts[row.examination_id].append(UnreadPart(row.locator, FailReason(row.reason), row.detail))
    return parts


def _decisions(connection: sa.Connection, file_id: int) -> tuple[Decision, ...]:
    query = sa.select(decision).where(decision.c.file_id == file_id).order_by(decision.c.id)
    return tuple(
        Decision(
            id=row.id,
            file_id=row.file_id,
            verdict=Verdict(row.verdict),
            reviewer=row.reviewer,
            reason=row.reason,
            note=row.note,
            decided=row.decided,
            content_hash=row.content_hash,
        )
        for row in connection.execute(query)
    )
