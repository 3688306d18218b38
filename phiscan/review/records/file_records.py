"""The record of a file in the database: the columns of its result, the query of its decision state.

A field of ``FileResult`` with the name of a column of ``examination`` is written to it and read from it; one
whose value is no plain number or text has its conversions in ``CODECS``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.model import (
    OWN_NAMES,
    EntityType,
    FailReason,
    FileResult,
    Outcome,
    PiiBit,
    PiiVector,
    ReaderCount,
    Reason,
    Referral,
    Search,
    SourceFile,
    Span,
    StoredFinding,
    StoredTerm,
    UnreadPart,
    Verdict,
)
from phiscan.review.worklist.model import (
    NOT_BY_THEMSELVES,
    SECOND,
    Decision,
    Detectors,
    FileRecord,
    exposure_of,
    risk_of,
)
from phiscan.store.sql_batches import as_value
from phiscan.store.tables.desk import assignment, decision, decision_undo, work_item
from phiscan.store.tables.scans import (
    access,
    examination,
    file,
    finding,
    health_term,
    reader_count,
    root,
    sighting,
    unread_part,
)

RISK = examination.c.risk * sa.func.coalesce(reader_count.c.weight, 1.0)
"""The order of the list; with ``COUNT`` joined."""
COUNT = (reader_count, reader_count.c.of_examination == examination.c.id)
"""The outer join of the number of readers of a result."""
IS_PRESENT = file.c.seen_scan_id >= sa.func.coalesce(root.c.complete_scan_id, 0)
"""The condition that a file was seen by the last complete scan of its root, or a later one."""
COUNTED = tuple(column for column in reader_count.c if column.name.startswith("readers_"))

COLUMNS = (
    file.c.id.label("file_id"),
    file.c.root_id,
    root.c.path.label("root_bytes"),
    root.c.display.label("root"),
    file.c.path.label("path_bytes"),
    file.c.display.label("path"),
    *(column for column in examination.c if column.name not in {"file_id", "risk"}),
    RISK.label("risk"),
    access.c.owner,
    access.c.readers,
    *COUNTED,
)
"""The columns of a record, of the tables file, root, examination and (outer joins) access and ``COUNT``."""


_listed = work_item.alias("listed")
LISTED_RISK = sa.func.coalesce(_listed.c.risk, RISK)
"""The risk by which the list is ordered: with the factor of openings where the result is in the list."""


def current_results(*, scan_id: int | None, conceal: bool = False) -> sa.Select[Any]:
    """Select the files that a scan saw with their result at that time; None: all files present now.

    A file is present until a complete scan of its root has not seen it; during a scan, files that it has not
    crawled yet count as present. ``conceal``: items that await a blind second verdict are selected as
    undecided.
    """
    return _narrowed(_sightings(conceal=conceal), scan_id)


def present(query: sa.Select[Any], scan_id: int | None) -> sa.Select[Any]:
    """Join file, root and examination to a query on sightings, and restrict it to the scan."""
    return _narrowed(_joined(query), scan_id)


def _narrowed(query: sa.Select[Any], scan_id: int | None) -> sa.Select[Any]:
    if scan_id is not None:
        return query.where(sighting.c.scan_id == scan_id)
    return query.where(sighting.c.scan_id == file.c.seen_scan_id, IS_PRESENT)


def _joined(query: sa.Select[Any]) -> sa.Select[Any]:
    return (
        query.join(file, file.c.id == sighting.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .join(examination, examination.c.id == sighting.c.examination_id)
    )


def _sightings(*, conceal: bool = False) -> sa.Select[Any]:
    assignment_id = (
        sa.select(sa.func.max(assignment.c.id))
        .where(assignment.c.file_id == file.c.id)
        .correlate(file)
        .scalar_subquery()
    )
    query = sa.select(
        *COLUMNS,
        sighting.c.scan_id.label("sighted_in"),
        decision.c.verdict,
        decision.c.reviewer,
        decision.c.file_id.label("made_about"),
        assignment.c.assignee,
        LISTED_RISK.label("listed_risk"),
    ).select_from(sighting)
    return (
        _joined(query)
        .outerjoin(access, access.c.examination_id == examination.c.id)
        .outerjoin(*COUNT)
        .outerjoin(
            decision,
            (decision.c.id == standing_decision(examination)) & (~concealed() if conceal else sa.true()),
        )
        .outerjoin(assignment, assignment.c.id == assignment_id)
        .outerjoin(
            _listed,
            (_listed.c.file_id == file.c.id)
            & (_listed.c.examination_id == examination.c.id)
            & _listed.c.blind.is_(False),
        )
    )


IN_OWN_NAME = (finding.c.examination_id == examination.c.id, finding.c.locator.in_(OWN_NAMES))


def same_people() -> sa.ColumnElement[str]:
    """Return an expression over examinations: equal for two files that put the same people at risk.

    Copies of one content do, unless their own names contain data of different people.
    """
    named = (
        sa.select(sa.func.min(finding.c.identity))
        .where(*IN_OWN_NAME, finding.c.entity_type == EntityType.PERSON.value)
        .correlate(examination)
        .scalar_subquery()
    )
    return examination.c.content_hash + sa.func.coalesce(named, "")


def is_about(made: sa.FromClause, examined: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that a decision is about a result: the same bytes, of this or any other file.

    Of an identical file, a verdict other than PHI is not about one whose own name says more than was found
    in the other: a person or a condition. A verdict by the name, unopened, is about its own file alone.
    """
    adds = [
        _is_added(made, examined, finding, finding.c.identity),
        _is_added(made, examined, health_term, health_term.c.concept),
    ]
    is_phi = made.c.verdict == Verdict.PHI.value
    return sa.and_(
        made.c.content_hash == examined.c.content_hash,
        made.c.content_hash != "",
        (made.c.file_id == examined.c.file_id) | (~made.c.by_name & (is_phi | ~sa.or_(*adds))),
    )


