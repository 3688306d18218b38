"""Recording the results of a scan, and the folders that a rescan may skip, in bulk statements."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import FileResult, Outcome, PiiVector, SourceFile
from phiscan.review import integrity
from phiscan.review.records import early_results
from phiscan.review.records.early_results import Early
from phiscan.review.records.file_records import result_row, source_row
from phiscan.review.records.reuse import copy_children, originals
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import exposure_of, risk_of
from phiscan.store import seals
from phiscan.store.column_types import stored_columns
from phiscan.store.database import inserted_id
from phiscan.store.identity import is_shape
from phiscan.store.sql_batches import Run, chunks, merged, run_batches, within
from phiscan.store.tables import (
    access,
    examination,
    examination_digest,
    file,
    finding,
    folder,
    health_term,
    health_window,
    near_signature,
    patient_check,
    patient_match,
    root,
    scan,
    sighting,
    stage_time,
    unread_part,
)


def place_of(path: bytes) -> bytes:
    """Return a folder's path in a form that sorts in crawl order: depth first, by raw name."""
    return path.replace(b"/", b"\0")


@dataclass(frozen=True, slots=True)
class FolderState:
    """A folder's digest, and the runs of numbers of its files, in order."""

    place: bytes
    digest: bytes
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, path: bytes, digest: bytes, file_ids: Sequence[int]) -> FolderState:
        """Return the state of a folder (its path relative to the root) and of its files."""
        runs = merged((number, number) for number in file_ids)
        return cls(place_of(path), digest, tuple(runs))

    @property
    def n_files(self) -> int:
        """The number of its files."""
        return sum(last - first + 1 for first, last in self.runs)


def folders_of(connection: sa.Connection, root_path: bytes, place: bytes, *, limit: int) -> list[FolderState]:
    """Return the stored states of folders of a root from a path on, in crawl order."""
    query = (
        sa.select(*stored_columns(folder))
        .join(root, root.c.id == folder.c.root_id)
        .where(root.c.path == root_path, folder.c.place >= place)
        .order_by(folder.c.place)
        .limit(limit)
    )
    states = []
    for row in connection.execute(query).mappings():
        is_ours = seals.is_right(connection, folder, row)  # else it is listed, as a folder that changed
        runs = tuple((first, last) for first, last in json.loads(row["file_runs"])) if is_ours else ()
        states.append(FolderState(row["place"], row["digest"] if is_ours else b"", runs))
    return states


def note_folders(connection: sa.Connection, root_id: int, states: Sequence[FolderState]) -> None:
    """Store the states of folders, replacing the previous ones."""
    for batch in chunks(states):
        here = (folder.c.root_id == root_id) & folder.c.place.in_([state.place for state in batch])
        seals.remove(connection, folder, here)
        rows = [
            {
                "root_id": root_id,
                "place": state.place,
                "digest": state.digest,
                "file_runs": [list(run) for run in state.runs],
            }
            for state in batch
        ]
        seals.insert(connection, folder, rows)


def forget_folders(connection: sa.Connection) -> None:
    """Delete the states of all folders, because files may have lost their numbers: a full rescan follows."""
    seals.remove(connection, folder)


def see_examined(connection: sa.Connection, scan_id: int, examined: Mapping[int, int]) -> None:
    """Record the files that a scan examined itself, by number, each with its examination."""
    for batch in chunks(examined):
        here = (sighting.c.scan_id == scan_id) & sighting.c.file_id.in_(batch)
        seen = {
            row.file_id: row.examination_id for row in connection.execute(sa.select(sighting).where(here))
        }
        # A file that this scan has recorded already keeps its row, so that a resumed scan has the same rows.
        new = [
            {"scan_id": scan_id, "file_id": file_id, "examination_id": examined[file_id]}
            for file_id in batch
            if file_id not in seen
        ]
        if new:
            connection.execute(sighting.insert(), new)
        for file_id, examination_id in seen.items():
            if examined[file_id] != examination_id:
                row = (sighting.c.scan_id == scan_id) & (sighting.c.file_id == file_id)
                connection.execute(sighting.update().where(row).values(examination_id=examined[file_id]))
        connection.execute(file.update().where(file.c.id.in_(batch)).values(seen_scan_id=scan_id))


