"""``phiscan patients``: the index of the organization's own patients, and searches in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import click

from phiscan.cli.extract import EXIT_UNREAD, read, reading_workers, source_file
from phiscan.cli.output import (
    Answer,
    actor_of,
    answers,
    by_option,
    config_of,
    print_json,
    print_message,
    warn_of_age,
    write_private,
)
from phiscan.cli.queue.command import MAX_SCAN, open_store
from phiscan.config import Config
from phiscan.errors import InputError
from phiscan.model import SourceFile, Verdict
from phiscan.patients import lifecycle
from phiscan.patients.affected import NOTICE_AT, Affected
from phiscan.patients.affected import affected as count_affected
from phiscan.patients.events import Actor, record_event
from phiscan.patients.find import Person
from phiscan.patients.find import find as find_person
from phiscan.patients.index import open_index
from phiscan.patients.manifest import Manifest, read_manifest
from phiscan.patients.matching import load_matcher
from phiscan.patients.records import PatientRecord
from phiscan.patients.risk import TableRisk, table_risks
from phiscan.patients.settings import Mapped, PatientSettings, load_settings, merge_map
from phiscan.patients.sources import read_records
from phiscan.review.store import Store
from phiscan.sandbox.answers import Fault
from phiscan.store.identity import load_key
from phiscan.store.tables.users import Role
from phiscan.visible import visible


@click.group()
def patients() -> None:
    """Match files with the organization's own patients, by keyed hashes of their list.

    The list is read once and never copied. The index reveals nothing without its key, a separate file: store
    it on another disk than the index ([patients] key_file).
    """


@patients.command(epilog="Example: phiscan patients risk share/export.xlsx --json")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per file.")
@click.pass_context
def risk(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Count the rows of the tables in FILES that are unique by birth date, postal code, sex and age.

    k is the size of the smallest group of rows that are equal in these, l the smallest number of different
    diagnoses, drugs or results in such a group. Counts only; the files are read in confined processes. Exit
    status 3: some file could not be read.
    """
    config = config_of(ctx.obj)
    sources = [source_file(name) for name in files]
    n_failed = 0
    with reading_workers(config, sources) as sandbox:
        for source, answer in sandbox.run(_work, sources):
            name = visible(source.absolute.decode("utf-8", "backslashreplace"))
            if isinstance(answer, Fault):
                n_failed += 1
                print_message(f"{name}: could not be read: {answer.reason}")
                continue
            if as_json:
                print_json({"path": name, "tables": [_json(table) for table in answer]})
                continue
            for table in answer:
                click.echo(f"{name} {table.locator}: {table.sentence}")
            if not answer:
                click.echo(f"{name}: no table with birth dates, postal codes, sex or age")
    ctx.exit(EXIT_UNREAD if n_failed else 0)


def _work(source: SourceFile) -> list[TableRisk] | Fault:
    """Read one file; its values stay in this process."""
    document = read(source)
    return document if isinstance(document, Fault) else table_risks(document)


def _json(table: TableRisk) -> dict[str, Any]:
    found = {**asdict(table), "unique_share": table.unique_share}
    if table.l_diversity is None:
        found["reason"] = "no column of diagnoses, drugs or results"
    return found


_MAY_FIND = frozenset({Role.REVIEWER, Role.LEAD})
_ANY = "any"