def _is_added(
    made: sa.FromClause, examined: sa.FromClause, table: sa.Table, value: sa.Column[str]
) -> sa.ColumnElement[bool]:
    """Return the condition that a file's own name has a value that was not in the result decided upon."""
    named, known = table.alias(), table.alias()
    is_known = sa.exists().where(
        known.c.examination_id == made.c.examination_id, known.c[value.name] == named.c[value.name]
    )
    says = [named.c.examination_id == examined.c.id, named.c.locator.in_(OWN_NAMES)]
    if table is finding:
        says.append(named.c.entity_type.not_in([kind.value for kind in NOT_BY_THEMSELVES]))
    return sa.exists().where(*says, ~is_known.correlate_except(known)).correlate_except(named)


def standing_decision(examined: sa.FromClause) -> sa.ScalarSelect[Any]:
    """Return the number of the decision that stands for a result: the last one that applies to it."""
    made = decision.alias()
    undone = sa.exists().where(decision_undo.c.decision_id == made.c.id).correlate(made)
    query = sa.select(sa.func.max(made.c.id)).where(is_about(made, examined), ~undone)
    return query.correlate(examined).scalar_subquery()


def concealed() -> sa.ColumnElement[bool]:
    """Return the condition that the verdict on this content is hidden from a second reviewer."""
    return (
        sa.exists()
        .where(work_item.c.content_hash == examination.c.content_hash, work_item.c.awaits == SECOND)
        .correlate(examination)
    )


def people_at_risk(
    connection: sa.Connection, results: sa.Select[Any], by: Sequence[sa.ColumnElement[Any]] = ()
) -> dict[tuple[Any, ...], int]:
    """Sum the people at risk over results, by some columns: of referred files not decided as not PHI.

    An estimate of each file; identical files put the same people at risk, and count once for each value of
    ``by``. A verdict that a blind second reviewer must not see counts as none.
    """
    verdict = sa.select(decision.c.verdict).where(
        decision.c.id == standing_decision(examination), ~concealed()
    )
    of_content = (
        results.add_columns(
            *(column.label(f"by_{place}") for place, column in enumerate(by)),
            sa.func.max(examination.c.n_people).label("n"),
        )
        .where(examination.c.referral == Referral.REFERRED.value)
        .where(sa.func.coalesce(verdict.scalar_subquery(), "") != Verdict.NOT_PHI.value)
        .group_by(*by, same_people())
        .subquery()
    )
    groups = [of_content.c[f"by_{place}"] for place in range(len(by))]
    total = sa.func.coalesce(sa.func.sum(of_content.c.n), 0)
    rows = connection.execute(sa.select(*groups, total).select_from(of_content).group_by(*groups))
    return {tuple(row[:-1]): int(row[-1]) for row in rows}