def see_unchanged(connection: sa.Connection, scan_id: int, runs: Sequence[Run]) -> list[int]:
    """Record files that were seen again unchanged: their last result remains current.

    ``runs`` are sorted and disjoint. The files of a share are numbered in crawl order, so that unchanged
    files form few runs. Returns the files that were missing at the last complete scan.

    All written rows refer to rows that were read before, so that foreign keys need not be checked again.

    Raises:
        StoreError: a file was never examined, or there is no such scan.
    """
    back: list[int] = []
    if runs and connection.execute(sa.select(scan.c.id).where(scan.c.id == scan_id)).first() is None:
        message = f"scan {scan_id}: there is no such scan"
        raise StoreError(message)
    for batch in run_batches(runs):
        among = within(file.c.id, batch)
        before = connection.execute(_seen_before(among)).one()
        if before.complete is not None and before.first is not None and before.first < before.complete:
            back += connection.execute(_missing(among)).scalars()
        alike = before.first == before.last != scan_id  # nearly always: all were last seen by the same scan
        standing = _of_scan(before.last, batch) if alike else _of_several(scan_id, among)
        columns = ["scan_id", "file_id", "examination_id"]
        rows = standing.with_only_columns(sa.literal(scan_id), sighting.c.file_id, sighting.c.examination_id)
        # Without the option, the driver of a server does not return the row count of an INSERT.
        note = sighting.insert().from_select(columns, rows).execution_options(preserve_rowcount=True)
        n_noted = connection.execute(note).rowcount
        n_present = connection.execute(file.update().where(among).values(seen_scan_id=scan_id)).rowcount
        n_expected = sum(last - first + 1 for first, last in batch)
        if n_noted != n_expected:  # some were recorded before this scan was resumed
            here = within(sighting.c.file_id, batch)
            noted = sa.select(sa.func.count()).where(sighting.c.scan_id == scan_id, here)
            n_noted = connection.execute(noted).scalar_one()
        if n_noted != n_expected or n_present != n_expected:
            message = f"files {batch[0][0]} to {batch[-1][1]}: one was seen again, but it was never examined"
            raise StoreError(message)
    return back


