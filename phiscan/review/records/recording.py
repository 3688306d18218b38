"""Recording the results of a scan, and the folders that a rescan may skip, in bulk statements.

Equal content is screened once and reported at every path. A copy has a row of its own, with all findings of
the first examination, so that each path of a content has its own owner, readers, risk and decision.

Results are recorded in crawl order, so that a scan that was killed and resumed has the same rows as an
uninterrupted one. A result that waits for a slow file earlier in that order is stored meanwhile, as JSON in
``early_result``, in the same transactions, so that a kill loses none.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from phiscan.errors import StoreError
from phiscan.model import OCR_PENDING, TITLED, FileResult, Outcome, PiiVector, SourceFile
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.review import integrity
from phiscan.review.records.file_records import IN_OWN_NAME, IS_PRESENT, result_row, source_row
from phiscan.review.worklist import rows as work_rows
from phiscan.review.worklist.model import exposure_of, risk_of
from phiscan.store import seals
from phiscan.store.column_types import stored_columns
from phiscan.store.database import inserted_id
from phiscan.store.identity import is_shape
from phiscan.store.sql_batches import N_RUNS, Run, chunks, listed, merged, rows_in, within
from phiscan.store.tables.desk import near_signature
from phiscan.store.tables.integrity import examination_digest
from phiscan.store.tables.scans import (
    access,
    early_result,
    examination,
    file,
    finding,
    folder,
    health_term,
    health_window,
    patient_check,
    patient_match,
    reuse,
    root,
    scan,
    sighting,
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
        rows = []
        for state in batch:
            runs = [list(run) for run in state.runs]
            rows.append({"root_id": root_id, "place": state.place, "digest": state.digest, "file_runs": runs})
        seals.insert(connection, folder, rows)


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
    for batch in chunks(runs, N_RUNS):
        among = within(file.c.id, batch)
        before = connection.execute(_seen_before(among)).one()
        if before.complete is not None and before.first is not None and before.first < before.complete:
            missing = sa.select(file.c.id).join(root, root.c.id == file.c.root_id)
            missing = missing.where(among, file.c.seen_scan_id < root.c.complete_scan_id)
            back += connection.execute(missing).scalars()
        rows = sa.select(sa.literal(scan_id), sighting.c.file_id, sighting.c.examination_id)
        if before.first == before.last != scan_id:
            # Nearly always: all were last seen by the same scan, and the files need not be read.
            rows = rows.where(sighting.c.scan_id == before.last, within(sighting.c.file_id, batch))
        else:  # the last sightings of the files that this scan has not recorded yet
            last = (sighting.c.scan_id == file.c.seen_scan_id) & (sighting.c.file_id == file.c.id)
            rows = rows.join_from(file, sighting, last).where(among, file.c.seen_scan_id != scan_id)
        columns = ["scan_id", "file_id", "examination_id"]
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
    query = sa.select(sa.func.min(seen).label("first"), sa.func.max(seen).label("last"), complete)
    return query.join(root, root.c.id == file.c.root_id).where(among)


def present_below(connection: sa.Connection, root_path: bytes, folder: bytes) -> list[int]:
    """Return the files that the last complete scan of a root, or a later one, saw in a folder of it."""
    query = (
        sa.select(file.c.id, file.c.path)
        .join(root, root.c.id == file.c.root_id)
        .where(root.c.path == root_path, IS_PRESENT)
        .order_by(file.c.id)
    )
    inside = folder + b"/" if folder else b""
    return [file_id for file_id, path in connection.execute(query) if path.startswith(inside)]


class Further(TypedDict, total=False):
    """What is recorded with the results of a scan."""

    unchanged: Sequence[int]  # files seen again, by number
    runs: Sequence[Run]  # files seen again, by runs of numbers
    folders: Mapping[bytes, Sequence[FolderState]]  # by root
    reading: str  # path of the first file that a worker still has
    early: Early | None  # results not yet in crawl order, and stored ones that are among the results now


def record(
    connection: sa.Connection,
    scan_id: int,
    versions_key: str,
    results: Sequence[FileResult],
    **further: Unpack[Further],
) -> None:
    """Write results and sightings; a result of a file that this scan recorded before replaces it.

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
    children: dict[sa.Table, list[dict[str, Any]]] = defaultdict(list)
    for file_id, result in pairs:
        for table, rows in _child_rows(examination_ids[file_id], result).items():
            children[table] += rows
    for table, rows in children.items():
        if rows:
            connection.execute(table.insert(), rows)
    copies = [(file_ids[place], result) for place, result in by_file.items() if result.is_copy]
    examination_ids |= _write_copies(connection, scan_id, versions_key, copies)
    integrity.write(connection, list(examination_ids.values()))
    see_examined(connection, scan_id, examination_ids)
    runs = [*further.get("runs", ()), *((number, number) for number in further.get("unchanged", ()))]
    back = see_unchanged(connection, scan_id, merged(runs, but=examination_ids))
    work_rows.take_in(connection, {file_ids[place]: result for place, result in by_file.items()}, back)
    if "reading" in further:
        connection.execute(scan.update().where(scan.c.id == scan_id).values(reading=further["reading"]))
    for root_path, states in further.get("folders", {}).items():
        note_folders(connection, root_id_of(connection, root_path), states)
    if (early := further.get("early")) is not None:
        places = [*early.recorded, *((result.source.root, result.source.path) for result in early.waiting)]
        roots = {path: root_id_of(connection, path) for path, _ in places}
        forget_early(connection, scan_id, early.recorded, roots)
        store_results(connection, scan_id, early.waiting, roots)


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
    query = sa.select(file.c.path, file.c.id).where(
        file.c.root_id == sa.bindparam("root"), file.c.path.in_(listed("paths"))
    )
    for root_path in dict.fromkeys(place[0] for place in places):
        root_id = root_id_of(connection, root_path)
        for batch in chunks(place[1] for place in places if place[0] == root_path):
            found = connection.execute(query, {"root": root_id, "paths": batch})
            known = {path: file_id for path, file_id in found}  # noqa: C416 (rows are tuples)
            new = [path for path in batch if path not in known]
            if new:
                shown = {path: places[root_path, path].source.display for path in new}
                of_all = {"root_id": root_id, "seen_scan_id": scan_id}
                rows = [{**of_all, "path": path, "display": display} for path, display in shown.items()]
                connection.execute(file.insert(), rows)
                added = connection.execute(query, {"root": root_id, "paths": new})
                known |= {path: file_id for path, file_id in added}  # noqa: C416
            ids |= {(root_path, path): file_id for path, file_id in known.items()}
    return ids


