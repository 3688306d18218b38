"""What is learned from reviewers: corrections, the gold standard of scores, and versions of models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from phiscan.errors import ConflictError, InputError
from phiscan.language import gettext as _
from phiscan.model import TITLED, EntityType, PiiVector, Referral, ScannedFile, Span, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import about, checked_name, checked_text
from phiscan.review.records.file_records import current_results, last_seen
from phiscan.review.worklist.model import SECOND
from phiscan.store.database import Database
from phiscan.store.sql_batches import as_value
from phiscan.store.tables.desk import (
    decision,
    decision_undo,
    model_activation,
    model_version,
    span_correction,
    span_review,
    topic_correction,
    work_item,
)
from phiscan.store.tables.scans import (
    examination,
    file,
    finding,
    health_term,
    health_window,
    root,
    scan,
    sighting,
)


class Mark(StrEnum):
    """The kinds of corrections of one span."""

    RIGHT = "right"
    WRONG_TYPE = "wrong_type"
    WRONG_EXTENT = "wrong_extent"
    SPURIOUS = "spurious"
    MISSED = "missed"
    WITHDRAWN = "withdrawn"  # removes the correction of this span


@dataclass(frozen=True, slots=True)
class Correction:
    """The current correction of one span of the present content.

    ``position`` is the index of the finding in its examination (as in ``FileRecord.findings``), None for a
    missed one. ``span`` and ``entity_type`` are the correct ones; of a spurious finding, its own.
    """

    id: int
    position: int | None
    mark: Mark
    span: Span
    entity_type: EntityType
    reviewer: str
    corrected: datetime


@dataclass(frozen=True, slots=True)
class ItemCorrections:
    """All corrections of the spans and topics of one file's present content."""

    spans: tuple[Correction, ...]
    complete: bool  # all spans were checked: those without a correction are correct
    completed_by: str
    topics: tuple[str, ...] | None  # None = no reviewer has chosen any


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A file whose spans were all checked: the correct ones, and those that the machine found."""

    file_id: int
    path: str
    content_hash: str
    gold: tuple[tuple[int, int, str], ...]  # start, end, type; in text order
    system: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TopicGold:
    """The topics that reviewers chose for a file, and the concepts that the machine found."""

    file_id: int
    path: str
    labels: tuple[str, ...]
    concepts: tuple[str, ...]  # concept ids found, once each


MAX_LABELS = 50
MAX_LABEL_CHARS = 100


def correct(
    connection: sa.Connection,
    file_id: int,
    mark: Mark,
    *,
    seen: int,
    reviewer: str,
    now: datetime,
    position: int | None = None,
    span: Span | None = None,
    entity_type: EntityType | None = None,
) -> Correction:
    """Append a reviewer's correction of one span; omitted parts are those of the finding.

    Args:
        connection: connection in a writing transaction.
        file_id: the file.
        mark: ``wrong_type`` needs the correct ``entity_type``, ``wrong_extent`` the correct ``span``,
            ``missed`` both and no ``position``; ``withdrawn`` removes the correction of a position, or of
            the missed ``span``.
        seen: the examination whose findings were shown.
        reviewer: who corrects.
        now: when.
        position: index of the finding in ``FileRecord.findings``.
        span: code points of the extracted text.
        entity_type: type of the identifier.

    Raises:
        ConflictError: the file was examined again since it was shown.
        InputError: no such finding, a part is missing, or the span exceeds the text.
    """
    mark, reviewer = Mark(mark), checked_name("reviewer", reviewer)
    row = _shown(connection, file_id, seen)
    found = None if position is None else _finding(connection, row, position)
    if (mark is Mark.MISSED and found is not None) or (
        found is None and mark not in {Mark.MISSED, Mark.WITHDRAWN}
    ):
        message = _(
            "position: expected the place of a finding, unless it was missed; got {position}",
            position=position,
        )
        raise InputError(message)
    if span is None and (found is None or mark is Mark.WRONG_EXTENT):
        raise InputError(_("span: expected where it is, for a mark of {mark}", mark=mark))
    if entity_type is None and mark in {Mark.MISSED, Mark.WRONG_TYPE}:
        raise InputError(_("entity_type: expected what it is, for a mark of {mark}", mark=mark))
    # RIGHT, SPURIOUS and WITHDRAWN refer to the finding as it is; the others to what it should have been.
    as_found = found is not None and mark in {Mark.RIGHT, Mark.SPURIOUS, Mark.WITHDRAWN}
    right = Span(found.span_start, found.span_end) if found and (as_found or span is None) else span
    kind = found.entity_type if found and (as_found or entity_type is None) else entity_type
    if right is None or right.end > row.n_chars:
        message = _("span: expected to end within the {n_chars} characters of the text", n_chars=row.n_chars)
        raise InputError(message)
    kind = EntityType(kind or EntityType.OTHER_ID)
    values = {**about(row), "position": position, "mark": mark.value, "entity_type": kind.value}
    values |= {"span_start": right.start, "span_end": right.end}
    details = {"file": file_id, "mark": mark.value}
    number = audit.record(connection, "correct_span", values, details, by=reviewer, now=now)
    return Correction(number, position, mark, right, kind, reviewer, now)


def complete_spans(
    connection: sa.Connection, file_id: int, *, seen: int, reviewer: str, now: datetime, complete: bool = True
) -> None:
    """Append that all spans of a file were checked (it becomes gold standard), or that they were not.

    Raises:
        ConflictError: the file was examined again since it was shown.
        InputError: there is no such file.
    """
    reviewer = checked_name("reviewer", reviewer)
    row = _shown(connection, file_id, seen)
    values, details = {**about(row), "complete": complete}, {"file": file_id, "complete": complete}
    audit.record(connection, "complete_spans", values, details, by=reviewer, now=now)


def correct_topics(
    connection: sa.Connection, file_id: int, labels: Sequence[str], *, seen: int, reviewer: str, now: datetime
) -> None:
    """Append the ICD chapters and blocks of a file; no labels = it has no topic.

    Raises:
        ConflictError: the file was examined again since it was shown.
        InputError: a label is empty, too long, or there are too many.
    """
    reviewer = checked_name("reviewer", reviewer)
    tidy = list(dict.fromkeys(checked_text("label", label, MAX_LABEL_CHARS) for label in labels))
    if not all(tidy) or len(tidy) > MAX_LABELS:
        message = _(
            "labels: expected at most {max_labels} labels of ICD chapters or blocks, none empty",
            max_labels=MAX_LABELS,
        )
        raise InputError(message)
    row = _shown(connection, file_id, seen)
    values, details = {**about(row), "labels": tidy}, {"file": file_id, "n_labels": len(tidy)}
    audit.record(connection, "correct_topics", values, details, by=reviewer, now=now)


def corrections(connection: sa.Connection, file_id: int, *, viewer: str | None = None) -> ItemCorrections:
    """Return the corrections of a file's present result: all, or those that ``viewer`` may see.

    A reviewer who is to give a blind second verdict sees only their own.

    Raises:
        InputError: there is no such file.
    """
    row = last_seen(connection, file_id)
    item = connection.execute(sa.select(work_item).where(work_item.c.file_id == file_id)).first()
    is_second = viewer is not None and item is not None and item.awaits == SECOND and item.reviewer != viewer
    by = viewer if is_second else None
    spans = _current_spans(connection, row.id, by=by)
    checked = _last(connection, span_review, row.id, by=by)
    about = _last(connection, topic_correction, row.id, by=by)
    complete = bool(checked and checked.complete)
    return ItemCorrections(
        spans=tuple(spans),
        complete=complete,
        completed_by=checked.reviewer if checked and complete else "",
        topics=tuple(about.labels) if about else None,
    )


def gold(connection: sa.Connection) -> tuple[GoldFile, ...]:
    """Return the files whose spans were all checked, by number; with the result that was checked."""
    return tuple(_gold_of(connection, row) for row in _newest(connection, span_review) if row.complete)


def _gold_of(connection: sa.Connection, row: sa.Row[Any]) -> GoldFile:
    current = _current_spans(connection, row.examination_id)
    query = sa.select(finding).where(finding.c.examination_id == row.examination_id)
    found = connection.execute(query)
    system = {one.position: (one.span_start, one.span_end, one.entity_type) for one in found}
    of_finding = {one.position: one for one in current if one.position is not None}
    right = [_triple(one) for one in current if one.position is None]
    for position, triple in system.items():
        mark = of_finding.get(position)
        if mark is None:
            right.append(triple)
        elif mark.mark is not Mark.SPURIOUS:
            right.append(_triple(mark))
    spans = (tuple(sorted(right)), tuple(sorted(system.values())))
    return GoldFile(row.file_id, row.display, row.content_hash, *spans)


def topic_gold(connection: sa.Connection) -> tuple[TopicGold, ...]:
    """Return the files with topics of a reviewer, by number."""
    query = sa.select(health_term.c.concept).order_by(health_term.c.position)
    gold = []
    for row in _newest(connection, topic_correction):
        concepts = connection.execute(
            query.where(health_term.c.examination_id == row.examination_id)
        ).scalars()
        gold.append(TopicGold(row.file_id, row.display, tuple(row.labels), tuple(dict.fromkeys(concepts))))
    return tuple(gold)


def _newest(connection: sa.Connection, table: sa.Table) -> Sequence[sa.Row[Any]]:
    """Return the last row about each content of a file, with its path, by number of the file."""
    newest = sa.select(sa.func.max(table.c.id)).group_by(table.c.file_id, table.c.content_hash)
    query = (
        sa.select(table, file.c.display)
        .join(file, file.c.id == table.c.file_id)
        .where(table.c.id.in_(newest))
        .order_by(table.c.file_id, table.c.id)
    )
    return connection.execute(query).all()


def _shown(connection: sa.Connection, file_id: int, seen: int) -> sa.Row[Any]:
    """Return the present result, which must be the one that was shown: positions refer to it.

    Raises:
        ConflictError: the file was examined again.
    """
    row = last_seen(connection, file_id)
    if row.id != seen:
        message = _("{path}: the file was examined again since it was shown; check it again", path=row.path)
        raise ConflictError(message)
    return row


def _finding(connection: sa.Connection, row: sa.Row[Any], position: int) -> sa.Row[Any]:
    """Return a visible finding: not of a blind item, nor of a file outside of the list.

    Raises:
        InputError: none is visible there; its existence would distinguish referred files from others.
    """
    query = (
        sa.select(finding)
        .join(work_item, work_item.c.examination_id == finding.c.examination_id)
        .where(finding.c.examination_id == row.id, finding.c.position == position, ~work_item.c.blind)
    )
    found = connection.execute(query).first()
    if found is None:
        message = _(
            "position: expected the place of a finding of this file, got {position}", position=position
        )
        raise InputError(message)
    return found


def _last(
    connection: sa.Connection, table: sa.Table, examination_id: int, *, by: str | None
) -> sa.Row[Any] | None:
    query = sa.select(table).where(table.c.examination_id == examination_id).order_by(table.c.id.desc())
    if by is not None:
        query = query.where(table.c.reviewer == by)
    return connection.execute(query.limit(1)).first()


def _current_spans(
    connection: sa.Connection, examination_id: int, *, by: str | None = None
) -> list[Correction]:
    """Return the latest correction (of one user, or of all) of each finding and missed span, in order."""
    query = (
        sa.select(span_correction)
        .where(span_correction.c.examination_id == examination_id)
        .order_by(span_correction.c.id)
    )
    if by is not None:
        query = query.where(span_correction.c.reviewer == by)
    last: dict[object, Correction] = {}
    for row in connection.execute(query):
        span = Span(row.span_start, row.span_end)
        subject = row.position if row.position is not None else span
        kind = EntityType(row.entity_type)
        last[subject] = as_value(Correction, row, mark=Mark(row.mark), span=span, entity_type=kind)
    standing = [one for one in last.values() if one.mark is not Mark.WITHDRAWN]
    return sorted(standing, key=lambda one: (one.span, one.id))


def _triple(one: Correction) -> tuple[int, int, str]:
    return (one.span.start, one.span.end, one.entity_type.value)


_NEAR = 6.0  # log-odds: twice what verdicts may add
SHIPPED = "shipped"  # name of the models in the installed package


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One decided content with the stored features of its examination; no text, no value."""

    file_id: int
    content_hash: str
    is_phi: bool
    reviewer: str
    vector: PiiVector
    counts: Mapping[str, int]
    evidence: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One version, and whether scans use it."""

    number: int
    made: datetime
    made_by: str
    files: Mapping[str, str]  # name -> sha256
    summary: Mapping[str, Any]
    active: bool


def reviewed_files(database: Database) -> Iterator[ReviewedFile]:
    """Yield every content with a current verdict of phi or not_phi, in the order of the decisions.

    Identical files are one example, as they are one decision; only files with stored evidence are included.
    """
    latest = (
        sa.select(sa.func.max(decision.c.id).label("id"))
        .where(~sa.exists().where(decision_undo.c.decision_id == decision.c.id))
        .group_by(decision.c.content_hash)
        .subquery()
    )
    newest = (
        sa.select(sa.func.max(examination.c.id))
        .join(health_window, health_window.c.examination_id == examination.c.id)
        .where(
            examination.c.file_id == decision.c.file_id, examination.c.content_hash == decision.c.content_hash
        )
        .correlate(decision)
        .scalar_subquery()
    )
    query = (
        sa.select(
            *(decision.c[name] for name in ("file_id", "content_hash", "verdict", "reviewer")),
            *(examination.c.vector, health_window.c.counts, health_window.c.evidence),
        )
        .join(latest, latest.c.id == decision.c.id)
        .join(examination, examination.c.id == newest)
        .join(health_window, health_window.c.examination_id == examination.c.id)
        .where(decision.c.verdict.in_([Verdict.PHI.value, Verdict.NOT_PHI.value]))
        .order_by(decision.c.id)
    )
    with database.read() as connection:
        for row in connection.execute(query):
            is_phi, vector = row.verdict == Verdict.PHI.value, PiiVector.from_int(row.vector)
            yield as_value(ReviewedFile, row, is_phi=is_phi, vector=vector)


def scanned_files(database: Database) -> Iterator[ScannedFile]:
    """Yield every present file that was screened, as the last scan of its root decided it."""
    results = current_results(scan_id=None)
    first = (
        sa.select(sighting.c.file_id, sa.func.min(scan.c.started).label("since"))
        .join(scan, scan.c.id == sighting.c.scan_id)
        .group_by(sighting.c.file_id)
        .subquery()
    )
    query = (
        results.add_columns(health_window.c.evidence, first.c.since)
        .outerjoin(health_window, health_window.c.examination_id == examination.c.id)
        .join(first, first.c.file_id == file.c.id)
        .where(examination.c.referral.is_not(None))
        .order_by(file.c.id)
    )
    with database.read() as connection:
        for row in connection.execute(query):
            yield as_value(
                ScannedFile,
                row,
                is_referred=row.referral == Referral.REFERRED.value,
                second_look=bool(row.second_look),
                probability=row.probability or 0.0,
                verdict=Verdict(row.verdict) if row.verdict else None,
                evidence=row.evidence or {},
            )


def judged_near(
    connection: sa.Connection, roots: Sequence[bytes], log_odds: float
) -> Iterator[tuple[int, float, Mapping[str, int]]]:
    """Yield number, log-odds and evidence of undecided results below roots, by content, near these."""
    if connection.execute(sa.select(decision.c.id).limit(1)).first() is None:
        return iter(())  # nobody has decided anything, and the files need not be looked through
    results = current_results(scan_id=None).join(
        health_window, health_window.c.examination_id == examination.c.id
    )
    query = results.with_only_columns(examination.c.id, examination.c.probability, health_window.c.evidence)
    low, high = (1 / (1 + math.exp(side * _NEAR - log_odds)) for side in (1, -1))
    is_near = examination.c.probability.between(low, high) & decision.c.id.is_(None)
    query = query.where(root.c.path.in_(roots))
    rows = connection.execute(query.where(is_near, ~examination.c.by_name, examination.c.case != TITLED))
    return ((row.id, math.log(row.probability / (1 - row.probability)), row.evidence) for row in rows)


def in_use(database: Database) -> tuple[ModelVersion | None, ModelVersion | None]:
    """Return the version that scans use and the one that was in use before it; None = the shipped one."""
    with database.read() as connection:
        active, before = _in_use(connection)
    known: dict[int | None, ModelVersion] = {version.number: version for version in versions(database)}
    return known.get(active), known.get(before)


def versions(database: Database) -> list[ModelVersion]:
    """Return every version, oldest first."""
    with database.read() as connection:
        active = _in_use(connection)[0]
        return [
            as_value(ModelVersion, row, number=row.id, active=row.id == active)
            for row in connection.execute(sa.select(model_version).order_by(model_version.c.id))
        ]


def add_version(
    database: Database,
    *,
    number: int,
    files: Mapping[str, str],
    summary: Mapping[str, Any],
    by: str,
    now: datetime,
) -> None:
    """Append a version; it is used only after its activation.

    Raises:
        InputError: another user made this version concurrently, or no user name.
    """
    by = checked_name("--by", by)

    def write(connection: sa.Connection) -> None:
        if 1 + (connection.execute(sa.select(sa.func.max(model_version.c.id))).scalar() or 0) != number:
            message = f"version {number}: was made by somebody else meanwhile; learn again"
            raise InputError(message)
        values = {"id": number, "files": dict(files), "summary": dict(summary)}
        details = {"version": number, "files": dict(files)}
        audit.record(connection, "learn", values, details, by=by, now=now)

    database.write(write, durable=True)


def activate(
    database: Database, number: int | None, *, by: str, now: datetime, accept: str = ""
) -> int | None:
    """Append the version that scans use from now on; None = the shipped one. Returns the previous one.

    ``accept``: why a version is used although ``summary["accept"]`` says what speaks against it.

    Raises:
        InputError: there is no such version, it is active already, it must be accepted, or no user name.
    """
    by, why = checked_name("--by", by), checked_text("--accept", accept)

    def write(connection: sa.Connection) -> int | None:
        rows = connection.execute(sa.select(model_version.c.id, model_version.c.summary))
        known = {row.id: row.summary for row in rows}
        name = SHIPPED if number is None else str(number)
        if number is not None and number not in known:
            listed = ", ".join(map(str, [SHIPPED, *sorted(known)]))
            message = f"--activate {name}: there is no such version; expected one of {listed}"
            raise InputError(message)
        before = _in_use(connection)[0]
        if before == number:
            message = f"--activate {name}: is active already"
            raise InputError(message)
        against = known[number].get("accept", []) if number is not None else []
        if against and not why:
            message = f'--activate {name}: expected --accept "why", because {"; ".join(against)}'
            raise InputError(message)
        values = {"version_id": number, "accepted": why}
        details = {"version": name, "accepted": why}
        audit.record(connection, "activate_model", values, details, by=by, now=now)
        return before

    return database.write(write, durable=True)


def _in_use(connection: sa.Connection) -> tuple[int | None, int | None]:
    query = sa.select(model_activation.c.version_id).order_by(model_activation.c.id.desc()).limit(2)
    active, before, *_ = *connection.execute(query).scalars(), None, None
    return active, before