def last_seen(connection: sa.Connection, file_id: int) -> sa.Row[Any]:
    """Return one file with its result in the last scan that saw it, present or not.

    Raises:
        InputError: there is no such file.
    """
    row = connection.execute(_last_seen(), {"seen_file_id": file_id}).first()
    if row is None:
        raise InputError(_("file {file_id}: there is no such file in the database", file_id=file_id))
    return row


@cache
def _last_seen() -> sa.Select[Any]:
    return _sightings().where(
        file.c.id == sa.bindparam("seen_file_id"), sighting.c.scan_id == file.c.seen_scan_id
    )


def decision_of(row: sa.Row[Any], **changed: Any) -> Decision:
    """Convert a row of ``decision``."""
    return as_value(Decision, row, **{"verdict": Verdict(row.verdict), **changed})


@lru_cache(maxsize=4096)
def vector_of(packed: int) -> PiiVector:
    """Unpack a vector; cached, because a share has few different ones."""
    return PiiVector.from_int(packed)


@lru_cache(maxsize=4096)
def missing_bits(packed: int) -> tuple[PiiBit, ...]:
    """Unpack a set of bits, in bit order."""
    bits = vector_of(packed).bits
    return tuple(bit for bit in PiiBit if bit in bits)


def detectors_of(stored: list[list[Any]]) -> Detectors:
    """Read the stored results of the detectors."""
    return tuple((str(name), bool(is_phi)) for name, is_phi in stored)


def pairs_of(stored: list[list[Any]]) -> tuple[tuple[str, float], ...]:
    """Read stored pairs of name and number: the reasons of a decision, the detectors' probabilities."""
    return tuple((str(name), float(number)) for name, number in stored)


def outcome_in_scan(outcome: str, *, examined_in: int, sighted_in: int) -> Outcome:
    """Return a file's outcome in the scan that saw it: unchanged, if the screening is an earlier one."""
    if outcome == Outcome.SCREENED and examined_in != sighted_in:
        return Outcome.UNCHANGED
    return Outcome(outcome)


CODECS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "outcome": (lambda outcome: outcome.value, Outcome),
    "reason": (str, str),
    "vector": (PiiVector.to_int, vector_of),
    "missing": (lambda bits: PiiVector(frozenset(bits)).to_int(), missing_bits),
    "people_interval": (lambda interval: interval, lambda stored: tuple(stored) if stored else None),
    "referral": (lambda referral: referral and referral.value, lambda stored: stored and Referral(stored)),
    "search": (
        lambda search: search.value if search else "",
        lambda stored: Search(stored) if stored else None,
    ),
    "reasons": (list, pairs_of),
    "detectors": (list, detectors_of),
    "detector_probabilities": (list, pairs_of),
    "finding_counts": (dict, lambda stored: tuple(stored.items())),
    "labels": (list, lambda stored: tuple(map(tuple, stored))),
}
"""How a field of a result is written, and how it is read."""

_RESULT = tuple(item.name for item in fields(FileResult) if item.name in examination.c)
_SOURCE = tuple(item.name for item in fields(SourceFile) if item.name in examination.c)
_DECODED = tuple((name, CODECS[name][1]) for name in _RESULT if name in CODECS)
_PLAIN = (
    *(name for name in _RESULT if name not in CODECS),
    *("file_id", "root_id", "root", "path", "scan_id", "n_findings", "risk"),
)


def source_row(source: SourceFile) -> dict[str, Any]:
    """Return the columns of an examination about the file in the file system."""
    return {name: getattr(source, name) for name in _SOURCE}


