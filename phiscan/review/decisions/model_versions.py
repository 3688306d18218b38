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
from phiscan.model import PiiVector, SourceFile, Verdict
from phiscan.review.audit import log as audit
from phiscan.review.records.current_results import detectors_of
from phiscan.store.column_types import storable
from phiscan.store.database import Database, inserted_id
from phiscan.store.tables import (
    decision,
    decision_undo,
    examination,
    file,
    health_window,
    model_activation,
    model_version,
    root,
)

SHIPPED = "shipped"  # name of the models in the installed package


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One decided content with the stored features of its examination; no text, no value."""

    file_id: int
    source: SourceFile  # as it was examined; for reading the file again and for folder names
    content_hash: str
    is_phi: bool
    reviewer: str
    decided: datetime
    n_verdicts: int  # distinct verdicts on this content, without undone ones
    vector: PiiVector
    health: float
    detectors: tuple[tuple[str, bool], ...]
    n_chars: int  # of the window
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

    A copy of a content under another name is a separate example only if it was decided there too; only files
    with features (a health window) are included.
    """
    latest = (
        sa.select(
            sa.func.max(decision.c.id).label("id"),
            sa.func.count(sa.distinct(decision.c.verdict)).label("n_verdicts"),
        )
        .where(~sa.exists().where(decision_undo.c.decision_id == decision.c.id))
        .group_by(decision.c.file_id, decision.c.content_hash)
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
            root.c.path.label("root"),
            file.c.path,
            decision.c.content_hash,
            decision.c.verdict,
            decision.c.reviewer,
            decision.c.decided,
            latest.c.n_verdicts,
            examination.c.vector,
            examination.c.health_score,
            examination.c.detectors,
            examination.c.size,
            examination.c.mtime_ns,
            examination.c.ctime_ns,
            examination.c.inode,
            examination.c.device,
            health_window.c.n_chars,
            health_window.c.counts,
            health_window.c.evidence,
        )
        .join(latest, latest.c.id == decision.c.id)
        .join(examination, examination.c.id == newest)
        .join(health_window, health_window.c.examination_id == examination.c.id)
        .join(file, file.c.id == decision.c.file_id)
        .join(root, root.c.id == file.c.root_id)
        .where(decision.c.verdict.in_([Verdict.PHI.value, Verdict.NOT_PHI.value]))
        .order_by(decision.c.id)
    )
    with database.read() as connection:
        for row in connection.execute(query):
            yield ReviewedFile(
                file_id=row.file_id,
                source=SourceFile(
                    row.root, row.path, row.size, row.mtime_ns, row.ctime_ns, row.inode, row.device
                ),
                content_hash=row.content_hash,
                is_phi=row.verdict == Verdict.PHI.value,
                reviewer=row.reviewer,
                decided=row.decided,
                n_verdicts=row.n_verdicts,
                vector=PiiVector.from_int(row.vector),
                health=row.health_score or 0.0,
                detectors=detectors_of(row.detectors),
                n_chars=row.n_chars,
                counts=row.counts,
                evidence=row.evidence,
            )


def active_version(database: Database) -> ModelVersion | None:
    """Return the version that scans use; None = the shipped one."""
    return next((version for version in versions(database) if version.active), None)


def versions(database: Database) -> list[ModelVersion]:
    """Return every version, oldest first."""
    with database.read() as connection:
        active = _active(connection)
        return [
            ModelVersion(row.id, row.made, row.made_by, row.files, row.summary, row.id == active)
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

    def write(connection: sa.Connection) -> None:
        last = int(connection.execute(sa.select(sa.func.max(model_version.c.id))).scalar() or 0)
        if last + 1 != number:
            message = f"version {number}: was made by somebody else meanwhile; learn again"
            raise InputError(message)
        values = {
            "id": number,
            "made": now,
            "made_by": _named(by),
            "files": dict(files),
            "summary": dict(summary),
        }
        inserted_id(connection, model_version, values)
        entry = audit.Entry("learn", number, {"version": number, "files": dict(files)})
        audit.append(connection, [entry], actor=by, at=now)

    database.write(write, durable=True)


def activate(database: Database, number: int | None, *, by: str, now: datetime) -> int | None:
    """Append the version that scans use from now on; None = the shipped one. Returns the previous one.

    Raises:
        InputError: there is no such version, it is active already, or no user name.
    """

    def write(connection: sa.Connection) -> int | None:
        known = set(connection.execute(sa.select(model_version.c.id)).scalars())
        name = SHIPPED if number is None else str(number)
        if number is not None and number not in known:
            listed = ", ".join(map(str, [SHIPPED, *sorted(known)]))
            message = f"--activate {name}: there is no such version; expected one of {listed}"
            raise InputError(message)
        before = _active(connection)
        if before == number:
            message = f"--activate {name}: is active already"
            raise InputError(message)
        values = {"version_id": number, "activated": now, "activated_by": _named(by)}
        row_id = inserted_id(connection, model_activation, values)
        entry = audit.Entry("activate_model", row_id, {"version": name})
        audit.append(connection, [entry], actor=by, at=now)
        return before

    return database.write(write, durable=True)


def _active(connection: sa.Connection) -> int | None:
    query = sa.select(model_activation.c.version_id).order_by(model_activation.c.id.desc()).limit(1)
    found: int | None = connection.execute(query).scalar()
    return found


def _named(by: str) -> str:
    name = storable(by.strip())
    if not name:
        message = "--by: expected a name, got an empty text"
        raise InputError(message)
    return name