@patients.command(
    epilog='Example: phiscan patients find --name "Roy, Ann" --birth-date 1956-03-12 --purpose "request 17"'
)
@click.option("--name", default="", help="Given and family name; - = prompt without echo.")
@click.option("--birth-date", default="", help="Birth date, such as 1956-03-12; - = prompt without echo.")
@click.option("--number", default="", help="Record, health card or other number; - = prompt without echo.")
@click.option("--purpose", required=True, help="What for; recorded. Write no patient's data here.")
@by_option
@answers
def find(obj: str | None, name: str, birth_date: str, number: str, purpose: str, by: str) -> Answer:
    """List the files of a person: by name and birth date, or by a number.

    Searches the keyed hashes of the last scans, with or without a patient index. User and purpose are
    recorded in the audit log, the searched values are not. An account of the desk must be a reviewer's or a
    lead's. With - for a value it is prompted for, so that it appears neither in the list of processes nor in
    a shell's history.
    """
    config = config_of(obj)
    person = Person(_prompted("Name", name), _prompted("Birth date", birth_date), _prompted("Number", number))
    actor = Actor(actor_of(by), datetime.now(UTC))
    with open_store(obj) as store:
        _check_role(store, actor.name)
        found = find_person(
            store.database,
            person,
            key=load_key(config.key_file),
            matcher=load_matcher(load_settings(config)),
            purpose=purpose,
            actor=actor,
        )
    lines = [
        f"{visible(one.path)}  in {visible(one.root)}  first seen {one.first_seen:%Y-%m-%d}, "
        f"last seen {one.last_seen:%Y-%m-%d}{'' if one.present else ', no longer there'}"
        for one in found
    ]
    files = [
        {name: getattr(one, name) for name in ("path", "root", "present")}
        | {name: getattr(one, name).isoformat() for name in ("first_seen", "last_seen")}
        for one in found
    ]
    return {"files": files}, [*lines, f"{len(found):,} files"]


@patients.command(epilog="Example: phiscan patients affected --decided phi --out list.csv")
@click.option(
    "--decided",
    type=click.Choice([*(verdict.value for verdict in Verdict), _ANY]),
    default=Verdict.PHI.value,
    show_default=True,
    help="Only files with this verdict; any = all files.",
)
@click.option("--scan", "scan_id", type=click.IntRange(1, MAX_SCAN), help="Only files that this scan saw.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="CSV to write, opaque numbers only."
)
@by_option
@answers
def affected(obj: str | None, decided: str, scan_id: int | None, out: Path, by: str) -> Answer:
    """Write the opaque numbers of the patients in the files decided, and count them by state or province.

    Each patient counts once, however many files or copies contain the patient. Join the numbers with your own
    list: they are its column `number`, or the numbers of its rows.
    """
    config = config_of(obj)
    settings = load_settings(config)
    index = open_index(settings.folder) if settings.is_built else None
    actor = Actor(actor_of(by), datetime.now(UTC))
    verdict = None if decided == _ANY else Verdict(decided)
    with open_store(obj) as store:
        with store.database.read() as connection:
            found = count_affected(connection, index, verdict=verdict, scan_id=scan_id)
        write_private(out, "".join(f"{number}\n" for number in ("patient", *found.patients)))
        details = {"decided": decided, "scan": scan_id, "patients": len(found.patients)}
        record_event(store.database, "affected", actor=actor, details=details)
    return _affected_json(found), _affected_lines(
        found, f"decided {decided}: {out}", has_index=index is not None
    )


def _affected_lines(found: Affected, which: str, *, has_index: bool) -> Iterator[str]:
    yield f"{len(found.patients):,} patients in {found.n_files:,} files {which}"
    for region, n_patients in (found.by_region or {}).items():
        notice = f"   {NOTICE_AT} or more" if n_patients >= NOTICE_AT else ""
        yield f"  {visible(region):<20}{n_patients:>10,}{notice}"
    if not has_index:
        print_message(
            "there is no patient index to compare files with: `phiscan patients build FILE` makes one"
        )
    elif found.n_files_without_match:
        print_message(
            f"{found.n_files_without_match:,} of these files match no patient of the index: whom they are "
            "about is not in the list"
        )


def _prompted(label: str, value: str) -> str:
    if value != "-":
        return value
    answer: str = click.prompt(label, hide_input=True)
    return answer


def _check_role(store: Store, name: str) -> None:
    """Refuse an account of the desk whose role may not search; users of the system are no accounts."""
    account = next((user for user in store.users.everybody() if user.name == name), None)
    if account is not None and (account.role not in _MAY_FIND or account.disabled):
        message = f"--by {name}: the account's role ({account.role.value}) may not search for a person"
        raise InputError(message)


def _affected_json(found: Affected) -> dict[str, Any]:
    regions = found.by_region or {}
    shape: dict[str, Any] = {
        "patients": len(found.patients),
        "by_region": found.by_region,
        "regions_with_500": [name for name, n in regions.items() if n >= NOTICE_AT],
        "by_folder": dict(found.by_folder),
        "files": found.n_files,
        "files_without_match": found.n_files_without_match,
    }
    no_index = {"reason": "there is no patient index to know regions from"}
    return shape | (no_index if found.by_region is None else {})