def result_row(result: FileResult) -> dict[str, Any]:
    """Return the columns of an examination with a result."""
    row = {name: getattr(result, name) for name in _RESULT}
    row |= {name: encode(row[name]) for name, (encode, _) in CODECS.items()}
    counts = row["finding_counts"] or Counter(one.entity_type.value for one in result.findings)
    exposure = exposure_of(result.source.mode, result.source.readers)
    return {
        **row,
        **source_row(result.source),
        "finding_counts": dict(counts),
        "n_findings": sum(counts.values()),
        "risk": risk_of(result.vector, result.n_people, result.health_score, exposure),
    }


def source_of(row: sa.Row[Any]) -> SourceFile:
    """Return the place and the metadata of a file at the examination of a row with ``COLUMNS``."""
    return SourceFile(
        root=row.root_bytes,
        path=row.path_bytes,
        owner=row.owner or "",
        readers=tuple(row.readers or ()),
        **{name: getattr(row, name) for name in _SOURCE},
    )


def record_of(row: sa.Row[Any], **state: Any) -> FileRecord:
    """Convert a row with ``COLUMNS``; ``state``: the fields that are no columns of a result."""
    stored = dict(zip(row._fields, row, strict=True))
    values = {name: stored[name] for name in _PLAIN}
    values |= {name: decode(stored[name]) for name, decode in _DECODED}
    values |= {"source": source_of(row), "examination_id": stored["id"], "reader_count": counted_of(row)}
    return FileRecord(**{**values, **state})


def counted_of(row: sa.Row[Any]) -> ReaderCount | None:
    """Return the number of readers of a row with its columns; None where they were not counted."""
    if row.readers_counted is None:
        return None
    return ReaderCount(
        low=row.readers_low,
        high=row.readers_high,
        n_accounts=row.readers_of,
        notes=tuple(row.readers_notes),
        counted=row.readers_counted,
    )


def sighted_record(row: sa.Row[Any], **state: Any) -> FileRecord:
    """Convert a row of ``current_results``; ``state``: further fields.

    Its outcome is unchanged if the screening is of an earlier scan; a failure or skip remains as it is.
    """
    return record_of(
        row,
        outcome=outcome_in_scan(row.outcome, examined_in=row.scan_id, sighted_in=row.sighted_in),
        standing=row.scan_id != row.sighted_in,
        verdict=Verdict(row.verdict) if row.verdict else None,
        reviewer=row.reviewer or "",
        carried=row.made_about not in {None, row.file_id},
        risk=row.listed_risk,
        assignee=row.assignee or "",
        **state,
    )


def with_evidence(connection: sa.Connection, record: FileRecord) -> FileRecord:
    """Return a record with its findings, terms and unread parts."""
    number = record.examination_id
    findings = (
        as_value(
            StoredFinding,
            row,
            span=Span(row.span_start, row.span_end),
            entity_type=EntityType(row.entity_type),
            reasons=tuple(Reason(kind, detail, score) for kind, detail, score in row.reasons),
        )
        for row in _of_examination(connection, finding, [number])
    )
    terms = (
        StoredTerm(row.concept, row.n_hits, Span(row.first_start, row.first_end), row.locator)
        for row in _of_examination(connection, health_term, [number])
    )
    unread = unread_parts(connection, [number])[number]
    return replace(record, findings=tuple(findings), terms=tuple(terms), unread=tuple(unread))


def unread_parts(connection: sa.Connection, examination_ids: list[int]) -> dict[int, list[UnreadPart]]:
    """Return the parts of examinations that could not be read, by examination."""
    parts: dict[int, list[UnreadPart]] = defaultdict(list)
    for row in _of_examination(connection, unread_part, examination_ids):
        parts[row.examination_id].append(as_value(UnreadPart, row, reason=FailReason(row.reason)))
    return parts


def _of_examination(
    connection: sa.Connection, table: sa.Table, examination_ids: list[int]
) -> sa.CursorResult[Any]:
    query = sa.select(table).where(table.c.examination_id.in_(examination_ids))
    return connection.execute(query.order_by(table.c.examination_id, table.c.position))
