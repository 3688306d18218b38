"""``phiscan db purge|hold|certificate``: purges by policy, legal holds, and certificates."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from phiscan.cli.output import print_json
from phiscan.cli.scan.lock import keep_scans_out
from phiscan.config import Config, load_config
from phiscan.errors import InputError
from phiscan.review.retention import holds, purging
from phiscan.review.retention.policy import policy_of
from phiscan.review.retention.purging import Certificate
from phiscan.review.worklist import queue
from phiscan.store.database import Database, open_database
from phiscan.visible import visible

_by = click.option("--by", default=getpass.getuser, show_default="you", help="Who is recorded as doing it.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command(epilog="Example: phiscan db purge --dry-run")
@click.option("--dry-run", is_flag=True, help="Print what would be purged; change nothing.")
@click.option("--yes", is_flag=True, help="Purge; without it and without --dry-run nothing is done.")
@_by
@_json
@click.pass_obj
def purge(obj: str | None, dry_run: bool, yes: bool, by: str, as_json: bool) -> None:
    """Remove the rows whose retention time in [retention] of phiscan.toml is over, and certify it.

    Current results of files that are still on the share are never removed, nor anything under a legal hold.
    Removed rows cannot be restored except from a backup. While a scan runs nothing is purged (exit status
    2), and a scan that is started meanwhile waits.
    """
    if dry_run == yes:
        message = "expected either --dry-run or --yes"
        raise InputError(message)
    config = _config(obj)
    policy = policy_of(config)
    with keep_scans_out(config.home, config.database_url), _database(config) as database:
        made = purging.run(database, policy, by=by, now=datetime.now(UTC), dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, **made.to_json()})
        return
    for line in _lines(made, dry_run=dry_run):
        click.echo(line)


@click.command(epilog="Example: phiscan db certificate 3 --json > certificate-3.json")
@click.argument("number", type=click.IntRange(min=1), required=False)
@_json
@click.pass_obj
def certificate(obj: str | None, number: int | None, as_json: bool) -> None:
    """Show the certificate of the purge NUMBER, or all; with --json a line for each."""
    with _database(_config(obj)) as database, database.read() as connection:
        found = [made for made in purging.certificates(connection) if number in {None, made.id}]
    if number is not None and not found:
        message = f"certificate {number}: there is no such purge"
        raise InputError(message)
    for made in found:
        if as_json:
            print_json(made.to_json())
        else:
            for line in _lines(made, dry_run=False):
                click.echo(line)


@click.command(epilog='Example: phiscan db hold --root /srv/share --reason "case 2026-17"')
@click.option("--file", "files", multiple=True, help="A file (path or number); may be given several times.")
@click.option("--root", "roots", multiple=True, help="A whole root; may be given several times.")
@click.option("--reason", default="", help="Why, such as the number of the case.")
@click.option("--lift", is_flag=True, help="Lift the holds instead.")
@_by
@_json
@click.pass_obj
def hold(
    obj: str | None,
    files: tuple[str, ...],
    roots: tuple[str, ...],
    reason: str,
    lift: bool,
    by: str,
    as_json: bool,
) -> None:
    """Place a legal hold on files or roots, or lift it; without either, list the active holds.

    Nothing about a held file is purged, and while any hold is active nothing of the audit log is.
    """
    if (lift or reason) and not (files or roots):
        message = "--lift and --reason: expected --file or --root with them"
        raise InputError(message)
    with _database(_config(obj)) as database:
        if files or roots:
            with database.read() as connection:
                numbers = [queue.find(connection, path) for path in files]
            database.write(
                lambda connection: holds.set_holds(
                    connection,
                    state="lifted" if lift else "placed",
                    files=numbers,
                    roots=roots,
                    reason=reason,
                    by=by,
                    now=datetime.now(UTC),
                ),
                durable=True,
            )
        with database.read() as connection:
            standing = holds.holds(connection)
    if as_json:
        listed = [
            {
                "hold": held.id,
                "root": held.root,
                "path": held.path or None,
                "reason": held.reason,
                "by": held.set_by,
                "at": held.set_at.isoformat(),
            }
            for held in standing
        ]
        print_json({"holds": listed})
        return
    for held in standing:
        place = f"{held.root}/{held.path}" if held.path else f"{held.root} (all of it)"
        click.echo(
            f"{held.set_at:%Y-%m-%d}  {visible(place)}: {visible(held.reason)} ({visible(held.set_by)})"
        )
    click.echo(f"{len(standing)} legal hold{'' if len(standing) == 1 else 's'}")


def _config(path: str | None) -> Config:
    return load_config(Path(path) if path else None)


@contextmanager
def _database(config: Config) -> Iterator[Database]:
    database = open_database(config.database_url, create=False, audit_key=config.audit_key_file)
    try:
        yield database
    finally:
        database.close()


def _lines(made: Certificate, *, dry_run: bool) -> Iterator[str]:
    if made.id is None or not made.counts:
        yield "nothing to purge" + (f"; {made.n_holds} legal holds are in force" if made.n_holds else "")
        return
    done = "would be purged" if dry_run else f"purged on {made.purged[:10]} by {visible(made.purged_by)}"
    yield ("" if dry_run else f"certificate {made.id}: ") + f"{sum(made.counts.values()):,} rows {done}"
    for table, n_rows in made.counts.items():
        yield f"  {table:<22} {n_rows:>14,}"
    if made.oldest and made.newest:
        yield f"from {made.oldest[:10]} to {made.newest[:10]}; {made.n_holds} legal holds"
    yield f"sha256 {made.digest}"
