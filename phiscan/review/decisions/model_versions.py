"""Model versions: their training decisions, their files, and the version that scans use.

Versions and activations are appended and chained into the audit log; the files of a version are in
PHISCAN_HOME, and their hashes in the database detect changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from phiscan.errors import InputError
from phiscan.model import TITLED, PiiVector, Referral, ScannedFile, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.decisions.writing import checked_name, checked_text
from phiscan.review.records.file_records import current_results
from phiscan.store.database import Database
from phiscan.store.sql_batches import as_value
from phiscan.store.tables import (
    decision,
    decision_undo,
    examination,
    file,
    health_window,
    model_activation,
    model_version,
    scan,
    sighting,
)

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
            decision.c.file_id,
            decision.c.content_hash,
            decision.c.verdict,
            decision.c.reviewer,
            examination.c.vector,
        )
        .add_columns(health_window.c.counts, health_window.c.evidence)
        .join(latest, latest.c.id == decision.c.id)
        .join(examination, examination.c.id == newest)
        .join(health_window, health_window.c.examination_id == examination.c.id)
        .where(decision.c.verdict.in_([Verdict.PHI.value, Verdict.NOT_PHI.value]))
        .order_by(decision.c.id)
    )
    with database.read() as connection:
        for row in connection.execute(query):
            is_phi, vector = row.verdict == Verdict.PHI.value, PiiVector.from_int(row.vector)
            yield ReviewedFile(
                row.file_id, row.content_hash, is_phi, row.reviewer, vector, row.counts, row.evidence
            )


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
    connection: sa.Connection, low: float, high: float
) -> Iterator[tuple[int, float, Mapping[str, int]]]:
    """Yield number, P(PHI) and evidence of present, undecided results with such a probability by content."""
    results = current_results(scan_id=None).join(
        health_window, health_window.c.examination_id == examination.c.id
    )
    query = results.with_only_columns(examination.c.id, examination.c.probability, health_window.c.evidence)
    is_near = examination.c.probability.between(low, high)
    is_open = decision.c.id.is_(None)
    rows = connection.execute(
        query.where(is_near, is_open, ~examination.c.by_name, examination.c.case != TITLED)
    )
    return ((row.id, row.probability, row.evidence) for row in rows)


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


def next_number(database: Database) -> int:
    """Return the probable number of the next version, for the name of its folder."""
    with database.read() as connection:
        return int(connection.execute(sa.select(sa.func.max(model_version.c.id))).scalar() or 0) + 1


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
        last = int(connection.execute(sa.select(sa.func.max(model_version.c.id))).scalar() or 0)
        if last + 1 != number:
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
