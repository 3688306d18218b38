"""``phiscan patients find`` and ``affected``: the files of a person, and the patients affected."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import print_json, print_message
from phiscan.cli.queue.command import MAX_SCAN, open_store
from phiscan.cli.users import _actor
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.model import Verdict
from phiscan.patients.affected import NOTICE_AT, Affected
from phiscan.patients.affected import affected as count_affected
from phiscan.patients.events import Actor, record_event
from phiscan.patients.find import FoundFile, Person
from phiscan.patients.find import find as find_person
from phiscan.patients.index import open_index
from phiscan.patients.matching import load_matcher
from phiscan.patients.settings import load_settings
from phiscan.review.store import Store
from phiscan.store.identity import load_key
from phiscan.store.tables.users import Role
from phiscan.visible import visible

_MAY_FIND = frozenset({Role.REVIEWER, Role.LEAD})
_ANY = "any"


@click.command(
    epilog='Example: phiscan patients find --name "Roy, Ann" --birth-date 1956-03-12 --purpose "request 17"'
)
@click.option("--name", default="", help="Given and family name; - = prompt without echo.")
@click.option("--birth-date", default="", help="Birth date, such as 1956-03-12; - = prompt without echo.")
@click.option("--number", default="", help="Record, health card or other number; - = prompt without echo.")
@click.option("--purpose", required=True, help="What for; recorded. Write no patient's data here.")
@click.option(
    "--by", default="", help="User who makes the request: a desk account, or the system's user name."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def find(
    obj: str | None, name: str, birth_date: str, number: str, purpose: str, by: str, as_json: bool
) -> None:
    """List the files of a person: by name and birth date, or by a number.

    Searches the keyed hashes of the last scans, with or without a patient index. User and purpose are
    recorded in the audit log, the searched values are not. An account of the desk must be a reviewer's or a
    lead's. With - for a value it is prompted for, so that it appears neither in the list of processes nor in
    a shell's history.
    """
    config = load_config(Path(obj) if obj else None)
    person = Person(_prompted("Name", name), _prompted("Birth date", birth_date), _prompted("Number", number))
    actor = Actor(_actor(by), datetime.now(UTC))
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
    if as_json:
        print_json({"files": [_file_json(one) for one in found]})
        return
    for one in found:
        click.echo(
            f"{visible(one.path)}  in {visible(one.root)}  first seen {one.first_seen:%Y-%m-%d}, "
            f"last seen {one.last_seen:%Y-%m-%d}{'' if one.present else ', no longer there'}"
        )
    click.echo(f"{len(found):,} files")


@click.command(epilog="Example: phiscan patients affected --decided phi --out list.csv")
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
@click.option("--by", default="", help="User who makes the request; default: the system's user name.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def affected(obj: str | None, decided: str, scan_id: int | None, out: Path, by: str, as_json: bool) -> None:
    """Write the opaque numbers of the patients in the files decided, and count them by state or province.

    Each patient counts once, however many files or copies contain the patient. Join the numbers with your own
    list: they are its column `number`, or the numbers of its rows.
    """
    config = load_config(Path(obj) if obj else None)
    settings = load_settings(config)
    index = open_index(settings.folder) if settings.is_built else None
    actor = Actor(_actor(by), datetime.now(UTC))
    verdict = None if decided == _ANY else Verdict(decided)
    with open_store(obj) as store:
        with store.database.read() as connection:
            found = count_affected(connection, index, verdict=verdict, scan_id=scan_id)
        _write_list(out, found)
        details = {"decided": decided, "scan": scan_id, "patients": len(found.patients)}
        record_event(store.database, "affected", actor=actor, details=details)
    if as_json:
        print_json(_affected_json(found))
        return
    click.echo(f"{len(found.patients):,} patients in {found.n_files:,} files decided {decided}: {out}")
    for region, n_patients in (found.by_region or {}).items():
        notice = f"   {NOTICE_AT} or more" if n_patients >= NOTICE_AT else ""
        click.echo(f"  {visible(region):<20}{n_patients:>10,}{notice}")
    if index is None:
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


def _file_json(one: FoundFile) -> dict[str, Any]:
    return {
        "path": one.path,
        "root": one.root,
        "first_seen": one.first_seen.isoformat(),
        "last_seen": one.last_seen.isoformat(),
        "present": one.present,
    }


def _affected_json(found: Affected) -> dict[str, Any]:
    reason = (
        {} if found.by_region is not None else {"reason": "there is no patient index to know regions from"}
    )
    regions = found.by_region or {}
    return {
        "patients": len(found.patients),
        "by_region": found.by_region,
        **reason,
        "regions_with_500": [name for name, n in regions.items() if n >= NOTICE_AT],
        "by_folder": dict(found.by_folder),
        "files": found.n_files,
        "files_without_match": found.n_files_without_match,
    }


def _write_list(path: Path, found: Affected) -> None:
    try:
        text = "".join(f"{number}\n" for number in ("patient", *found.patients))
        path.write_text(text, encoding="ascii")
        path.chmod(0o600)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise InputError(message) from None
