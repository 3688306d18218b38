"""``phiscan patients``: the index of the organization's own patients, and searches in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import print_json
from phiscan.cli.patients.age import warn_of_age
from phiscan.cli.patients.questions import affected, find
from phiscan.cli.patients.risk import risk
from phiscan.cli.users import _actor
from phiscan.config import Config, load_config
from phiscan.errors import InputError
from phiscan.patients import lifecycle
from phiscan.patients.events import Actor, record_event
from phiscan.patients.manifest import Manifest, read_manifest
from phiscan.patients.records import PatientRecord
from phiscan.patients.settings import PatientSettings, load_settings, merge_map
from phiscan.patients.sources import read_records
from phiscan.review.store import Store

_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_by_option = click.option("--by", default="", help="Who does this; default: the system's name of the user.")
_map_option = click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column holds a field; in place of that field of [patients.map]. Repeatable.",
)
_query_option = click.option(
    "--query", help="SELECT statement; then the one FILE is the SQLAlchemy URL of a database."
)
_numbers_option = click.option(
    "--numbers",
    "numbers_file",
    type=click.Path(path_type=Path),
    help="Write a CSV with the opaque number of each row of the list, to join answers back; no values.",
)


@click.group()
def patients() -> None:
    """Match files with the organization's own patients, by keyed hashes of their list.

    The list is read once and never copied. The index reveals nothing without its key, a separate file: store
    it on another disk than the index ([patients] key_file).
    """


patients.add_command(find)
patients.add_command(affected)
patients.add_command(risk)


@patients.command(epilog="Example: phiscan patients build patients.csv --map record=MRN --map card=HCN")
@click.argument("files", nargs=-1, required=True)
@_map_option
@_query_option
@click.option("--replace", "replace_old", is_flag=True, help="Build anew where there is an index already.")
@_numbers_option
@_by_option
@_json_option
@click.pass_obj
def build(
    obj: str | None,
    files: tuple[str, ...],
    mapping: tuple[str, ...],
    query: str | None,
    replace_old: bool,
    numbers_file: Path | None,
    by: str,
    as_json: bool,
) -> None:
    """Build the index from the patient list FILES: CSV, FHIR bulk NDJSON or HL7 ADT messages.

    The next scan reads every file again. The opaque number of a patient is the column mapped to `number`,
    else the number of the row, counted through all FILES without their headers.
    """
    config, settings = _settings(obj)
    actor = Actor(_actor(by), datetime.now(UTC))
    records = _records(settings, files, mapping, query)
    manifest, numbers = lifecycle.build(
        settings, records, n_workers=config.n_workers, replace_old=replace_old
    )
    _write_numbers(numbers_file, numbers.tolist())
    _record(config, "build", actor, manifest)
    _print_built("built", settings, manifest, as_json=as_json)


@patients.command(epilog="Example: phiscan patients update changes.csv --remove deceased.csv")
@click.argument("files", nargs=-1)
@click.option("--remove", "removed", multiple=True, type=click.Path(), help="List of patients to remove.")
@_map_option
@_query_option
@_by_option
@_json_option
@click.pass_obj
def update(
    obj: str | None,
    files: tuple[str, ...],
    removed: tuple[str, ...],
    mapping: tuple[str, ...],
    query: str | None,
    by: str,
    as_json: bool,
) -> None:
    """Add the patients of FILES to the index, or change those that it has; remove those of --remove.

    Patients are identified by the record number, else by the health card number. New and changed files are
    compared with the index as it is then; `phiscan scan --full` compares all files again.
    """
    if not files and not removed:
        message = "expected FILE..., or --remove FILE"
        raise InputError(message)
    config, settings = _settings(obj)
    actor = Actor(_actor(by), datetime.now(UTC))
    manifest, counts = lifecycle.update(
        settings,
        _records(settings, files, mapping, query),
        _records(settings, removed, mapping, None),
        n_workers=config.n_workers,
    )
    _record(config, "update", actor, manifest, **counts)
    if as_json:
        print_json({**_status(settings, manifest), **counts})
    else:
        click.echo(
            f"{counts['added']:,} patients added, {counts['changed']:,} changed, {counts['removed']:,} "
            f"removed; the index now has {manifest.n_patients:,}"
        )


@patients.command(epilog="Example: phiscan patients status --json")
@_json_option
@click.pass_obj
def status(obj: str | None, as_json: bool) -> None:
    """Print the number of patients in the index, its age, its size, and the id of its key."""
    _, settings = _settings(obj)
    manifest = read_manifest(settings.folder)
    lifecycle.load_hasher(settings, manifest)
    if as_json:
        print_json(_status(settings, manifest))
    else:
        _print_built("last built", settings, manifest, as_json=False)
    warn_of_age(settings)


@patients.command(epilog="Example: phiscan patients rotate patients.csv")
@click.argument("files", nargs=-1, required=True)
@_map_option
@_query_option
@_numbers_option
@_by_option
@_json_option
@click.pass_obj
def rotate(
    obj: str | None,
    files: tuple[str, ...],
    mapping: tuple[str, ...],
    query: str | None,
    numbers_file: Path | None,
    by: str,
    as_json: bool,
) -> None:
    """Make a new key, and build the index again from the patient list FILES; the old key is destroyed.

    The list is needed because the index holds no values. Patients keep their opaque numbers.
    """
    config, settings = _settings(obj)
    actor = Actor(_actor(by), datetime.now(UTC))
    before = read_manifest(settings.folder).key_id
    records = _records(settings, files, mapping, query)
    manifest, numbers = lifecycle.rotate(settings, records, n_workers=config.n_workers)
    _write_numbers(numbers_file, numbers.tolist())
    _record(config, "rotate", actor, manifest, former_key=before)
    _print_built("built with a new key", settings, manifest, as_json=as_json)


@patients.command(epilog="Example: phiscan patients destroy --certificate destroyed.json")
@click.option(
    "--certificate",
    "certificate_file",
    type=click.Path(path_type=Path),
    help="Write the certificate to this new file as well.",
)
@_by_option
@_json_option
@click.pass_obj
def destroy(obj: str | None, certificate_file: Path | None, by: str, as_json: bool) -> None:
    """Overwrite and remove index and key; print a certificate, and record it in the audit log.

    Stored matches keep their opaque numbers. On disks that do not overwrite in place (flash, snapshots), the
    destruction of the key is what makes the index unusable.
    """
    config, settings = _settings(obj)
    if certificate_file is not None and certificate_file.exists():
        message = f"{certificate_file}: is there already; a certificate is never overwritten"
        raise InputError(message)
    actor = Actor(_actor(by), datetime.now(UTC))
    destroyed = lifecycle.destroy(settings)
    with _store(config) as store:
        event = record_event(store.database, "destroy", actor=actor, details=destroyed)
    certificate = lifecycle.certificate(destroyed, by=actor.name, now=actor.now, event=event)
    if certificate_file is not None:
        _write(certificate_file, json.dumps(certificate, indent=1) + "\n")
    if as_json:
        print_json(certificate)
        return
    click.echo(
        f"index {certificate['index']} of {certificate['patients']:,} patients and its key "
        f"{certificate['key']} are destroyed (event {event})"
    )


def _settings(config_path: str | None) -> tuple[Config, PatientSettings]:
    config = load_config(Path(config_path) if config_path else None)
    return config, load_settings(config)


def _records(
    settings: PatientSettings, files: tuple[str, ...], mapping: tuple[str, ...], query: str | None
) -> Iterator[PatientRecord]:
    mapped = merge_map(settings.mapped, mapping)
    if query is not None and len(files) != 1:
        message = "--query: expected one FILE, the SQLAlchemy URL of a database"
        raise InputError(message)
    for name in files:
        yield from read_records(name, mapped=mapped, day_first=settings.day_first, query=query)


@contextmanager
def _store(config: Config) -> Iterator[Store]:
    store = Store.open(config.database_url, create=True)
    try:
        yield store
    finally:
        store.close()


def _record(config: Config, event: str, actor: Actor, manifest: Manifest, **more: Any) -> None:
    details = {
        "index": manifest.index_id,
        "key": manifest.key_id,
        "patients": manifest.n_patients,
        "match_keys": manifest.n_keys,
        **more,
    }
    with _store(config) as store:
        record_event(store.database, event, actor=actor, details=details)


def _status(settings: PatientSettings, manifest: Manifest) -> dict[str, Any]:
    found = asdict(manifest)
    n_bytes = sum(path.stat().st_size for path in (settings.folder / manifest.arrays).glob("*.npy"))
    return {
        "index": manifest.index_id,
        "patients": manifest.n_patients,
        "match_keys": manifest.n_keys,
        "kinds": found["kinds"],
        "key": manifest.key_id,
        "built": manifest.built,
        "updated": manifest.updated,
        "age_days": manifest.age_days,
        "max_age_days": settings.max_age_days,
        "bytes": n_bytes,
        "folder": str(settings.folder),
        "key_file": str(settings.key_file),
    }


def _print_built(what: str, settings: PatientSettings, manifest: Manifest, *, as_json: bool) -> None:
    found = _status(settings, manifest)
    if as_json:
        print_json(found)
        return
    click.echo(
        f"index {manifest.index_id} {what} {manifest.built[:10]}: {manifest.n_patients:,} patients, "
        f"{manifest.n_keys:,} match keys, {found['bytes'] / 1e6:,.1f} MB, key {manifest.key_id}"
    )
    for kind, n_keys in sorted(manifest.kinds.items()):
        click.echo(f"  {kind:<14}{n_keys:>14,}")


def _write_numbers(path: Path | None, numbers: list[int]) -> None:
    if path is None:
        return
    lines = ["row,number", *(f"{row},{number}" for row, number in enumerate(numbers, 1))]
    _write(path, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise InputError(message) from None