def _write_copies(
    connection: sa.Connection, scan_id: int, versions_key: str, copies: Sequence[tuple[int, FileResult]]
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
    copy_children(connection, [one for one in integrity.CHILDREN if one not in {access, reuse}], pairs)
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
    query = sa.select(examination.c.file_id, examination.c.id).where(
        examination.c.scan_id == scan_id, examination.c.file_id.in_(listed("files"))
    )
    return {row.file_id: row.id for row in rows_in(connection, query, "files", file_ids)}


def _access_rows(source: SourceFile) -> list[dict[str, Any]]:
    """Return owner and readers of a file, if the share provides them."""
    if not (source.owner or source.readers):
        return []
    return [{"owner": source.owner, "readers": list(source.readers)}]


def _child_rows(examination_id: int, result: FileResult) -> dict[sa.Table, list[dict[str, Any]]]:
    """Return the rows of a result by table, but for those of the examination itself."""

    def row(table: sa.Table, value: Any, **given: Any) -> dict[str, Any]:
        """Return the columns of a table that are attributes of a value."""
        names = [name for name in table.columns.keys() if hasattr(value, name)]  # noqa: SIM118 (columns)
        return {name: getattr(value, name) for name in names} | given | {"examination_id": examination_id}

    _require_masked(result)
    findings = [
        row(
            finding,
            found,
            position=position,
            span_start=found.span.start,
            span_end=found.span.end,
            entity_type=found.entity_type.value,
            reasons=[[step.kind, step.detail, step.score] for step in found.reasons],
        )
        for position, found in enumerate(result.findings)
    ]
    terms = [
        row(
            health_term,
            term,
            position=position,
            n_hits=term.count,
            first_start=term.first.start,
            first_end=term.first.end,
        )
        for position, term in enumerate(result.terms)
    ]
    unread = [
        row(unread_part, part, position=position, reason=str(part.reason))
        for position, part in enumerate(result.unread)
    ]
    window, check = result.window, result.patients
    n_chars, counts = (window.n_chars, dict(window.counts)) if window else (0, {})
    words = {"n_chars": n_chars, "counts": counts, "evidence": dict(result.evidence)}
    windows = [{"examination_id": examination_id, **words}] * bool(window or result.evidence)
    matches = [
        row(
            patient_match,
            match,
            position=position,
            span_start=match.span.start,
            span_end=match.span.end,
            is_planted=match.is_canary,
        )
        for position, match in enumerate(check.matches if check else ())
    ]
    return {
        finding: findings,
        health_term: terms,
        unread_part: unread,
        access: [{"examination_id": examination_id, **one} for one in _access_rows(result.source)],
        health_window: windows,
        near_signature: [row(near_signature, result)] * bool(result.signature),
        patient_check: [row(patient_check, check)] * bool(check),
        patient_match: matches,
    }


def _require_masked(result: FileResult) -> None:
    for position, found in enumerate(result.findings):
        if not is_shape(found.preview):
            raise StoreError(
                result.source.display, f"finding {position}: its preview is not masked; not recorded"
            )


# Patient data in a file's own name does not apply to an equal content elsewhere.
_IS_OF_CONTENT = sa.and_(examination.c.case != TITLED, ~sa.exists().where(*IN_OWN_NAME))
# A result that waits for OCR is not reused: it is about to change.
_IS_WHOLE = ~sa.exists().where(
    unread_part.c.examination_id == examination.c.id, unread_part.c.detail == OCR_PENDING
)


def _is_reusable(versions_key: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions of results that a copy of their content may have."""
    is_screened = examination.c.outcome == Outcome.SCREENED.value
    return (is_screened, examination.c.versions_key == versions_key, _IS_OF_CONTENT, _IS_WHOLE)


MAX_DUPLICATES = 200  # contents of one size that a file is compared with; sizes with more are skipped


def duplicates(
    connection: sa.Connection, sizes: Sequence[int], versions_key: str, *, scan_id: int | None = None
) -> dict[int, tuple[str, ...]]:
    """Return by size the contents, "HASH MEDIA_TYPE", whose result can be reused for an equal content.

    Only examinations by the same versions count; with ``scan_id``, only those of this scan.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for batch in chunks(dict.fromkeys(sizes)):
        ranked = (
            sa.select(
                examination.c.size,
                examination.c.content_hash,
                examination.c.media_type,
                sa.func.row_number()
                .over(partition_by=examination.c.size, order_by=sa.func.max(examination.c.id).desc())
                .label("place"),
            )
            .where(
                examination.c.size.in_(batch),
                *_is_reusable(versions_key),
                *([] if scan_id is None else [examination.c.scan_id == scan_id]),
            )
            .group_by(examination.c.size, examination.c.content_hash, examination.c.media_type)
            .subquery()
        )
        query = sa.select(ranked).where(ranked.c.place <= MAX_DUPLICATES)
        for size, content_hash, media_type, _ in connection.execute(query):
            found[size].append(f"{content_hash} {media_type}")
    return {size: tuple(hashes) for size, hashes in found.items()}


def originals(
    connection: sa.Connection, contents: Sequence[tuple[str, str]], versions_key: str
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return by content hash and media type the newest examination by these versions.

    Raises:
        StoreError: a content was never screened by these versions.
    """
    newest = (
        sa.select(sa.func.max(examination.c.id))
        .where(examination.c.content_hash.in_(listed("contents")), *_is_reusable(versions_key))
        .group_by(examination.c.content_hash, examination.c.media_type)
    )
    query = sa.select(examination).where(examination.c.id.in_(newest))
    hashes = dict.fromkeys(content_hash for content_hash, _ in contents)
    found: dict[tuple[str, str], Mapping[str, Any]] = {
        (row.content_hash, row.media_type): row._asdict()
        for row in rows_in(connection, query, "contents", hashes)
    }
    if not set(contents) <= found.keys():
        message = "a file was reported as a copy of a content that was never screened; nothing was recorded"
        raise StoreError(message)
    return found


def copy_children(
    connection: sa.Connection, tables: Sequence[sa.Table], pairs: Sequence[tuple[int, int]]
) -> None:
    """Copy the rows of the first examination of each pair to the second, in these tables."""
    by_original: dict[int, list[int]] = defaultdict(list)
    for original, copy in pairs:
        by_original[original].append(copy)
    for table in tables:
        filled = _with_rows(connection, table, list(by_original))
        others = [column for column in table.columns if column.name != "examination_id"]
        names = ["examination_id", *(column.name for column in others)]
        for original in filled:
            for batch in chunks(by_original[original]):
                every = sa.join(table, examination, sa.true())  # each row of one for each of the others
                rows = (
                    sa.select(examination.c.id, *others)
                    .select_from(every)
                    .where(table.c.examination_id == original, examination.c.id.in_(batch))
                )
                connection.execute(table.insert().from_select(names, rows))
    if pairs:
        connection.execute(reuse.insert(), [{"examination_id": copy} for _, copy in pairs])


def _with_rows(connection: sa.Connection, table: sa.Table, examination_ids: Sequence[int]) -> list[int]:
    """Return the examinations that have rows in a table."""
    query = sa.select(table.c.examination_id).where(table.c.examination_id.in_(listed("examinations")))
    return [row[0] for row in rows_in(connection, query.distinct(), "examinations", examination_ids)]


Place = tuple[bytes, bytes]  # raw bytes of root and path
RootIds = Mapping[bytes, int]


@dataclass(frozen=True, slots=True)
class Early:
    """Early results to store and to remove in one transaction."""

    waiting: Sequence[FileResult] = ()  # to be stored
    recorded: Sequence[Place] = ()  # stored before, and recorded now


def store_results(
    connection: sa.Connection, scan_id: int, results: Sequence[FileResult], roots: RootIds
) -> None:
    """Write early results of a scan; a stored one is replaced.

    Raises:
        StoreError: a preview is not masked: nothing is written.
    """
    forget_early(connection, scan_id, [(result.source.root, result.source.path) for result in results], roots)
    rows = []
    for result in results:
        place = {"root_id": roots[result.source.root], "path": result.source.path}
        rows.append({"scan_id": scan_id, **place, "result": to_json(result)})
    seals.insert(connection, early_result, rows)


def forget_early(connection: sa.Connection, scan_id: int, places: Iterable[Place], roots: RootIds) -> None:
    """Remove results of a scan, because they are recorded now."""
    for batch in chunks([(roots[root_path], path) for root_path, path in places]):
        at = sa.tuple_(early_result.c.root_id, early_result.c.path).in_(batch)
        seals.remove(connection, early_result, early_result.c.scan_id == scan_id, at)


def stored_results(connection: sa.Connection, scan_id: int) -> dict[Place, FileResult]:
    """Return the early results of a scan by root and path; invalid rows are omitted and read again."""
    roots: dict[int, bytes] = {
        row.id: row.path for row in connection.execute(sa.select(root.c.id, root.c.path))
    }
    found = {}
    for row in seals.rows(connection, early_result, early_result.c.scan_id == scan_id):
        result = from_json(row["result"]) if seals.is_right(connection, early_result, row) else None
        place = (roots[row["root_id"]], row["path"])
        if result is not None and (result.source.root, result.source.path) == place:
            found[place] = result
    return found


def refuse_forged_early(connection: sa.Connection, scan_id: int) -> int:
    """Remove the early results of a scan that this program did not store; return their number."""
    of_scan = early_result.c.scan_id == scan_id
    forged = [
        (row["root_id"], row["path"])
        for row in seals.rows(connection, early_result, of_scan)
        if not seals.is_right(connection, early_result, row)
    ]
    for batch in chunks(forged):
        here = sa.tuple_(early_result.c.root_id, early_result.c.path).in_(batch)
        connection.execute(early_result.delete().where(of_scan, here))
    if forged:
        seals.count_all(connection, [early_result])  # the log says how many were refused
    return len(forged)


def to_json(result: FileResult) -> str:
    """Return a result as a JSON list of its fields; numbers are written exactly.

    Raises:
        StoreError: a preview is not masked.
    """
    _require_masked(result)
    plain = replace(result, source=replace(result.source, duplicates=()))
    return dumps(to_plain(FileResult, plain))


def from_json(text: str) -> FileResult | None:
    """Parse the output of ``to_json``; None if the text is invalid."""
    try:
        result: FileResult = from_plain(FileResult, json.loads(text))
    except (TypeError, ValueError):
        return None
    return result