def _seen_before(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the scans that last saw some files, and the last complete scan of their roots."""
    seen = file.c.seen_scan_id
    complete = sa.func.max(root.c.complete_scan_id).label("complete")
    return (
        sa.select(sa.func.min(seen).label("first"), sa.func.max(seen).label("last"), complete)
        .join(root, root.c.id == file.c.root_id)
        .where(among)
    )


def _missing(among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(file.c.id)
        .join(root, root.c.id == file.c.root_id)
        .where(among, file.c.seen_scan_id < root.c.complete_scan_id)
    )


def _of_scan(before: int, runs: Sequence[Run]) -> sa.Select[Any]:
    """Select the sightings of files that were all last seen by one scan, without reading the files."""
    return sa.select(sighting).where(sighting.c.scan_id == before, within(sighting.c.file_id, runs))


def _of_several(scan_id: int, among: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Select the last sightings of the files that this scan has not recorded yet."""
    last = (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id)
    return (
        sa.select(sighting)
        .select_from(file)
        .join(sighting, last)
        .where(among, file.c.seen_scan_id != scan_id)
    )


_CHILDREN = (
    finding,
    health_term,
    unread_part,
    access,
    health_window,
    near_signature,
    stage_time,
    patient_check,
    patient_match,
)
_OF_PATH = (access, stage_time)  # tables that a copy does not share, because they describe the path


def present_below(connection: sa.Connection, root_path: bytes, folder: bytes) -> list[int]:
    """Return the files that the last complete scan of a root, or a later one, saw in a folder of it."""
    query = (
        sa.select(file.c.id, file.c.path)
        .join(root, root.c.id == file.c.root_id)
        .where(
            root.c.path == root_path,
            file.c.seen_scan_id >= sa.func.coalesce(root.c.complete_scan_id, 0),
        )
        .order_by(file.c.id)
    )
    inside = folder + b"/" if folder else b""
    return [file_id for file_id, path in connection.execute(query) if path.startswith(inside)]


def record(
    connection: sa.Connection,
    scan_id: int,
    versions_key: str,
    results: Sequence[FileResult],
    unchanged: Sequence[int],
    *,
    runs: Sequence[Run],
    states: Mapping[bytes, Sequence[FolderState]],
    early: Early | None = None,
) -> None:
    """Write results and sightings; a result of a file that this scan recorded before replaces it.

    ``unchanged``, ``runs``: the files seen again, by number and by runs of numbers. ``early``: results that
    are not yet in crawl order, and stored ones that are among ``results`` now.

    Raises:
        ValueError: the outcome of a result is unchanged; such files are passed by their number.
        StoreError: a preview is not masked: nothing is written.
    """
    if any(result.outcome is Outcome.UNCHANGED for result in results):
        message = "an unchanged file is recorded by its number, not as a result"
        raise ValueError(message)
    by_file = {(result.source.root, result.source.path): result for result in results}
    file_ids = _file_ids(connection, scan_id, by_file)
    pairs = [(file_ids[place], result) for place, result in by_file.items() if not result.is_copy]
    new = {file_id: {**result_row(result), "versions_key": versions_key} for file_id, result in pairs}
    examination_ids = _write_examinations(connection, scan_id, new)
    children: tuple[list[dict[str, Any]], ...] = tuple([] for _ in _CHILDREN)
    for file_id, result in pairs:
        for rows, more in zip(children, _child_rows(examination_ids[file_id], result), strict=True):
            rows.extend(more)
    for table, rows in zip(_CHILDREN, children, strict=True):
        if rows:
            connection.execute(table.insert(), rows)
    copies = [(file_ids[place], result) for place, result in by_file.items() if result.is_copy]
    examination_ids |= _write_copies(connection, scan_id, versions_key, copies)
    integrity.write(connection, list(examination_ids.values()))
    see_examined(connection, scan_id, examination_ids)
    unchanged_runs = merged([*runs, *((number, number) for number in unchanged)], but=examination_ids)
    back = see_unchanged(connection, scan_id, unchanged_runs)
    work_rows.take_in(connection, {file_ids[place]: result for place, result in by_file.items()}, back)
    for root_path, batch in states.items():
        note_folders(connection, root_id_of(connection, root_path), batch)
    if early is not None:
        places = [*early.recorded, *((result.source.root, result.source.path) for result in early.waiting)]
        roots = {path: root_id_of(connection, path) for path, _ in places}
        early_results.forget(connection, scan_id, early.recorded, roots)
        early_results.store_results(connection, scan_id, early.waiting, roots)


def root_id_of(connection: sa.Connection, path: bytes) -> int:
    """Return the number of a root; a new one is inserted."""
    found = connection.execute(sa.select(root.c.id).where(root.c.path == path)).scalar()
    if found is None:
        display = path.decode("utf-8", "backslashreplace")
        return inserted_id(connection, root, {"path": path, "display": display})
    return int(found)


def _file_ids(
    connection: sa.Connection, scan_id: int, places: Mapping[tuple[bytes, bytes], FileResult]
) -> dict[tuple[bytes, bytes], int]:
    """Return the number of each file; new files are inserted in the given order."""
    ids: dict[tuple[bytes, bytes], int] = {}
    for root_path in dict.fromkeys(place[0] for place in places):
        root_id = root_id_of(connection, root_path)
        paths = [place[1] for place in places if place[0] == root_path]

        def look_up(batch: Sequence[bytes], root_id: int = root_id, root_path: bytes = root_path) -> None:
            query = sa.select(file.c.path, file.c.id).where(file.c.root_id == root_id, file.c.path.in_(batch))
            ids.update({(root_path, path): file_id for path, file_id in connection.execute(query)})

        for batch in chunks(paths):
            look_up(batch)
            new = [path for path in batch if (root_path, path) not in ids]
            if new:
                rows = [
                    {
                        "root_id": root_id,
                        "path": path,
                        "display": places[(root_path, path)].source.display,
                        "seen_scan_id": scan_id,
                    }
                    for path in new
                ]
                connection.execute(file.insert(), rows)
                look_up(new)
    return ids


def _write_copies(
    connection: sa.Connection,
    scan_id: int,
    versions_key: str,
    copies: Sequence[tuple[int, FileResult]],
) -> dict[int, int]:
    """Copy the results of equal contents; path, owner, risk and the findings of the file name are its own."""
    if not copies:
        return {}
    contents = [(result.content_hash, result.media_type) for _, result in copies]
    found = originals(connection, contents, versions_key)
    rows = {}
    for file_id, result in copies:
        original = found[result.content_hash, result.media_type]
        kept = {name: value for name, value in original.items() if name not in {"id", "scan_id", "file_id"}}
        vector = PiiVector.from_int(original["vector"])
        exposure = exposure_of(result.source.mode, result.source.readers)
        risk = risk_of(vector, original["n_people"], original["health_score"], exposure)
        own = {"bytes_read": result.bytes_read, "detail": result.detail, "risk": risk}
        rows[file_id] = {**kept, **source_row(result.source), **own}
    ids = _write_examinations(connection, scan_id, rows)
    places = [
        {"examination_id": ids[file_id], **row}
        for file_id, result in copies
        for row in _access_rows(result.source)
    ]
    if places:
        connection.execute(access.insert(), places)
    pairs = [
        (found[content]["id"], ids[file_id]) for content, (file_id, _) in zip(contents, copies, strict=True)
    ]
    times = [row for file_id, result in copies for row in _time_rows(ids[file_id], result)]
    if times:
        connection.execute(stage_time.insert(), times)
    of_content = [table for table in _CHILDREN if table not in _OF_PATH]
    copy_children(connection, of_content, pairs)
    return ids


def _write_examinations(
    connection: sa.Connection, scan_id: int, rows: Mapping[int, Mapping[str, Any]]
) -> dict[int, int]:
    """Write one row per file and return its number by file; an earlier row of this scan is updated."""
    ids = _examination_ids(connection, scan_id, list(rows))
    new, again = [], []
    for file_id, row in rows.items():
        if file_id in ids:
            again.append({**row, "row_id": ids[file_id]})
        else:
            new.append({**row, "scan_id": scan_id, "file_id": file_id})
    if again:
        changed: dict[str, Any] = {name: sa.bindparam(name) for name in again[0] if name != "row_id"}
        statement = examination.update().where(examination.c.id == sa.bindparam("row_id")).values(changed)
        connection.execute(statement, again)
        for batch in chunks([row["row_id"] for row in again]):
            for table in (*integrity.CHILDREN, examination_digest):
                connection.execute(table.delete().where(table.c.examination_id.in_(batch)))
    if new:
        connection.execute(examination.insert(), new)
        ids |= _examination_ids(connection, scan_id, [row["file_id"] for row in new])
    return ids


def _examination_ids(connection: sa.Connection, scan_id: int, file_ids: Sequence[int]) -> dict[int, int]:
    ids: dict[int, int] = {}
    for batch in chunks(file_ids):
        query = sa.select(examination.c.file_id, examination.c.id).where(
            examination.c.scan_id == scan_id, examination.c.file_id.in_(batch)
        )
        ids.update((file_id, row_id) for file_id, row_id in connection.execute(query))
    return ids


def _access_rows(source: SourceFile) -> list[dict[str, Any]]:
    """Return owner and readers of a file, if the share provides them."""
    if not (source.owner or source.readers):
        return []
    return [{"owner": source.owner, "readers": list(source.readers)}]


def _child_rows(examination_id: int, result: FileResult) -> tuple[list[dict[str, Any]], ...]:
    """Return the rows of each table of ``_CHILDREN``, in its order."""
    findings = []
    for position, found in enumerate(result.findings):
        if not is_shape(found.preview):
            message = f"{result.source.display}: finding {position}: its preview is not masked; not recorded"
            raise StoreError(message)
        findings.append(
            {
                "examination_id": examination_id,
                "position": position,
                "span_start": found.span.start,
                "span_end": found.span.end,
                "locator": found.locator,
                "entity_type": found.entity_type.value,
                "source": found.source,
                "score": found.score,
                "reasons": [[step.kind, step.detail, step.score] for step in found.reasons],
                "preview": found.preview,
                "identity": found.identity,
                "words": found.words,
            }
        )
    terms = [
        {
            "examination_id": examination_id,
            "position": position,
            "concept": term.concept,
            "n_hits": term.count,
            "first_start": term.first.start,
            "first_end": term.first.end,
            "locator": term.locator,
        }
        for position, term in enumerate(result.terms)
    ]
    unread = [
        {
            "examination_id": examination_id,
            "position": position,
            "locator": part.locator,
            "reason": str(part.reason),
            "detail": part.detail,
        }
        for position, part in enumerate(result.unread)
    ]
    accesses = [{"examination_id": examination_id, **row} for row in _access_rows(result.source)]
    windows = [
        {
            "examination_id": examination_id,
            "n_chars": result.window.n_chars if result.window else 0,
            "counts": dict(result.window.counts) if result.window else {},
            "evidence": dict(result.evidence),
        }
    ] * bool(result.window or result.evidence)
    signed = [{"examination_id": examination_id, "signature": result.signature}] * bool(result.signature)
    return (
        findings,
        terms,
        unread,
        accesses,
        windows,
        signed,
        _time_rows(examination_id, result),
        *_patient_rows(examination_id, result),
    )


def _time_rows(examination_id: int, result: FileResult) -> list[dict[str, Any]]:
    """Return the duration of each stage of a file, if a worker read it."""
    if not result.seconds:
        return []
    seconds = [[stage, round(spent, 6)] for stage, spent in result.seconds]
    total = sum(spent for _, spent in result.seconds)
    return [{"examination_id": examination_id, "seconds": seconds, "total_s": total}]


def _patient_rows(
    examination_id: int, result: FileResult
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the comparison of the document with the patient index, and the matched patients."""
    check = result.patients
    if check is None:
        return [], []
    row = {
        "examination_id": examination_id,
        "index_id": check.index_id,
        "n_patients": check.n_patients,
        "n_rare_names": check.n_rare_names,
        "n_lookups": check.n_lookups,
        "expected_by_chance": check.expected_by_chance,
    }
    matches = [
        {
            "examination_id": examination_id,
            "position": position,
            "patient": match.patient,
            "kind": match.kind,
            "span_start": match.span.start,
            "span_end": match.span.end,
            "locator": match.locator,
            "is_planted": match.is_canary,
        }
        for position, match in enumerate(check.matches)
    ]
    return [row], matches