_numbers_option = click.option(
    "--numbers",
    "numbers_file",
    type=click.Path(path_type=Path),
    help="Write a CSV with the opaque number of each row of the list, to join answers back; no values.",
)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of the index: who makes it, and how the lists of patients are read."""

    config: Config
    settings: PatientSettings
    actor: Actor
    mapped: Mapped

    def records(self, files: tuple[str, ...], query: str | None = None) -> Iterator[PatientRecord]:
        """Yield the patients of lists."""
        if query is not None and len(files) != 1:
            message = "--query: expected one FILE, the SQLAlchemy URL of a database"
            raise InputError(message)
        for name in files:
            yield from read_records(name, mapped=self.mapped, day_first=self.settings.day_first, query=query)

    def record(self, event: str, manifest: Manifest, **more: Any) -> dict[str, Any]:
        """Record the event, and return the state of the index."""
        with Store.open(self.config.database_url, create=True) as store:
            record_event(store.database, event, actor=self.actor, details=_named(manifest) | more)
        return _status(self.settings, manifest)


def _with_list(command: Callable[..., Answer]) -> Callable[..., None]:
    """Add the options of a patient list to a command that takes a change and the records of the list."""

    @click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="FIELD=COLUMN",
        help="Which column holds a field; in place of that field of [patients.map]. Repeatable.",
    )
    @click.option("--query", help="SELECT statement; then the one FILE is the SQLAlchemy URL of a database.")
    @by_option
    @answers
    @wraps(command)
    def run(
        obj: str | None,
        /,
        files: tuple[str, ...],
        mapping: tuple[str, ...],
        query: str | None,
        by: str,
        **given: Any,
    ) -> Answer:
        config, settings = _settings(obj)
        mapped = merge_map(settings.mapped, mapping)
        change = _Change(config, settings, Actor(actor_of(by), datetime.now(UTC)), mapped)
        return command(change, change.records(files, query), **given)

    return run


@patients.command(epilog="Example: phiscan patients build patients.csv --map record=MRN --map card=HCN")
@click.argument("files", nargs=-1, required=True)
@click.option("--replace", "replace_old", is_flag=True, help="Build anew where there is an index already.")
@_numbers_option
@_with_list
def build(
    change: _Change, records: Iterator[PatientRecord], *, replace_old: bool, numbers_file: Path | None
) -> Answer:
    """Build the index from the patient list FILES: CSV, FHIR bulk NDJSON or HL7 ADT messages.

    The next scan reads every file again. The opaque number of a patient is the column mapped to `number`,
    else the number of the row, counted through all FILES without their headers.
    """
    manifest, numbers = lifecycle.build(
        change.settings, records, n_workers=change.config.n_workers, replace_old=replace_old
    )
    _write_numbers(numbers_file, numbers.tolist())
    return change.record("build", manifest), _built_lines("built", change.settings, manifest)


_UPDATED = (("added", "patients added"), ("changed", "changed"), ("removed", "removed"))


@patients.command(epilog="Example: phiscan patients update changes.csv --remove deceased.csv")
@click.argument("files", nargs=-1)
@click.option("--remove", "removed", multiple=True, type=click.Path(), help="List of patients to remove.")
@_with_list
def update(change: _Change, records: Iterator[PatientRecord], *, removed: tuple[str, ...]) -> Answer:
    """Add the patients of FILES to the index, or change those that it has; remove those of --remove.

    Patients are identified by the record number, else by the health card number. New and changed files are
    compared with the index as it is then; `phiscan scan --full` compares all files again.
    """
    if not click.get_current_context().params["files"] and not removed:
        message = "expected FILE..., or --remove FILE"
        raise InputError(message)
    manifest, counts = lifecycle.update(
        change.settings, records, change.records(removed), n_workers=change.config.n_workers
    )
    done = ", ".join(f"{counts[name]:,} {label}" for name, label in _UPDATED)
    line = f"{done}; the index now has {manifest.n_patients:,}"
    return {**change.record("update", manifest, **counts), **counts}, [line]


@patients.command(epilog="Example: phiscan patients status --json")
@answers
def status(obj: str | None) -> Answer:
    """Print the number of patients in the index, its age, its size, and the id of its key."""
    _, settings = _settings(obj)
    manifest = read_manifest(settings.folder)
    lifecycle.load_hasher(settings, manifest)
    warn_of_age(settings)
    return _status(settings, manifest), _built_lines("last built", settings, manifest)


@patients.command(epilog="Example: phiscan patients rotate patients.csv")
@click.argument("files", nargs=-1, required=True)
@_numbers_option
@_with_list
def rotate(change: _Change, records: Iterator[PatientRecord], *, numbers_file: Path | None) -> Answer:
    """Make a new key, and build the index again from the patient list FILES; the old key is destroyed.

    The list is needed because the index holds no values. Patients keep their opaque numbers.
    """
    before = read_manifest(change.settings.folder).key_id
    manifest, numbers = lifecycle.rotate(change.settings, records, n_workers=change.config.n_workers)
    _write_numbers(numbers_file, numbers.tolist())
    state = change.record("rotate", manifest, former_key=before)
    return state, _built_lines("built with a new key", change.settings, manifest)


@patients.command(epilog="Example: phiscan patients destroy --certificate destroyed.json")
@click.option(
    "--certificate",
    "certificate_file",
    type=click.Path(path_type=Path),
    help="Write the certificate to this new file as well.",
)
@by_option
@answers
def destroy(obj: str | None, certificate_file: Path | None, by: str) -> Answer:
    """Overwrite and remove index and key; print a certificate, and record it in the audit log.

    Stored matches keep their opaque numbers. On disks that do not overwrite in place (flash, snapshots), the
    destruction of the key is what makes the index unusable.
    """
    config, settings = _settings(obj)
    if certificate_file is not None and certificate_file.exists():
        raise InputError(certificate_file, "is there already; a certificate is never overwritten")
    actor = Actor(actor_of(by), datetime.now(UTC))
    destroyed = lifecycle.destroy(settings)
    with Store.open(config.database_url, create=True) as store:
        event = record_event(store.database, "destroy", actor=actor, details=destroyed)
    certificate = lifecycle.certificate(destroyed, by=actor.name, now=actor.now, event=event)
    if certificate_file is not None:
        write_private(certificate_file, json.dumps(certificate, indent=1) + "\n")
    index = f"index {certificate['index']} of {certificate['patients']:,} patients"
    return certificate, [f"{index} and its key {certificate['key']} are destroyed (event {event})"]


def _settings(config_path: str | None) -> tuple[Config, PatientSettings]:
    config = config_of(config_path)
    return config, load_settings(config)


def _status(settings: PatientSettings, manifest: Manifest) -> dict[str, Any]:
    n_bytes = sum(path.stat().st_size for path in (settings.folder / manifest.arrays).glob("*.npy"))
    return {
        **_named(manifest),
        "kinds": dict(manifest.kinds),
        "built": manifest.built,
        "updated": manifest.updated,
        "age_days": manifest.age_days,
        "max_age_days": settings.max_age_days,
        "bytes": n_bytes,
        "folder": str(settings.folder),
        "key_file": str(settings.key_file),
    }


def _named(manifest: Manifest) -> dict[str, Any]:
    """Return which index a manifest describes, and its size."""
    return {
        "index": manifest.index_id,
        "key": manifest.key_id,
        "patients": manifest.n_patients,
        "match_keys": manifest.n_keys,
    }


def _built_lines(what: str, settings: PatientSettings, manifest: Manifest) -> Iterator[str]:
    size = f"{_status(settings, manifest)['bytes'] / 1e6:,.1f} MB, key {manifest.key_id}"
    yield (
        f"index {manifest.index_id} {what} {manifest.built[:10]}: {manifest.n_patients:,} patients, "
        f"{manifest.n_keys:,} match keys, {size}"
    )
    yield from (f"  {kind:<14}{n_keys:>14,}" for kind, n_keys in sorted(manifest.kinds.items()))


def _write_numbers(path: Path | None, numbers: list[int]) -> None:
    if path is None:
        return
    lines = ["row,number", *(f"{row},{number}" for row, number in enumerate(numbers, 1))]
    write_private(path, "\n".join(lines) + "\n")
